// From expressions to the elements they name.

#include "frontend/sema/analysis/region.h"

namespace ptl {

namespace {
/// An indexed array on the way from its local outwards: which axes of the local the value still
/// has.
struct Chain {
  Elements place;
  std::vector<size_t> kept; ///< axis of the local per axis of the value
};
} // namespace

Region wholeRegion(const Type *type) {
  Region region;
  if (type->isArray())
    region.axes.resize(type->extents.size());
  return region;
}

static const Expr *withoutConversion(const Expr *expr) {
  while (expr->kind == ExprKind::Convert)
    expr = static_cast<const ConvertExpr *>(expr)->arg;
  return expr;
}

/// A parameter or `let`: what it holds never changes.
static bool isImmutable(const Local &local) {
  return (local.kind == LocalKind::Param && !local.isInout) || local.kind == LocalKind::Let;
}

/// What an index array or a position that is no dimension stands for.
static AxisSet valuesOf(DimContext &dims, const Expr *value, const LetValues &lets) {
  AxisSet set;
  set.kind = AxisSet::Kind::Unknown;
  value = withoutConversion(value);
  const Local *name = nullptr;
  for (int depth = 0; depth < 8 && value->kind == ExprKind::LocalRef; ++depth) {
    const Local *local = static_cast<const LocalRefExpr *>(value)->local;
    if (!isImmutable(*local))
      return set;
    name = local;
    auto found = lets.find(local);
    if (found == lets.end())
      break;
    value = withoutConversion(found->second);
  }
  auto place = elementsOf(dims, value, lets);
  if (place && place->field < 0 && isImmutable(*place->local) && place->type->isArray()) {
    set.kind = AxisSet::Kind::Lookup;
    set.local = place->local;
    set.index = std::move(place->region.axes);
  } else if (name) {
    set.kind = AxisSet::Kind::Value;
    set.local = name;
  }
  return set;
}

static AxisSet interval(Dim start, Dim stop, Dim step) {
  AxisSet set;
  set.kind = start && stop && step ? AxisSet::Kind::Interval : AxisSet::Kind::Unknown;
  if (set.isInterval()) {
    set.start = start;
    set.stop = stop;
    set.step = step;
  }
  return set;
}

static AxisSet rangeSet(DimContext &dims, const IndexItem &item) {
  const RangeInfo &range = *item.range;
  if (item.value && item.value->kind == ExprKind::Range)
    if (Dim stop = static_cast<const RangeExpr *>(item.value)->hi->dim)
      return interval(range.start, stop, range.step);
  return interval(range.start, dims.add(range.start, dims.mul(range.step, range.length)),
                  range.step);
}

static AxisSet itemSet(DimContext &dims, const IndexItem &item, const LetValues &lets) {
  switch (item.kind) {
  case IndexItemKind::Position:
    if (item.value->dim)
      return interval(item.value->dim, dims.add(item.value->dim, dims.constant(1)),
                      dims.constant(1));
    return valuesOf(dims, item.value, lets);
  case IndexItemKind::Gather:
    return valuesOf(dims, item.value, lets);
  case IndexItemKind::Range:
    return rangeSet(dims, item);
  default:
    return {};
  }
}

/// `x[r][s]`: the positions `s` of the positions `r`.
static AxisSet within(DimContext &dims, const AxisSet &outer, const AxisSet &inner) {
  if (outer.kind == AxisSet::Kind::Full)
    return inner;
  if (inner.kind == AxisSet::Kind::Full)
    return outer;
  if (!outer.isInterval() || !inner.isInterval()) {
    AxisSet some;
    some.kind = AxisSet::Kind::Unknown;
    return some;
  }
  auto place = [&](Dim position) { return dims.add(outer.start, dims.mul(outer.step, position)); };
  return interval(place(inner.start), place(inner.stop), dims.mul(outer.step, inner.step));
}

static std::optional<Chain> chainOf(DimContext &dims, const Expr *expr, const LetValues &lets) {
  Chain chain;
  auto start = [&](const Local *local, int32_t field, const Type *type) {
    chain.place = {local, field, type, wholeRegion(type), {}};
    for (size_t i = 0; i < chain.place.region.axes.size(); ++i)
      chain.kept.push_back(i);
  };
  if (expr->kind == ExprKind::LocalRef) {
    const Local *local = static_cast<const LocalRefExpr *>(expr)->local;
    start(local, -1, local->type);
    return chain;
  }
  if (expr->kind == ExprKind::Field) {
    const auto *field = static_cast<const FieldExpr *>(expr);
    const Expr *base = field->base;
    while (base->kind == ExprKind::Field)
      base = static_cast<const FieldExpr *>(base)->base;
    if (base->kind != ExprKind::LocalRef || base->type->kind != TypeKind::Struct)
      return std::nullopt;
    // Fields of fields share the number of the outermost one: coarser, never wrong.
    bool isDirect = field->base == base;
    const Expr *outermost = field;
    while (static_cast<const FieldExpr *>(outermost)->base != base)
      outermost = static_cast<const FieldExpr *>(outermost)->base;
    const auto *top = static_cast<const FieldExpr *>(outermost);
    start(static_cast<const LocalRefExpr *>(base)->local, static_cast<int32_t>(top->fieldIndex),
          isDirect ? field->type : base->type);
    return chain;
  }
  if (expr->kind != ExprKind::Index)
    return std::nullopt;
  const auto *index = static_cast<const IndexExpr *>(expr);
  auto base = chainOf(dims, index->base, lets);
  if (!base)
    return std::nullopt;
  std::vector<size_t> kept;
  size_t axis = 0;
  for (const IndexItem &item : index->items) {
    if (item.kind == IndexItemKind::NewAxis) {
      kept.push_back(SIZE_MAX);
      continue;
    }
    size_t count = item.kind == IndexItemKind::Rest ? item.restCount : 1;
    for (size_t i = 0; i < count && axis < base->kept.size(); ++i, ++axis) {
      size_t target = base->kept[axis];
      if (target < base->place.region.axes.size()) {
        AxisSet &set = base->place.region.axes[target];
        set = within(dims, set, itemSet(dims, item, lets));
      }
      if (item.kind != IndexItemKind::Position)
        kept.push_back(target);
    }
  }
  base->kept = std::move(kept);
  return base;
}

std::optional<Elements> elementsOf(DimContext &dims, const Expr *expr, const LetValues &lets) {
  auto chain = chainOf(dims, expr, lets);
  if (!chain)
    return std::nullopt;
  chain->place.span = expr->span;
  return chain->place;
}

/// `r` for the positions of the range `r`.
static std::string rangeName(DimContext &dims, const AxisSet &set) {
  auto start = set.start.symbol(), length = dims.sub(set.stop, set.start).symbol();
  if (!start || !length || dims.symbol(*start).kind != SymbolKind::RangeStart)
    return {};
  const std::string &text = dims.symbol(*start).name;
  std::string name = text.substr(0, text.rfind('.'));
  return dims.symbol(*length).name == name + ".len" ? name : std::string();
}

std::string toString(DimContext &dims, const AxisSet &set) {
  switch (set.kind) {
  case AxisSet::Kind::Full:
    return ":";
  case AxisSet::Kind::Interval: {
    if (dims.sub(set.stop, set.start).isConstant(1))
      return dims.toString(set.start);
    if (std::string name = rangeName(dims, set); !name.empty())
      return name;
    std::string text = dims.toString(set.start) + ":" + dims.toString(set.stop);
    return set.step.isConstant(1) ? text : text + ":" + dims.toString(set.step);
  }
  case AxisSet::Kind::Lookup:
    return set.local->name + "[" + toString(dims, Region{set.index}) + "]";
  case AxisSet::Kind::Value:
    return set.local->name;
  case AxisSet::Kind::Unknown:
    return "…";
  }
  return {};
}

std::string toString(DimContext &dims, const Region &region) {
  std::string text;
  for (const AxisSet &set : region.axes)
    text += (text.empty() ? "" : ", ") + toString(dims, set);
  return text;
}

} // namespace ptl

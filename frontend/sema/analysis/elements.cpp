// From expressions to the elements they name.
#include "frontend/sema/analysis/elements.h"

#include "frontend/sema/analysis/data_facts.h"
#include "ir/ops/op_table.h"

#include <algorithm>

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

/// A parameter or `let`: what it holds never changes.
static bool isImmutable(const Local &local) {
  return (local.kind == LocalKind::Param && !local.isInout) || local.kind == LocalKind::Let;
}

const Expr *withAllAxes(const Expr *array) {
  const auto *op = dyn_cast<OpExpr>(array);
  bool isReshape = op && op->op && op->op->id == OpId::Reshape && op->args[0];
  return isReshape ? op->args[0] : array;
}

// ---- Values that occur once ---------------------------------------------------------------------

/// Whether a part of an array that was sorted along `axis`, counted from the end, stays within one
/// row.
static bool isPartOfRow(const IndexExpr &part, int64_t axis) {
  return std::all_of(part.items.begin(), part.items.end(), [&](const IndexItem &item) {
    // A position and a new axis do not extend the part; all other items must be of the axis that
    // was sorted, or else several rows contribute and a value may occur twice.
    return item.kind == IndexItemKind::Position || item.kind == IndexItemKind::NewAxis ||
           item.axis == axis;
  });
}

/// What has the same values, or some of them each once: the array before a conversion that loses
/// nothing, what a `let` names, what a slice is of. Null where `value` is none of these.
static const Expr *source(const Expr *value, const KnownValues &values) {
  if (value->kind == ExprKind::Convert) {
    const Expr *before = withoutWidening(value);
    return before == value ? nullptr : before;
  }
  if (value->kind == ExprKind::LocalRef) {
    // A `let` never changes, so its value may be looked through. A `var` is not listed.
    auto found = values.lets.find(cast<LocalRefExpr>(value)->local);
    return found == values.lets.end() ? nullptr : found->second;
  }
  const auto *part = dyn_cast<IndexExpr>(value);
  if (!part)
    return nullptr;
  // Positions outside of the array all hold one value, and a gather may name a position twice.
  bool repeats = part->outside ||
                 std::any_of(part->items.begin(), part->items.end(), [](const IndexItem &item) {
                   return item.kind == IndexItemKind::Gather;
                 });
  return repeats ? nullptr : part->base;
}

/// The operands of `array + number`, `number + array`, `array - number` or `number - array`: different elements give
/// different results, even if these wrap. Nothing for other expressions.
struct Moved {
  const Expr *array = nullptr, *number = nullptr;
  bool isReversed = false; ///< `number - array`
};

static Moved movedArray(const Expr *value) {
  const auto *op = dyn_cast<OpExpr>(value);
  bool isSum = op && op->op && (op->op->id == OpId::Add || op->op->id == OpId::Sub);
  if (!isSum || op->args.size() != 2 || !op->args[0] || !op->args[1])
    return {};
  bool isFirst = op->args[0]->type->isArray();
  Moved moved{op->args[isFirst ? 0 : 1], op->args[isFirst ? 1 : 0],
              op->op->id == OpId::Sub && !isFirst};
  bool isScalar = moved.number->type->isScalar() || moved.number->type->isInt();
  return moved.array->type->isArray() && isScalar ? moved : Moved();
}

bool isKnownUnique(const Expr *value, const KnownValues &values) {
  const IndexExpr *part = nullptr;
  // What has different values if another array has them, or else what the values come from.
  auto before = [&](const Expr *expr) {
    const Expr *array = movedArray(expr).array;
    return array ? array : source(expr, values);
  };
  // Walk to the array that the values come from, and keep the innermost slice of it.
  while (const Expr *of = before(value)) {
    part = value->kind == ExprKind::Index ? cast<IndexExpr>(value) : part;
    value = of;
  }
  const auto *op = dyn_cast<OpExpr>(value);
  if (!op)
    return false;
  // `index` gives positions and `argsort` a permutation along an axis: both hold no value twice in
  // a row.
  if (!op->op || (op->op->name != "index" && op->op->name != "argsort"))
    return false;
  // With further axes the rows may repeat each other's values, unless the slice stays in one.
  bool isRow = value->type->isArray() && !value->type->prefix && value->type->extents.size() == 1;
  return isRow || (part && op->axes.size() == 1 && isPartOfRow(*part, op->axes[0]));
}

bool isKnownPermutation(const Expr *value, const KnownValues &values) {
  // A part of a permutation is none, so the walk stops at a slice.
  while (value->kind != ExprKind::Index) {
    const Expr *of = source(value, values);
    if (!of)
      break;
    value = of;
  }
  const auto *op = dyn_cast<OpExpr>(value);
  return op && op->op && op->op->name == "argsort" && !value->type->prefix &&
         value->type->extents.size() == 1;
}

// ---- Positions that are no dimensions -----------------------------------------------------------

/// The symbol of `table[index]`.
static Dim elementSymbol(DimContext &dims, KnownValues &values, const Local *table, Dim index) {
  // Equal elements share a symbol, so that positions computed from them compare equal.
  for (const ElementSymbol &each : values.elements)
    if (each.table == table && each.index == index)
      return dims.symbolDim(each.symbol);
  std::string name = table->name + "[" + dims.toString(index) + "]";
  SymbolId symbol = dims.addSymbol(name, SymbolKind::ScalarValue);
  values.elements.push_back({symbol, table, index});
  return dims.symbolDim(symbol);
}

namespace {
/// Integers computed from elements and scalars, as dimensions over symbols that stand for these.
struct ScalarDims {
  DimContext &dims;
  KnownValues &values;
  /// Not negative wherever the access is: their remainders are positions of it.
  std::vector<Dim> dividends = {};

  Dim of(const Expr *value, int depth = 8);
  Dim ofName(const Local *local, int depth);
  Dim ofOp(const OpExpr &op, int depth);
};
} // namespace

Dim ScalarDims::ofName(const Local *local, int depth) {
  auto bound = values.lets.find(local);
  if (bound != values.lets.end())
    return of(bound->second, depth);
  // Only parameters without `inout` remain unchanged for the whole call.
  if (!isImmutable(*local) || local->kind != LocalKind::Param)
    return {};
  // Equal names share a symbol, which makes opaque scalars comparable: `t / N` in two places is the
  // same dimension.
  Dim &known = values.scalars[local];
  if (!known)
    known = dims.symbolDim(dims.addSymbol(local->name, SymbolKind::ScalarValue));
  return known;
}

Dim ScalarDims::ofOp(const OpExpr &op, int depth) {
  if (!op.op || op.args.size() != 2 || !op.args[0] || !op.args[1])
    return {};
  Dim a = of(op.args[0], depth), b = of(op.args[1], depth);
  if (!a || !b)
    return {};
  bool isInt = op.type->isInt();
  bool isSigned = !op.type->elem.param && ptl::isSigned(op.type->elem.kind);
  switch (op.op->id) {
  case OpId::Add:
    return isInt ? dims.add(a, b) : Dim();
  case OpId::Sub:
    return isInt ? dims.sub(a, b) : Dim();
  case OpId::Mul:
    return isInt ? dims.mul(a, b) : Dim();
  case OpId::Div:
  case OpId::Rem: {
    // Types other than `int` truncate: the same where nothing is negative.
    bool floors = isInt || !isSigned || dims.isPlainlyNonNegative(a) ||
                  std::find(dividends.begin(), dividends.end(), a) != dividends.end();
    if (!floors || dims.plainLowerBound(b).value_or(0) < 0)
      return {};
    return op.op->id == OpId::Div ? dims.floorDiv(a, b) : dims.mod(a, b);
  }
  default:
    return {};
  }
}

Dim ScalarDims::of(const Expr *value, int depth) {
  if (value->dim || depth == 0)
    return value->dim;
  // Conversions that keep different integers different are looked through.
  value = withoutWidening(value);
  bool isInteger =
      value->type->isScalar() && (value->type->isInt() || ptl::isInteger(value->type->elem.kind));
  if (value->dim || !isInteger || value->type->elem.param)
    return value->dim;
  if (value->kind == ExprKind::Const)
    return dims.constant(cast<ConstExpr>(value)->intValue);
  if (value->kind == ExprKind::LocalRef)
    return ofName(cast<LocalRefExpr>(value)->local, depth - 1);
  if (value->kind == ExprKind::Op)
    return ofOp(*cast<OpExpr>(value), depth - 1);
  // The element must be of an array that never changes; otherwise one symbol would stand for
  // several values.
  auto place = elementsOf(dims, value, values);
  bool isElement = place && place->field < 0 && isImmutable(*place->local) &&
                   place->region.axes.size() == 1 && place->region.axes[0].isInterval();
  return isElement ? elementSymbol(dims, values, place->local, place->region.axes[0].start) : Dim();
}

/// The dividends whose remainders are positions: what goes on has found them in bounds.
static std::vector<Dim> dividendsOf(ScalarDims scalars, const IndexExpr &index) {
  std::vector<Dim> found;
  // A position in bounds is not negative, and a remainder that is not negative is the same whether
  // the division truncates or floors.
  for (const IndexItem &item : index.items) {
    const Expr *value = item.kind == IndexItemKind::Position ? item.value : nullptr;
    // The depth bounds the walk through names and conversions.
    for (int depth = 0; depth < 8 && value && !value->dim && value->kind != ExprKind::Op; ++depth) {
      const Expr *before = value->kind == ExprKind::Convert ? withoutWidening(value) : nullptr;
      if (value->kind == ExprKind::LocalRef) {
        auto bound = scalars.values.lets.find(cast<LocalRefExpr>(value)->local);
        before = bound == scalars.values.lets.end() ? nullptr : bound->second;
      }
      value = before == value ? nullptr : before;
    }
    const auto *op = dyn_cast_if_present<OpExpr>(value);
    if (op && op->op && op->op->id == OpId::Rem && op->args.size() == 2 && op->args[0])
      if (Dim dividend = scalars.of(op->args[0]))
        found.push_back(dividend);
  }
  return found;
}

static AxisSet interval(Dim start, Dim stop, Dim step);

/// A number before its conversion from `int` where that is not written: what does not fit has stopped the program.
static const Expr *beforeImplicit(const Expr *number) {
  const auto *convert = dyn_cast<ConvertExpr>(number);
  bool isImplicit =
      convert && convert->arg->type->isInt() && convert->syntax == convert->arg->syntax;
  return isImplicit ? convert->arg : number;
}

/// The positions in a range, `index(r)`, or as far from a number: `N - 1 - index(r)`. Nothing for other arrays.
static AxisSet positionsIn(DimContext &dims, const Expr *value, KnownValues &values) {
  AxisSet unknown;
  unknown.kind = AxisSet::Kind::Unknown;
  // Names of arrays are followed as far as each stands for a value that never changes.
  value = withoutWidening(value);
  for (int depth = 0; depth < 8 && value->kind == ExprKind::LocalRef; ++depth) {
    auto found = values.lets.find(cast<LocalRefExpr>(value)->local);
    if (found == values.lets.end())
      return unknown;
    value = withoutWidening(found->second);
  }
  Dim one = dims.constant(1);
  if (Moved moved = movedArray(value); moved.array) {
    AxisSet of = positionsIn(dims, moved.array, values);
    Dim by = ScalarDims{dims, values}.of(beforeImplicit(moved.number));
    if (!of.isInterval() || !by || !of.step.isConstant(1))
      return unknown;
    if (moved.isReversed)
      return interval(dims.add(dims.sub(by, of.stop), one), dims.add(dims.sub(by, of.start), one),
                      one);
    bool isSub = cast<OpExpr>(value)->op->id == OpId::Sub;
    return isSub ? interval(dims.sub(of.start, by), dims.sub(of.stop, by), one)
                 : interval(dims.add(of.start, by), dims.add(of.stop, by), one);
  }
  const auto *op = dyn_cast<OpExpr>(value);
  if (!op || !op->op || op->op->id != OpId::Index || op->args.empty() || !op->args[0])
    return unknown;
  const Expr *of = op->args[0];
  if (of->type->isInt())
    return of->dim ? interval(dims.constant(0), of->dim, one) : unknown;
  const RangeInfo *range = of->type->range;
  bool isPlain = range && range->start && range->length && range->step && range->step.isConstant(1);
  return isPlain ? interval(range->start, dims.add(range->start, range->length), one) : unknown;
}

/// What an index array or a position that is no dimension stands for.
static AxisSet valuesOf(DimContext &dims, const Expr *value, KnownValues &values) {
  AxisSet set;
  set.kind = AxisSet::Kind::Unknown;
  if (value->type->isArray() && isKnownPermutation(value, values)) {
    set.kind = AxisSet::Kind::Each;
    set.stop = value->type->extents[0].length;
    return set;
  }
  if (value->type->isArray())
    if (AxisSet positions = positionsIn(dims, value, values); positions.isInterval())
      return positions;
  // A reshaped index array holds the same values, so both are known by the same local.
  value = withoutWidening(withAllAxes(withoutWidening(value)));
  const Local *name = nullptr;
  // The chain of `let`s is followed to its end; the last name stands for the value if nothing else
  // does.
  for (int depth = 0; depth < 8 && value->kind == ExprKind::LocalRef; ++depth) {
    const Local *local = cast<LocalRefExpr>(value)->local;
    if (!isImmutable(*local))
      return set;
    name = local;
    auto found = values.lets.find(local);
    if (found == values.lets.end())
      break;
    value = withoutWidening(found->second);
  }
  // An element or a part of an array that never changes is a lookup: two equal lookups are the same
  // positions.
  auto place = elementsOf(dims, value, values);
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
  // The end as written is preferred: the one computed from the length may lie beyond it.
  if (item.value && item.value->kind == ExprKind::Range)
    if (Dim stop = cast<RangeExpr>(item.value)->hi->dim)
      return interval(range.start, stop, range.step);
  return interval(range.start, dims.add(range.start, dims.mul(range.step, range.length)),
                  range.step);
}

/// A position as a dimension, with symbols for the elements of arrays in it. An element alone is
/// looked up instead: of that more is known.
static AxisSet positionSet(const Expr *value, ScalarDims &scalars) {
  DimContext &dims = scalars.dims;
  Dim dim = value->dim;
  if (const ElementSymbol *element = scalars.values.element(dim)) {
    AxisSet set;
    set.kind = AxisSet::Kind::Lookup;
    set.local = element->table;
    set.index = {
        interval(element->index, dims.add(element->index, dims.constant(1)), dims.constant(1))};
    return set;
  }
  if (!dim) {
    AxisSet set = valuesOf(dims, value, scalars.values);
    // A lookup says more than a symbol would.
    if (set.kind == AxisSet::Kind::Lookup || !(dim = scalars.of(value)))
      return set;
  }
  return interval(dim, dims.add(dim, dims.constant(1)), dims.constant(1));
}

static AxisSet itemSet(const IndexItem &item, ScalarDims &scalars) {
  switch (item.kind) {
  case IndexItemKind::Position:
    return positionSet(item.value, scalars);
  case IndexItemKind::Gather:
    return valuesOf(scalars.dims, item.value, scalars.values);
  case IndexItemKind::Range:
    return rangeSet(scalars.dims, item);
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
    // What is not exact stays inside the outer interval, whose bounds are kept to prove accesses
    // disjoint.
    bool isWithin = outer.isInterval() || outer.kind == AxisSet::Kind::Unknown;
    AxisSet some = isWithin ? outer : AxisSet();
    some.kind = AxisSet::Kind::Unknown;
    return some;
  }
  auto place = [&](Dim position) { return dims.add(outer.start, dims.mul(outer.step, position)); };
  return interval(place(inner.start), place(inner.stop), dims.mul(outer.step, inner.step));
}

static std::optional<Chain> chainOf(DimContext &dims, const Expr *expr, KnownValues &values) {
  Chain chain;
  auto start = [&](const Local *local, int32_t field, const Type *type) {
    // At first every axis of the local is an axis of the value.
    chain.place = {local, field, type, wholeRegion(type), {}};
    for (size_t i = 0; i < chain.place.region.axes.size(); ++i)
      chain.kept.push_back(i);
  };
  if (expr->kind == ExprKind::LocalRef) {
    const Local *local = cast<LocalRefExpr>(expr)->local;
    start(local, -1, local->type);
    return chain;
  }
  if (const auto *field = dyn_cast<FieldExpr>(expr)) {
    const Expr *base = field->base;
    while (base->kind == ExprKind::Field)
      base = cast<FieldExpr>(base)->base;
    if (base->kind != ExprKind::LocalRef || base->type->kind != TypeKind::Struct)
      return std::nullopt;
    // Fields of fields share the number of the outermost one: coarser, never wrong.
    bool isDirect = field->base == base;
    const Expr *outermost = field;
    while (cast<FieldExpr>(outermost)->base != base)
      outermost = cast<FieldExpr>(outermost)->base;
    const auto *top = cast<FieldExpr>(outermost);
    start(cast<LocalRefExpr>(base)->local, static_cast<int32_t>(top->fieldIndex),
          isDirect ? field->type : base->type);
    return chain;
  }
  const auto *index = dyn_cast<IndexExpr>(expr);
  if (!index)
    return std::nullopt;
  auto base = chainOf(dims, index->base, values);
  if (!base)
    return std::nullopt;
  // The dividends come first, because `itemSet` below needs them to translate remainders.
  ScalarDims scalars{dims, values};
  scalars.dividends = dividendsOf(scalars, *index);
  std::vector<size_t> kept;
  size_t axis = 0;
  for (const IndexItem &item : index->items) {
    // A new axis stands for none of the local's.
    if (item.kind == IndexItemKind::NewAxis) {
      kept.push_back(SIZE_MAX);
      continue;
    }
    size_t count = item.kind == IndexItemKind::Rest ? item.restCount : 1;
    for (size_t i = 0; i < count && axis < base->kept.size(); ++i, ++axis) {
      size_t target = base->kept[axis];
      // Axes without a counterpart in the local, such as new ones, restrict nothing.
      if (target < base->place.region.axes.size()) {
        AxisSet &set = base->place.region.axes[target];
        set = within(dims, set, itemSet(item, scalars));
      }
      // A position takes its axis away from the value.
      if (item.kind != IndexItemKind::Position)
        kept.push_back(target);
    }
  }
  base->kept = std::move(kept);
  return base;
}

std::optional<Elements> elementsOf(DimContext &dims, const Expr *expr, KnownValues &values) {
  auto chain = chainOf(dims, expr, values);
  if (!chain)
    return std::nullopt;
  chain->place.span = expr->span;
  return chain->place;
}

/// `r` for the positions of the range `r`.
static std::string rangeName(DimContext &dims, const AxisSet &set) {
  // A tile variable is printed by its name, if start and length are both that variable's own.
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
  case AxisSet::Kind::Each:
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

#include "frontend/sema/placement/place_index.h"

#include <algorithm>
#include <utility>

namespace ptl {

namespace {

/// An axis at which something is selected comes after the axes of the result, which count from the
/// end.
constexpr int64_t kSelectedLabel = 1000;

class IndexWalk {
public:
  IndexWalk(DimContext &dims, const PlacedValue &base, const std::function<Dim(Dim)> &inProgram,
            const std::function<bool(Dim)> &isKnown, const std::function<bool(Dim)> &isPosition,
            IndexUse use, std::span<const IndexOrigin> origins)
      : dims_(dims), base_(base), inProgram_(inProgram), isKnown_(isKnown), isPosition_(isPosition),
        use_(use), origins_(origins) {}

  /// Whether an item is possible on parts.
  bool add(const IndexItem &item, size_t prefix) {
    switch (item.kind) {
    case IndexItemKind::NewAxis:
      return keep(dims_.constant(1), std::nullopt);
    case IndexItemKind::Full:
      return keepAxes(1);
    case IndexItemKind::Rest:
      return keepAxes(item.restCount + (item.restHasPrefix ? prefix : 0));
    case IndexItemKind::Position:
      return next_ < base_.shape.size() && position(*item.value);
    case IndexItemKind::Range:
      return next_ < base_.shape.size() && item.range && range(*item.range, item.value);
    case IndexItemKind::Gather:
      return next_ < base_.shape.size() && rows(*item.value);
    }
    return false;
  }

  PlacedIndex finish(const IndexExpr &expr) {
    keepAxes(base_.shape.size() - next_);
    PlacedIndex made{base_, {}, std::move(operands_)};
    made.rule.result = countedFromEnd(shape_.size());
    AxisLabels labels(base_.shape.size(), kSelectedLabel);
    for (size_t axis = 0; axis < axes_.size(); ++axis)
      if (axes_[axis])
        labels[*axes_[axis]] = made.rule.result[axis];
    made.rule.operands = {std::move(labels)};
    for (std::optional<size_t> axis : rowAxes_)
      made.rule.operands.push_back(axis ? AxisLabels{made.rule.result[*axis]} : AxisLabels());
    made.rule.whole = {kSelectedLabel};
    if (expr.outside) {
      made.operands.push_back(expr.outside);
      made.rule.operands.emplace_back();
    }
    PlacedValue &value = made.value;
    value.selected = std::move(selected_);
    value.hasOutside = expr.outside != nullptr;
    bool selects = !positions_.empty() || !value.selected.empty();
    value.kind = selects ? PlacedKind::Index : PlacedKind::Reshape;
    value.positions = std::move(positions_);
    value.expr = &expr;
    value.shape = std::move(shape_);
    return made;
  }

private:
  bool keep(Dim length, std::optional<size_t> axis) {
    shape_.push_back(length);
    axes_.push_back(axis);
    return true;
  }

  bool keepAxes(size_t count) {
    for (size_t i = 0; i < count && next_ < base_.shape.size(); ++i, ++next_)
      keep(base_.shape[next_], next_);
    return true;
  }

  /// Of the next axis; null if the base has all of it.
  const IndexOrigin *origin() const {
    auto found = std::ranges::find(origins_, next_, &IndexOrigin::axis);
    return found == origins_.end() ? nullptr : &*found;
  }

  /// A position along the next axis, counted in the base.
  Dim inBase(Dim at) const { return at && origin() ? dims_.sub(at, origin()->start) : at; }

  bool position(const Expr &value) {
    Dim at = value.dim ? inBase(inProgram_(value.dim)) : Dim();
    if (!at || !isKnown_(at)) {
      select({next_++}, &value, std::nullopt);
      return true;
    }
    // Position 0 of an axis of length 1 only drops the axis, which is a change of the shape.
    if (use_ == IndexUse::Store || !base_.shape[next_].isConstant(1) || !at.isConstant(0))
      positions_.emplace_back(next_, at);
    ++next_;
    return true;
  }

  bool range(const RangeInfo &range, const Expr *value) {
    PlacedSelection slice{next_};
    slice.start = inBase(inProgram_(range.start));
    slice.length = inProgram_(range.length);
    slice.step = range.step ? inProgram_(range.step) : dims_.constant(1);
    if (const auto *written = value ? dyn_cast<RangeExpr>(value) : nullptr)
      slice.stop = inBase(inProgram_(written->hi->dim));
    // What takes all of an axis moves nothing, so the axis stays cut as it is.
    Dim all = origin() ? origin()->length : base_.shape[next_];
    bool isAll =
        slice.start && slice.start.isConstant(0) && slice.length == all && slice.step.isConstant(1);
    if (isAll)
      return keepAxes(1);
    ++next_;
    for (Dim dim : {slice.length, slice.step})
      if (!dim || !isKnown_(dim))
        return false;
    if (!slice.start || !isPosition_(slice.start) || (slice.stop && !isPosition_(slice.stop)))
      return false;
    keep(slice.length, std::nullopt);
    selected_.push_back(slice);
    return true;
  }

  bool rows(const Expr &value) {
    if (value.type->extents.size() != 1)
      return false;
    Dim length = inProgram_(value.type->extents[0].length);
    if (!isKnown_(length))
      return false;
    select({next_++}, &value, shape_.size());
    return keep(length, std::nullopt);
  }

  void select(PlacedSelection at, const Expr *value, std::optional<size_t> axis) {
    operands_.push_back(value);
    rowAxes_.push_back(axis);
    at.operand = operands_.size();
    selected_.push_back(at);
  }

  DimContext &dims_;
  const PlacedValue &base_;
  const std::function<Dim(Dim)> &inProgram_;
  const std::function<bool(Dim)> &isKnown_, &isPosition_;
  IndexUse use_;
  std::span<const IndexOrigin> origins_;
  size_t next_ = 0; ///< axis of the base
  std::vector<Dim> shape_;
  std::vector<std::optional<size_t>> axes_; ///< of the base, per axis of the result
  std::vector<std::pair<size_t, Dim>> positions_;
  std::vector<PlacedSelection> selected_;
  std::vector<const Expr *> operands_;
  std::vector<std::optional<size_t>> rowAxes_; ///< per operand: the axis of the result
};

} // namespace

std::optional<PlacedIndex> placeIndex(DimContext &dims, const PlacedValue &base,
                                      const IndexExpr &expr, size_t prefix,
                                      const std::function<Dim(Dim)> &inProgram,
                                      const std::function<bool(Dim)> &isKnown,
                                      const std::function<bool(Dim)> &isPosition, IndexUse use,
                                      std::span<const IndexOrigin> origins) {
  IndexWalk walk(dims, base, inProgram, isKnown, isPosition, use, origins);
  for (const IndexItem &item : expr.items)
    if (!walk.add(item, prefix))
      return std::nullopt;
  return walk.finish(expr);
}

AxisRule storeRule(AxisRule rule, std::span<const Dim> region, std::span<const Dim> value) {
  AxisLabels labels(value.size());
  // The value is aligned to the region from the end, and repeats where it has extent 1.
  for (size_t i = 1; i <= value.size() && i <= region.size(); ++i)
    if (!value[value.size() - i].isConstant(1) || region[region.size() - i].isConstant(1))
      labels[value.size() - i] = rule.result[region.size() - i];
  rule.operands.insert(rule.operands.begin() + 1, std::move(labels));
  rule.result = rule.operands[0];
  // Positions are needed whole: those that a part lacks would leave elements as they were.
  for (size_t i = 2; i < rule.operands.size(); ++i)
    for (std::optional<int64_t> label : rule.operands[i])
      rule.whole.push_back(*label);
  return rule;
}

} // namespace ptl

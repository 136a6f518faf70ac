#include "frontend/sema/placement/placement_rules.h"

#include <algorithm>
#include <functional>

namespace ptl {

namespace {

/// How the parts of an axis that the result lacks are combined; nothing if they cannot be.
std::optional<Fold> foldOf(const OpExpr &expr) {
  switch (expr.op->linearity) {
  case Linearity::Sums:
  case Linearity::Factors:
    return Fold::Sum;
  case Linearity::Maxima:
    return Fold::Max;
  case Linearity::Minima:
    return Fold::Min;
  case Linearity::Moves: {
    if (expr.op->id != OpId::Scatter)
      return std::nullopt;
    std::string_view how = wordArgument(expr);
    return how == "add"   ? std::optional(Fold::Sum)
           : how == "max" ? std::optional(Fold::Max)
           : how == "min" ? std::optional(Fold::Min)
                          : std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

/// Whether a value can be a summand of each part, or what each part takes the maximum of, because
/// all of them together are the value itself: 0, or for maxima and minima any value.
bool isOwnFold(const PlacedOperand &operand, Fold fold) {
  return operand.placement.isWhole() && (fold == Fold::Sum ? operand.isZero : true);
}

bool isPartialOf(const PlacedOperand &operand, Fold fold) {
  return operand.placement.isPartial() && operand.placement.fold == fold;
}

/// Whether only elements are moved, of operands that are partial, as others select that are the same
/// everywhere. `moves` says which are moved.
bool movesPartial(std::span<const PlacedOperand> operands, Fold fold,
                  const std::function<bool(size_t)> &moves) {
  for (size_t i = 0; i < operands.size(); ++i)
    if (moves(i) ? !isPartialOf(operands[i], fold) && !isOwnFold(operands[i], fold)
                 : !operands[i].placement.isWhole())
      return false;
  return true;
}

/// Whether an operand has the element type of the result, because its elements are those of the
/// result.
bool isMoved(const OpRecord &op, size_t operand) {
  const Signature &signature = op.signatures[0];
  const ElemPattern &from =
      signature.operands[std::min(operand, signature.operands.size() - 1)].elem;
  const ElemPattern &to = signature.results[0].elem;
  return from.kind == ElemPatternKind::Variable && to.kind == ElemPatternKind::Variable &&
         from.var == to.var;
}

/// Whether an operation may be done on summands, the sum taken afterwards.
bool isLinear(const OpExpr &expr, std::span<const PlacedOperand> operands, Fold fold,
              ElemKind elem) {
  size_t partial = 0, own = 0;
  bool othersWhole = true;
  for (const PlacedOperand &operand : operands) {
    bool isPartial = isPartialOf(operand, fold);
    partial += isPartial;
    own += isPartial || isOwnFold(operand, fold);
    othersWhole &= isPartial || operand.placement.isWhole();
  }
  switch (expr.op->linearity) {
  case Linearity::None:
    return false;
  case Linearity::Moves:
    // What a scatter combines with an element has to be what the parts combine.
    if (foldOf(expr).value_or(fold) != fold)
      return false;
    return movesPartial(operands, fold, [&](size_t i) { return isMoved(*expr.op, i); });
  // A value that is the same on every part would be added once for each, so all operands have to be
  // partial.
  case Linearity::Sums:
    return fold == Fold::Sum && own == operands.size();
  // A maximum of maxima is the maximum of all, while the maximum of a sum is not that of its
  // summands.
  case Linearity::Maxima:
    return fold == Fold::Max && own == operands.size();
  case Linearity::Minima:
    return fold == Fold::Min && own == operands.size();
  // A product is linear in each factor, but not in both at once.
  case Linearity::Factors:
    return fold == Fold::Sum && partial == 1 && othersWhole;
  // Division distributes over sums of floats up to rounding, but not over those of integers, where
  // each quotient is cut to a whole number.
  case Linearity::Dividend:
    return fold == Fold::Sum && partial == 1 && othersWhole && operands[0].placement.isPartial() &&
           isFloat(elem);
  }
  return false;
}

/// With a partial operand.
PlacementVerdict placePartial(std::span<const PlacedOperand> operands, size_t partial,
                              bool isLinear) {
  PlacementVerdict verdict;
  verdict.slices.resize(operands.size());
  verdict.operand = partial;
  if (isLinear)
    verdict.result = operands[partial].placement;
  else
    verdict.kind = PlacementVerdict::Kind::PartialValue;
  return verdict;
}

/// With an operand that is cut, and none that is partial.
PlacementVerdict placeCut(std::span<const PlacedOperand> operands, size_t cut, const AxisRule &rule,
                          std::optional<Fold> fold) {
  PlacementVerdict verdict;
  verdict.slices.resize(operands.size());
  verdict.operand = cut;
  auto labelAt = [&](size_t operand, int64_t axis) {
    const AxisLabels &labels = rule.operands[operand];
    return labels[labels.size() - static_cast<size_t>(-axis)];
  };
  // The blocks of the operand that is cut, along an axis of another array.
  auto blocksOn = [&](const AxisLabels &labels, AxisLabels::const_iterator axis) {
    LevelPlacement blocks = operands[cut].placement;
    blocks.axis = (axis - labels.begin()) - static_cast<int64_t>(labels.size());
    return blocks;
  };
  std::optional<int64_t> label = labelAt(cut, operands[cut].placement.axis);
  auto place = std::ranges::find(rule.result, label);
  bool isKept = label && place != rule.result.end();
  if (!label || (!isKept && !fold) || std::ranges::find(rule.whole, *label) != rule.whole.end()) {
    verdict.kind = PlacementVerdict::Kind::NeedsWhole;
    return verdict;
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].placement.isCut()) {
      // Blocks have to meet each other, so they are cut along the same axis, in the same units.
      if (labelAt(i, operands[i].placement.axis) != label ||
          operands[i].placement.unit != operands[cut].placement.unit) {
        verdict.kind = PlacementVerdict::Kind::Conflict;
        verdict.other = i;
        return verdict;
      }
      continue;
    }
    const AxisLabels &labels = rule.operands[i];
    if (auto axis = std::ranges::find(labels, label); axis != labels.end())
      verdict.slices[i] = blocksOn(labels, axis);
  }
  if (isKept)
    verdict.result = blocksOn(rule.result, place);
  else
    verdict.result = {PlacementKind::Partial, 0, *fold};
  return verdict;
}

/// With an operand that one part has. Others that are the same everywhere are there too.
PlacementVerdict placeSingle(std::span<const PlacedOperand> operands, size_t single) {
  PlacementVerdict verdict;
  verdict.slices.resize(operands.size());
  verdict.operand = single;
  verdict.result = operands[single].placement;
  for (size_t i = 0; i < operands.size(); ++i)
    if (!operands[i].placement.isWhole() && operands[i].placement != verdict.result) {
      verdict.kind = PlacementVerdict::Kind::Conflict;
      verdict.other = i;
    }
  return verdict;
}

/// The operand that decides: one that is on one part or partial before those that are cut; nothing
/// if all are the same everywhere.
std::optional<size_t> decisiveOperand(std::span<const PlacedOperand> operands) {
  std::optional<size_t> cut;
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].placement.isSingle())
      return i;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].placement.isPartial())
      return i;
    if (operands[i].placement.isCut() && !cut)
      cut = i;
  }
  return cut;
}

} // namespace

bool hasPlacementRule(const OpRecord &op) { return op.axisFlow != AxisFlow::None; }

std::optional<LevelPlacement> blocksAfterReshape(DimContext &dims, std::span<const Dim> from,
                                                 const LevelPlacement &cut,
                                                 std::span<const Dim> to) {
  size_t axis = from.size() - static_cast<size_t>(-cut.axis);
  auto behind = [&](std::span<const Dim> shape, size_t at) {
    Dim product = dims.constant(1);
    for (Dim dim : shape.subspan(at + 1))
      product = dims.mul(product, dim);
    return product;
  };
  LevelPlacement made = cut;
  auto on = [&](size_t at) {
    made.axis = static_cast<int64_t>(at) - static_cast<int64_t>(to.size());
    return made;
  };
  Dim rest = behind(from, axis), together = dims.mul(from[axis], rest);
  for (size_t at = 0; at < to.size(); ++at)
    if (to[at] == from[axis] && behind(to, at) == rest)
      return on(at);
  // Another axis has the same blocks if it begins at the same elements, and the elements of a unit are a whole number of
  // those inside it. One of length 1 cannot be cut.
  Dim elements = cut.unit ? dims.mul(cut.unit, rest) : rest;
  for (size_t at = 0; at < to.size(); ++at) {
    Dim inside = behind(to, at);
    if (to[at].isConstant(1) || inside.isConstant(0) || dims.mul(to[at], inside) != together)
      continue;
    Dim unit = dims.floorDiv(elements, inside);
    if (!unit || dims.mul(unit, inside) != elements)
      return std::nullopt;
    made.unit = unit.isConstant(1) ? Dim() : unit;
    return on(at);
  }
  return std::nullopt;
}

/// The verdict unless an operand is cut, for which the callers have rules. `keepsPartial`: whether the results of partial
/// operands are partial in the same way. `first`: the operand that decides.
template <typename Keeps>
static std::optional<PlacementVerdict> placeUncut(std::span<const PlacedOperand> operands,
                                                  std::optional<size_t> first, Keeps keepsPartial) {
  if (!first) {
    PlacementVerdict whole;
    whole.slices.resize(operands.size());
    return whole;
  }
  const LevelPlacement &at = operands[*first].placement;
  if (at.isSingle())
    return placeSingle(operands, *first);
  if (at.isPartial())
    return placePartial(operands, *first, keepsPartial(at));
  return std::nullopt;
}

PlacementVerdict placeOp(DimContext &dims, const OpExpr &expr,
                         std::span<const PlacedOperand> operands, std::span<const Dim> shape,
                         ElemKind elem) {
  std::optional<size_t> first = decisiveOperand(operands);
  auto linear = [&](const LevelPlacement &at) { return isLinear(expr, operands, at.fold, elem); };
  if (std::optional<PlacementVerdict> uncut = placeUncut(operands, first, linear))
    return *uncut;
  PlacementVerdict verdict;
  verdict.slices.resize(operands.size());
  if (expr.op->axisFlow == AxisFlow::Reshaped) {
    std::optional<LevelPlacement> blocks =
        blocksAfterReshape(dims, operands[0].shape, operands[0].placement, shape);
    verdict.kind = blocks ? PlacementVerdict::Kind::Fine : PlacementVerdict::Kind::NeedsWhole;
    verdict.result = blocks.value_or(LevelPlacement());
    return verdict;
  }
  if (std::optional<AxisRule> rule = axisRule(expr, operands, shape))
    return placeCut(operands, *first, *rule, foldOf(expr));
  verdict.kind = PlacementVerdict::Kind::NeedsWhole;
  verdict.operand = *first;
  return verdict;
}

PlacementVerdict placeIndexed(const AxisRule &rule, std::span<const PlacedOperand> operands,
                              size_t arrays) {
  std::optional<size_t> first = decisiveOperand(operands);
  auto linear = [&](const LevelPlacement &at) {
    return movesPartial(operands, at.fold, [&](size_t i) { return i < arrays; });
  };
  if (std::optional<PlacementVerdict> uncut = placeUncut(operands, first, linear))
    return *uncut;
  return placeCut(operands, *first, rule, std::nullopt);
}

PlacementVerdict placeWhole(std::span<const PlacedOperand> operands) {
  std::optional<size_t> first = decisiveOperand(operands);
  auto never = [](const LevelPlacement &) { return false; };
  if (std::optional<PlacementVerdict> uncut = placeUncut(operands, first, never))
    return *uncut;
  PlacementVerdict verdict;
  verdict.kind = PlacementVerdict::Kind::NeedsWhole;
  verdict.operand = *first;
  return verdict;
}

} // namespace ptl

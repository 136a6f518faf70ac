#include "frontend/sema/placement/placement_rules.h"

#include <algorithm>

namespace ptl {

namespace {

/// Axes with the same label run together; without one, an axis repeats or is no axis of the rule.
using Labels = std::vector<std::optional<int64_t>>;

/// Names of dimensions of a signature come behind the axes of `..`, which count from the end.
constexpr int64_t kNamedLabel = 1000;

/// The labels of a rule: per operand, and of the result.
struct AxisRule {
  std::vector<Labels> operands;
  Labels result;
  std::vector<int64_t> blocked; ///< labels that one part must have whole
};

Labels countedFromEnd(size_t rank) {
  Labels labels;
  for (size_t axis = 0; axis < rank; ++axis)
    labels.push_back(static_cast<int64_t>(axis) - static_cast<int64_t>(rank));
  return labels;
}

/// An axis of extent 1 repeats where others are longer.
void dropRepeated(std::span<const Dim> shape, std::span<const Dim> result, Labels &labels) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    size_t fromEnd = shape.size() - axis;
    bool isLonger = fromEnd <= result.size() && !result[result.size() - fromEnd].isConstant(1);
    if (shape[axis].isConstant(1) && isLonger)
      labels[axis] = std::nullopt;
  }
}

/// `[.., M, K]` on a shape: the labels of its axes; nothing if it does not fit.
std::optional<Labels> labelsOf(const ShapePattern &pattern, size_t rank) {
  size_t named = pattern.dims.size();
  if (rank < named || (rank > named && !pattern.hasRest))
    return std::nullopt;
  Labels labels = countedFromEnd(rank - named);
  for (uint8_t dim : pattern.dims)
    labels.push_back(kNamedLabel + dim);
  return labels;
}

/// The rule of a signature; nothing if it does not fit, or says too little.
std::optional<AxisRule> ruleOf(const Signature &signature, const OpExpr &expr,
                               std::span<const PlacedOperand> operands,
                               std::span<const Dim> shape) {
  if (signature.results.size() != 1 || signature.operands.empty())
    return std::nullopt;
  AxisRule rule;
  for (size_t i = 0; i < operands.size(); ++i) {
    const TypePattern &pattern = signature.operands[std::min(i, signature.operands.size() - 1)];
    size_t rank = operands[i].shape.size();
    std::optional<Labels> labels;
    if (pattern.shape.kind == ShapePatternKind::Broadcast)
      labels = countedFromEnd(rank);
    else if (pattern.shape.kind == ShapePatternKind::Dims)
      labels = labelsOf(pattern.shape, rank);
    else if (pattern.shape.kind == ShapePatternKind::Scalar && rank == 0)
      labels = Labels();
    if (!labels)
      return std::nullopt;
    rule.operands.push_back(std::move(*labels));
  }
  const ShapePattern &result = signature.results[0].shape;
  if (result.kind == ShapePatternKind::Reduced) {
    rule.result = shape.empty() ? Labels() : rule.operands[0];
    for (size_t axis = 0; axis < rule.result.size(); ++axis)
      if (expr.reducesAll ||
          std::ranges::find(expr.axes, static_cast<int64_t>(axis) -
                                           static_cast<int64_t>(rule.result.size())) !=
              expr.axes.end())
        rule.result[axis] = std::nullopt;
  } else if (result.kind == ShapePatternKind::Broadcast) {
    rule.result = countedFromEnd(shape.size());
  } else if (result.kind == ShapePatternKind::Dims) {
    std::optional<Labels> labels = labelsOf(result, shape.size());
    if (!labels)
      return std::nullopt;
    rule.result = std::move(*labels);
  } else if (result.kind != ShapePatternKind::Scalar || !shape.empty()) {
    return std::nullopt;
  }
  return rule;
}

/// Only what can run together keeps its label where operands broadcast: the axes of `..`, and all of
/// an elementwise operation.
void dropRepeatedOperands(std::span<const PlacedOperand> operands, std::span<const Dim> shape,
                          const OpExpr &expr, AxisRule &rule) {
  size_t named = 0; // axes of the result that are no axes of `..`
  for (std::optional<int64_t> label : rule.result)
    named += label && *label >= kNamedLabel;
  for (size_t i = 0; i < operands.size(); ++i) {
    Labels &labels = rule.operands[i];
    size_t own = 0;
    for (std::optional<int64_t> label : labels)
      own += label && *label >= kNamedLabel;
    if (own == 0 && expr.op->opClass != OpClass::Reduction) {
      dropRepeated(operands[i].shape, shape, labels);
    } else if (labels.size() > own && shape.size() >= named) {
      Labels rest(labels.begin(), labels.end() - static_cast<ptrdiff_t>(own));
      dropRepeated(operands[i].shape.first(rest.size()), shape.first(shape.size() - named), rest);
      std::copy(rest.begin(), rest.end(), labels.begin());
    }
  }
}

std::optional<AxisRule> ruleOfTranspose(const OpExpr &expr, const PlacedOperand &operand) {
  auto rank = static_cast<int64_t>(operand.shape.size());
  AxisRule rule;
  rule.operands.push_back(countedFromEnd(operand.shape.size()));
  rule.result = rule.operands[0];
  if (!expr.axes.empty() && static_cast<int64_t>(expr.axes.size()) == rank)
    for (size_t axis = 0; axis < expr.axes.size(); ++axis)
      rule.result[axis] = expr.axes[axis] < 0 ? expr.axes[axis] : expr.axes[axis] - rank;
  else if (expr.axes.empty() && rank >= 2)
    std::swap(rule.result[static_cast<size_t>(rank) - 1],
              rule.result[static_cast<size_t>(rank) - 2]);
  else
    return std::nullopt;
  return rule;
}

/// How the axes of an operation run; nothing if only whole operands will do.
std::optional<AxisRule> axisRule(const OpExpr &expr, std::span<const PlacedOperand> operands,
                                 std::span<const Dim> shape) {
  if (operands.empty())
    return std::nullopt;
  if (expr.op->id == OpId::Transpose)
    return ruleOfTranspose(expr, operands[0]);
  if (expr.op->id == OpId::Broadcast) {
    AxisRule rule{{countedFromEnd(operands[0].shape.size())}, countedFromEnd(shape.size()), {}};
    dropRepeated(operands[0].shape, shape, rule.operands[0]);
    return rule;
  }
  switch (expr.op->opClass) {
  case OpClass::Elementwise:
  case OpClass::Comparison:
  case OpClass::Select:
  case OpClass::Conversion:
  case OpClass::Reduction:
  case OpClass::Product:
    break;
  case OpClass::Sort: // along one axis, too
  case OpClass::Scan: // along one axis, over which elements wait for each other
    if (operands.size() == 1 && expr.axes.size() == 1 && expr.axes[0] < 0 &&
        operands[0].shape.size() == shape.size())
      return AxisRule{{countedFromEnd(shape.size())}, countedFromEnd(shape.size()), {expr.axes[0]}};
    return std::nullopt;
  case OpClass::Shape: // what is kept depends on the position in the whole matrix
    if (expr.op->id != OpId::Tril && expr.op->id != OpId::Triu)
      return std::nullopt;
    {
      AxisRule rule{{countedFromEnd(shape.size())}, countedFromEnd(shape.size()), {-1, -2}};
      rule.operands.resize(operands.size()); // the number of a diagonal has no axes
      return rule;
    }
  default:
    return std::nullopt;
  }
  for (const Signature &signature : expr.op->signatures)
    if (std::optional<AxisRule> rule = ruleOf(signature, expr, operands, shape)) {
      dropRepeatedOperands(operands, shape, expr, *rule);
      return rule;
    }
  return std::nullopt;
}

/// What the parts of a contracted axis are folded with; nothing if parts cannot be folded.
std::optional<Fold> foldOf(OpId op) {
  switch (op) {
  case OpId::ReduceSum:
  case OpId::Matmul:
    return Fold::Sum;
  case OpId::ReduceMax:
    return Fold::Max;
  case OpId::ReduceMin:
    return Fold::Min;
  default:
    return std::nullopt;
  }
}

/// Whether an operation may be done on summands, the sum taken afterwards.
bool isLinear(const OpExpr &expr, std::span<const PlacedOperand> operands, Fold fold,
              ElemKind elem) {
  size_t partial = 0;
  bool othersWhole = true;
  for (const PlacedOperand &operand : operands) {
    bool isPartial = operand.placement.isPartial() && operand.placement.fold == fold;
    partial += isPartial;
    othersWhole &= isPartial || operand.placement.isWhole();
  }
  switch (expr.op->id) {
  case OpId::Transpose:
  case OpId::Reshape:
  case OpId::Broadcast:
    return partial == 1;
  // A maximum of maxima is the maximum of all, while the maximum of a sum is not that of its
  // summands.
  case OpId::Max:
    return fold == Fold::Max && partial == operands.size();
  case OpId::Min:
    return fold == Fold::Min && partial == operands.size();
  case OpId::ReduceMax:
    return fold == Fold::Max;
  case OpId::ReduceMin:
    return fold == Fold::Min;
  // These are linear: the sum over the parts may be taken behind them. A value that is the same on
  // every part would be added once for each, so all operands have to be partial.
  case OpId::Add:
  case OpId::Sub:
  case OpId::Neg:
  case OpId::ReduceSum:
    return fold == Fold::Sum && partial == operands.size();
  // A product is linear in each factor, but not in both at once.
  case OpId::Mul:
  case OpId::Matmul:
    return fold == Fold::Sum && partial == 1 && othersWhole;
  // What is cut away is 0 in each summand.
  case OpId::Tril:
  case OpId::Triu:
    return fold == Fold::Sum && partial == 1 && operands[0].placement.isPartial();
  // The dividend may be partial: division distributes over sums of floats up to rounding, but not
  // over those of integers, where each quotient is cut to a whole number.
  case OpId::Div:
    return fold == Fold::Sum && partial == 1 && othersWhole && operands[0].placement.isPartial() &&
           isFloat(elem);
  default:
    return false;
  }
}

/// With a partial operand.
PlacementVerdict placePartial(const OpExpr &expr, std::span<const PlacedOperand> operands,
                              size_t partial, ElemKind elem) {
  PlacementVerdict verdict;
  verdict.slices.resize(operands.size());
  verdict.operand = partial;
  Fold fold = operands[partial].placement.fold;
  if (isLinear(expr, operands, fold, elem))
    verdict.result = operands[partial].placement;
  else
    verdict.kind = PlacementVerdict::Kind::PartialValue;
  return verdict;
}

/// With an operand that is cut, and none that is partial.
PlacementVerdict placeCut(const OpExpr &expr, std::span<const PlacedOperand> operands, size_t cut,
                          const AxisRule &rule) {
  PlacementVerdict verdict;
  verdict.slices.resize(operands.size());
  verdict.operand = cut;
  verdict.turn = operands[cut].placement.turn;
  auto labelAt = [&](size_t operand, int64_t axis) {
    const Labels &labels = rule.operands[operand];
    return labels[labels.size() - static_cast<size_t>(-axis)];
  };
  std::optional<int64_t> label = labelAt(cut, operands[cut].placement.axis);
  auto place = std::ranges::find(rule.result, label);
  bool isKept = label && place != rule.result.end();
  if (!label || (!isKept && !foldOf(expr.op->id)) ||
      std::ranges::find(rule.blocked, *label) != rule.blocked.end()) {
    verdict.kind = PlacementVerdict::Kind::NeedsWhole;
    return verdict;
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].placement.isCut()) {
      // Blocks have to meet each other: they are cut along the same axis, and lie on the parts in
      // the same order.
      if (labelAt(i, operands[i].placement.axis) != label ||
          operands[i].placement.turn != operands[cut].placement.turn) {
        verdict.kind = PlacementVerdict::Kind::Conflict;
        verdict.other = i;
        return verdict;
      }
      continue;
    }
    const Labels &labels = rule.operands[i];
    if (auto axis = std::ranges::find(labels, label); axis != labels.end())
      verdict.slices[i] = (axis - labels.begin()) - static_cast<int64_t>(labels.size());
  }
  if (isKept)
    verdict.result = {PlacementKind::Cut,
                      (place - rule.result.begin()) - static_cast<int64_t>(rule.result.size()),
                      Fold::Sum, operands[cut].placement.turn};
  else
    verdict.result = {PlacementKind::Partial, 0, *foldOf(expr.op->id)};
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

} // namespace

bool hasPlacementRule(const OpRecord &op) {
  switch (op.opClass) {
  case OpClass::Elementwise:
  case OpClass::Comparison:
  case OpClass::Select:
  case OpClass::Conversion:
  case OpClass::Reduction:
  case OpClass::Scan:
    return op.id != OpId::Scan && op.id != OpId::Reduce;
  case OpClass::Product:
    return true;
  case OpClass::Shape:
    return op.id == OpId::Transpose || op.id == OpId::Reshape || op.id == OpId::Broadcast ||
           op.id == OpId::Tril || op.id == OpId::Triu;
  case OpClass::Sort:
    return op.id == OpId::Sort || op.id == OpId::Argsort;
  case OpClass::Creation:
    return op.id == OpId::Zeros || op.id == OpId::Ones || op.id == OpId::Full ||
           op.id == OpId::Index;
  default:
    return false;
  }
}

std::optional<int64_t> axisAfterReshape(DimContext &dims, std::span<const Dim> from, int64_t axis,
                                        std::span<const Dim> to) {
  size_t cut = from.size() - static_cast<size_t>(-axis);
  auto behind = [&](std::span<const Dim> shape, size_t at) {
    Dim product = dims.constant(1);
    for (Dim dim : shape.subspan(at + 1))
      product = dims.mul(product, dim);
    return product;
  };
  Dim rest = behind(from, cut);
  for (size_t at = 0; at < to.size(); ++at)
    if (to[at] == from[cut] && behind(to, at) == rest)
      return static_cast<int64_t>(at) - static_cast<int64_t>(to.size());
  return std::nullopt;
}

PlacementVerdict placeOp(DimContext &dims, const OpExpr &expr,
                         std::span<const PlacedOperand> operands, std::span<const Dim> shape,
                         ElemKind elem) {
  PlacementVerdict verdict;
  verdict.slices.resize(operands.size());
  size_t cut = operands.size();
  // A value on one part, or a partial one, decides before those that are cut.
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].placement.isSingle())
      return placeSingle(operands, i);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].placement.isPartial())
      return placePartial(expr, operands, i, elem);
    if (operands[i].placement.isCut() && cut == operands.size())
      cut = i;
  }
  if (cut == operands.size())
    return verdict;
  if (expr.op->id == OpId::Reshape) {
    std::optional<int64_t> axis =
        axisAfterReshape(dims, operands[0].shape, operands[0].placement.axis, shape);
    verdict.kind = axis ? PlacementVerdict::Kind::Fine : PlacementVerdict::Kind::NeedsWhole;
    verdict.result = operands[0].placement;
    verdict.result.axis = axis.value_or(0);
    return verdict;
  }
  if (std::optional<AxisRule> rule = axisRule(expr, operands, shape))
    return placeCut(expr, operands, cut, *rule);
  verdict.kind = PlacementVerdict::Kind::NeedsWhole;
  verdict.operand = cut;
  return verdict;
}

} // namespace ptl

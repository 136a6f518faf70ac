#include "frontend/sema/placement/axis_rule.h"

#include <algorithm>
#include <map>

namespace ptl {

AxisLabels countedFromEnd(size_t rank) {
  AxisLabels labels;
  for (size_t axis = 0; axis < rank; ++axis)
    labels.push_back(static_cast<int64_t>(axis) - static_cast<int64_t>(rank));
  return labels;
}

std::string_view wordArgument(const OpExpr &expr) {
  for (const Expr *arg : expr.args)
    if (const auto *word = arg ? dyn_cast<EnumTagExpr>(arg) : nullptr)
      return word->tag;
  return {};
}

namespace {

/// Names of dimensions of a signature, letters of an equation, and axes that one operand has for
/// itself come after the axes of `..`, which count from the end.
constexpr int64_t kNamedLabel = 1000;

/// An axis of extent 1 repeats where others are longer.
void dropRepeated(std::span<const Dim> shape, std::span<const Dim> result, AxisLabels &labels) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    size_t fromEnd = shape.size() - axis;
    bool isLonger = fromEnd <= result.size() && !result[result.size() - fromEnd].isConstant(1);
    if (shape[axis].isConstant(1) && isLonger)
      labels[axis] = std::nullopt;
  }
}

/// `[.., M, K]` on a shape: the labels of its axes; nothing if it does not fit.
std::optional<AxisLabels> labelsOf(const ShapePattern &pattern, size_t rank) {
  size_t named = pattern.dims.size();
  if (rank < named || (rank > named && !pattern.hasRest))
    return std::nullopt;
  // The axes of `..` come first in a shape, and are counted from their own end: operands with fewer of them broadcast.
  AxisLabels labels = countedFromEnd(rank - named);
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
    // The last pattern of a signature serves for all further operands of an operation that takes any number.
    const TypePattern &pattern = signature.operands[std::min(i, signature.operands.size() - 1)];
    size_t rank = operands[i].shape.size();
    std::optional<AxisLabels> labels;
    if (pattern.shape.kind == ShapePatternKind::Broadcast)
      labels = countedFromEnd(rank);
    else if (pattern.shape.kind == ShapePatternKind::Dims)
      labels = labelsOf(pattern.shape, rank);
    else if (pattern.shape.kind == ShapePatternKind::Scalar && rank == 0)
      labels = AxisLabels();
    if (!labels)
      return std::nullopt;
    rule.operands.push_back(std::move(*labels));
  }
  const ShapePattern &result = signature.results[0].shape;
  if (result.kind == ShapePatternKind::Reduced) {
    // What is folded has no label in the result: cutting it makes partial values.
    rule.result = shape.empty() ? AxisLabels() : rule.operands[0];
    for (size_t axis = 0; axis < rule.result.size(); ++axis)
      if (expr.reducesAll ||
          std::ranges::find(expr.axes, static_cast<int64_t>(axis) -
                                           static_cast<int64_t>(rule.result.size())) !=
              expr.axes.end())
        rule.result[axis] = std::nullopt;
  } else if (result.kind == ShapePatternKind::Broadcast) {
    rule.result = countedFromEnd(shape.size());
  } else if (result.kind == ShapePatternKind::Dims) {
    std::optional<AxisLabels> labels = labelsOf(result, shape.size());
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
    AxisLabels &labels = rule.operands[i];
    size_t own = 0;
    for (std::optional<int64_t> label : labels)
      own += label && *label >= kNamedLabel;
    if (own == 0 && expr.op->opClass != OpClass::Reduction) {
      dropRepeated(operands[i].shape, shape, labels);
    } else if (labels.size() > own && shape.size() >= named) {
      AxisLabels rest(labels.begin(), labels.end() - static_cast<ptrdiff_t>(own));
      dropRepeated(operands[i].shape.first(rest.size()), shape.first(shape.size() - named), rest);
      std::copy(rest.begin(), rest.end(), labels.begin());
    }
  }
}

std::optional<AxisRule> permuted(const OpExpr &expr, const PlacedOperand &operand) {
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

/// By position, and the axis along which the operation works must be whole.
AxisRule along(const OpExpr &expr, std::span<const PlacedOperand> operands,
               std::span<const Dim> shape) {
  AxisRule rule;
  for (const PlacedOperand &operand : operands)
    rule.operands.push_back(countedFromEnd(operand.shape.size()));
  rule.result = countedFromEnd(shape.size());
  rule.whole = {expr.axes.empty() ? -1 : expr.axes[0]};
  return rule;
}

std::optional<int64_t> &labelAt(AxisLabels &labels, int64_t axis) {
  return labels[labels.size() - static_cast<size_t>(-axis)];
}

/// Of a scatter the positions and the new elements have an axis of their own. Each part may scatter
/// its block of them if elements are combined in any order, and the array to start from leaves what
/// it is combined with as it is.
AxisRule scattered(const OpExpr &expr, std::span<const PlacedOperand> operands,
                   std::span<const Dim> shape) {
  AxisRule rule = along(expr, operands, shape);
  int64_t axis = rule.whole[0];
  for (size_t i = 1; i < rule.operands.size(); ++i)
    labelAt(rule.operands[i], axis) = kNamedLabel;
  std::string_view how = wordArgument(expr);
  if (how != "max" && how != "min" && !(how == "add" && operands[0].isZero))
    // Otherwise the order of elements at one position counts, or the array to start from would be added once for each part.
    rule.whole.push_back(kNamedLabel);
  return rule;
}

/// The positions and the result of a gather share an axis, of which the array has another length.
AxisRule gathered(const OpExpr &expr, std::span<const PlacedOperand> operands,
                  std::span<const Dim> shape) {
  AxisRule rule = along(expr, operands, shape);
  // Any position may be asked for, so the array must be whole along its axis, while positions and result are cut alike.
  labelAt(rule.operands[0], rule.whole[0]) = kNamedLabel;
  rule.whole = {kNamedLabel};
  return rule;
}

/// An axis with margins has other blocks than before.
AxisRule withMargins(const OpExpr &expr, std::span<const PlacedOperand> operands,
                     std::span<const Dim> shape) {
  AxisRule rule = along(expr, operands, shape);
  rule.whole.clear();
  size_t named = expr.shape.size() / 2;
  for (size_t i = 0; i < named; ++i)
    // Without a margin an axis keeps its blocks.
    if (!expr.shape[i].isConstant(0) || !expr.shape[named + i].isConstant(0))
      rule.whole.push_back(static_cast<int64_t>(i) - static_cast<int64_t>(named));
  return rule;
}

/// `mk,kn->mn`: one label per letter. A letter that one operand has twice selects a diagonal.
std::optional<AxisRule> lettered(const OpExpr &expr, std::span<const PlacedOperand> operands,
                                 std::span<const Dim> shape) {
  AxisRule rule;
  std::vector<AxisLabels> all(1);
  for (char letter : expr.equation)
    if (letter == ',' || letter == '-')
      all.emplace_back();
    else if (letter != '>' && letter != ' ')
      all.back().push_back(kNamedLabel + letter);
  rule.result = std::move(all.back());
  all.pop_back();
  rule.operands = std::move(all);
  bool fits = rule.operands.size() == operands.size() && rule.result.size() == shape.size();
  for (size_t i = 0; i < operands.size() && fits; ++i) {
    fits = rule.operands[i].size() == operands[i].shape.size();
    for (std::optional<int64_t> label : rule.operands[i])
      if (std::ranges::count(rule.operands[i], label) > 1)
        rule.whole.push_back(*label);
  }
  return fits ? std::optional(std::move(rule)) : std::nullopt;
}

std::optional<AxisRule> named(const OpExpr &expr, std::span<const PlacedOperand> operands,
                              std::span<const Dim> shape) {
  for (const Signature &signature : expr.op->signatures)
    if (std::optional<AxisRule> rule = ruleOf(signature, expr, operands, shape)) {
      dropRepeatedOperands(operands, shape, expr, *rule);
      return rule;
    }
  return std::nullopt;
}

} // namespace

std::optional<AxisRule> axisRule(const OpExpr &expr, std::span<const PlacedOperand> operands,
                                 std::span<const Dim> shape) {
  if (operands.empty())
    return std::nullopt;
  switch (expr.op->axisFlow) {
  case AxisFlow::Named:
    return named(expr, operands, shape);
  case AxisFlow::Along:
    return expr.op->id == OpId::Scatter ? scattered(expr, operands, shape)
                                        : along(expr, operands, shape);
  case AxisFlow::Gathered:
    return gathered(expr, operands, shape);
  case AxisFlow::Matrices: {
    AxisRule rule = along(expr, operands, shape);
    rule.whole = {-1, -2};
    return rule;
  }
  case AxisFlow::Margins:
    return withMargins(expr, operands, shape);
  case AxisFlow::Appended: {
    AxisRule rule = along(expr, operands, shape);
    rule.operands[0] = countedFromEnd(shape.size());
    rule.operands[0].pop_back();
    return rule;
  }
  case AxisFlow::Permuted:
    return permuted(expr, operands[0]);
  case AxisFlow::Repeated: {
    AxisRule rule = along(expr, operands, shape);
    rule.whole.clear();
    dropRepeated(operands[0].shape, shape, rule.operands[0]);
    return rule;
  }
  case AxisFlow::Lettered:
    return lettered(expr, operands, shape);
  case AxisFlow::Reshaped: // by the lengths of the axes, `blocksAfterReshape`
  case AxisFlow::Everywhere:
  case AxisFlow::None:
    break;
  }
  return std::nullopt;
}

} // namespace ptl

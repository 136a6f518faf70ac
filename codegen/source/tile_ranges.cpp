#include "codegen/source/tile_ranges.h"

#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_expressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

/// The open range whose part `position`, `length` is; with a null position any range of this
/// length.
const OpenRange *rangeOf(const BodyCode &code, Value position, Value length) {
  // Inner ranges are looked at first, since they hide outer ones.
  for (const OpenRange &range : llvm::reverse(code.ranges())) {
    if (position && range.position != position)
      continue;
    // A part as long as the step is whole, if the range has no shorter last part.
    bool isWhole = isConstant(length, getConstantIntValue(range.step).value_or(-1)) &&
                   range.lengths.empty() && position;
    if (isWhole || llvm::is_contained(range.lengths, length))
      return &range;
  }
  return nullptr;
}

/// `i.start`, `i.end`, `i.len`, where the value is that.
std::optional<Expression> rangePart(const BodyCode &code, Value value) {
  for (const OpenRange &range : llvm::reverse(code.ranges())) {
    if (range.position == value)
      // The first value of the range is where the loop is.
      return Expression{range.name + ".start"};
    if (llvm::is_contained(range.lengths, value))
      return Expression{range.name + ".len"};
    auto sum = value.getDefiningOp<arith::AddIOp>();
    if (sum && sum.getLhs() == range.position && rangeOf(code, range.position, sum.getRhs()))
      return Expression{range.name + ".end"};
  }
  return std::nullopt;
}

/// A length as a dimension of a type: that of a range is its name.
Expression lengthText(BodyCode &code, Value length) {
  if (const OpenRange *range = rangeOf(code, {}, length))
    return {range->name};
  return valueText(code, length);
}

Expression extentText(const ir::Extent &extent) {
  if (extent.isConstant())
    return {std::to_string(extent.length)};
  return dimension(extent.symbol.getValue());
}

std::string typeText(BodyCode &code, Type type, ValueRange lengths) {
  std::string text = elementText(ir::elementTypeOf(type));
  if (ir::rankOf(type) == 0)
    return text;
  std::vector<std::string> extents;
  // Lengths are given for the extents that have no number.
  size_t next = 0;
  for (const ir::Extent &extent : ir::extentsOf(type)) {
    bool fromOperand = !extent.isConstant() && next < lengths.size();
    extents.push_back(fromOperand ? lengthText(code, lengths[next++]).text
                                  : extentText(extent).text);
  }
  return text + "[" + llvm::join(extents, ", ") + "]";
}

/// `a..b`, or `a:b` in an index, with a step where there is one. The end is found back where the
/// length was computed from it.
Expression rangeText(BodyCode &code, Value offset, Value length, Value step,
                     const char *separator) {
  bool isIndex = std::string_view(separator) == ":";
  Expression start = valueText(code, offset);
  std::optional<int64_t> first = getConstantIntValue(offset), count = getConstantIntValue(length),
                         stride = step ? getConstantIntValue(step) : 1;
  Expression end;
  auto difference = length.getDefiningOp<arith::SubIOp>();
  bool isUnit = stride == 1;
  // All constants: the end is behind the last position.
  if (first && count && stride) {
    end = {std::to_string(*first + (*count > 0 ? (*count - 1) * *stride + 1 : 0))};
  } else if (isUnit && difference && difference.getRhs() == offset) {
    // The length was made as end minus start, so the end can be read off.
    end = valueText(code, difference.getLhs());
  } else if (isUnit && first == 0) {
    end = valueText(code, length);
  } else if (isUnit) {
    end = binary(start, "+", valueText(code, length));
  } else {
    // With a step the end is behind the last position that is taken.
    Expression last =
        binary(binary(valueText(code, length), "-", {"1"}), "*", valueText(code, step));
    end = binary(first == 0 ? last : binary(start, "+", last), "+", {"1"});
  }
  std::string text = start.as(Precedence::Or) + separator + end.as(Precedence::Or);
  if (!isUnit)
    text += (isIndex ? ":" : " step ") + valueText(code, step).as(Precedence::Or);
  return {text, Precedence::None};
}

} // namespace ptl::source

#include "codegen/source/tile_builtins.h"

#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_literals.h"
#include "codegen/source/tile_ranges.h"
#include "ir/dialect/attributes.h"
#include "passes/analysis/op_info.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

/// The operands of each parameter that has some. What may have several takes what the others leave.
static std::vector<ValueRange> operandsByParam(Operation *op, const OpRecord &record) {
  std::vector<ValueRange> result(record.params.size());
  llvm::ArrayRef<int32_t> segments;
  // Operations with several variable parameters note how many operands each has; for others it
  // follows from the number of operands.
  if (auto sizes = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes"))
    segments = sizes;
  else if (op->getPropertiesStorage())
    if (auto sizes = dyn_cast_or_null<DenseI32ArrayAttr>(
            op->getInherentAttr("operandSegmentSizes").value_or(Attribute())))
      segments = sizes;
  auto hasOperands = [](const OpParam &param) {
    return param.kind == ParamKind::Value || param.kind == ParamKind::Dims ||
           param.kind == ParamKind::ArrayType || param.kind == ParamKind::Dim;
  };
  auto isSingle = [](const OpParam &param) {
    return param.kind == ParamKind::Value && !param.variadic && !param.optional;
  };
  unsigned singles = 0;
  for (const OpParam &param : record.params)
    singles += hasOperands(param) && isSingle(param);
  size_t segment = 0, next = 0;
  for (size_t i = 0; i < record.params.size(); ++i) {
    const OpParam &param = record.params[i];
    if (!hasOperands(param))
      continue;
    // At most one parameter may take several operands, so it gets what is left.
    size_t count = !segments.empty() ? static_cast<size_t>(segments[segment++])
                   : isSingle(param) ? 1
                                     : op->getNumOperands() - singles;
    result[i] =
        ValueRange(op->getOperands()).slice(next, std::min(count, op->getNumOperands() - next));
    next += count;
  }
  return result;
}

static std::string axesText(Operation *op, const OpParam &param) {
  if (auto one = op->getAttrOfType<IntegerAttr>("axis")) {
    // The default is left out; it is written `-1` and stored as the last axis.
    bool isLast = one.getInt() == ir::rankOf(op->getOperand(0).getType()) - 1;
    return param.defaultText == "-1" && isLast ? "" : std::to_string(one.getInt());
  }
  auto list = op->getAttrOfType<DenseI64ArrayAttr>("axes");
  if (!list)
    return "";
  if (list.size() == 1 && param.keywordOnly)
    return std::to_string(list[0]);
  std::vector<std::string> texts;
  for (int64_t axis : list.asArrayRef())
    texts.push_back(std::to_string(axis));
  return "[" + llvm::join(texts, ", ") + "]";
}

/// The text of one argument without its name; empty: it is left out.
static std::string argumentText(BodyCode &code, Operation *op, const OpRecord &record,
                                size_t number, ValueRange operands) {
  const OpParam &param = record.params[number];
  Attribute attribute = op->getAttr(param.name);
  auto unless = [&](const std::string &text) { return text == param.defaultText ? "" : text; };
  switch (param.kind) {
  case ParamKind::Value: {
    // `full` takes the type of its value from its own type.
    std::vector<std::string> texts;
    ArrayAttr among = attrs::texts.of(op);
    for (auto [place, each] : llvm::enumerate(operands)) {
      auto text = among ? dyn_cast<StringAttr>(among[place]) : StringAttr();
      texts.push_back(text ? quoted(text.getValue())
                      : record.id == OpId::Full && constantAttribute(each)
                          ? literalText(constantAttribute(each), each.getType(), false).text
                          : operandText(code, op, each).text);
    }
    return llvm::join(texts, ", ");
  }
  case ParamKind::Axis:
  case ParamKind::Axes:
    return axesText(op, param);
  case ParamKind::BoolConst:
    return attribute ? unless(cast<BoolAttr>(attribute).getValue() ? "true" : "false") : "";
  case ParamKind::IntConst:
    return attribute ? unless(std::to_string(cast<IntegerAttr>(attribute).getInt())) : "";
  case ParamKind::Enum:
    return attribute ? unless("." + cast<StringAttr>(attribute).str()) : "";
  case ParamKind::Text:
    return attribute ? quoted(cast<StringAttr>(attribute).getValue()) : "";
  case ParamKind::ArrayType:
    return typeText(code, op->getResult(0).getType(), operands);
  // Margins are values and no lengths.
  case ParamKind::Dims: {
    if (record.id == OpId::Pad) {
      std::vector<std::string> texts;
      for (Value each : operands)
        texts.push_back(valueText(code, each).text);
      return texts.empty() ? "" : "[" + llvm::join(texts, ", ") + "]";
    }
    // The lengths stand in the type, whose element type is not written here.
    std::string type = typeText(code, op->getResult(0).getType(), operands);
    return type.substr(type.find('['));
  }
  case ParamKind::Dim: {
    const ir::Extent &extent = ir::extentsOf(op->getResult(0).getType()).back();
    return operands.empty() ? extentText(extent).text : lengthText(code, operands[0]).text;
  }
  case ParamKind::ElemType:
    return unless(elementText(ir::elementTypeOf(op->getResult(0).getType())));
  case ParamKind::Range:
  case ParamKind::Region:
  case ParamKind::Function:
    break;
  }
  return "";
}

static bool isLastSwap(Operation *op) {
  // `.T` swaps the last two axes and nothing else.
  auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes");
  if (!axes || axes.size() < 2)
    return false;
  auto last = static_cast<int64_t>(axes.size()) - 1;
  for (int64_t i = 0; i < last - 1; ++i)
    if (axes[i] != i)
      return false;
  return axes[last] == last - 1 && axes[last - 1] == last;
}

static Expression conversionText(BodyCode &code, Operation *op) {
  Type from = ir::elementTypeOf(op->getOperand(0).getType()),
       to = ir::elementTypeOf(op->getResult(0).getType());
  std::string round = op->getAttrOfType<StringAttr>("round").str();
  bool saturate = op->getAttrOfType<BoolAttr>("saturate").getValue();
  bool roundsToInteger =
      isa<FloatType>(from) && isa<IntegerType, IndexType>(to) && !to.isInteger(1);
  std::string text = elementText(to) + "(" + valueText(code, op->getOperand(0)).text;
  if (round != "even" || roundsToInteger)
    text += ", round: ." + round;
  return {text + (saturate ? ", saturate: true)" : ")")};
}

/// `index(r)`: its operands are the start and, unless it is a number, the length.
static Expression creationIndexText(BodyCode &code, Operation *op) {
  // A length that is not constant is the second operand.
  Value start = op->getOperand(0);
  if (op->getNumOperands() > 1) {
    Value length = op->getOperand(1);
    const OpenRange *range = rangeOf(code, start, length);
    return {"index(" + (range ? range->name : rangeText(code, start, length, {}, "..").text) + ")"};
  }
  // A constant length may be that of a range whose tiles are all whole.
  int64_t length = ir::extentsOf(op->getResult(0).getType())[0].length;
  for (const OpenRange &range : code.ranges())
    if (range.position == start && range.lengths.empty() &&
        getConstantIntValue(range.step) == length)
      return {"index(" + range.name + ")"};
  Expression first = valueText(code, start), count{std::to_string(length)};
  std::optional<int64_t> number = getConstantIntValue(start);
  // A sum of numbers is computed, which reads better.
  Expression end =
      number ? Expression{std::to_string(*number + length)} : binary(first, "+", count);
  return {"index(" + first.as(Precedence::Or) + ".." + end.as(Precedence::Or) + ")"};
}

/// A product of blocks as it is called: with the right factor as it lies, of which the operation takes the transpose.
/// Tiles have scales as their codes.
static Expression scaledDotText(BodyCode &code, ir::MatmulOp product) {
  auto scales = [&](Value codes) {
    return "bitcast(" + valueText(code, codes).text + ", to: f8e8m0)";
  };
  auto turned = product.getB().getDefiningOp<ir::TransposeOp>();
  std::string right = turned ? valueText(code, turned.getX()).text
                             : valueText(code, product.getB()).as(Precedence::Postfix) + ".T";
  return {"scaled_dot(" + valueText(code, product.getA()).text + ", " +
          scales(product.getScales()[0]) + ", " + right + ", " + scales(product.getScales()[1]) +
          ")"};
}

Expression builtinText(BodyCode &code, Operation *op, const OpRecord &record) {
  if (auto product = dyn_cast<ir::MatmulOp>(op); product && !product.getScales().empty())
    return scaledDotText(code, product);
  if (record.id == OpId::Index)
    return creationIndexText(code, op);
  if (record.id == OpId::Convert)
    return conversionText(code, op);
  if (record.id == OpId::Transpose && isLastSwap(op))
    return {valueText(code, op->getOperand(0)).as(Precedence::Postfix) + ".T"};
  std::vector<ValueRange> operands = operandsByParam(op, record);
  size_t values = 0;
  for (const ValueRange &each : operands)
    values += each.size();
  bool hasOptions = false;
  // An operator with options cannot be written infix.
  for (size_t i = 0; i < record.params.size(); ++i)
    hasOptions |=
        record.params[i].keywordOnly && !argumentText(code, op, record, i, operands[i]).empty();
  if (record.isOperator && values == 2 && !hasOptions)
    return binary(operandText(code, op, op->getOperand(0)), record.name,
                  operandText(code, op, op->getOperand(1)));
  if (record.isOperator && values == 1) {
    bool isWord = record.name == "not";
    Precedence bind = isWord ? Precedence::Not : Precedence::Unary;
    return {std::string(record.name) + (isWord ? " " : "") +
                valueText(code, op->getOperand(0)).as(bind),
            bind};
  }
  // Operators have names as functions for this case.
  std::string_view name = record.name;
  for (std::string_view alias : record.aliases)
    if (record.isOperator && isIdentifier(alias))
      name = alias;
  std::vector<std::string> arguments;
  for (size_t i = 0; i < record.params.size(); ++i) {
    // What is left out has its default.
    std::string text = argumentText(code, op, record, i, operands[i]);
    if (!text.empty())
      arguments.push_back(
          (record.params[i].keywordOnly ? std::string(record.params[i].name) + ": " : "") + text);
  }
  return {std::string(name) + "(" + llvm::join(arguments, ", ") + ")"};
}

} // namespace ptl::source

#include "codegen/source/tile_expressions.h"

#include "codegen/source/op_kinds.h"
#include "codegen/source/origins.h"
#include "codegen/source/tile_boxes.h"
#include "codegen/source/tile_builtins.h"
#include "codegen/source/tile_folds.h"
#include "codegen/source/tile_literals.h"
#include "codegen/source/tile_positions.h"
#include "codegen/source/tile_ranges.h"
#include "codegen/source/tile_scalars.h"
#include "ir/dialect/fold.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/source_place.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

/// `a and b`, which computes `b` only where it matters, or a branch as a value.
static Expression conditionalText(BodyCode &code, scf::IfOp branch) {
  auto resultOf = [](Region &region) { return region.front().getTerminator()->getOperand(0); };
  Value whole = resultOf(branch.getThenRegion()), other = resultOf(branch.getElseRegion());
  auto isBool = [](Value value, int64_t expected) {
    return value.getType().isInteger(1) && getConstantIntValue(value) == expected;
  };
  // `if a { b } else { false }`: `b` is computed only if `a` holds.
  if (isBool(other, 0))
    return binary(valueText(code, branch.getCondition()), "and", valueText(code, whole));
  if (isBool(whole, -1))
    return binary(valueText(code, branch.getCondition()), "or", valueText(code, other));
  auto arm = [&](Value result) { return "{ " + valueText(code, result).text + " }"; };
  return {"if " + valueText(code, branch.getCondition()).text + " " + arm(whole) + " else " +
              arm(other),
          Precedence::None};
}

Expression expressionOf(BodyCode &code, Operation *op) {
  // The locations of parts make the origin of the statement that they end up in.
  code.addOrigin(op->getLoc());
  Attribute constant = op->getNumResults() == 0 ? Attribute() : constantAttribute(op->getResult(0));
  if (constant)
    return literalText(constant, op->getResult(0).getType(), true);
  if (std::optional<Expression> own = code.kind().written(op))
    return *own;
  if (isPositionOp(op))
    return positionOpText(code, op);
  if (auto slice = dyn_cast<ir::SliceOp>(op)) {
    // In a kernel an array in global memory must be loaded by indexing.
    bool isPlain =
        !slice.getOutside() && (!code.indexesArrays() || !code.isGlobal(slice.getSource()));
    if (isPlain && isWholeBox(code, slice.getSource(), slice.getOffsets(), slice.getLengths(),
                              slice.getSteps(), slice.getDropped()))
      return valueText(code, slice.getSource());
    return {indexedText(code, op)};
  }
  if (auto load = dyn_cast<ir::LoadOp>(op)) {
    if (!code.indexesArrays() && !load.getOutside() &&
        isWholeBox(code, load.getRef(), load.getOffsets(), load.getLengths(), load.getSteps(),
                   load.getDropped()))
      return {baseText(code, load.getRef())};
    return {indexedText(code, op)};
  }
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults() == 1)
    return conditionalText(code, branch);
  if (isa<ir::TakeOp, ir::NewAxisOp>(op))
    return {indexedText(code, op)};
  // Casts change a type and have no text.
  if (isTransparent(op) || isa<ir::CastOp>(op))
    return valueText(code, op->getOperand(0));
  if (const OpRecord *record = ir::recordOf(op))
    return builtinText(code, op, *record);
  if (isa<ir::FoldOp>(op))
    return {foldText(code, op)};
  if (std::optional<Expression> own = scalarText(code, op))
    return *own;
  // The text must stay well formed, so that the rest can be printed.
  code.unwritable(op, "`" + op->getName().getStringRef().str() + "` has no spelling");
  return {"0"};
}

Expression valueText(BodyCode &code, Value value) {
  auto whole = [&](const Expression &name) -> Expression {
    if (!code.indexesArrays() || !code.isGlobal(value))
      return name;
    std::vector<std::string> axes(static_cast<size_t>(ir::rankOf(value.getType())), ":");
    return {name.text + "[" + llvm::join(axes, ", ") + "]"};
  };
  if (code.isKnown(value))
    return whole(code.known(value));
  // A position that a range stands for is written with the range's name.
  if (std::optional<Expression> part = rangePart(code, value))
    return *part;
  if (std::optional<Expression> outside = code.kind().foreign(value))
    return whole(*outside);
  Operation *op = value.getDefiningOp();
  if (!op || isPositionOp(op))
    if (std::optional<Expression> own = code.kind().positionText(value))
      return *own;
  if (!op) {
    code.unwritable(cast<BlockArgument>(value).getOwner()->getParentOp(), "a value has no name");
    return {"0"};
  }
  // In the first run each position is visited once, and only counted from then on.
  if (isPositionOp(op) && !isa<ir::DimOp>(op) && code.isCounting() && code.countPosition(op))
    return {"n"};
  Expression expression = expressionOf(code, op);
  // A long position that is used often gets a name before the kernel's grid, if it can be computed
  // there. So does a choice, which the checker then knows to be one value for all iterations.
  bool isOften = code.isWrittenOften(op) || (isa<arith::SelectOp>(op) && !code.isCounting());
  bool often = isPositionOp(op) && isOften && weightOf(expression.text) > kShort;
  if (std::string *prologue = often ? code.kind().prologueFor(op) : nullptr) {
    std::string name = code.names().fresh(code.nameHint(op));
    *prologue += withOrigin("let " + name + " = " + expression.text, op->getLoc()) + "\n";
    code.know(value, name);
    return {name};
  }
  return expression;
}

/// A name for a value that needs one: its own, or after what it is a part of, or what made it.
std::string wantedName(const BodyCode &code, Value value) {
  if (std::string name = code.kind().nameFor(value); !name.empty())
    return name;
  Operation *op = value.getDefiningOp();
  std::string own = block::nameOf(value.getLoc()), base;
  if (op && isa<ir::SliceOp, ir::LoadOp, ir::TakeOp, ir::NewAxisOp, ir::CastOp>(op)) {
    Value source = op->getOperand(0);
    base = code.isKnown(source) ? code.known(source).text : wantedName(code, source);
  }
  // The name of the whole would be misleading for a part of it.
  if (isIdentifier(own) && own != base)
    return own;
  if (!op)
    return "x";
  if (!base.empty())
    return isIdentifier(base) ? base + "_tile" : "t";
  llvm::StringRef mnemonic = op->getName().stripDialect();
  mnemonic.consume_front("reduce_");
  // The checker makes another operation of what is written for it.
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return "convert";
  return isIdentifier(mnemonic.str()) ? mnemonic.str() : "t";
}

} // namespace ptl::source

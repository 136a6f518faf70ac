#include "codegen/source/op_kinds.h"

#include "frontend/base/elem_type.h"
#include "ir/dialect/element_types.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/source_place.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ptl::source {

bool isConstant(Value value, int64_t expected) { return getConstantIntValue(value) == expected; }

bool isPositionOp(Operation *op) {
  if (isa<ir::DimOp>(op))
    return true;
  // Constants are written where they are used.
  if (!isa<arith::ArithDialect>(op->getDialect()) || op->getNumResults() != 1 ||
      op->hasTrait<OpTrait::ConstantLike>())
    return false;
  Type type = op->getResult(0).getType();
  // Positions are integers, and conditions on them are part of their arithmetic.
  return type.isIndex() || type.isInteger(1);
}

bool isTransparent(Operation *op) {
  if (auto cast = dyn_cast<ir::CastOp>(op)) {
    // A value that the author pinned to a place gets a name.
    ir::Place place = cast.getType().getPlace();
    return place == ir::Place::Inferred || place == ir::Place::Gm ||
           block::nameOf(op->getLoc()).empty();
  }
  return isa<ir::ConvertOp>(op) && ir::elementTypeOf(op->getOperand(0).getType()) ==
                                       ir::elementTypeOf(op->getResult(0).getType());
}

/// Whether a slice is all of its source, as the operations beside it say.
static bool isWholeSlice(ir::SliceOp slice) {
  if (!slice.getSteps().empty() || !slice.getDropped().empty() || slice.getOutside())
    return false;
  // A slice is the whole if each axis begins at 0 and has the length of the source.
  for (auto [axis, extent] : llvm::enumerate(ir::extentsOf(slice.getSource().getType()))) {
    Value length = slice.getLengths()[axis];
    auto dim = length.getDefiningOp<ir::DimOp>();
    bool isAll = extent.isConstant()
                     ? getConstantIntValue(length) == extent.length
                     : dim && dim.getSource() == slice.getSource() && dim.getAxis() == axis;
    if (!isAll || getConstantIntValue(slice.getOffsets()[axis]) != 0)
      return false;
  }
  return true;
}

bool isCheap(Operation *op) {
  const OpRecord *record = ir::recordOf(op);
  // Creating an array from a number costs nothing that a kernel would want to share.
  if (record && record->opClass == OpClass::Creation && record->id != OpId::OneHot)
    return true;
  // The conversion of a position is a scalar, unless it is broadcast.
  if (record && record->id == OpId::Convert && op->getOperand(0).getType().isIndex())
    return ir::rankOf(op->getResult(0).getType()) == 0;
  auto slice = dyn_cast<ir::SliceOp>(op);
  Operation *source = slice ? slice.getSource().getDefiningOp() : nullptr;
  return source && isCheap(source) && isWholeSlice(slice);
}

std::string elementText(Type scalar) { return std::string(elemName(ir::elemKindOf(scalar))); }

bool isConstantLike(Operation *op) { return op->hasTrait<OpTrait::ConstantLike>(); }

bool isMadeAgain(ir::CheckOp check) {
  // The builder adds these checks itself when it reads the text.
  return check.getStatus() == "bounds" || check.getStatus() == "arithmetic";
}

} // namespace ptl::source

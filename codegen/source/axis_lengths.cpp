#include "codegen/source/axis_lengths.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/lengths.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace ptl::source {

/// The length as the type names it, in the dimensions of the entry.
static Dim namedLength(Positions &positions, Value array, const ir::Extent &extent) {
  Operation *owner = array.getParentRegion()->getParentOp();
  auto function = dyn_cast<func::FuncOp>(owner);
  if (!function)
    function = owner->getParentOfType<func::FuncOp>();
  for (BlockArgument each : function.getArguments())
    if (auto dim = attrs::dim.of(function, each.getArgNumber()))
      positions.knowLength(dim.str(), each);
  return positions.named(extent.symbol.getValue());
}

Dim lengthOf(Positions &positions, Value array, unsigned axis) {
  const ir::Extent &extent = ir::extentsOf(array.getType())[axis];
  if (extent.isConstant())
    return positions.constant(extent.length);
  Value length = ir::knownLength(array, axis);
  return length ? positions.of(length) : namedLength(positions, array, extent);
}

bool isLengthOf(Positions &positions, Value position, Value array, unsigned axis) {
  Dim wanted = positions.of(position);
  if (wanted && wanted == lengthOf(positions, array, axis))
    return true;
  // Types may give the length the name that they give the position, an axis of another array.
  const ir::Extent &extent = ir::extentsOf(array.getType())[axis];
  auto dim = position.getDefiningOp<ir::DimOp>();
  if (dim && ir::extentsOf(dim.getSource().getType())[dim.getAxis()] == extent)
    return true;
  // Requirements may make lengths equal that are computed in different ways.
  return wanted && !extent.isConstant() && wanted == namedLength(positions, array, extent);
}

} // namespace ptl::source

#include "codegen/source/stored_whole.h"

#include "codegen/source/axis_lengths.h"
#include "codegen/source/tile_kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ptl::source {

/// Whether a loop goes along the tile that begins at its lower bound, a position of a grid.
static bool goesAlongTile(scf::ForOp loop) {
  auto position = dyn_cast<BlockArgument>(loop.getLowerBound());
  auto grid = position ? dyn_cast<ir::ParallelOp>(position.getOwner()->getParentOp()) : nullptr;
  auto end = loop.getUpperBound().getDefiningOp<arith::AddIOp>();
  auto length = end && end.getLhs() == position ? end.getRhs().getDefiningOp<arith::MinSIOp>()
                                                : arith::MinSIOp();
  auto rest = length ? length.getLhs().getDefiningOp<arith::SubIOp>() : arith::SubIOp();
  if (!grid || !rest || rest.getRhs() != position)
    return false;
  unsigned axis = position.getArgNumber();
  return grid.getUpper()[axis] == rest.getLhs() && grid.getSteps()[axis] == length.getRhs();
}

bool storesWhole(Value ref, llvm::ArrayRef<ir::ParallelOp> grids) {
  Positions positions;
  // Several grids that store parts of it are one kernel only if the parts come one after the other.
  bool isAlone = llvm::count_if(grids, [&](ir::ParallelOp grid) {
                   return llvm::is_contained(storedRefs(grid), ref);
                 }) == 1;
  // Whether positions below `upper` are all of an axis.
  auto isWholeAxis = [&](Value upper, size_t axis) {
    if (!isAlone)
      return true;
    const ir::Extent &extent = ir::extentsOf(ref.getType())[axis];
    std::optional<int64_t> number = getConstantIntValue(upper);
    if (extent.isConstant())
      return !number || *number == extent.length;
    return isLengthOf(positions, upper, ref, static_cast<unsigned>(axis));
  };
  auto isCut = [&](Value offset, size_t axis) {
    auto position = dyn_cast<BlockArgument>(offset);
    if (!position)
      return false;
    Operation *around = position.getOwner()->getParentOp();
    if (auto grid = dyn_cast<ir::ParallelOp>(around))
      return isWholeAxis(grid.getUpper()[position.getArgNumber()], axis);
    auto loop = dyn_cast<scf::ForOp>(around);
    // A loop around the grids starts the kernel anew for each of its positions.
    if (!loop || position != loop.getInductionVar() || !loop->getParentOfType<ir::ParallelOp>())
      return false;
    return goesAlongTile(loop) || (getConstantIntValue(loop.getLowerBound()) == 0 &&
                                   isWholeAxis(loop.getUpperBound(), axis));
  };
  for (ir::ParallelOp grid : grids) {
    bool all = true, any = false;
    grid->walk([&](ir::StoreOp store) {
      if (store.getRef() != ref)
        return;
      any = true;
      for (auto [axis, offset] : llvm::enumerate(store.getOffsets())) {
        // So many positions from the start on are all of them only if the axis has no more.
        std::optional<int64_t> count = getConstantIntValue(store.getLengths()[axis]);
        const ir::Extent &whole = ir::extentsOf(ref.getType())[axis];
        bool isShort = isAlone && count && !(whole.isConstant() && whole.length == *count);
        // A tile may have at most so many of the part of the axis that is stored.
        if (auto least = store.getLengths()[axis].getDefiningOp<arith::MinSIOp>();
            least && getConstantIntValue(least.getRhs()))
          isShort |= !isWholeAxis(least.getLhs(), axis);
        bool isStart = getConstantIntValue(offset) == 0 && !isShort;
        // A single position only covers an axis of extent 1.
        bool isPosition = llvm::is_contained(store.getDropped(), static_cast<int64_t>(axis));
        all &= isCut(offset, axis) || (isStart && (!isPosition || whole.isOne()));
      }
    });
    if (any && all)
      return true;
  }
  return false;
}

} // namespace ptl::source

#include "passes/lower_block/reorder_elements.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/lower_positions.h"
#include "passes/lower_block/scalars.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

/// Row-major order stays: positions are counted, and split again.
void lowerReshape(KernelContext &c, Operation *op) {
  std::optional<ShapedTile> from = sourceOf(c, op, op->getOperand(0));
  std::optional<ShapedTile> to = from ? newResult(c, op) : std::nullopt;
  if (!to)
    return;
  from->tile = materialise(c, from->tile, op->getLoc());
  // One instruction for the whole tile is far faster than the scalar unit, which takes elements one
  // by one.
  if (gatherReshaped(c, *from, *to, op->getLoc()))
    return;
  Movement movement;
  movement.lengths = IndexVector(to->lengths);
  movement.ends = [&](Indices at) {
    Value number = constant(c, 0);
    for (auto [position, length] : llvm::zip(at, to->lengths))
      number = plus(c, times(c, number, length), position);
    IndexVector in(from->lengths.size());
    for (size_t axis = from->lengths.size(); axis-- > 0;) {
      if (axis == 0) {
        in[0] = number;
        break;
      }
      // Without elements in the result this is never reached, so no length is 0 here.
      in[axis] = c.b.createOrFold<arith::RemUIOp>(c.loc, number, from->lengths[axis]);
      number = c.b.createOrFold<arith::DivUIOp>(c.loc, number, from->lengths[axis]);
    }
    return Ends{in, IndexVector(at.begin(), at.end())};
  };
  move(c, *from, *to, movement, op->getLoc());
}

void lowerPermutation(KernelContext &c, Operation *op) {
  auto transpose = cast<ir::TransposeOp>(op);
  std::optional<ShapedTile> from = sourceOf(c, op, op->getOperand(0));
  std::optional<ShapedTile> to = from ? newResult(c, op) : std::nullopt;
  if (!to)
    return;
  from->tile = materialise(c, from->tile, op->getLoc());
  llvm::ArrayRef<int64_t> axes = transpose.getAxes();
  Movement movement;
  movement.lengths = IndexVector(to->lengths);
  movement.ends = [&](Indices at) {
    IndexVector in(at.size());
    for (auto [position, axis] : llvm::zip(at, axes))
      in[static_cast<size_t>(axis)] = position;
    return Ends{in, IndexVector(at.begin(), at.end())};
  };
  // A last axis that stays is moved in rows; otherwise each element goes by itself.
  movement.inRows = axes.back() + 1 == static_cast<int64_t>(axes.size()) &&
                    from->tile.form == Form::Whole && to->tile.form == Form::Whole;
  if (!movement.inRows && gatherPermuted(c, *from, *to, axes, op->getLoc()))
    return;
  move(c, *from, *to, movement, op->getLoc());
}

} // namespace ptl::block

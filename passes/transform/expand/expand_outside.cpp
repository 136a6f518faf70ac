// Parts of whole arrays that reach beyond the edges, `load(x[-1..n - 1], outside: 0.0)`: storage
// that holds what lies outside, into which what lies inside is stored.
#include "passes/transform/expand/expand_outside.h"

#include "passes/analysis/lengths.h"

#include "passes/analysis/unused_extent.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

namespace {

/// The positions of one axis of a part that lie inside.
struct Inside {
  Value first;  ///< in the part
  Value source; ///< where that is in the source
  Value count;
};

class Outside {
public:
  explicit Outside(SliceOp slice) : b_(slice), loc_(slice.getLoc()), slice_(slice) {}
  void run();

private:
  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }
  Value add(Value x, Value y) { return b_.createOrFold<arith::AddIOp>(loc_, x, y); }
  Value sub(Value x, Value y) { return b_.createOrFold<arith::SubIOp>(loc_, x, y); }
  Value atLeastZero(Value x) { return b_.createOrFold<arith::MaxSIOp>(loc_, x, constant(0)); }
  /// How many steps make a distance that is not negative, rounded up.
  Value steps(Value distance, Value step) {
    return step ? b_.createOrFold<arith::DivUIOp>(loc_, add(distance, sub(step, constant(1))), step)
                : distance;
  }
  Inside insideOf(size_t axis);

  OpBuilder b_;
  Location loc_;
  SliceOp slice_;
};

} // namespace

Inside Outside::insideOf(size_t axis) {
  Value offset = slice_.getOffsets()[axis];
  Value step = slice_.getSteps().empty() ? Value() : slice_.getSteps()[axis];
  Value length = lengthOf(b_, slice_.getSource(), static_cast<int64_t>(axis));
  Inside inside;
  // Positions before 0 are outside, so the first one inside is that many steps on.
  inside.first = steps(atLeastZero(sub(constant(0), offset)), step);
  // The end is where the source or the part ends, whichever comes first.
  Value end = b_.createOrFold<arith::MinSIOp>(loc_, slice_.getLengths()[axis],
                                              steps(atLeastZero(sub(length, offset)), step));
  inside.count = atLeastZero(sub(end, inside.first));
  Value walked = step ? b_.createOrFold<arith::MulIOp>(loc_, inside.first, step) : inside.first;
  // A part that lies outside altogether takes nothing from position 0 on.
  Value isEmpty =
      b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::eq, inside.count, constant(0));
  inside.source = b_.createOrFold<arith::SelectOp>(loc_, isEmpty, constant(0), add(offset, walked));
  inside.first = b_.createOrFold<arith::SelectOp>(loc_, isEmpty, constant(0), inside.first);
  return inside;
}

void Outside::run() {
  auto type = cast<ArrayType>(slice_.getType());
  llvm::SmallVector<Value> named, first, counts, sources, lengths;
  llvm::SmallVector<Extent> extents;
  Value isThere;        // of axes that are not in the result
  size_t firstKept = 0; // the first axis that is
  for (size_t axis = 0; axis < slice_.getOffsets().size(); ++axis) {
    Inside inside = insideOf(axis);
    sources.push_back(inside.source);
    if (llvm::is_contained(slice_.getDropped(), static_cast<int64_t>(axis))) {
      lengths.push_back(constant(1));
      // An axis that is dropped lies inside or not at all: its count is 1 or 0.
      isThere =
          isThere ? b_.createOrFold<arith::MulIOp>(loc_, isThere, inside.count) : inside.count;
      continue;
    }
    if (first.empty())
      firstKept = axis;
    const Extent &extent = type.getExtents()[first.size()];
    if (!extent.isConstant())
      named.push_back(slice_.getLengths()[axis]);
    // What lies inside has lengths of its own.
    extents.push_back(
        unusedExtent(slice_, "inside " + std::to_string(first.size()), extent.capacity));
    first.push_back(inside.first);
    counts.push_back(inside.count);
    lengths.push_back(inside.count);
  }
  // If a dropped axis is outside, nothing of the part is inside.
  if (isThere)
    counts.front() = lengths[firstKept] =
        b_.createOrFold<arith::MulIOp>(loc_, counts.front(), isThere);
  OperationState state(loc_, FullOp::getOperationName());
  state.addOperands(named);
  state.addOperands(slice_.getOutside());
  state.addTypes(arrayTypeOf(type.getElementType(), type.getExtents()));
  // All of it is the value for outside first, then the inside is stored over it.
  Value around = b_.create(state)->getResult(0);
  Value ref = storageLike(b_, loc_, around);
  storeWhole(b_, loc_, around, ref);
  auto insideType = arrayTypeOf(type.getElementType(), extents);
  Value inside = b_.create<SliceOp>(loc_, insideType, slice_.getSource(), sources, lengths,
                                    slice_.getSteps(), Value(), slice_.getDroppedAttr());
  b_.create<StoreOp>(loc_, inside, ref, first, counts, ValueRange(), Value(),
                     b_.getDenseI64ArrayAttr({}), IntegerAttr(), StringAttr());
  slice_.getResult().replaceAllUsesWith(loadWhole(b_, loc_, ref, type));
  slice_.erase();
}

bool reachesOutside(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  return slice && slice.getOutside() && isa<ArrayType>(slice.getType());
}

bool expandOutside(Operation *op) {
  if (!reachesOutside(op))
    return false;
  Outside(cast<SliceOp>(op)).run();
  return true;
}

} // namespace ptl::ir

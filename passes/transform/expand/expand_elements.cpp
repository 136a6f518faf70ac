#include "passes/transform/expand/expand_elements.h"

#include "ir/dialect/make_op.h"
#include "ir/dialect/op_facts.h"
#include "passes/analysis/lengths.h"
#include "passes/transform/combiners.h"
#include "passes/transform/expand/expand_rows.h"
#include "passes/transform/make_grid.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::ir {

namespace {

/// Makes the grid of one operation; what is made stands before it.
class Elements {
public:
  explicit Elements(Operation *op) : b_(op), loc_(op->getLoc()) {}

  void scatter(ScatterOp scatter);
  void store(StoreOp store);

private:
  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }
  DenseI64ArrayAttr firstAxes(int64_t count) {
    return b_.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(0, count)));
  }
  Value element(Value array, ValueRange at);
  Value combined(llvm::StringRef how, Value ref, ValueRange at, Value value);

  OpBuilder b_;
  Location loc_;
};

} // namespace

Value Elements::element(Value array, ValueRange at) {
  llvm::SmallVector<Value> ones(at.size(), constant(1));
  auto dropped = firstAxes(static_cast<int64_t>(at.size()));
  Type elem = elementTypeOf(array.getType());
  if (isa<RefType>(array.getType()))
    return b_.create<LoadOp>(loc_, elem, array, at, ones, ValueRange(), Value(), dropped);
  return b_.create<SliceOp>(loc_, elem, array, at, ones, ValueRange(), Value(), dropped);
}

/// What an element becomes when it meets `value`.
Value Elements::combined(llvm::StringRef how, Value ref, ValueRange at, Value value) {
  std::optional<OpId> combiner = combinerNamed(how);
  if (!combiner)
    // Without a combiner, the last write counts.
    return value;
  return makeOp(b_, loc_, operationName(*combiner), value.getType(), {element(ref, at), value});
}

/// Rows are independent; a row's positions are gone along in order.
void Elements::scatter(ScatterOp scatter) {
  Value ref = storageLike(b_, loc_, scatter.getX()), result = scatter.getResult();
  storeWhole(b_, loc_, scatter.getX(), ref);
  auto axis = static_cast<size_t>(scatter.getAxis());
  Value ids = scatter.getIdx(), count = lengthOf(b_, ids, static_cast<int64_t>(axis));
  llvm::SmallVector<Value> upper;
  for (int64_t along = 0; along < rankOf(ids.getType()); ++along)
    // The scattered axis has one point in the grid, so that its positions run in order in a loop.
    upper.push_back(static_cast<size_t>(along) == axis ? constant(1) : lengthOf(b_, ids, along));
  {
    OpBuilder::InsertionGuard guard(b_);
    llvm::SmallVector<Value> steps(upper.size(), constant(1));
    ParallelOp grid = openGrid(b_, loc_, upper, steps, loc_);
    auto loop = b_.create<scf::ForOp>(loc_, constant(0), count, constant(1));
    b_.create<YieldOp>(loc_);
    b_.setInsertionPointToStart(loop.getBody());
    llvm::SmallVector<Value> at(grid.getBody().getArguments()), ones(at.size(), constant(1));
    at[axis] = loop.getInductionVar();
    Value value = element(scatter.getV(), at);
    // The position along the axis comes from the list, all others are the point's own.
    at[axis] = asPosition(b_, loc_, element(ids, at));
    value = combined(scatter.getCombine(), ref, at, value);
    b_.create<StoreOp>(loc_, value, ref, at, ones, ValueRange(), Value(),
                       firstAxes(static_cast<int64_t>(at.size())), IntegerAttr(), StringAttr());
  }
  result.replaceAllUsesWith(loadWhole(b_, loc_, ref, result.getType()));
  scatter.erase();
}

/// Through a list of positions, element by element: values that are repeated, parts of boxes,
/// steps.
void Elements::store(StoreOp store) {
  Value value = store.getValue();
  llvm::ArrayRef<Extent> own = extentsOf(value.getType());
  llvm::SmallVector<size_t> kept;
  llvm::SmallVector<Value> upper;
  for (size_t axis = 0; axis < store.getOffsets().size(); ++axis)
    if (!llvm::is_contained(store.getDropped(), static_cast<int64_t>(axis))) {
      kept.push_back(axis);
      upper.push_back(store.getLengths()[axis]);
    }
  llvm::SmallVector<Value> steps(upper.size(), constant(1));
  ParallelOp grid = openGrid(b_, loc_, upper, steps, loc_);
  llvm::SmallVector<Value> from, to(store.getOffsets()), ones(to.size(), constant(1));
  for (auto [number, axis] : llvm::enumerate(kept)) {
    Value position = grid.getBody().getArgument(static_cast<unsigned>(number));
    // The value's axes align with the last axes of the box; those of extent 1 repeat.
    if (size_t behind = kept.size() - number; own.size() >= behind)
      from.push_back(own[own.size() - behind].isOne() ? constant(0) : position);
    if (axis == static_cast<size_t>(*store.getIndexAxis()))
      position = asPosition(b_, loc_, element(store.getIndex(), position));
    if (!store.getSteps().empty())
      position = b_.createOrFold<arith::MulIOp>(loc_, position, store.getSteps()[axis]);
    to[axis] = b_.createOrFold<arith::AddIOp>(loc_, to[axis], position);
  }
  if (isa<ArrayType>(value.getType()))
    value = element(value, from);
  b_.create<StoreOp>(loc_, value, store.getRef(), to, ones, ValueRange(), Value(),
                     firstAxes(static_cast<int64_t>(to.size())), IntegerAttr(),
                     store.getAtomicAttr());
  b_.create<YieldOp>(loc_);
  store.erase();
}

void scatterByElements(ScatterOp scatter) { Elements(scatter).scatter(scatter); }

void storeByElements(StoreOp store) { Elements(store).store(store); }

} // namespace ptl::ir

// Parts of arrays by position (`x[ids, :]`), read and written: a grid with one position of the list
// per point, which reads where the part lies.
#include "passes/transform/expand/expand_tensors.h"

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/lengths.h"
#include "passes/transform/make_grid.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

namespace {

/// A grid over an array of these lengths: one position of each axis but the last, which is cut.
class RowGrid {
public:
  RowGrid(OpBuilder &b, Location loc, Value list, Type elem, llvm::ArrayRef<Extent> extents,
          ValueRange lengths, int64_t axis)
      : b_(b), loc_(loc), elem_(elem), extents_(extents), lengths_(lengths) {
    size_t rank = extents.size();
    // If the list is along the last axis, parts are single elements and nothing is cut.
    bool cuts = static_cast<size_t>(axis) + 1 != rank;
    llvm::SmallVector<Value> steps(rank, constant(1));
    if (cuts)
      steps.back() = constant(kColumns);
    ParallelOp grid = openGrid(b, loc, lengths, steps, loc);
    for (Value position : grid.getBody().getArguments()) {
      offsets.push_back(position);
      sizes.push_back(constant(1));
    }
    // All axes but the cut one have one position and are dropped.
    for (size_t i = 0; i + (cuts ? 1 : 0) < rank; ++i)
      dropped.push_back(static_cast<int64_t>(i));
    tile_ = elem;
    if (cuts)
      cutLast();
    Value id = b.create<SliceOp>(
        loc, elementTypeOf(list.getType()), list, ValueRange(offsets[static_cast<size_t>(axis)]),
        ValueRange(constant(1)), ValueRange(), Value(), b.getDenseI64ArrayAttr({0}));
    // The same place, but along the axis where the list says.
    there = offsets;
    there[static_cast<size_t>(axis)] = asPosition(b, loc, id);
  }

  Value read(Value array, ValueRange at) {
    return b_.create<SliceOp>(loc_, tile_, array, at, sizes, ValueRange(), Value(),
                              b_.getDenseI64ArrayAttr(dropped));
  }
  void write(Value tile, Value ref, ValueRange at, StringAttr atomic = {}) {
    b_.create<StoreOp>(loc_, tile, ref, at, sizes, ValueRange(), Value(),
                       b_.getDenseI64ArrayAttr(dropped), IntegerAttr(), atomic);
    b_.create<YieldOp>(loc_);
  }

  llvm::SmallVector<Value> offsets, sizes, there; ///< `there`: with the position from the list
  llvm::SmallVector<int64_t> dropped;

private:
  static constexpr int64_t kColumns = 2048;

  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }

  void cutLast() {
    const Extent &extent = extents_.back();
    Extent cut = Extent::named(b_.getStringAttr("part"), kColumns);
    // A short constant axis is not cut.
    if (extent.isConstant() && extent.length <= kColumns) {
      cut = extent;
      sizes.back() = constant(extent.length);
    } else {
      Value rest = b_.createOrFold<arith::SubIOp>(loc_, lengths_.back(), offsets.back());
      sizes.back() = b_.createOrFold<arith::MinSIOp>(loc_, rest, constant(kColumns));
    }
    tile_ = ArrayType::get(b_.getContext(), elem_, {cut}, Place::Inferred);
  }

  OpBuilder &b_;
  Location loc_;
  Type elem_, tile_;
  llvm::ArrayRef<Extent> extents_;
  ValueRange lengths_;
};

} // namespace

Value asPosition(OpBuilder &builder, Location loc, Value number) {
  if (number.getType().isIndex())
    return number;
  if (!number.getType().isUnsignedInteger())
    return builder.create<arith::IndexCastOp>(loc, builder.getIndexType(), number);
  OperationState state(
      loc, ConvertOp::getOperationName()); // `arith` knows integers without a sign alone
  state.addOperands(number);
  state.addAttribute("round", builder.getStringAttr("even"));
  state.addAttribute("saturate", builder.getBoolAttr(false));
  state.addTypes(builder.getIndexType());
  return builder.create(state)->getResult(0);
}

void expandTake(TakeOp take) {
  OpBuilder b(take);
  Location loc = take.getLoc();
  auto type = cast<ArrayType>(take.getType());
  llvm::SmallVector<Value> lengths;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    lengths.push_back(lengthOf(b, take.getResult(), axis));
  Value ref = storageLike(b, loc, take.getResult());
  {
    OpBuilder::InsertionGuard guard(b);
    RowGrid grid(b, loc, take.getIndex(), type.getElementType(), type.getExtents(), lengths,
                 static_cast<int64_t>(take.getAxis()));
    grid.write(grid.read(take.getSource(), grid.there), ref, grid.offsets);
  }
  take.getResult().replaceAllUsesWith(loadWhole(b, loc, ref, type));
  take.erase();
}

void expandScatter(StoreOp store) {
  auto type = dyn_cast<ArrayType>(store.getValue().getType());
  auto refType = cast<RefType>(store.getRef().getType());
  bool whole = type && type.getRank() == refType.getRank() && store.getSteps().empty() &&
               store.getDropped().empty();
  // A value that is spread over the box is written element by element.
  bool repeats =
      whole && llvm::any_of(llvm::zip(type.getExtents(), refType.getExtents()), [](auto pair) {
        return std::get<0>(pair).isOne() && !std::get<1>(pair).isOne();
      });
  if (!whole || repeats)
    return storeByElements(store);
  OpBuilder b(store);
  Location loc = store.getLoc();
  llvm::SmallVector<Value> lengths(store.getLengths());
  int64_t indexAxis = static_cast<int64_t>(*store.getIndexAxis());
  RowGrid grid(b, loc, store.getIndex(), type.getElementType(), type.getExtents(), lengths,
               indexAxis);
  Value tile = grid.read(store.getValue(), grid.offsets);
  llvm::SmallVector<Value> at(grid.there);
  // Along the indexed axis the list has the position itself.
  for (auto [axis, base] : llvm::enumerate(store.getOffsets()))
    if (static_cast<int64_t>(axis) != indexAxis)
      at[axis] = b.createOrFold<arith::AddIOp>(loc, at[axis], base);
  grid.write(tile, store.getRef(), at, store.getAtomicAttr());
  store.erase();
}

} // namespace ptl::ir

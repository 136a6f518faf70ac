// Parts of arrays by position (`x[ids, :]`), read and written: a grid with one position of the list
// per point, which reads where the part lies.
#include "passes/transform/expand/expand_rows.h"

#include "passes/analysis/unused_extent.h"
#include "passes/transform/expand/expand_elements.h"
#include "passes/transform/expand/expand_gather.h"
#include "passes/transform/expand/join_axes.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/make_op.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/tile_length.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/groups/access.h"
#include "passes/transform/groups/chunk_pieces.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/make_grid.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>

using namespace mlir;

namespace ptl::ir {

namespace {

/// A grid over an array of these lengths: one position of each axis but the last, which is cut.
class RowGrid {
public:
  RowGrid(OpBuilder &b, Location loc, Value list, Type elem, llvm::ArrayRef<Extent> extents,
          ValueRange lengths, int64_t axis, int64_t columns = kColumns)
      : b_(b), loc_(loc), elem_(elem), extents_(extents), lengths_(lengths), columns_(columns) {
    size_t rank = extents.size();
    // If the list is along the last axis, parts are single elements and nothing is cut.
    bool cuts = static_cast<size_t>(axis) + 1 != rank;
    llvm::SmallVector<Value> steps(rank, constant(1));
    // One step goes over a short axis.
    if (cuts)
      steps.back() = constant(extents.back().isConstant()
                                  ? std::clamp<int64_t>(extents.back().length, 1, columns_)
                                  : columns_);
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

  static constexpr int64_t kColumns = 2048;

private:
  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }

  void cutLast() {
    const Extent &extent = extents_.back();
    Extent cut = extent;
    // A short constant axis is not cut.
    if (extent.isConstant() && extent.length <= columns_) {
      sizes.back() = constant(extent.length);
    } else {
      Value rest = b_.createOrFold<arith::SubIOp>(loc_, lengths_.back(), offsets.back());
      sizes.back() = b_.createOrFold<arith::MinSIOp>(loc_, rest, constant(columns_));
      cut = unusedExtent(b_.getInsertionBlock()->getParentOp(), "part", columns_);
    }
    tile_ = arrayTypeOf(elem_, {cut});
  }

  OpBuilder &b_;
  Location loc_;
  Type elem_, tile_;
  llvm::ArrayRef<Extent> extents_;
  ValueRange lengths_;
  int64_t columns_;
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

Value withoutWholeSlices(Value array) {
  while (auto slice = array.getDefiningOp<SliceOp>()) {
    bool isWhole =
        !slice.getOutside() && slice.getSteps().empty() && slice.getDropped().empty() &&
        llvm::all_of(slice.getOffsets(), [](Value v) { return matchPattern(v, m_Zero()); }) &&
        llvm::equal(extentsOf(slice.getSource().getType()), extentsOf(slice.getType()), sameLength);
    if (!isWhole)
      break;
    array = slice.getSource();
  }
  return array;
}

bool liesInOrder(Value array) {
  if (auto argument = dyn_cast<BlockArgument>(array)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function && !attrs::strides.of(function, argument.getArgNumber());
  }
  Operation *made = array.getDefiningOp();
  if (auto load = dyn_cast<LoadOp>(made))
    return !load.getOutside() && load.getSteps().empty() && load.getDropped().empty() &&
           llvm::equal(extentsOf(load.getRef().getType()), extentsOf(load.getType()), sameLength) &&
           liesInOrder(load.getRef());
  if (isa<ReshapeOp, CastOp>(made))
    return liesInOrder(made->getOperand(0));
  return isa<AllocOp>(made) || isTiled(made);
}

namespace {
/// The axes behind one, as one axis.
struct Behind {
  llvm::SmallVector<Extent> extents; ///< of the array, with one in their place
  llvm::SmallVector<Value> lengths;  ///< those that are no numbers
};
} // namespace

static std::optional<Behind> joinedBehind(OpBuilder &b, Value array, size_t axis) {
  llvm::ArrayRef<Extent> all = extentsOf(array.getType());
  Behind joined;
  Value length = b.create<arith::ConstantIndexOp>(array.getLoc(), 1);
  llvm::SmallVector<Extent> behind;
  // Extents up to the axis stay; those behind it become one.
  for (auto [i, extent] : llvm::enumerate(all)) {
    if (!extent.isConstant() && !extent.symbol)
      return std::nullopt;
    Value own = lengthOf(b, array, static_cast<int64_t>(i));
    if (i > axis) {
      length = b.createOrFold<arith::MulIOp>(array.getLoc(), length, own);
      behind.push_back(extent);
      continue;
    }
    joined.extents.push_back(extent);
    if (!extent.isConstant())
      joined.lengths.push_back(own);
  }
  joined.extents.push_back(joinedExtent(b.getContext(), behind));
  if (!joined.extents.back().isConstant())
    joined.lengths.push_back(length);
  return joined;
}

/// Takes whole rows of memory, if what is taken lies in order and has several axes: then the part of
/// a position is one long row. Null for others.
static TakeOp takeRows(TakeOp take, Value source) {
  auto axis = static_cast<size_t>(take.getAxis());
  auto type = cast<ArrayType>(take.getType());
  // With one axis behind the position, a part is one row already. Elements that do not follow each
  // other cannot be seen as other axes.
  if (axis + 2 >= static_cast<size_t>(type.getRank()) || !liesInOrder(source))
    return {};
  OpBuilder b(take);
  Location loc = take.getLoc();
  auto reshaped = [&](Value value, llvm::ArrayRef<Extent> extents, ValueRange lengths) {
    OperationState state(loc, ReshapeOp::getOperationName());
    state.addOperands(value);
    state.addOperands(lengths);
    state.addTypes(arrayTypeOf(type.getElementType(), extents));
    return b.create(state)->getResult(0);
  };
  std::optional<Behind> from = joinedBehind(b, source, axis);
  std::optional<Behind> to = joinedBehind(b, take.getResult(), axis);
  if (!from || !to)
    return {};
  // Rows are taken of the reshaped array, and the result takes its own axes back: both reshapes
  // change no element's place in memory.
  OperationState state(loc, TakeOp::getOperationName());
  state.addOperands({reshaped(source, from->extents, from->lengths), take.getIndex()});
  state.addAttributes(take->getAttrs());
  state.addTypes(arrayTypeOf(type.getElementType(), to->extents));
  auto rows = cast<TakeOp>(b.create(state));
  llvm::SmallVector<Value> lengths;
  for (auto [i, extent] : llvm::enumerate(type.getExtents()))
    if (!extent.isConstant())
      lengths.push_back(lengthOf(b, take.getResult(), static_cast<int64_t>(i)));
  take.getResult().replaceAllUsesWith(reshaped(rows.getResult(), type.getExtents(), lengths));
  take.erase();
  return rows;
}

/// Takes along the middle axis of three, if several axes lie in front of the position and one behind it: the same position is
/// taken for all of those in front, which are one axis. Null for others.
static TakeOp takeOfMany(TakeOp take, Value source) {
  auto axis = static_cast<size_t>(take.getAxis());
  llvm::ArrayRef<Extent> all = extentsOf(source.getType()),
                         own = extentsOf(take.getResult().getType());
  auto isNamed = [](const Extent &extent) { return extent.isConstant() || extent.symbol; };
  auto isLong = [](const Extent &extent) { return !extent.isOne(); };
  // A single axis is a batch mostly, of which there may be few.
  if (all.size() != own.size() || axis + 2 != all.size() || !liesInOrder(source) ||
      llvm::count_if(all.take_front(axis), isLong) < 2 || !llvm::all_of(all, isNamed) ||
      !llvm::all_of(own, isNamed) || isScheduled(take) || isInSchedule(take))
    return {};
  OpBuilder b(take);
  Location loc = take.getLoc();
  Type elem = elementTypeOf(take.getType());
  Value result = take.getResult();
  auto seen = [&](Value value, llvm::ArrayRef<Extent> extents, ValueRange lengths) {
    llvm::SmallVector<Value> operands{value};
    for (auto [extent, length] : llvm::zip(extents, lengths))
      if (!extent.isConstant())
        operands.push_back(length);
    return makeOp<ReshapeOp>(b, loc, arrayTypeOf(elem, extents), operands);
  };
  Value many;
  llvm::SmallVector<Value> written;
  for (size_t at = 0; at < own.size(); ++at) {
    written.push_back(lengthOf(b, result, static_cast<int64_t>(at)));
    if (at < axis)
      many = many ? b.createOrFold<arith::MulIOp>(loc, many, written.back()) : written.back();
  }
  Extent front = joinedExtent(b.getContext(), all.take_front(axis));
  Value from = seen(source, {front, all[axis], all.back()},
                    {many, lengthOf(b, source, static_cast<int64_t>(axis)), written.back()});
  auto made = b.create<TakeOp>(loc, arrayTypeOf(elem, {front, own[axis], own.back()}), from,
                               take.getIndex(), b.getI64IntegerAttr(1));
  result.replaceAllUsesWith(seen(made.getResult(), own, written));
  take.erase();
  return made;
}

/// Takes along the middle axis of three, by tiles of rows that lie at one position of it.
static void takeAtOne(OpBuilder &b, TakeOp take, Value ref) {
  constexpr int64_t rows = 16, columns = 512;
  Location loc = take.getLoc();
  auto constant = [&](int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value); };
  llvm::SmallVector<Value> lengths;
  for (int64_t axis = 0; axis < 3; ++axis)
    lengths.push_back(lengthOf(b, take.getResult(), axis));
  OpBuilder::InsertionGuard guard(b);
  ParallelOp grid =
      openGrid(b, loc, lengths, ValueRange{constant(rows), constant(1), constant(columns)}, loc);
  llvm::SmallVector<Value> to(grid.getBody().getArguments()), from(to);
  auto lengthFrom = [&](size_t axis, int64_t step) -> Value {
    return tileLength(b, loc, to[axis], b.getIndexAttr(0), lengths[axis], constant(step));
  };
  llvm::SmallVector<Value> sizes{lengthFrom(0, rows), constant(1), lengthFrom(2, columns)};
  Value index = take.getIndex();
  Value id = b.create<SliceOp>(loc, elementTypeOf(index.getType()), index, ValueRange(to[1]),
                               ValueRange(constant(1)), ValueRange(), Value(),
                               b.getDenseI64ArrayAttr({0}));
  from[1] = asPosition(b, loc, id);
  Extent taken = unusedExtent(grid, "taken", rows), part = unusedExtent(grid, "part", columns);
  auto dropped = b.getDenseI64ArrayAttr({1});
  Value tile = b.create<SliceOp>(loc, arrayTypeOf(elementTypeOf(take.getType()), {taken, part}),
                                 take.getSource(), from, sizes, ValueRange(), Value(), dropped);
  b.create<StoreOp>(loc, tile, ref, to, sizes, ValueRange(), Value(), dropped, IntegerAttr(),
                    StringAttr());
  b.create<YieldOp>(loc);
}

/// Rows of a matrix, several at a time and as few as give all cores work: a point for each row would wait for its position, for the
/// row and for the store, one after the other. False if the rows are not such.
static bool takeTiles(OpBuilder &b, TakeOp take, Value source, Value ref, int64_t cores) {
  constexpr int64_t mostColumns = 1024, tileBits = 32 * 1024 * 8;
  auto type = cast<ArrayType>(take.getType());
  Type elem = type.getElementType();
  int64_t bits = elem.getIntOrFloatBitWidth();
  if (cores == 0 || type.getRank() != 2 || take.getAxis() != 0 || bits < 8)
    return false;
  // Of short rows a tile has more, so that its positions are read, and its rows stored, less often.
  const Extent &last = type.getExtents().back();
  int64_t columns =
      last.isConstant() ? std::clamp<int64_t>(last.length, 64, mostColumns) : mostColumns;
  Location loc = take.getLoc();
  auto constant = [&](int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value); };
  auto ceilDiv = [&](Value a, Value by) { return b.createOrFold<arith::CeilDivUIOp>(loc, a, by); };
  Value rows = lengthOf(b, take.getResult(), 0), cols = lengthOf(b, take.getResult(), 1);
  // What data decide is a few rows mostly, which come sooner one by one.
  if (!isProductOfDims(rows) || !isProductOfDims(cols))
    return false;
  int64_t most = tileBits / columns / bits;
  Value each = b.createOrFold<arith::MulIOp>(loc, rows, ceilDiv(cols, constant(columns)));
  each = ceilDiv(each, constant(cores));
  each = b.createOrFold<arith::MaxSIOp>(loc, each, constant(1));
  each = b.createOrFold<arith::MinSIOp>(loc, each, constant(most));
  OpBuilder::InsertionGuard guard(b);
  ParallelOp grid =
      openGrid(b, loc, ValueRange{rows, cols}, ValueRange{each, constant(columns)}, loc);
  Value row = grid.getBody().getArgument(0), col = grid.getBody().getArgument(1);
  auto lengthFrom = [&](Value whole, Value at, Value step) {
    return tileLength(b, loc, at, b.getIndexAttr(0), whole, step);
  };
  Value height = lengthFrom(rows, row, each), width = lengthFrom(cols, col, constant(columns));
  // A number of rows that is known bounds the tile more closely.
  Extent taken = unusedExtent(grid, "taken", getConstantIntValue(each).value_or(most)),
         part = unusedExtent(grid, "part", columns);
  auto slice = [&](Value of, llvm::ArrayRef<Extent> extents, ValueRange at, ValueRange lengths) {
    return b.create<SliceOp>(loc, arrayTypeOf(elementTypeOf(of.getType()), extents), of, at,
                             lengths, ValueRange(), Value(), b.getDenseI64ArrayAttr({}));
  };
  Value places = slice(take.getIndex(), {taken}, row, height);
  Value from = slice(source, {extentsOf(source.getType()).front(), part},
                     ValueRange{constant(0), col}, ValueRange{lengthOf(b, source, 0), width});
  Value tile =
      b.create<TakeOp>(loc, arrayTypeOf(elem, {taken, part}), from, places, b.getI64IntegerAttr(0));
  b.create<StoreOp>(loc, tile, ref, ValueRange{row, col}, ValueRange{height, width}, ValueRange(),
                    Value(), b.getDenseI64ArrayAttr({}), IntegerAttr(), StringAttr());
  b.create<YieldOp>(loc);
  return true;
}

void expandTake(TakeOp take, const Machine *machine) {
  // Joined axes are long, and each point of the grid has a part of one row: more columns make fewer
  // points, of which each has its overhead.
  constexpr int64_t longRows = 8192;
  Value source = withoutWholeSlices(take.getSource());
  TakeOp rows = takeRows(take, source);
  if (rows)
    source = (take = rows).getSource();
  TakeOp many = rows ? TakeOp() : takeOfMany(take, source);
  if (many)
    source = (take = many).getSource();
  OpBuilder b(take);
  Location loc = take.getLoc();
  auto type = cast<ArrayType>(take.getType());
  llvm::SmallVector<Value> lengths;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    lengths.push_back(lengthOf(b, take.getResult(), axis));
  Value ref = storageLike(b, loc, take.getResult());
  if (many) {
    takeAtOne(b, take, ref);
  } else if (rows || !takeTiles(b, take, source, ref, machine ? vectorCoresOf(*machine) : 0)) {
    OpBuilder::InsertionGuard guard(b);
    RowGrid grid(b, loc, take.getIndex(), type.getElementType(), type.getExtents(), lengths,
                 static_cast<int64_t>(take.getAxis()), rows ? longRows : RowGrid::kColumns);
    grid.write(grid.read(source, grid.there), ref, grid.offsets);
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

// Elements of whole arrays by position: grids with one row of positions per point. The elements of a row are gathered on chip: of one that may
// not fit there in windows, each of which gives those whose positions lie in it. A list of positions along the last axis is loaded once for several
// rows, which come in one load where they lie behind each other.

#include "passes/transform/expand/expand_gather.h"
#include "ir/dialect/make_op.h"
#include "passes/analysis/unused_extent.h"
#include "passes/transform/expand/expand_elements.h"
#include "passes/transform/expand/expand_scatter.h"

#include "frontend/base/round_up.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/op_facts.h"
#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/machine_types.h"
#include "passes/transform/expand/expand_rows.h"
#include "passes/transform/expand/join_axes.h"
#include "passes/transform/groups/chunk_pieces.h"
#include "passes/transform/make_grid.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::ir {

namespace {

/// Positions of a tile whose elements are read one by one.
constexpr int64_t kPositions = 256;

/// The most rows that a point takes by one list. Each point loads the list, so more rows load it less
/// often; but rows are first shared by so many points, that no core is idle.
constexpr int64_t kRowsOfList = 8, kPointsOfRows = 64;

/// How elements of a row are read.
enum class Reading { OneByOne, FromRow, FromWindows };

/// How many positions a tile has, and elements a window.
struct RowParts {
  Reading reading = Reading::OneByOne;
  int64_t positions = kPositions, window = 0;
};

/// Rows that lie behind each other, of which elements are taken by one list.
struct Blocks {
  Value flat, list; ///< the elements of all rows; positions in as many rows as a block has
  Value rows, width,
      count; ///< how many rows, elements of each, and elements that are taken of each
};

/// Makes the grid of one operation; what is made stands before it.
class Positions {
public:
  explicit Positions(Operation *op) : b_(op), loc_(op->getLoc()) {}

  void gather(GatherOp gather, int64_t tileBytes, const Machine *machine);
  bool take(TakeOp take, int64_t tileBytes, const Machine *machine);

private:
  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }
  DenseI64ArrayAttr firstAxes(int64_t count) {
    return b_.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(0, count)));
  }
  Value turned(Value value, int64_t axis);
  ArrayType tile(Type elem, const Extent &extent) const { return arrayTypeOf(elem, {extent}); }
  Value make(llvm::StringRef name, Type type, ValueRange operands,
             llvm::ArrayRef<NamedAttribute> attributes = {});
  void gatherRows(Value x, Value ids, Value ref, const RowParts &parts);
  void takeRows(Value x, Value ids, Value ref, const RowParts &parts);
  void takeBlocks(const Blocks &blocks, Value ref, Value block, const RowParts &parts);
  Value listOf(Value ids, Value block, Value width, int64_t most);
  void takeByWidth(const Blocks &blocks, Value ref, const RowParts &parts, int64_t cores);
  bool takeInBlocks(TakeOp take, Value x, const RowParts &parts, int64_t cores);
  Value taken(Value x, Value places, ValueRange at, Value length, const RowParts &parts);
  Value asNumbers(Value tile);
  Value asElements(Value tile, Type elem);
  Value takenFromRow(Value x, Value places, ValueRange at, Value length, bool onChip);
  Value takenFromWindows(Value x, Value places, ValueRange at, Value length, int64_t size,
                         Value base = {});
  std::pair<Value, Value> windowsOf(Value places, Value reached, int64_t size);
  Value takenFromWindow(Value window, Value start, Value length, Value places, Value others);

  OpBuilder b_;
  Location loc_;
};

/// With `axis` and the last axis exchanged, as an array of its own. Exchanging two axes is its own inverse, so the same function turns the result back.
Value Positions::turned(Value value, int64_t axis) {
  auto type = cast<ArrayType>(value.getType());
  llvm::SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  llvm::SmallVector<Extent> extents(type.getExtents());
  std::swap(axes[static_cast<size_t>(axis)], axes.back());
  std::swap(extents[static_cast<size_t>(axis)], extents.back());
  auto other = arrayTypeOf(type.getElementType(), extents);
  return b_.create<TransposeOp>(loc_, other, value, b_.getDenseI64ArrayAttr(axes));
}

Value Positions::make(llvm::StringRef name, Type type, ValueRange operands,
                      llvm::ArrayRef<NamedAttribute> attributes) {
  return makeOp(b_, loc_, name, type, operands, attributes);
}

/// Whether elements of this type can be taken by their positions on chip.
static bool gathers(Type elem, const Machine &machine) {
  auto takes = [&](Type type) {
    return machine.supports("tgather", {machineTypeName(type), "i32"});
  };
  if (elem.isIndex())
    return false;
  // Bits are gathered as any type that is as wide; bytes become `f16`, which holds them all.
  int64_t bits = elem.getIntOrFloatBitWidth();
  MLIRContext *context = elem.getContext();
  if (bits == 1 || (bits == 8 && elem.isInteger(8)))
    return takes(Float16Type::get(context));
  // Of 64 bits, each word is gathered.
  if (elem.isInteger(64))
    return takes(IntegerType::get(context, 32)) && hasWideWords(machine);
  return takes(elem) || (bits >= 16 && takes(IntegerType::get(context, bits)));
}

/// On chip, where the machine has the instruction and few elements are not read faster by
/// themselves.
static RowParts partsOf(Value x, Value ids, int64_t tileBytes, const Machine *machine) {
  Type elem = elementTypeOf(x.getType()), position = elementTypeOf(ids.getType());
  bool isPosition = position.isSignlessInteger(32) ||
                    (machine && position.isSignlessInteger(64) && hasWideWords(*machine));
  if (!machine || !isPosition || !gathers(elem, *machine))
    return {};
  // A window fills one tile of the buffer.
  int64_t window = tileBytes / std::max<int64_t>(elem.getIntOrFloatBitWidth() / 8, 1);
  // Where tiles have been halved until nothing is left of them, elements are read one by one.
  if (window == 0)
    return {};
  int64_t row = extentsOf(x.getType()).back().capacity;
  int64_t count = extentsOf(ids.getType()).back().capacity;
  // A window takes as long as two elements that are read by themselves. A row of an unknown length
  // counts as one.
  int64_t windows = row == Extent::kUnknown ? 1 : countCovering(row, window);
  if (count != Extent::kUnknown && count < 2 * windows)
    return {};
  // A position and its element are on chip several times while they are gathered.
  int64_t positions = std::max<int64_t>(tileBytes / 8, 64);
  bool fits = row != Extent::kUnknown && row <= window;
  // Of rows that are too long for words, elements are read one by one, which truth values on chip cannot be.
  if (!fits && elem.isInteger(1) && position.isInteger(64))
    return {};
  return {fits ? Reading::FromRow : Reading::FromWindows, positions, window};
}

/// A tile whose elements can be gathered: truth values become bytes.
Value Positions::asNumbers(Value tile) {
  if (!elementTypeOf(tile.getType()).isInteger(1))
    return tile;
  return make(ConvertOp::getOperationName(),
              arrayTypeOf(b_.getIntegerType(8), extentsOf(tile.getType())), tile,
              {b_.getNamedAttr("round", b_.getStringAttr("even")),
               b_.getNamedAttr("saturate", b_.getBoolAttr(false))});
}

/// And back.
Value Positions::asElements(Value tile, Type elem) {
  if (!elem.isInteger(1))
    return tile;
  Value zero = b_.create<arith::ConstantIntOp>(loc_, 0, elementTypeOf(tile.getType()));
  return make(NeOp::getOperationName(), arrayTypeOf(elem, extentsOf(tile.getType())), {tile, zero});
}

/// From the whole row, since positions may be anywhere in it. A row that does not fit on chip is read where it lies.
Value Positions::takenFromRow(Value x, Value places, ValueRange at, Value length, bool onChip) {
  llvm::SmallVector<Value> start(at), all(at.size(), constant(1));
  start.back() = constant(0);
  all.back() = length;
  Type elem = elementTypeOf(x.getType());
  Value row =
      b_.create<SliceOp>(loc_, tile(elem, extentsOf(x.getType()).back()), x, start, all,
                         ValueRange(), Value(), firstAxes(static_cast<int64_t>(at.size()) - 1));
  const Extent &extent = extentsOf(places.getType()).front();
  if (!onChip)
    return b_.create<TakeOp>(loc_, tile(elem, extent), row, places, b_.getI64IntegerAttr(0));
  row = asNumbers(row);
  Value taken = make(GatherOp::getOperationName(), tile(elementTypeOf(row.getType()), extent),
                     {row, places}, {b_.getNamedAttr("axis", b_.getI64IntegerAttr(0))});
  return asElements(taken, elem);
}

/// `others`, but for the elements whose positions lie in the window that begins at `start`.
Value Positions::takenFromWindow(Value window, Value start, Value length, Value places,
                                 Value others) {
  Type whole = places.getType(), number = elementTypeOf(whole);
  auto asNumber = [&](Value value) {
    return b_.createOrFold<arith::IndexCastOp>(loc_, number, value);
  };
  Value last = asNumber(b_.createOrFold<arith::SubIOp>(loc_, length, constant(1)));
  Value zero = b_.create<arith::ConstantIntOp>(loc_, 0, number);
  // Positions of other windows are clamped into this one, so that the instruction reads inside of
  // the tile; what it reads there is not taken.
  Value own = make(SubOp::getOperationName(), whole, {places, asNumber(start)});
  Value inside = make(MaxOp::getOperationName(), whole, {own, zero});
  inside = make(MinOp::getOperationName(), whole, {inside, last});
  auto extent = extentsOf(whole).front();
  Value isInside = make(EqOp::getOperationName(), tile(b_.getI1Type(), extent), {own, inside});
  Value taken = make(GatherOp::getOperationName(), others.getType(), {window, inside},
                     {b_.getNamedAttr("axis", b_.getI64IntegerAttr(0))});
  return make(SelectOp::getOperationName(), others.getType(), {isInside, taken, others});
}

/// The first position of a tile, rounded down to a unit of memory, and the end behind the last one: positions often lie close to each
/// other, and then few windows have them. A row that is one window is taken whole.
std::pair<Value, Value> Positions::windowsOf(Value places, Value reached, int64_t size) {
  constexpr int64_t kUnit = 64; // elements; reads begin with a block for each type
  Value zero = constant(0);
  auto extremeOf = [&](llvm::StringRef name) {
    Type number = elementTypeOf(places.getType());
    Value one = make(name, tile(number, Extent::constant(1)), places,
                     {b_.getNamedAttr("axes", b_.getDenseI64ArrayAttr(0))});
    one = b_.create<SliceOp>(loc_, number, one, ValueRange(zero), ValueRange(constant(1)),
                             ValueRange(), Value(), b_.getDenseI64ArrayAttr(0));
    return b_.create<arith::IndexCastOp>(loc_, b_.getIndexType(), one).getResult();
  };
  Value isLong =
      b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sgt, reached, constant(size));
  auto branch = b_.create<scf::IfOp>(loc_, TypeRange{zero.getType(), zero.getType()}, isLong,
                                     /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(branch.thenBlock());
  Value first = extremeOf(ReduceMinOp::getOperationName()),
        last = extremeOf(ReduceMaxOp::getOperationName());
  // Positions that were not checked are kept inside, as they are within windows.
  first = b_.create<arith::MaxSIOp>(loc_, first, zero);
  first = b_.create<arith::MulIOp>(loc_, b_.create<arith::DivUIOp>(loc_, first, constant(kUnit)),
                                   constant(kUnit));
  last = b_.create<arith::AddIOp>(loc_, last, constant(1));
  last = b_.create<arith::MinSIOp>(loc_, last, reached);
  b_.create<scf::YieldOp>(loc_, ValueRange{first, last});
  b_.setInsertionPointToStart(branch.elseBlock());
  b_.create<scf::YieldOp>(loc_, ValueRange{zero, reached});
  return {branch.getResult(0), branch.getResult(1)};
}

/// From one window of the row after the other, `size` elements each. `base`: where the row begins, if not at the begin of the axis.
Value Positions::takenFromWindows(Value x, Value places, ValueRange at, Value length, int64_t size,
                                  Value base) {
  Type elem = elementTypeOf(x.getType());
  const Extent &extent = extentsOf(places.getType()).front();
  Value count = lengthOf(b_, places, 0), none;
  Type number = elem.isInteger(1) ? Type(b_.getIntegerType(8)) : elem;
  TypedAttr zero = b_.getZeroAttr(number);
  // `arith` knows integers without a sign alone.
  if (number.isUnsignedInteger())
    none = b_.create<ConstantOp>(loc_, zero);
  else
    none = b_.create<arith::ConstantOp>(loc_, zero);
  Value others = make(FullOp::getOperationName(), tile(number, extent), {count, none});
  Value step = constant(size);
  Value reached = b_.createOrFold<arith::MinSIOp>(loc_, length, constant(kReach));
  auto [first, end] = windowsOf(places, reached, size);
  // Windows are counted from the first one: in which buffer a window is must not depend on data.
  Value span = b_.createOrFold<arith::SubIOp>(loc_, end, first);
  auto loop = b_.create<scf::ForOp>(loc_, constant(0), span, step, ValueRange(others));
  // The next window is loaded while this one is gathered from.
  attrs::pipeline.set(loop, 2);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  llvm::SmallVector<Value> start(at), lengths(at.size(), constant(1));
  start.back() = b_.createOrFold<arith::AddIOp>(loc_, first, loop.getInductionVar());
  Value rest = b_.createOrFold<arith::SubIOp>(loc_, length, start.back());
  lengths.back() = b_.createOrFold<arith::MinSIOp>(loc_, rest, step);
  Value inRow = start.back();
  if (base)
    start.back() = b_.createOrFold<arith::AddIOp>(loc_, base, inRow);
  Value window =
      b_.create<SliceOp>(loc_, tile(elem, unusedExtent(loop, "window", size)), x, start, lengths,
                         ValueRange(), Value(), firstAxes(static_cast<int64_t>(at.size()) - 1));
  Value next =
      takenFromWindow(asNumbers(window), inRow, lengths.back(), places, loop.getRegionIterArg(0));
  b_.create<scf::YieldOp>(loc_, next);
  b_.setInsertionPointAfter(loop);
  return asElements(loop.getResult(0), elem);
}

Value Positions::taken(Value x, Value places, ValueRange at, Value length, const RowParts &parts) {
  if (parts.reading == Reading::OneByOne)
    return takenFromRow(x, places, at, length, false);
  bool isWide = elementTypeOf(places.getType()).isInteger(64);
  if (parts.reading == Reading::FromRow) // of which words hold every position
    return takenFromRow(x, isWide ? asWords(b_, loc_, places) : places, at, length, true);
  std::optional<int64_t> known = getConstantIntValue(length);
  Value taken =
      takenFromWindows(x, isWide ? asWords(b_, loc_, places) : places, at, length, parts.window);
  if (!isWide || (known && *known <= kReach))
    return taken;
  // Positions in longer rows may need more than a word. Loads in a branch would not be made ahead, so those of other rows stand
  // before it.
  Value reaches =
      b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle, length, constant(kReach));
  auto branch = b_.create<scf::IfOp>(loc_, taken.getType(), reaches, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(branch.thenBlock());
  b_.create<scf::YieldOp>(loc_, taken);
  b_.setInsertionPointToStart(branch.elseBlock());
  b_.create<scf::YieldOp>(loc_, takenFromRow(x, places, at, length, false));
  return branch.getResult(0);
}

/// One row of positions after the other, some positions at a time.
void Positions::gatherRows(Value x, Value ids, Value ref, const RowParts &parts) {
  auto type = cast<ArrayType>(ids.getType());
  int64_t last = type.getRank() - 1;
  llvm::SmallVector<Value> upper, steps;
  for (int64_t axis = 0; axis <= last; ++axis) {
    upper.push_back(lengthOf(b_, ids, axis));
    // The last axis is cut, so that a tile has a bounded number of positions.
    steps.push_back(constant(axis < last ? 1 : parts.positions));
  }
  Value whole = lengthOf(b_, x, last);
  OpBuilder::InsertionGuard guard(b_);
  ParallelOp grid = openGrid(b_, loc_, upper, steps, loc_);
  llvm::SmallVector<Value> at(grid.getBody().getArguments()), lengths(at.size(), constant(1));
  Value rest = b_.createOrFold<arith::SubIOp>(loc_, upper.back(), at.back());
  lengths.back() = b_.createOrFold<arith::MinSIOp>(loc_, rest, constant(parts.positions));
  Extent part = unusedExtent(grid, "part", parts.positions);
  Value places = b_.create<SliceOp>(loc_, tile(type.getElementType(), part), ids, at, lengths,
                                    ValueRange(), Value(), firstAxes(last));
  b_.create<StoreOp>(loc_, taken(x, places, at, whole, parts), ref, at, lengths, ValueRange(),
                     Value(), firstAxes(last), IntegerAttr(), StringAttr());
  b_.create<YieldOp>(loc_);
}

/// Some positions of the list at a time, by which a point takes the elements of several rows.
void Positions::takeRows(Value x, Value ids, Value ref, const RowParts &parts) {
  int64_t last = rankOf(x.getType()) - 1;
  Value whole = lengthOf(b_, x, last), count = lengthOf(b_, ids, 0);
  llvm::SmallVector<Value> upper, steps(static_cast<size_t>(last) + 1, constant(1));
  for (int64_t axis = 0; axis < last; ++axis)
    upper.push_back(lengthOf(b_, x, axis));
  upper.push_back(count);
  steps.back() = constant(parts.positions);
  if (last > 0) {
    Value rows = upper[static_cast<size_t>(last) - 1];
    Value shared = b_.createOrFold<arith::DivSIOp>(loc_, rows, constant(kPointsOfRows));
    shared = b_.createOrFold<arith::MinSIOp>(loc_, shared, constant(kRowsOfList));
    steps[static_cast<size_t>(last) - 1] =
        b_.createOrFold<arith::MaxSIOp>(loc_, shared, constant(1));
  }
  OpBuilder::InsertionGuard guard(b_);
  ParallelOp grid = openGrid(b_, loc_, upper, steps, loc_);
  llvm::SmallVector<Value> at(grid.getBody().getArguments()), lengths(at.size(), constant(1));
  auto rest = [&](size_t axis) {
    Value left = b_.createOrFold<arith::SubIOp>(loc_, upper[axis], at[axis]);
    return b_.createOrFold<arith::MinSIOp>(loc_, left, steps[axis]);
  };
  lengths.back() = rest(at.size() - 1);
  Extent part = unusedExtent(grid, "part", parts.positions);
  Value places = b_.create<SliceOp>(loc_, tile(elementTypeOf(ids.getType()), part), ids, at.back(),
                                    lengths.back(), ValueRange(), Value(), firstAxes(0));
  auto storeRow = [&] {
    b_.create<StoreOp>(loc_, taken(x, places, at, whole, parts), ref, at, lengths, ValueRange(),
                       Value(), firstAxes(last), IntegerAttr(), StringAttr());
  };
  if (last == 0) {
    storeRow();
  } else {
    auto rowAxis = static_cast<size_t>(last) - 1;
    auto loop = b_.create<scf::ForOp>(loc_, constant(0), rest(rowAxis), constant(1));
    // The next row is loaded while elements of this one are taken. Windows are loaded ahead by
    // their own loop.
    if (parts.reading == Reading::FromRow)
      attrs::pipeline.set(loop, 2);
    OpBuilder::InsertionGuard inner(b_);
    b_.setInsertionPointToStart(loop.getBody());
    at[rowAxis] = b_.createOrFold<arith::AddIOp>(loc_, at[rowAxis], loop.getInductionVar());
    storeRow();
  }
  b_.create<YieldOp>(loc_);
}

/// The positions of a list in each row of a block, one row behind the other.
Value Positions::listOf(Value ids, Value block, Value width, int64_t most) {
  Value count = lengthOf(b_, ids, 0);
  ArrayType type = tile(b_.getI32Type(), Extent::constant(most));
  Value ref = allocateStorage(b_, loc_, type, {});
  {
    OpBuilder::InsertionGuard guard(b_);
    ParallelOp grid = openGrid(b_, loc_, block, constant(1), loc_);
    Value row = grid.getBody().getArgument(0);
    Extent part = unusedExtent(grid, "part", most);
    Value own = b_.create<SliceOp>(loc_, tile(b_.getI32Type(), part), ids, constant(0), count,
                                   ValueRange(), Value(), firstAxes(0));
    Value before = b_.createOrFold<arith::IndexCastOp>(
        loc_, b_.getI32Type(), b_.createOrFold<arith::MulIOp>(loc_, row, width));
    own = make(AddOp::getOperationName(), own.getType(), {own, before});
    b_.create<StoreOp>(loc_, own, ref, b_.createOrFold<arith::MulIOp>(loc_, row, count), count,
                       ValueRange(), Value(), firstAxes(0), IntegerAttr(), StringAttr());
    b_.create<YieldOp>(loc_);
  }
  return loadWhole(b_, loc_, ref, type);
}

/// A block of rows per point: their elements come in one load and go in one store, however short the rows are.
void Positions::takeBlocks(const Blocks &blocks, Value ref, Value block, const RowParts &parts) {
  // Of a block of one row, which may be long, some positions come at a time.
  Value step = b_.createOrFold<arith::MinSIOp>(loc_, blocks.count, constant(parts.positions));
  step = b_.createOrFold<arith::MaxSIOp>(loc_, step, constant(1));
  OpBuilder::InsertionGuard guard(b_);
  ParallelOp grid =
      openGrid(b_, loc_, ValueRange{blocks.rows, blocks.count}, ValueRange{block, step}, loc_);
  auto times = [&](Value a, Value by) { return b_.createOrFold<arith::MulIOp>(loc_, a, by); };
  auto least = [&](Value all, Value at, Value most) {
    Value rest = b_.createOrFold<arith::SubIOp>(loc_, all, at);
    return b_.createOrFold<arith::MinSIOp>(loc_, rest, most);
  };
  Value row = grid.getBody().getArgument(0), at = grid.getBody().getArgument(1);
  Value rows = least(blocks.rows, row, block);
  Value length = times(rows, least(blocks.count, at, step));
  Extent part = unusedExtent(grid, "part", parts.positions);
  Value places = b_.create<SliceOp>(loc_, tile(b_.getI32Type(), part), blocks.list, at, length,
                                    ValueRange(), Value(), firstAxes(0));
  Value taken = takenFromWindows(blocks.flat, places, at, times(rows, blocks.width), parts.window,
                                 times(row, blocks.width));
  Value to = b_.createOrFold<arith::AddIOp>(loc_, times(row, blocks.count), at);
  b_.create<StoreOp>(loc_, taken, ref, to, length, ValueRange(), Value(), firstAxes(0),
                     IntegerAttr(), StringAttr());
  b_.create<YieldOp>(loc_);
}

/// In blocks of several rows where these are short; where that is not known, an arm of a branch for either.
void Positions::takeByWidth(const Blocks &blocks, Value ref, const RowParts &parts, int64_t cores) {
  auto fitting = [&](int64_t most, Value each) {
    each = b_.createOrFold<arith::MaxSIOp>(loc_, each, constant(1));
    return b_.createOrFold<arith::DivUIOp>(loc_, constant(most), each);
  };
  Value block = b_.createOrFold<arith::MinSIOp>(loc_, fitting(parts.positions, blocks.count),
                                                fitting(parts.window, blocks.width));
  Value isShort =
      b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sgt, block, constant(1));
  auto shortRows = [&] {
    Value share = b_.createOrFold<arith::CeilDivUIOp>(loc_, blocks.rows, constant(cores));
    Value own = b_.createOrFold<arith::MinSIOp>(loc_, block, share);
    own = b_.createOrFold<arith::MaxSIOp>(loc_, own, constant(1));
    Blocks several = blocks;
    several.list = listOf(blocks.list, own, blocks.width, parts.positions);
    takeBlocks(several, ref, own, parts);
  };
  if (std::optional<int64_t> known = getConstantIntValue(isShort)) {
    if (*known != 0)
      shortRows();
    else
      takeBlocks(blocks, ref, constant(1), parts);
  } else {
    auto branch = b_.create<scf::IfOp>(loc_, isShort, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    shortRows();
    b_.setInsertionPointToStart(branch.elseBlock());
    takeBlocks(blocks, ref, constant(1), parts);
  }
}

/// Of rows that lie in order, several at a time where they are short. False for others.
bool Positions::takeInBlocks(TakeOp take, Value x, const RowParts &parts, int64_t cores) {
  auto type = cast<ArrayType>(take.getType());
  size_t last = static_cast<size_t>(type.getRank()) - 1;
  auto isNamed = [](const Extent &extent) { return extent.isConstant() || extent.symbol; };
  Value ids = take.getIndex();
  if (last == 0 || cores == 0 || !liesInOrder(x) ||
      !elementTypeOf(ids.getType()).isSignlessInteger(32) ||
      !llvm::all_of(extentsOf(x.getType()), isNamed) || !llvm::all_of(type.getExtents(), isNamed))
    return false;
  Blocks blocks{
      {}, ids, constant(1), lengthOf(b_, x, static_cast<int64_t>(last)), lengthOf(b_, ids, 0)};
  for (size_t axis = 0; axis < last; ++axis)
    blocks.rows = b_.createOrFold<arith::MulIOp>(loc_, blocks.rows,
                                                 lengthOf(b_, x, static_cast<int64_t>(axis)));
  auto flatType = [&](Value like) {
    llvm::ArrayRef<Extent> extents = extentsOf(like.getType());
    return tile(elementTypeOf(like.getType()), joinedExtent(b_.getContext(), extents));
  };
  auto lengthIn = [&](ArrayType flat, Value row) {
    return flat.getExtents().front().isConstant()
               ? llvm::SmallVector<Value>{}
               : llvm::SmallVector<Value>{b_.createOrFold<arith::MulIOp>(loc_, blocks.rows, row)};
  };
  auto reshaped = [&](Value value, ArrayType to, ValueRange lengths) {
    llvm::SmallVector<Value> operands{value};
    llvm::append_range(operands, lengths);
    return make(ReshapeOp::getOperationName(), to, operands);
  };
  ArrayType from = flatType(x), into = flatType(take.getResult());
  blocks.flat = reshaped(x, from, lengthIn(from, blocks.width));
  Value ref = allocateStorage(b_, loc_, into, lengthIn(into, blocks.count));
  takeByWidth(blocks, ref, parts, cores);
  llvm::SmallVector<Value> named;
  for (auto [axis, extent] : llvm::enumerate(type.getExtents()))
    if (!extent.isConstant())
      named.push_back(lengthOf(b_, take.getResult(), static_cast<int64_t>(axis)));
  take.getResult().replaceAllUsesWith(reshaped(loadWhole(b_, loc_, ref, into), type, named));
  take.erase();
  return true;
}

/// Takes elements of rows on chip. False where the list goes along another axis, so that a position
/// has a whole part of memory, or where the machine reads the elements one by one.
bool Positions::take(TakeOp take, int64_t tileBytes, const Machine *machine) {
  Value x = withoutWholeSlices(take.getSource()), ids = take.getIndex();
  if (static_cast<int64_t>(take.getAxis()) + 1 != rankOf(x.getType()))
    return false;
  RowParts parts = partsOf(x, ids, tileBytes, machine);
  if (parts.reading == Reading::OneByOne)
    return false;
  if (takeInBlocks(take, x, parts, vectorCoresOf(*machine)))
    return true;
  Value ref = storageLike(b_, loc_, take.getResult());
  takeRows(x, ids, ref, parts);
  take.getResult().replaceAllUsesWith(loadWhole(b_, loc_, ref, take.getResult().getType()));
  take.erase();
  return true;
}

void Positions::gather(GatherOp gather, int64_t tileBytes, const Machine *machine) {
  Value x = gather.getX(), ids = gather.getIdx(), result = gather.getResult();
  auto axis = static_cast<int64_t>(gather.getAxis());
  // Only the last axis can be gathered along, so others are turned there.
  bool turns = axis + 1 != rankOf(x.getType());
  if (turns) {
    x = turned(x, axis);
    ids = turned(ids, axis);
  }
  auto type = arrayTypeOf(elementTypeOf(x.getType()), extentsOf(ids.getType()));
  llvm::SmallVector<Value> named;
  for (int64_t along = 0; along < type.getRank(); ++along)
    if (!type.getExtents()[along].isConstant())
      named.push_back(lengthOf(b_, ids, along));
  Value ref = allocateStorage(b_, loc_, type, named);
  gatherRows(x, ids, ref, partsOf(x, ids, tileBytes, machine));
  Value made = loadWhole(b_, loc_, ref, type);
  if (turns)
    made = turned(made, axis);
  if (made.getType() != result.getType())
    made = b_.create<CastOp>(loc_, result.getType(), made);
  result.replaceAllUsesWith(made);
  gather.erase();
}

} // namespace

bool hasWideWords(const Machine &machine) {
  return machine.supports("tcvt", {"i64", "i32"}) && machine.supports("tcvt", {"i32", "i64"});
}

Value asWords(OpBuilder &builder, Location loc, Value places) {
  return makeOp(builder, loc, ConvertOp::getOperationName(),
                arrayTypeOf(builder.getI32Type(), extentsOf(places.getType())), places,
                {builder.getNamedAttr("round", builder.getStringAttr("even")),
                 builder.getNamedAttr("saturate", builder.getBoolAttr(false))});
}

bool expandByPosition(Operation *op, int64_t tileBytes, const Machine *machine) {
  if (auto take = dyn_cast<TakeOp>(op)) {
    if (!Positions(op).take(take, tileBytes, machine))
      expandTake(take, machine);
  } else if (auto gather = dyn_cast<GatherOp>(op))
    Positions(op).gather(gather, tileBytes, machine);
  else if (auto scatter = dyn_cast<ScatterOp>(op)) {
    if (!expandScatterInOrder(scatter, tileBytes, machine))
      scatterByElements(scatter);
  } else
    return false;
  return true;
}

} // namespace ptl::ir

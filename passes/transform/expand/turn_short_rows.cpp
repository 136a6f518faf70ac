// One element of each short row: `boxes[:, 0]`, `weights[:, :, i, j]`. These lie apart in memory, where
// chips move them one by one. The rows are turned into columns once, and an element of each row is a
// row of these then.

#include "passes/transform/expand/turn_short_rows.h"

#include "passes/analysis/lengths.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ptl::ir {

/// The most elements of a row: turning longer ones costs more than it saves.
static constexpr int64_t kMostElements = 32;
/// The least number of rows: fewer are read sooner than a grid that turns them is started.
static constexpr int64_t kFewRows = 16;

namespace {
/// A slice that takes one element of each short row: of the last axes, which vanish.
struct ShortRows {
  SliceOp slice;
  int64_t kept = 0;     ///< axes before those
  int64_t elements = 1; ///< of a row

  bool isWhole(int64_t axis) const;
  bool areAllWhole() const {
    return llvm::all_of(llvm::seq(kept), [&](int64_t axis) { return isWhole(axis); });
  }
};

/// Rows that were turned: those of a slice that begins and ends where others do.
struct Turned {
  SliceOp like;
  int64_t kept;
  Value columns;
};

class Turner {
public:
  void turn(const ShortRows &rows);

private:
  Operation *placeFor(const ShortRows &rows) const;
  Value columnsOf(OpBuilder &b, const ShortRows &rows);
  Value flatRows(OpBuilder &b, const ShortRows &rows) const;
  Value known(const ShortRows &rows) const;

  std::vector<Turned> turned_;
};
} // namespace

/// Whether the slice has all of an axis.
bool ShortRows::isWhole(int64_t axis) const {
  auto at = static_cast<size_t>(axis);
  SliceOp own = slice;
  const Extent &all = extentsOf(own.getSource().getType())[at];
  return getConstantIntValue(own.getOffsets()[at]) == 0 &&
         !llvm::is_contained(own.getDropped(), axis) && extentsOf(own.getType())[at] == all &&
         (all.isConstant() || all.symbol);
}

/// Whether the last axis of a value is the one along which its elements lie side by side.
static bool liesInRows(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getOperand(0);
  Operation *made = value.getDefiningOp();
  return !made || !isView(made);
}

/// Whether a slice takes an element of each of many short rows.
static std::optional<ShortRows> shortRowsOf(SliceOp slice) {
  if (slice.getOutside() || !slice.getSteps().empty() || !isa<ArrayType>(slice.getType()))
    return std::nullopt;
  Type elem = elementTypeOf(slice.getType());
  unsigned bits = elem.isIndex() ? 64 : elem.getIntOrFloatBitWidth();
  llvm::ArrayRef<Extent> extents = extentsOf(slice.getSource().getType());
  ShortRows rows{slice, static_cast<int64_t>(extents.size())};
  for (; rows.kept > 0 && llvm::is_contained(slice.getDropped(), rows.kept - 1); --rows.kept) {
    const Extent &extent = extents[static_cast<size_t>(rows.kept - 1)];
    if (!extent.isConstant() || extent.length > kMostElements)
      return std::nullopt;
    rows.elements *= extent.length;
  }
  // A slice that drops an axis in front of them as well reads only a few of the rows.
  bool dropsMore = static_cast<int64_t>(extents.size()) - rows.kept !=
                   static_cast<int64_t>(slice.getDropped().size());
  bool isOneAxis = rows.kept == static_cast<int64_t>(extents.size()) - 1;
  if (rows.kept == 0 || rows.elements < 2 || rows.elements > kMostElements || dropsMore ||
      (bits != 16 && bits != 32) || !liesInRows(slice.getSource()) ||
      (!isOneAxis && !rows.areAllWhole()))
    return std::nullopt;
  // 0 stands for a number that only the running program knows.
  int64_t count = 1;
  for (const Extent &extent : extentsOf(slice.getType()))
    count = extent.isConstant() && count > 0 ? count * extent.length : 0;
  return count > 0 && count < kFewRows ? std::nullopt : std::optional(rows);
}

/// Rows are turned before the loops in which nothing changes that they depend on.
Operation *Turner::placeFor(const ShortRows &rows) const {
  Operation *place = rows.slice;
  auto isOutside = [](Value value, Operation *loop) {
    return !loop->isAncestor(value.getParentBlock()->getParentOp());
  };
  for (auto loop = dyn_cast<scf::ForOp>(place->getParentOp()); loop;
       loop = dyn_cast<scf::ForOp>(place->getParentOp())) {
    SliceOp slice = rows.slice;
    // Rows that are all turned depend on their array alone; of others the box counts, too, but not the element that is read of each row:
    // the turned array has all of them.
    bool depends = !isOutside(slice.getSource(), loop);
    for (int64_t axis = 0; axis < rows.kept && !rows.areAllWhole(); ++axis)
      depends |= !isOutside(slice.getOffsets()[static_cast<size_t>(axis)], loop) ||
                 !isOutside(slice.getLengths()[static_cast<size_t>(axis)], loop);
    if (depends)
      break;
    place = loop;
  }
  return place;
}

/// The rows that the slice takes an element of, with one axis for all of their elements.
Value Turner::flatRows(OpBuilder &b, const ShortRows &rows) const {
  SliceOp slice = rows.slice;
  Location loc = slice.getLoc();
  Value source = slice.getSource();
  auto kept = static_cast<size_t>(rows.kept);
  llvm::SmallVector<Extent> extents(extentsOf(slice.getType()));
  extents.push_back(Extent::constant(rows.elements));
  ArrayType type = arrayTypeOf(elementTypeOf(source.getType()), extents);
  // The elements of a row may lie on several axes; as one axis they become the rows of one matrix.
  if (rows.areAllWhole() && kept + 1 == extentsOf(source.getType()).size())
    return source;
  if (rows.areAllWhole()) {
    OperationState state(loc, ReshapeOp::getOperationName());
    state.addOperands(source);
    for (int64_t axis = 0; axis < rows.kept; ++axis)
      if (!extents[static_cast<size_t>(axis)].isConstant())
        state.addOperands(lengthOf(b, source, axis));
    state.addTypes(type);
    return b.create(state)->getResult(0);
  }
  llvm::SmallVector<Value> offsets(slice.getOffsets().take_front(kept)),
      lengths(slice.getLengths().take_front(kept));
  offsets.push_back(b.create<arith::ConstantIndexOp>(loc, 0));
  lengths.push_back(b.create<arith::ConstantIndexOp>(loc, rows.elements));
  return b.create<SliceOp>(loc, type, source, offsets, lengths, ValueRange(), Value(),
                           b.getDenseI64ArrayAttr({}));
}

/// The rows as columns, in storage.
Value Turner::columnsOf(OpBuilder &b, const ShortRows &rows) {
  SliceOp slice = rows.slice;
  Location loc = slice.getLoc();
  Value flat = flatRows(b, rows);
  llvm::SmallVector<Extent> extents(extentsOf(flat.getType()));
  llvm::SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(rows.kept + 1));
  // The elements of a row are its last axis; the rows themselves the one before.
  std::swap(axes[static_cast<size_t>(rows.kept)], axes[static_cast<size_t>(rows.kept) - 1]);
  std::swap(extents[static_cast<size_t>(rows.kept)], extents[static_cast<size_t>(rows.kept) - 1]);
  ArrayType type = arrayTypeOf(elementTypeOf(flat.getType()), extents);
  Value turned = b.create<TransposeOp>(loc, type, flat, b.getDenseI64ArrayAttr(axes));
  Value ref = storageLike(b, loc, turned);
  storeWhole(b, loc, turned, ref);
  Value columns = loadWhole(b, loc, ref, type);
  turned_.push_back({slice, rows.kept, columns});
  return columns;
}

/// The columns of rows that another slice takes an element of, where they are there already.
Value Turner::known(const ShortRows &rows) const {
  for (const Turned &each : turned_) {
    SliceOp slice = rows.slice, like = each.like;
    auto kept = static_cast<size_t>(rows.kept);
    // Columns in another branch or loop may not have been computed.
    Operation *made = each.columns.getDefiningOp();
    Operation *here = made->getBlock()->findAncestorOpInBlock(*slice);
    bool isSame =
        each.kept == rows.kept && like.getSource() == slice.getSource() &&
        llvm::equal(like.getOffsets().take_front(kept), slice.getOffsets().take_front(kept)) &&
        llvm::equal(like.getLengths().take_front(kept), slice.getLengths().take_front(kept));
    isSame |= each.kept == rows.kept && like.getSource() == slice.getSource() &&
              rows.areAllWhole() && ShortRows{like, each.kept}.areAllWhole();
    if (isSame && here && made->isBeforeInBlock(here))
      return each.columns;
  }
  return {};
}

void Turner::turn(const ShortRows &rows) {
  SliceOp slice = rows.slice;
  Location loc = slice.getLoc();
  Value columns = known(rows);
  if (!columns) {
    OpBuilder before(placeFor(rows));
    columns = columnsOf(before, rows);
  }
  OpBuilder b(slice);
  // The number of the element in its row.
  Value number;
  llvm::ArrayRef<Extent> extents = extentsOf(slice.getSource().getType());
  for (size_t axis = static_cast<size_t>(rows.kept); axis < extents.size(); ++axis) {
    Value offset = slice.getOffsets()[axis];
    if (number) {
      Value length = b.create<arith::ConstantIndexOp>(loc, extents[axis].length);
      number = b.createOrFold<arith::MulIOp>(loc, number, length);
      offset = b.createOrFold<arith::AddIOp>(loc, number, offset);
    }
    number = offset;
  }
  Value zero = b.create<arith::ConstantIndexOp>(loc, 0),
        one = b.create<arith::ConstantIndexOp>(loc, 1);
  llvm::SmallVector<Value> offsets(static_cast<size_t>(rows.kept) + 1, zero), lengths;
  for (int64_t axis = 0; axis <= rows.kept; ++axis)
    lengths.push_back(axis == rows.kept - 1 ? one : lengthOf(b, columns, axis));
  offsets[static_cast<size_t>(rows.kept) - 1] = number;
  Value row = b.create<SliceOp>(loc, cast<ArrayType>(slice.getType()), columns, offsets, lengths,
                                ValueRange(), Value(), b.getDenseI64ArrayAttr({rows.kept - 1}));
  slice.getResult().replaceAllUsesWith(row);
}

void turnShortRows(func::FuncOp function) {
  llvm::SmallVector<ShortRows> all;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Within grids tiles are loaded by other means.
    if (isa<ParallelOp>(op))
      return WalkResult::skip();
    if (auto slice = dyn_cast<SliceOp>(op))
      if (std::optional<ShortRows> rows = shortRowsOf(slice))
        all.push_back(*rows);
    return WalkResult::advance();
  });
  Turner turner;
  for (const ShortRows &rows : all)
    turner.turn(rows);
  for (const ShortRows &rows : all)
    SliceOp(rows.slice).erase();
}

} // namespace ptl::ir

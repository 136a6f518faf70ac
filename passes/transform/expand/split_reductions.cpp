// Sums and the like of few long rows: few cores would go along them alone. Pieces of the rows are
// folded by cores of their own, and what they come to is folded again.
#include "passes/transform/expand/expand_tensors.h"

#include "frontend/base/round_up.h"
#include "passes/transform/expand/known_arrays.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/groups/product_tiles.h"

using namespace mlir;

namespace ptl::ir {

namespace {
/// A reduction of the last axes: as rows of pieces.
struct FoldedRows {
  int64_t rows = 1, pieces = 1, length = 1;
};
} // namespace

static bool givesArray(Value value) {
  auto type = dyn_cast<ArrayType>(value.getType());
  return type && type.getRank() > 0;
}

/// Whether what it computes can be computed of parts and then of their results.
static bool foldsInParts(Operation *op) {
  return isa<ReduceSumOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp>(op) &&
         rankOf(op->getOperand(0).getType()) > 0;
}

/// The lengths of the rows, as one piece each, if they are known and the folded axes are the last.
static std::optional<FoldedRows> rowsOf(Operation *op) {
  llvm::ArrayRef<Extent> extents = extentsOf(op->getOperand(0).getType());
  // A scalar is what all axes come to.
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(extents.size())));
  if (givesArray(op->getResult(0))) {
    auto named = op->getAttrOfType<DenseI64ArrayAttr>("axes");
    if (!named)
      return std::nullopt;
    axes.assign(named.asArrayRef().begin(), named.asArrayRef().end());
  }
  auto kept = static_cast<int64_t>(extents.size() - axes.size());
  FoldedRows all;
  for (auto [axis, extent] : llvm::enumerate(extents)) {
    auto number = static_cast<int64_t>(axis);
    if (!extent.isConstant() || extent.length == 0 ||
        llvm::is_contained(axes, number) != (number >= kept))
      return std::nullopt;
    (number >= kept ? all.length : all.rows) *= extent.length;
  }
  return all;
}

/// Rows in so many pieces that all core groups have something to do; nothing where that takes no
/// less time.
static std::optional<FoldedRows> rowsInPieces(Operation *op, const Machine &machine) {
  // The second grid takes as long as some thousand elements of a row.
  constexpr int64_t rowsOfTile = 8, shortest = 64, worthIt = 16384;
  std::optional<FoldedRows> whole = rowsOf(op);
  int64_t wanted = rowsOfTile * coreGroupsOf(machine);
  if (!whole || whole->length < worthIt || 4 * whole->rows > wanted)
    return std::nullopt;
  int64_t own = std::max(countCovering(whole->length * whole->rows, wanted), shortest);
  // Without a rest nothing has to be copied.
  for (int64_t each = own; each <= 4 * own; ++each)
    if (whole->length % each == 0 && whole->length > 2 * each)
      return FoldedRows{whole->rows, whole->length / each, each};
  return std::nullopt;
}

/// Whether the operand lies in memory and nothing else reads it, which would read it once for both.
static bool liesForItself(Value x) {
  if (!x.hasOneUse())
    return false;
  Operation *maker = x.getDefiningOp();
  if (auto cast = dyn_cast_or_null<CastOp>(maker))
    return liesForItself(cast.getSource());
  return !maker || isa<LoadOp>(maker);
}

static void foldInPieces(Operation *op, const FoldedRows &parts) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  KnownArrays arrays(b, loc);
  auto [rows, pieces, length] = parts;
  llvm::StringRef name = op->getName().getStringRef();
  auto folded = [&](Value x, int64_t axis, llvm::ArrayRef<int64_t> lengths) {
    return arrays.make(name, x, lengths, b.getNamedAttr("axes", b.getDenseI64ArrayAttr({axis})));
  };
  Value x = arrays.reshaped(op->getOperand(0), {rows, pieces, length});
  Value each = arrays.reshaped(folded(x, 2, {rows, pieces, 1}), {rows, pieces});
  Value all = folded(each, 1, {rows, 1});
  Value result = op->getResult(0);
  if (givesArray(result)) {
    auto type = cast<ArrayType>(result.getType());
    llvm::SmallVector<int64_t> lengths;
    for (const Extent &extent : type.getExtents())
      lengths.push_back(extent.length);
    all = arrays.reshaped(all, lengths);
    if (all.getType() != type)
      all = b.create<CastOp>(loc, type, all);
  } else {
    all = arrays.box(all, {0, 0}, {1, 1}, {0, 1});
  }
  result.replaceAllUsesWith(all);
  op->erase();
}

void splitReductions(func::FuncOp function, const Machine &machine) {
  llvm::SmallVector<Operation *> reductions;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Grids that are there already have the tiles of their author.
    if (isa<ParallelOp>(op))
      return WalkResult::skip();
    // What is narrower than its sums would be rounded between.
    if (foldsInParts(op) && elementTypeOf(op->getResult(0).getType()).getIntOrFloatBitWidth() >= 32)
      reductions.push_back(op);
    return WalkResult::advance();
  });
  for (Operation *op : reductions)
    if (std::optional<FoldedRows> parts = rowsInPieces(op, machine);
        parts && liesForItself(op->getOperand(0)))
      keepingMarks(op, [&] { foldInPieces(op, *parts); });
}

} // namespace ptl::ir

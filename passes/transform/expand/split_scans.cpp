// Running sums, products, largest and smallest values of few rows along a long axis: a core would go
// along a row alone. Pieces of the axis are scanned by cores of their own, and what all pieces before
// one come to is combined with it.
#include "passes/transform/expand/expand_tensors.h"

#include "frontend/base/round_up.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/combiners.h"
#include "passes/transform/expand/known_arrays.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/groups/product_tiles.h"

using namespace mlir;

namespace ptl::ir {

namespace {
struct Pieces {
  int64_t count, length;
};
} // namespace

/// The pieces of a scan that leaves most core groups idle, so many that all have something to do;
/// nothing where the lengths are not known.
static std::optional<Pieces> piecesOf(Operation *scan, const Machine &machine) {
  constexpr int64_t rowsOfTile = 8, shortest = 64, block = 32;
  int64_t rows = 1, length = 0;
  for (auto [axis, extent] : llvm::enumerate(extentsOf(scan->getResult(0).getType()))) {
    if (!extent.isConstant() || extent.length == 0)
      return std::nullopt;
    if (axis == axisAlong(scan))
      length = extent.length;
    else
      rows *= extent.length;
  }
  int64_t wanted = rowsOfTile * coreGroupsOf(machine);
  int64_t count = std::min(countCovering(wanted, rows), length / shortest);
  // The pieces cost another pass over the array, which two of them would not repay.
  if (count <= 2)
    return std::nullopt;
  int64_t own = roundUp(countCovering(length, count), block);
  // Without a rest nothing has to be filled up.
  for (int64_t each = own; each < 2 * own && each < length; ++each)
    if (length % each == 0)
      return Pieces{length / each, each};
  return Pieces{countCovering(length, own), own};
}

namespace {
/// Writes a scan anew, as scans of pieces and of what they come to.
class ScanSplitter {
public:
  ScanSplitter(Operation *scan, Pieces pieces)
      : scan_(scan), pieces_(pieces), b_(scan), arrays_(b_, scan->getLoc()),
        axis_(static_cast<size_t>(axisAlong(scan))), combiner_(combinerOf(scan)) {
    for (const Extent &extent : extentsOf(scan->getResult(0).getType()))
      lengths_.push_back(extent.length);
  }

  void run();

private:
  using Lengths = llvm::SmallVector<int64_t>;
  Value converted(Value x, Type to);
  Value scanned(Value x, const Lengths &lengths, size_t axis);
  Value identityOf(Value like) {
    return identityValue(b_, scan_->getLoc(), combiner_, elementTypeOf(like.getType()));
  }
  /// The lengths of the array with others in place of the scanned axis.
  Lengths with(llvm::ArrayRef<int64_t> own) const {
    Lengths all(lengths_);
    all.erase(all.begin() + static_cast<ptrdiff_t>(axis_));
    all.insert(all.begin() + static_cast<ptrdiff_t>(axis_), own.begin(), own.end());
    return all;
  }
  /// As many zeros as an array has axes, but for one.
  static Lengths offsets(size_t rank, size_t axis, int64_t offset) {
    Lengths all(rank, 0);
    all[axis] = offset;
    return all;
  }

  Operation *scan_;
  Pieces pieces_;
  OpBuilder b_;
  KnownArrays arrays_;
  size_t axis_;
  llvm::StringRef combiner_;
  Lengths lengths_;
};
} // namespace

Value ScanSplitter::converted(Value x, Type to) {
  if (elementTypeOf(x.getType()) == to)
    return x;
  OperationState state(scan_->getLoc(), ConvertOp::getOperationName());
  state.addOperands(x);
  state.addAttribute("round", b_.getStringAttr("even"));
  state.addAttribute("saturate", b_.getBoolAttr(false));
  state.addTypes(ArrayType::get(b_.getContext(), to, extentsOf(x.getType()), Place::Inferred));
  return b_.create(state)->getResult(0);
}

Value ScanSplitter::scanned(Value x, const Lengths &lengths, size_t axis) {
  NamedAttribute along = b_.getNamedAttr("axis", b_.getI64IntegerAttr(static_cast<int64_t>(axis)));
  return arrays_.make(scan_->getName().getStringRef(), x, lengths, along);
}

void ScanSplitter::run() {
  auto [count, own] = pieces_;
  Value x = scan_->getOperand(0);
  Type elem = elementTypeOf(x.getType());
  bool isNarrow = isa<FloatType>(elem) && elem.getIntOrFloatBitWidth() < 32;
  // What pieces come to is not rounded to the type of the elements.
  x = converted(x, isNarrow ? b_.getF32Type() : elem);
  if (count * own > lengths_[axis_])
    x = arrays_.box(x, Lengths(lengths_.size(), 0), with({count * own}), {}, identityOf(x));
  Lengths inPieces = with({count, own}), ofPieces = with({count});
  Value local = scanned(arrays_.reshaped(x, inPieces), inPieces, axis_ + 1);
  // The last element of each piece is what that comes to.
  Value last = arrays_.box(local, offsets(inPieces.size(), axis_ + 1, own - 1), with({count, 1}),
                           {static_cast<int64_t>(axis_) + 1});
  // Vectors have no rows to scan.
  bool isVector = lengths_.size() == 1;
  Lengths matrix = isVector ? Lengths{1, count} : ofPieces;
  size_t along = isVector ? 1 : axis_;
  Value upTo = scanned(isVector ? arrays_.reshaped(last, matrix) : last, matrix, along);
  Value before = arrays_.box(upTo, offsets(matrix.size(), along, -1), matrix, {}, identityOf(upTo));
  before = arrays_.reshaped(before, with({count, 1}));
  Value all = arrays_.make(combiner_, {local, before}, inPieces);
  all = arrays_.reshaped(all, with({count * own}));
  if (count * own > lengths_[axis_])
    all = arrays_.box(all, Lengths(lengths_.size(), 0), lengths_);
  scan_->getResult(0).replaceAllUsesWith(converted(all, elem));
  scan_->erase();
}

void splitScans(func::FuncOp function, const Machine &machine) {
  llvm::SmallVector<Operation *> scans;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Grids that are there already have the tiles of their author.
    if (isa<ParallelOp>(op))
      return WalkResult::skip();
    if (isCumulative(op) && isa<ArrayType>(op->getResult(0).getType()))
      scans.push_back(op);
    return WalkResult::advance();
  });
  for (Operation *scan : scans)
    if (std::optional<Pieces> pieces = piecesOf(scan, machine))
      keepingMarks(scan, [&] { ScanSplitter(scan, *pieces).run(); });
}

} // namespace ptl::ir

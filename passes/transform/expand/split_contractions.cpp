// Products of few tiles along a long axis: parts of that axis are multiplied by core groups of their
// own, and the partial products added in order.

#include "passes/transform/expand/split_contractions.h"

#include "frontend/base/round_up.h"
#include "ir/dialect/attributes.h"
#include "passes/transform/expand/known_arrays.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/groups/product_tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

namespace {
/// A product of two matrices whose extents are known.
struct MatrixLengths {
  int64_t rows, cols, contracted;
};

/// What a product takes when its contracted axis is split, predicted by the costs of the machine.
class SplitTime {
public:
  SplitTime(MatmulOp product, const MatrixLengths &lengths, const Machine &machine,
            const MachineCosts &costs)
      : product_(product), lengths_(lengths), machine_(machine), costs_(costs),
        groups_(coreGroupsOf(machine)) {}

  /// Cycles for so many parts of equal length.
  std::optional<double> of(int64_t parts) const;
  /// Tiles of the result, of the usual size.
  int64_t tiles() const { return countTiles({kRows, kCols}); }

private:
  static constexpr int64_t kRows = 128, kCols = 128;
  int64_t countTiles(ProductTile tile) const {
    return countCovering(lengths_.rows, tile.rows) * countCovering(lengths_.cols, tile.cols);
  }
  double adding(int64_t parts) const;

  MatmulOp product_;
  MatrixLengths lengths_;
  const Machine &machine_;
  const MachineCosts &costs_;
  int64_t groups_;
};
} // namespace

// Both widths of tiles are tried that a product may have, since the better one depends on the
// machine.
std::optional<double> SplitTime::of(int64_t parts) const {
  std::optional<double> best;
  for (int64_t cols : {kCols, 2 * kCols}) {
    ProductTile tile{std::min(kRows, roundUp(lengths_.rows, int64_t(16))),
                     std::min(cols, roundUp(lengths_.cols, int64_t(16)))};
    std::optional<double> each =
        cyclesOfTile(product_, tile, lengths_.contracted / parts, machine_, costs_);
    if (!each)
      continue;
    int64_t all = countTiles(tile) * parts;
    // Tiles are made smaller so that all cores have as much to do, unless one holds all.
    bool isCut = lengths_.rows > tile.rows || lengths_.cols > tile.cols;
    double rounds = isCut ? std::max(1.0, static_cast<double>(all) / static_cast<double>(groups_))
                          : static_cast<double>(countCovering(all, groups_));
    double time = rounds * *each;
    best = best ? std::min(*best, time) : time;
  }
  return best && parts > 1 ? std::optional(*best + adding(parts)) : best;
}

/// Another kernel adds the parts: it reads all of them.
double SplitTime::adding(int64_t parts) const {
  constexpr int64_t bytes = 4;
  auto moved = static_cast<double>((parts + 1) * lengths_.rows * lengths_.cols * bytes);
  const PathCost *load = costs_.path("gm", "vec");
  double rate = costs_.memory.l2Rate > 0 ? costs_.memory.l2Rate : 1;
  return costs_.control.dispatch + costs_.control.block + costs_.memory.missLatency +
         (load ? load->latency + load->head : 0) + moved / rate;
}

/// The lengths of a product that may be split: a matrix by a matrix, as the cube core computes it,
/// of which no schedule says anything.
static std::optional<MatrixLengths> lengthsOf(MatmulOp product, const Machine &machine) {
  llvm::ArrayRef<Extent> left = extentsOf(product->getOperand(0).getType()),
                         out = extentsOf(product->getResult(0).getType());
  if (left.size() != 2 || out.size() != 2 || rankOf(product->getOperand(1).getType()) != 2 ||
      !left[1].isConstant() || !out[0].isConstant() || !out[1].isConstant() ||
      attrs::tile.of(product) || attrs::cores.of(product) || attrs::split.isOn(product) ||
      scheduledChunks(product) || !isProductOf(product, machine))
    return std::nullopt;
  return MatrixLengths{out[0].length, out[1].length, left[1].length};
}

/// How many parts of equal length take least time; 1: the product stays whole.
static int64_t partsOf(MatmulOp product, const MatrixLengths &lengths, const Machine &machine,
                       const MachineCosts &costs) {
  // What is predicted is not so exact that a smaller gain would be one.
  constexpr double gain = 0.8;
  constexpr int64_t shortest = 512, box = 32;
  SplitTime time(product, lengths, machine, costs);
  int64_t groups = coreGroupsOf(machine);
  std::optional<double> whole = time.of(1);
  if (!whole || time.tiles() >= groups)
    return 1;
  // Parts are multiples of a box of the cube (32 elements of the shortest type), so none needs
  // padding along the contracted axis.
  int64_t best = 1;
  double least = gain * *whole;
  for (int64_t parts = 2; parts <= 2 * groups && parts * shortest <= lengths.contracted; ++parts) {
    if (lengths.contracted % (parts * box) != 0)
      continue;
    std::optional<double> split = time.of(parts);
    if (split && *split < least) {
      least = *split;
      best = parts;
    }
  }
  return best;
}

std::optional<int64_t> leastSplitLength(MatmulOp product, const Machine &machine) {
  std::optional<MachineCosts> costs = findCosts(machine.name);
  if (!costs || !costs->known() || costs->product.rows == 0)
    return std::nullopt;
  // The smallest tile gains least by pieces, and longer contractions than the last have too many tiles.
  constexpr double gain = 0.8;
  constexpr int64_t least = 1024, most = int64_t(1) << 20, box = 16;
  llvm::ArrayRef<Extent> out = extentsOf(product->getResult(0).getType());
  auto known = [&](const Extent &extent) { return extent.isConstant() ? extent.length : box; };
  for (int64_t length = least; length <= most; length *= 2) {
    SplitTime time(product, {known(out[out.size() - 2]), known(out.back()), length}, machine,
                   *costs);
    std::optional<double> whole = time.of(1), split = time.of(coreGroupsOf(machine));
    if (whole && split && *split < gain * *whole)
      return length;
  }
  return std::nullopt;
}

namespace {
/// Writes a product anew, as the sum of products of parts.
class Splitter {
public:
  Splitter(MatmulOp product, const MatrixLengths &lengths, int64_t parts)
      : product_(product), lengths_(lengths), parts_(parts), b_(product) {}

  void run() {
    int64_t own = lengths_.contracted / parts_;
    KnownArrays arrays(b_, product_.getLoc());
    auto axes = [&](llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
      return b_.getNamedAttr(name, b_.getDenseI64ArrayAttr(values));
    };
    // The parts of the contracted axis become the first axis of both operands.
    Value left = arrays.reshaped(product_->getOperand(0), {lengths_.rows, parts_, own});
    left = arrays.make(TransposeOp::getOperationName(), left, {parts_, lengths_.rows, own},
                       axes("axes", {1, 0, 2}));
    Value right = arrays.reshaped(product_->getOperand(1), {parts_, own, lengths_.cols});
    OperationState multiply(product_.getLoc(), MatmulOp::getOperationName());
    multiply.addOperands({left, right});
    multiply.addAttributes(product_->getAttrs());
    Value out = product_->getResult(0);
    multiply.addTypes(arrays.typeOf(out, {parts_, lengths_.rows, lengths_.cols}));
    Value products = b_.create(multiply)->getResult(0);
    llvm::SmallVector<int64_t> one = {1, lengths_.rows, lengths_.cols};
    Value sum = arrays.make(ReduceSumOp::getOperationName(), products, one, axes("axes", {0}));
    out.replaceAllUsesWith(arrays.box(sum, {0, 0, 0}, one, {0}));
    product_->erase();
  }

private:
  MatmulOp product_;
  MatrixLengths lengths_;
  int64_t parts_;
  OpBuilder b_;
};
} // namespace

void splitContractions(func::FuncOp function, const Machine &machine) {
  std::optional<MachineCosts> costs = findCosts(machine.name);
  if (!costs || !costs->known() || costs->product.rows == 0)
    return;
  llvm::SmallVector<MatmulOp> products;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Grids that are there already have the tiles of their author.
    if (isa<ParallelOp>(op))
      return WalkResult::skip();
    if (auto product = dyn_cast<MatmulOp>(op); product && product.getScales().empty())
      products.push_back(product);
    return WalkResult::advance();
  });
  for (MatmulOp product : products) {
    std::optional<MatrixLengths> lengths = lengthsOf(product, machine);
    int64_t parts = lengths ? partsOf(product, *lengths, machine, *costs) : 1;
    if (parts > 1)
      keepingMarks(product, [&] { Splitter(product, *lengths, parts).run(); });
  }
}

} // namespace ptl::ir

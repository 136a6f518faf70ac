#include "passes/transform/groups/product_tiles.h"

#include "frontend/base/round_up.h"
#include "ir/dialect/element_types.h"
#include "machines/costs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <string_view>

using namespace mlir;

namespace ptl::ir {

/// The edge of a box in which operands are moved, and how many rows a tile has at least.
static constexpr int64_t kEdge = 16, kLeastRows = 64;
/// Tiles are cut to this part of the largest tile's columns, or a multiple of it: short rows and such as
/// begin within a line of memory make transfers slow.
static constexpr int64_t kParts = 8;

static std::string_view spelled(Type element) {
  return element.isF32()         ? "f32"
         : element.isF16()       ? "f16"
         : element.isBF16()      ? "bf16"
         : element.isInteger(8)  ? "i8"
         : element.isInteger(32) ? "i32"
                                 : "";
}

bool isProductOf(MatmulOp product, const Machine &machine) {
  std::string_view left = spelled(elementTypeOf(product->getOperand(0).getType())),
                   right = spelled(elementTypeOf(product->getOperand(1).getType())),
                   out = spelled(elementTypeOf(product->getResult(0).getType()));
  return !left.empty() && !right.empty() && !out.empty() &&
         machine.supports("tmatmul", {left, right, out});
}

int64_t coreGroupsOf(const Machine &machine) {
  const MachineCore *cube = machine.core("aic");
  return cube ? cube->count : 0;
}

namespace {
/// What a product takes with tiles of one size.
class TileTime {
public:
  TileTime(MatmulOp product, int64_t storedBytes, const Machine &machine, const MachineCosts &costs,
           std::optional<int64_t> contracted = std::nullopt)
      : machine_(machine), costs_(costs), storedBytes_(storedBytes) {
    Type element = elementTypeOf(product->getOperand(0).getType());
    element_ = spelled(element);
    bytes_ = element.getIntOrFloatBitWidth() / 8;
    llvm::ArrayRef<Extent> left = ir::extentsOf(product->getOperand(0).getType());
    constexpr int64_t longest = 4096; // a contraction without a bound is long
    int64_t own = left.back().isConstant() ? left.back().length : longest;
    contracted_ = std::max<int64_t>(1, contracted.value_or(own));
  }

  /// Cycles for an element of the result; nothing if there is no room.
  std::optional<double> perElement(ProductTile tile) const;

private:
  int64_t bytesOf(const char *place) const {
    const MemorySpace *space = machine_.space(place);
    return space ? space->usableBytes() : 0;
  }
  double moving(const char *from, const char *to, double bytes, double moves) const {
    const PathCost *path = costs_.path(from, to);
    return path && path->bytesPerCycle > 0 ? moves * path->head + bytes / path->bytesPerCycle : 0;
  }

  const Machine &machine_;
  const MachineCosts &costs_;
  std::string_view element_;
  int64_t bytes_ = 2, storedBytes_, contracted_;
};
} // namespace

std::optional<double> TileTime::perElement(ProductTile tile) const {
  constexpr int64_t accumulatorBytes = 4, mostSteps = 4;
  // Boxes are 32 bytes wide, which are 32 elements of one byte.
  int64_t box = bytes_ == 1 ? 2 * kEdge : kEdge;
  int64_t accumulator = tile.rows * tile.cols * accumulatorBytes;
  // Half of each operand buffer, since the other half is filled meanwhile.
  int64_t step = std::min(bytesOf("left") / 2 / (tile.rows * bytes_),
                          bytesOf("right") / 2 / (tile.cols * bytes_)) /
                 box * box;
  if (accumulator > bytesOf("acc") || step == 0)
    return std::nullopt;
  // One accumulator alone waits until it has been stored, and leaves more room for operands.
  bool isAlone = 2 * accumulator > bytesOf("acc");
  int64_t line = (tile.rows + tile.cols) * bytes_;
  int64_t steps = bytesOf("mat") / (isAlone ? 2 : 4) / (line * step);
  if (steps == 0)
    return std::nullopt;
  auto piece = static_cast<double>(step * std::min(steps, mostSteps));
  auto length = static_cast<double>(contracted_);
  auto positions = static_cast<double>(step), lines = static_cast<double>(line);
  // Both operands are moved once for each piece, so a position has two moves of its share.
  double load = moving("gm", "mat", lines, 2 / piece);
  double move = moving("mat", "left", static_cast<double>(tile.rows * bytes_), 1 / positions) +
                moving("mat", "right", static_cast<double>(tile.cols * bytes_), 1 / positions);
  double boxes = static_cast<double>(countCovering(tile.rows, costs_.product.rows) *
                                     countCovering(tile.cols, costs_.product.columns) * bytes_) /
                 static_cast<double>(costs_.product.depthBytes);
  double multiply = costs_.product.head / positions + costs_.product.cyclesOf(element_) * boxes;
  // The pipes work at the same time, so the slowest of them decides.
  double product = length * std::max({load, move, multiply});
  auto elements = static_cast<double>(tile.rows * tile.cols);
  double store = moving("acc", "gm", elements * static_cast<double>(storedBytes_), 1);
  // A second accumulator lets the next product run while this one is stored.
  return (isAlone ? product + store : std::max(product, store)) / elements;
}

std::optional<double> cyclesOfTile(MatmulOp product, ProductTile tile, int64_t contracted,
                                   const Machine &machine, const MachineCosts &costs) {
  constexpr int64_t accumulatorBytes = 4;
  std::optional<double> each =
      TileTime(product, accumulatorBytes, machine, costs, contracted).perElement(tile);
  return each ? std::optional(*each * static_cast<double>(tile.rows * tile.cols)) : std::nullopt;
}

ProductTile largestTile(MatmulOp product, int64_t storedBytes, ProductTile own,
                        const Machine &machine) {
  std::optional<MachineCosts> costs = findCosts(machine.name);
  if (!costs || !costs->known() || costs->product.rows == 0)
    return own;
  llvm::ArrayRef<Extent> extents = ir::extentsOf(product->getResult(0).getType());
  auto bounded = [&](const Extent &extent, int64_t tile) {
    return extent.capacity == Extent::kUnknown
               ? tile
               : std::min(tile, roundUp(std::max<int64_t>(extent.capacity, 1), kEdge));
  };
  // A product of a few rows loads little again for other columns.
  int64_t rows = bounded(extents[extents.size() - 2], own.rows);
  if (bounded(extents.back(), 2 * own.cols) <= own.cols)
    return own;
  TileTime time(product, storedBytes, machine, *costs);
  std::optional<double> before = time.perElement({rows, own.cols}),
                        after = time.perElement({rows, 2 * own.cols});
  // What is predicted is not so exact that less would be worth the room.
  constexpr double gain = 0.95;
  return before && after && *after < gain * *before ? ProductTile{own.rows, 2 * own.cols} : own;
}

namespace {
/// Arithmetic of lengths, which are not negative. Quotients are rounded up in the forms that lengths
/// have in sources, so that what is written out as source becomes the same code.
class Lengths {
public:
  Lengths(OpBuilder &b, Location loc) : b_(b), loc_(loc) {}

  Value number(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }
  Value times(Value a, Value b) { return b_.createOrFold<arith::MulIOp>(loc_, a, b); }
  Value plus(Value a, int64_t b) { return b_.createOrFold<arith::AddIOp>(loc_, a, number(b)); }
  Value over(Value a, Value b) { return b_.createOrFold<arith::DivSIOp>(loc_, a, b); }
  /// Of a covering one is made, as in the lengths of what is written out as source.
  Value covering(Value a, int64_t b) {
    if (auto of = a.getDefiningOp<arith::DivSIOp>())
      if (std::optional<int64_t> each = getConstantIntValue(of.getRhs()))
        if (auto sum = of.getLhs().getDefiningOp<arith::AddIOp>();
            sum && getConstantIntValue(sum.getRhs()) == *each - 1)
          return covering(sum.getLhs(), *each * b);
    return over(plus(a, b - 1), number(b));
  }
  Value atLeast(Value a, int64_t least) {
    return b_.createOrFold<arith::MaxSIOp>(loc_, a, number(least));
  }
  Value atMost(Value a, int64_t most) {
    return b_.createOrFold<arith::MinSIOp>(loc_, a, number(most));
  }
  /// How many tiles of `extent` positions cover an axis, at least 1.
  Value tiles(Value length, Value extent) {
    return plus(atLeast(over(plus(length, -1), extent), 0), 1);
  }
  /// The extent of one of `parts` tiles along an axis: a multiple of `unit`.
  Value part(Value length, Value parts, int64_t unit, int64_t least, int64_t most) {
    Value units = over(plus(length, -1), times(number(unit), atLeast(parts, 1)));
    Value whole = plus(times(number(unit), units), unit);
    return atMost(atLeast(whole, std::min(least, most)), most);
  }

private:
  OpBuilder &b_;
  Location loc_;
};
} // namespace

std::pair<Value, Value> balancedSteps(OpBuilder &builder, Location loc, const ProductGrid &grid,
                                      ProductTile most, int64_t groups) {
  Lengths in(builder, loc);
  Value rows = in.number(most.rows), cols = in.number(most.cols);
  Value inRows = in.times(in.covering(grid.rows, most.rows), grid.others);
  Value all = in.times(inRows, in.covering(grid.cols, most.cols));
  // As many tiles as the cores do in the rounds that the largest tiles take. Both quotients below are rounded down, so there are no more
  // tiles than that.
  Value slots = in.times(in.number(groups), in.covering(all, groups));
  if (grid.mayCutCols) {
    int64_t unit = std::max(most.cols / kParts / kEdge, int64_t(1)) * kEdge;
    cols = in.part(grid.cols, in.over(slots, in.atLeast(inRows, 1)), unit, 2 * unit, most.cols);
  }
  if (grid.mayCutRows) {
    Value inCols = in.times(in.tiles(grid.cols, cols), in.atLeast(grid.others, 1));
    rows = in.part(grid.rows, in.over(slots, inCols), kEdge, kLeastRows, most.rows);
  }
  return {rows, cols};
}

} // namespace ptl::ir

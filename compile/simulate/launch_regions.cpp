#include "compile/simulate/launch_regions.h"

#include "compile/simulate/host_values.h"
#include "passes/analysis/grid_regions.h"

#include "mlir/IR/Matchers.h"

#include <algorithm>

using namespace mlir;

namespace ptl {
namespace {

/// Positions as numbers.
class KnownPositions : public ir::PositionArithmetic {
public:
  KnownPositions(func::FuncOp grid, llvm::ArrayRef<LaunchArgument> arguments)
      : arguments_(arguments), b_(grid.getContext()), entry_(&grid.getBody().front()) {}

  Number constant(int64_t value) override { return b_.getIndexAttr(value); }
  Number outside(Value value) override {
    auto number = dyn_cast_or_null<IntegerAttr>(valueBefore(value));
    return number ? Number(number) : Number();
  }
  Number add(Number x, Number y) override { return constant(valueOf(x) + valueOf(y)); }
  Number sub(Number x, Number y) override { return constant(valueOf(x) - valueOf(y)); }
  Number mul(Number x, Number y) override { return constant(valueOf(x) * valueOf(y)); }
  Number min(Number x, Number y) override { return constant(std::min(valueOf(x), valueOf(y))); }
  Number max(Number x, Number y) override { return constant(std::max(valueOf(x), valueOf(y))); }
  static int64_t valueOf(Number number) {
    return cast<IntegerAttr>(cast<Attribute>(number)).getInt();
  }

private:
  Attribute valueBefore(Value value);

  llvm::ArrayRef<LaunchArgument> arguments_;
  Builder b_;
  mlir::Block *entry_;
  llvm::DenseMap<Operation *, Attribute> known_;
};

} // namespace

/// A scalar that the launch passes, or that the kernel computes of such before its grid, as the length of an axis without its edges; null: it
/// is not known.
Attribute KnownPositions::valueBefore(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    bool isOwn = argument.getOwner() == entry_ && value.getType().isIntOrIndex();
    if (!isOwn || !arguments_[argument.getArgNumber()].number)
      return {};
    return b_.getIntegerAttr(value.getType(), *arguments_[argument.getArgNumber()].number);
  }
  Operation *op = value.getDefiningOp();
  bool isScalar =
      value.getType().isIntOrIndex() && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
      op->getBlock() == entry_ &&
      llvm::all_of(op->getOperandTypes(), [](mlir::Type type) { return type.isIntOrIndex(); });
  if (!isScalar)
    return {};
  if (Attribute constant; matchPattern(value, m_Constant(&constant)))
    return constant;
  if (auto found = known_.find(op); found != known_.end())
    return found->second;
  llvm::SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    operands.push_back(valueBefore(operand));
  Attribute result = llvm::is_contained(operands, Attribute()) || operands.empty()
                         ? Attribute()
                         : evaluateHostScalar(op, operands);
  return known_[op] = result;
}

static rt::sim::ArrayAccess accessOf(uint32_t array, const ir::RegionBounds &box) {
  rt::sim::ArrayAccess access{array, box.isWritten, {}};
  for (const ir::AxisBounds &axis : box.axes) {
    if (axis.start && axis.count && axis.step) {
      int64_t step = std::max<int64_t>(1, KnownPositions::valueOf(axis.step));
      access.axes.push_back({KnownPositions::valueOf(axis.start),
                             std::max<int64_t>(0, KnownPositions::valueOf(axis.count)), step});
    } else {
      // An axis whose bounds are not known is taken as a whole, with room for sums of positions below the limit of the type.
      access.axes.push_back({0, INT64_MAX / 4, 1});
    }
  }
  return access;
}

std::vector<rt::sim::ArrayAccess> accessesOfLaunch(func::FuncOp function,
                                                   llvm::ArrayRef<LaunchArgument> arguments) {
  std::vector<rt::sim::ArrayAccess> accesses;
  ir::ParallelOp grid;
  for (ir::ParallelOp each : function.getOps<ir::ParallelOp>())
    grid = each;
  KnownPositions positions(function, arguments);
  std::optional<ir::GridRegions> regions;
  if (grid)
    regions.emplace(positions, ir::OutsideArrays::Stored, grid);
  for (BlockArgument argument : function.getArguments()) {
    const LaunchArgument &given = arguments[argument.getArgNumber()];
    if (!given.isArray)
      continue;
    auto boxes = regions && !given.isWhole ? regions->of(argument) : std::nullopt;
    if (!boxes) {
      accesses.push_back({given.array, given.writes, {}});
      continue;
    }
    for (const ir::RegionBounds &box : *boxes)
      accesses.push_back(accessOf(given.array, box));
  }
  return accesses;
}

rt::sim::ArrayAccess accessOf(const HostArray &array, const HostBox &box, bool writes) {
  rt::sim::ArrayAccess access{array.number, writes, {}};
  for (size_t axis = 0; axis < box.offsets.size() && !array.isReshaped; ++axis)
    access.axes.push_back(
        {box.offsets[axis], box.lengths[axis], std::max<int64_t>(1, box.steps[axis])});
  return access;
}

} // namespace ptl

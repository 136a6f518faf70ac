// Values of the tile level and what they became.
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

KernelContext::KernelContext(func::FuncOp function, CoreKind core, const CoreAssignment &cores,
                             const QueuePlan &plan, const Machine &machine,
                             const LowerOptions &options, const Report &report)
    : function(function), core(core), cores(cores), plan(plan), machine(machine), options(options),
      report(report), b(function.getContext()), loc(function.getLoc()) {
  b.setListener(&held);
}

void fail(KernelContext &c, Operation *op, const std::string &what) {
  if (!c.failed)
    c.report(DiagId::NotOnBlockLevel, op->getLoc(), {what, c.machine.name});
  // Only the first failure is reported; those behind it may be its consequences.
  c.failed = true;
}

bool isScalar(const KernelContext &c, Value value) { return !ir::isArrayLike(value.getType()); }

Value scalarOf(KernelContext &c, Value value) {
  if (Value found = c.scalars.lookup(value))
    return found;
  Attribute attribute;
  if (matchPattern(value, m_Constant(&attribute))) {
    OpBuilder::InsertionGuard guard(c.b);
    // There the constant dominates all uses.
    c.b.setInsertionPointToStart(&c.function.getBody().front());
    auto typed = cast<TypedAttr>(attribute);
    Type type = typed.getType();
    if (!type.isUnsignedInteger())
      return c.scalars[value] = c.b.create<arith::ConstantOp>(c.loc, typed);
    // `arith` knows integers without a sign alone.
    Type word = c.b.getIntegerType(type.getIntOrFloatBitWidth());
    Value plain = c.b.create<arith::ConstantOp>(
        c.loc, c.b.getIntegerAttr(word, cast<IntegerAttr>(attribute).getValue()));
    return c.scalars[value] =
               c.b.create<UnrealizedConversionCastOp>(c.loc, type, plain).getResult(0);
  }
  return {};
}

const Tile *tileOf(KernelContext &c, Value value) { return c.tiles.find(value); }

void setTile(KernelContext &c, Value value, const Tile &tile) {
  // Several values may lie in one buffer, of which the sharing keeps account.
  c.sharing.bind(value, tile.buffer ? pto::rootOf(tile.buffer) : Value());
  c.tiles.set(value, tile);
}

Value constant(KernelContext &c, int64_t value) {
  // One constant per value, before everything else, as an author would write them.
  Block &entry = c.function.getBody().front();
  for (Operation &op : entry) {
    auto constant = dyn_cast<arith::ConstantIndexOp>(op);
    if (!constant)
      break;
    if (constant.value() == value)
      return constant;
  }
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPointToStart(&entry);
  return c.b.create<arith::ConstantIndexOp>(c.loc, value);
}

Value constantOf(KernelContext &c, Type type, double value) {
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPointToStart(&c.function.getBody().front());
  if (auto floating = dyn_cast<FloatType>(type))
    return c.b.create<arith::ConstantOp>(c.loc, c.b.getFloatAttr(floating, value));
  if (type.isUnsignedInteger())
    return c.b
        .create<UnrealizedConversionCastOp>(
            c.loc, type, constantOf(c, c.b.getIntegerType(type.getIntOrFloatBitWidth()), value))
        .getResult(0);
  return c.b.create<arith::ConstantOp>(c.loc,
                                       c.b.getIntegerAttr(type, static_cast<int64_t>(value)));
}

Value minimum(KernelContext &c, Value a, Value b) {
  return c.b.createOrFold<arith::MinSIOp>(c.loc, a, b);
}

Location named(const KernelContext &c, Value value) {
  return value.getDefiningOp() ? value.getDefiningOp()->getLoc() : value.getLoc();
}

bool isRangeLength(const KernelContext &c, Value length) {
  auto least = length.getDefiningOp<arith::MinSIOp>();
  auto rest = least ? least.getLhs().getDefiningOp<arith::SubIOp>() : nullptr;
  IntegerAttr size;
  return rest && c.rangeEnds.lookup(rest.getRhs()) == rest.getLhs() &&
         matchPattern(least.getRhs(), m_Constant(&size)) && size.getInt() > 0;
}

int64_t capacityOf(const KernelContext &c, const ir::Extent &extent) {
  int64_t capacity = capacityIn(extent, c.capacities);
  // An axis of one position or none, or of none at all, is no single one, which has forms of its
  // own.
  bool mayBeOne =
      extent.isConstant() || c.cores.deals(extent.symbol) || c.neverEmpty.contains(extent.symbol);
  if (capacity == 0 || (capacity == 1 && !mayBeOne))
    capacity = 2;
  if (c.core == CoreKind::Vector && c.cores.deals(extent.symbol) && capacity > 0)
    // Each of the two vector cores has half of the rows.
    capacity = (capacity + 1) / 2;
  return capacity;
}

Value lengthOf(KernelContext &c, const ir::Extent &extent) {
  if (extent.isConstant())
    return constant(c, extent.length);
  return c.lengths.lookup(extent.symbol);
}

std::optional<Extents2> tileExtentsOf(KernelContext &c, Operation *op, Type type) {
  llvm::ArrayRef<ir::Extent> axes = ir::extentsOf(type);
  Extents2 result;
  result.validRows = result.validCols = constant(c, 1);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t capacity = capacityOf(c, axis);
    Value length = lengthOf(c, axis);
    if (capacity == ir::Extent::kUnknown || !length) {
      std::string name = axis.symbol ? axis.symbol.str() : std::to_string(axis.length);
      c.report(DiagId::ExtentHasNoCapacity, op->getLoc(), {name, c.machine.name});
      c.failed = true;
      return std::nullopt;
    }
    if (i + 1 == axes.size()) {
      result.cols = capacity;
      result.validCols = length;
      continue;
    }
    // Rows of several axes lie one behind the other, as many as there are.
    result.validRows = result.rows == 1
                           ? length
                           : c.b.createOrFold<arith::MulIOp>(c.loc, result.validRows, length);
    result.rows = std::min(result.rows * capacity, kMostCapacity);
  }
  return result;
}

std::optional<Tile> tileFor(KernelContext &c, Operation *op, Type type) {
  std::optional<Extents2> extents = tileExtentsOf(c, op, type);
  if (!extents)
    return std::nullopt;
  Tile tile;
  tile.extents = *extents;
  tile.element = ir::elementTypeOf(type);
  tile.form = formOf(tile);
  return tile;
}

bool isNeeded(const KernelContext &c, mlir::Value scalar) {
  return c.core == CoreKind::Vector || !c.cores.isMixed() || c.cubeNeeds.scalars.contains(scalar);
}

// ---- bounds of lengths --------------------------------------------------------------------------

/// The bound of a length, as far as its value has one.
static int64_t boundOf(Value length) {
  IntegerAttr number;
  if (matchPattern(length, m_Constant(&number)))
    return number.getInt();
  auto least = length.getDefiningOp<arith::MinSIOp>();
  if (!least)
    return ir::Extent::kUnknown;
  int64_t a = boundOf(least.getLhs()), b = boundOf(least.getRhs());
  return a == ir::Extent::kUnknown || (b != ir::Extent::kUnknown && b < a) ? b : a;
}

/// The bounds of the lengths of a box, for types that name a length without one.
template <typename OpT>
static void addBounds(OpT box, llvm::DenseMap<StringAttr, int64_t> &capacities) {
  size_t kept = 0;
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(box.getResult().getType());
  for (auto [axis, length] : llvm::enumerate(box.getLengths())) {
    if (llvm::is_contained(box.getDropped(), static_cast<int64_t>(axis)))
      continue;
    const ir::Extent &extent = extents[kept++];
    int64_t bound = boundOf(length);
    if (extent.symbol && bound != ir::Extent::kUnknown)
      // What a type says comes first; it may be tighter.
      capacities.try_emplace(extent.symbol, std::min(bound, kMostCapacity));
  }
}

llvm::DenseMap<StringAttr, int64_t> capacitiesOf(ir::ParallelOp grid) {
  llvm::DenseMap<StringAttr, int64_t> capacities;
  grid.walk([&](Operation *op) {
    for (Value value : op->getResults())
      for (const ir::Extent &extent : ir::extentsOf(value.getType()))
        if (extent.symbol && extent.capacity != ir::Extent::kUnknown)
          capacities[extent.symbol] = std::min(extent.capacity, kMostCapacity);
  });
  grid.walk([&](Operation *op) {
    if (auto slice = dyn_cast<ir::SliceOp>(op))
      addBounds(slice, capacities);
    else if (auto load = dyn_cast<ir::LoadOp>(op))
      addBounds(load, capacities);
  });
  return capacities;
}

int64_t capacityIn(const ir::Extent &extent,
                   const llvm::DenseMap<StringAttr, int64_t> &capacities) {
  if (extent.capacity != ir::Extent::kUnknown || !extent.symbol)
    return std::min(extent.capacity, kMostCapacity);
  auto found = capacities.find(extent.symbol);
  return found == capacities.end() ? ir::Extent::kUnknown : found->second;
}

} // namespace ptl::block

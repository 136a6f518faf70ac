// Values of the tile level and what they became.
#include "passes/lower_block/lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

KernelLowering::KernelLowering(func::FuncOp function, CoreKind core, const CoreAssignment &cores,
                               const Machine &machine, const LowerOptions &options,
                               const Report &report)
    : function_(function), core_(core), cores_(cores), machine_(machine), options_(options),
      report_(report), b_(function.getContext()), loc_(function.getLoc()) {}

void KernelLowering::fail(Operation *op, const std::string &what) {
  if (!failed_)
    report_(DiagId::NotOnBlockLevel, op->getLoc(), {what, machine_.name});
  failed_ = true;
}

bool KernelLowering::isScalar(Value value) const {
  return !isa<ir::ArrayType, ir::RefType>(value.getType());
}

Value KernelLowering::scalarOf(Value value) {
  if (Value found = scalars_.lookup(value))
    return found;
  Attribute attribute;
  if (matchPattern(value, m_Constant(&attribute))) {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(&function_.getBody().front());
    auto typed = cast<TypedAttr>(attribute);
    Type type = typed.getType();
    if (!type.isUnsignedInteger())
      return scalars_[value] = b_.create<arith::ConstantOp>(loc_, typed);
    // `arith` knows integers without a sign alone.
    Type word = b_.getIntegerType(type.getIntOrFloatBitWidth());
    Value plain = b_.create<arith::ConstantOp>(
        loc_, b_.getIntegerAttr(word, cast<IntegerAttr>(attribute).getValue()));
    return scalars_[value] = b_.create<UnrealizedConversionCastOp>(loc_, type, plain).getResult(0);
  }
  return {};
}

const Tile *KernelLowering::tileOf(Value value) {
  auto found = tiles_.find(value);
  return found == tiles_.end() ? nullptr : &found->second;
}

void KernelLowering::setTile(Value value, Tile tile) {
  sharing_.bind(value, tile.buffer ? pto::rootOf(tile.buffer) : Value());
  tiles_[value] = std::move(tile);
}

Value KernelLowering::constant(int64_t value) {
  // One constant per value, before everything else, as an author would write them.
  Block &entry = function_.getBody().front();
  for (Operation &op : entry) {
    auto constant = dyn_cast<arith::ConstantIndexOp>(op);
    if (!constant)
      break;
    if (constant.value() == value)
      return constant;
  }
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(&entry);
  return b_.create<arith::ConstantIndexOp>(loc_, value);
}

Value KernelLowering::constantOf(Type type, double value) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(&function_.getBody().front());
  if (auto floating = dyn_cast<FloatType>(type))
    return b_.create<arith::ConstantOp>(loc_, b_.getFloatAttr(floating, value));
  if (type.isUnsignedInteger())
    return b_
        .create<UnrealizedConversionCastOp>(
            loc_, type, constantOf(b_.getIntegerType(type.getIntOrFloatBitWidth()), value))
        .getResult(0);
  return b_.create<arith::ConstantOp>(loc_, b_.getIntegerAttr(type, static_cast<int64_t>(value)));
}

Value KernelLowering::minimum(Value a, Value b) {
  return b_.createOrFold<arith::MinSIOp>(loc_, a, b);
}

Location KernelLowering::named(Value value) const {
  return value.getDefiningOp() ? value.getDefiningOp()->getLoc() : value.getLoc();
}

int64_t KernelLowering::capacityOf(const ir::Extent &extent) const {
  int64_t capacity = extent.capacity;
  if (capacity == ir::Extent::kUnknown && extent.symbol) {
    // Some types name a length without its bound; the operation that cut it knows.
    auto found = capacities_.find(extent.symbol);
    capacity = found == capacities_.end() ? ir::Extent::kUnknown : found->second;
  }
  if (core_ == CoreKind::Vector && cores_.deals(extent.symbol) && capacity > 0)
    capacity = (capacity + 1) / 2;
  return capacity;
}

Value KernelLowering::lengthOf(const ir::Extent &extent) {
  if (extent.isConstant())
    return constant(extent.length);
  return lengths_.lookup(extent.symbol);
}

std::optional<Extents2> KernelLowering::extentsOf(Operation *op, Type type) {
  llvm::ArrayRef<ir::Extent> axes = ir::extentsOf(type);
  Extents2 result;
  result.validRows = result.validCols = constant(1);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t capacity = capacityOf(axis);
    Value length = lengthOf(axis);
    if (capacity == ir::Extent::kUnknown || !length) {
      std::string name = axis.symbol ? axis.symbol.str() : std::to_string(axis.length);
      report_(DiagId::ExtentHasNoCapacity, op->getLoc(), {name, machine_.name});
      failed_ = true;
      return std::nullopt;
    }
    if (i + 1 == axes.size()) {
      result.cols = capacity;
      result.validCols = length;
      continue;
    }
    // Rows of several axes lie one behind the other, as many as there are.
    result.validRows =
        result.rows == 1 ? length : b_.createOrFold<arith::MulIOp>(loc_, result.validRows, length);
    result.rows *= capacity;
  }
  return result;
}

} // namespace ptl::block

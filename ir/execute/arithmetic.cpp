#include "ir/execute/arithmetic.h"

#include "ir/dialect/element_types.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::execute {

ElemKind kindOf(mlir::Type scalar) {
  return scalar.isIndex()      ? ElemKind::Int
         : scalar.isInteger(1) ? ElemKind::Bool
                               : ir::elemKindOf(scalar);
}

std::optional<Scalar> scalarOf(Attribute constant) {
  if (auto real = dyn_cast<FloatAttr>(constant))
    return Scalar::real(real.getValueAsDouble());
  auto integer = dyn_cast<IntegerAttr>(constant);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.getType().isUnsignedInteger() || integer.getType().isInteger(1);
  return Scalar::integer(isUnsigned ? static_cast<int64_t>(integer.getValue().getZExtValue())
                                    : integer.getValue().getSExtValue());
}

static Attribute attributeOf(Scalar value, mlir::Type type) {
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(real, value.f);
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, APInt(64, static_cast<uint64_t>(value.i)).trunc(bits));
}

/// Positions are most of what is computed: without a detour by attributes. Nothing for other
/// operations.
static std::optional<int64_t> onPositions(Operation *op, int64_t a, int64_t b) {
  auto wrapped = [](uint64_t bits) { return static_cast<int64_t>(bits); };
  uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case([&](arith::AddIOp) { return wrapped(x + y); })
      .Case([&](arith::SubIOp) { return wrapped(x - y); })
      .Case([&](arith::MulIOp) { return wrapped(x * y); })
      .Case([&](arith::MinSIOp) { return std::min(a, b); })
      .Case([&](arith::MaxSIOp) { return std::max(a, b); })
      .Case([&](arith::CmpIOp compare) {
        return int64_t(
            arith::applyCmpPredicate(compare.getPredicate(), APInt(64, x), APInt(64, y)));
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<Scalar> evaluateArithmetic(Operation *op, std::span<const Scalar> operands,
                                         std::string &why) {
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return operands[0].i ? operands[1] : operands[2];
  if (operands.size() == 2 && op->getOperand(0).getType().isIndex())
    if (std::optional<int64_t> number = onPositions(op, operands[0].i, operands[1].i))
      return Scalar::integer(*number);
  llvm::SmallVector<Attribute> constants;
  for (auto [value, operand] : llvm::zip(op->getOperands(), operands))
    constants.push_back(attributeOf(operand, value.getType()));
  llvm::SmallVector<OpFoldResult> results;
  if (op->getNumResults() == 1 && succeeded(op->fold(constants, results)) && results.size() == 1) {
    if (auto constant = dyn_cast<Attribute>(results[0]))
      return scalarOf(constant);
    for (auto [value, operand] : llvm::zip(op->getOperands(), operands))
      if (value == cast<mlir::Value>(results[0]))
        return operand;
  }
  why = "`" + op->getName().getStringRef().str() + "` has no value here";
  return std::nullopt;
}

} // namespace ptl::execute

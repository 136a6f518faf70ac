#include "ir/dialect/scalar_values.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

std::optional<ElemKind> registerKindOf(Type type) {
  if (type.isIndex())
    return ElemKind::I64;
  if (type.isF16())
    return ElemKind::F16;
  if (type.isBF16())
    return ElemKind::BF16;
  if (type.isF32())
    return ElemKind::F32;
  if (type.isF64())
    return ElemKind::F64;
  if (type.isFloat8E4M3FN())
    return ElemKind::F8E4M3;
  if (type.isFloat8E5M2())
    return ElemKind::F8E5M2;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return ElemKind::Bool;
  case 8:
    return isUnsigned ? ElemKind::U8 : ElemKind::I8;
  case 16:
    return isUnsigned ? ElemKind::U16 : ElemKind::I16;
  case 32:
    return isUnsigned ? ElemKind::U32 : ElemKind::I32;
  case 64:
    return isUnsigned ? ElemKind::U64 : ElemKind::I64;
  default:
    return std::nullopt;
  }
}

std::optional<Scalar> scalarOf(Attribute constant) {
  if (auto real = dyn_cast_or_null<FloatAttr>(constant))
    return Scalar::real(real.getValueAsDouble());
  auto integer = dyn_cast_or_null<IntegerAttr>(constant);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.getType().isUnsignedInteger() || integer.getType().isInteger(1);
  return Scalar::integer(isUnsigned ? static_cast<int64_t>(integer.getValue().getZExtValue())
                                    : integer.getValue().getSExtValue());
}

Attribute constantOf(Scalar value, Type type) {
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(real, value.f);
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, APInt(64, static_cast<uint64_t>(value.i)).trunc(bits));
}

std::optional<ArithOp> arithOpOf(Operation *op) {
  llvm::StringRef name = op->getName().getStringRef();
  return findArithOp({name.data(), name.size()});
}

std::optional<ArithUse> arithUseOf(Operation *op) {
  std::optional<ArithOp> row = arithOpOf(op);
  if (!row || op->getNumOperands() != operandCount(*row) || op->getNumResults() != 1)
    return std::nullopt;
  std::optional<ElemKind> type = registerKindOf(op->getResult(0).getType());
  std::optional<ElemKind> operandType = registerKindOf(op->getOperand(0).getType());
  if (!type || !operandType)
    return std::nullopt;
  ArithUse use{*row, *type, *operandType, 0};
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    use.predicate = static_cast<uint8_t>(compare.getPredicate());
  else if (auto compareFloats = dyn_cast<arith::CmpFOp>(op))
    use.predicate = static_cast<uint8_t>(compareFloats.getPredicate());
  return use;
}

} // namespace ptl::ir

#include "ir/dialect/element_types.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ptl::ir {

mlir::Type scalarType(MLIRContext &context, ElemKind elem) {
  const ElemInfo &info = elemInfo(elem);
  if (elem ==
      ElemKind::
          I4) // with the sign in the upper half of a byte: what is computed in it is cut off when it is built
    return IntegerType::get(&context, 8);
  switch (info.elemClass) {
  case ElemClass::Position:
    return IndexType::get(&context);
  case ElemClass::Bool:
    return IntegerType::get(&context, 1);
  case ElemClass::Signed:
    return IntegerType::get(&context, info.bits);
  case ElemClass::Unsigned:
    return IntegerType::get(&context, info.bits, IntegerType::Unsigned);
  case ElemClass::Float:
    break;
  }
  switch (elem) {
  case ElemKind::F8E8M0: // its codes: MLIR has no such type
    return IntegerType::get(&context, 8, IntegerType::Unsigned);
  case ElemKind::F4E2M1: // as numbers: MLIR has no such type either, and this one has them all
  case ElemKind::F8E4M3:
    return Float8E4M3FNType::get(&context);
  case ElemKind::F8E5M2:
    return Float8E5M2Type::get(&context);
  case ElemKind::F16:
    return Float16Type::get(&context);
  case ElemKind::BF16:
    return BFloat16Type::get(&context);
  case ElemKind::F64:
    return Float64Type::get(&context);
  default:
    return Float32Type::get(&context);
  }
}

ElemKind elemKindOf(mlir::Type scalar) {
  for (const ElemInfo &info : elemInfos)
    // Types that are held in another one are not what a type of the IR stands for.
    if (!isHeldOnly(info.kind) && info.kind != ElemKind::I4 &&
        scalarType(*scalar.getContext(), info.kind) == scalar)
      return info.kind;
  return ElemKind::Int;
}

Type storedType(Type scalar) {
  return scalar.isInteger(1) ? IntegerType::get(scalar.getContext(), 8) : scalar;
}

} // namespace ptl::ir

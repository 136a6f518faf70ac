#include "ir/build/build_four_bits.h"

#include "ir/build/build_blocks.h"
#include "ir/build/elements.h"

#include "frontend/sema/calls/check_op_custom_data.h"

using namespace mlir;

namespace ptl::ir {

static constexpr int64_t kLeast = -8, kMost = 7;

/// The lower four bits, the highest of which is the sign.
static mlir::Value wrapped(const Elements &e, mlir::Value x) {
  return e.with<ShrOp>(e.with<ShlOp>(x, 4), 4);
}

static mlir::Value saturated(const Elements &e, mlir::Value x) {
  return e.with<MinOp>(e.with<MaxOp>(x, kLeast), kMost);
}

mlir::Value convertToFourBits(BuildContext &c, mlir::Value arg, const ConvertExpr &expr) {
  ElemKind from = elemKind(c, expr.arg->type->elem);
  Location loc = c.here(expr);
  Elements e(c, arg, loc);
  if (isHeldOnly(from))
    return saturated(e, convertHeld(c, arg, expr));
  // From floats integers saturate in any case; what is cut off at 8 bits is cut off at four as well.
  bool saturates = expr.saturate || isFloat(from);
  mlir::Type byte = scalarType(c.context, ElemKind::I4);
  mlir::Value value = e.convert(arg, byte, expr.round, saturates);
  return saturates ? saturated(e, value) : wrapped(e, value);
}

/// Whether results of operands within four bits are within four bits.
static bool staysWithin(OpId id) {
  switch (id) {
  case OpId::Max:
  case OpId::Min:
  case OpId::Rem:
  case OpId::BitAnd:
  case OpId::BitOr:
  case OpId::BitXor:
  case OpId::Not:
  case OpId::ReduceMax:
  case OpId::ReduceMin:
  case OpId::Cummax:
  case OpId::Cummin:
    return true;
  default:
    return onlyMoves(opRecord(id));
  }
}

Bound keptInFourBits(BuildContext &c, const OpExpr &expr, Bound made) {
  bool isValue = expr.type->isArray() || expr.type->isScalar();
  if (!isValue || elemKind(c, expr.type->elem) != ElemKind::I4 || staysWithin(expr.op->id) ||
      made.kind != Bound::Kind::Value)
    return made;
  Elements e(c, made.value, c.here(expr));
  return Bound::of(expr.op->id == OpId::Quantize ? saturated(e, made.value)
                                                 : wrapped(e, made.value));
}

} // namespace ptl::ir

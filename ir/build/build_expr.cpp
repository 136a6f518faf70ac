// Expressions other than built-ins, indexing, branches and calls.
#include "ir/build/build_expr.h"
#include "ir/build/build_block.h"
#include "ir/build/build_blocks.h"
#include "ir/build/build_branch.h"
#include "ir/build/build_call.h"
#include "ir/build/build_check.h"
#include "ir/build/build_decl.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_four_bits.h"
#include "ir/build/build_index.h"
#include "ir/build/build_op.h"
#include "ir/build/build_packed.h"
#include "ir/build/build_type.h"
#include "ir/build/build_view.h"
#include "ir/build/elements.h"

#include "frontend/base/elem_convert.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace ptl::ir {

mlir::Value buildConstant(BuildContext &c, ElemKind elem, double floatValue, int64_t intValue,
                          Location loc) {
  mlir::Type type = scalarType(c.context, elem);
  // Types without a sign have a constant operation of their own, which `arith` lacks.
  switch (elemInfo(elem).elemClass) {
  case ElemClass::Float:
    if (elem == ElemKind::F8E8M0) // the IR has its codes
      return c.make<ConstantOp>(loc,
                                IntegerAttr::get(type, APInt(8, encodeFloat(floatValue, elem))));
    return c.make<arith::ConstantOp>(loc, FloatAttr::get(type, floatValue));
  case ElemClass::Unsigned:
    return c.make<ConstantOp>(
        loc, IntegerAttr::get(type, APInt(elemBits(elem), static_cast<uint64_t>(intValue))));
  case ElemClass::Position:
    return c.index(intValue);
  case ElemClass::Bool:
  case ElemClass::Signed:
    break;
  }
  auto bits =
      APInt(type.getIntOrFloatBitWidth(), static_cast<uint64_t>(intValue), /*isSigned=*/true);
  return c.make<arith::ConstantOp>(loc, IntegerAttr::get(type, bits));
}

static Bound buildConst(BuildContext &c, const ConstExpr &expr) {
  ElemKind elem = elemKind(c, expr.type->elem);
  // A literal of a generic type is one number; which field holds it depends on how it was written.
  double asFloat = expr.floatValue;
  int64_t asInt = expr.intValue;
  if (expr.type->elem.param && isFloat(elem) && asFloat == 0)
    asFloat = static_cast<double>(asInt);
  if (expr.type->elem.param && !isFloat(elem) && asInt == 0)
    asInt = static_cast<int64_t>(asFloat);
  return Bound::of(buildConstant(c, elem, asFloat, asInt, c.here(expr)));
}

static Bound buildLocalRef(BuildContext &c, const LocalRefExpr &expr) {
  const Local &local = *expr.local;
  // A dimension is computed from its symbols, which may be constant here.
  if (local.dim.isKnown() && local.type->isInt())
    return Bound::of(emitDim(c, local.dim));
  // Who can do something with bytes asks for them (build_packed.h).
  if (const Bound *packed = packedBehind(c, expr))
    return Bound::of(unpackedWhole(c, *packed, c.here(expr)));
  return c.bound(local);
}

Bound readRef(BuildContext &c, Bound bound, Location loc) {
  // Storage is read when its value is asked for.
  auto ref =
      bound.kind == Bound::Kind::Value ? dyn_cast<RefType>(bound.value.getType()) : RefType();
  if (!ref)
    return bound;
  auto array = ArrayType::get(&c.context, ref.getElementType(), ref.getExtents(), ref.getPlace());
  Box box = wholeBox(c, bound.value);
  return Bound::of(c.make<LoadOp>(loc, array, bound.value, box.offsets, box.lengths, box.steps,
                                  mlir::Value(), c.b.getDenseI64ArrayAttr({})));
}

Bound readRefs(BuildContext &c, Bound bound, Location loc) {
  for (Bound &part : bound.parts)
    part = readRefs(c, part, loc);
  return readRef(c, std::move(bound), loc);
}

/// The implicit conversion of positions is range-checked.
static void checkConversion(BuildContext &c, mlir::Value position, ElemKind target, Location loc) {
  // Types of 64 bits hold every position.
  if (!isa<IndexType>(position.getType()) || elemBits(target) >= 64)
    return;
  unsigned bits = elemBits(target);
  int64_t highest = isSigned(target) ? (int64_t(1) << (bits - 1)) - 1 : (int64_t(1) << bits) - 1;
  int64_t lowest = isSigned(target) ? -highest - 1 : 0;
  mlir::Value low =
      c.b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, position, c.index(lowest));
  mlir::Value high =
      c.b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, position, c.index(highest));
  emitCheck(c, c.b.createOrFold<arith::AndIOp>(loc, low, high), "arithmetic",
            "the value {0} does not fit in `" + std::string(elemName(target)) + "`", {position},
            loc);
}

/// `shift`: the elements of an axis in another order.
static mlir::Value buildShift(BuildContext &c, const ConvertExpr &expr, mlir::Value arg) {
  Location loc = c.here(expr);
  auto array = cast<ArrayType>(irType(c, *expr.type));
  int64_t axis = static_cast<int64_t>(array.getExtents().size()) + expr.shift->axis;
  mlir::Value length = lengthOf(c, arg, axis);
  // Of an axis without elements nothing is taken, but its length is divided by.
  mlir::Value least = c.b.createOrFold<arith::MaxSIOp>(loc, length, c.index(1));
  mlir::Value by = c.b.createOrFold<arith::RemSIOp>(loc, emitDim(c, expr.shift->by), least);
  // Element `i` of the result is element `i - by`, and positions must not be negative: `by` is less than a length either way.
  mlir::Value back = c.b.createOrFold<arith::SubIOp>(
      loc, c.b.createOrFold<arith::AddIOp>(loc, length, length), by);
  auto toNumber = [&](mlir::Value value) {
    return c.make<ConvertOp>(loc, c.b.getI32Type(), value, "even", /*saturate=*/false);
  };
  Extent extent = array.getExtents()[static_cast<size_t>(axis)];
  auto line = ArrayType::get(&c.context, c.b.getI32Type(), extent, array.getPlace());
  // A constant length is known from the type.
  llvm::SmallVector<mlir::Value> lengths(extent.isConstant() ? 0 : 1, length);
  mlir::Value places = c.make<IndexOp>(loc, line, c.index(0), lengths);
  Elements elements(c, places, loc);
  places = elements.make<RemOp>(elements.make<AddOp>(places, toNumber(back)), toNumber(least));
  mlir::Value taken = takeBox(c, array, arg, wholeBox(c, arg), {}, loc);
  return c.make<TakeOp>(loc, array, taken, places, axis);
}

static Bound buildConvert(BuildContext &c, const ConvertExpr &expr) {
  mlir::Value arg = buildValue(c, *expr.arg);
  if (expr.shift)
    return Bound::of(buildShift(c, expr, arg));
  mlir::Type type = irType(c, *expr.type);
  ElemKind from = elemKind(c, expr.arg->type->elem), to = elemKind(c, expr.type->elem);
  // What is around goes on with a value of the right shape; an error ends the compilation.
  for (const Type *each : {expr.arg->type, expr.type})
    checkElementType(c, *each, expr.span);
  Location loc = c.here(expr);
  if (expr.checkRange)
    checkConversion(c, arg, to, loc);
  // Numbers of four bits that have been floats need not become integers in between.
  if (mlir::Value floats = isFloat(to) && !isHeldOnly(to) ? floatsBehind(c, arg) : mlir::Value())
    return Bound::of(Elements(c, floats, loc).convert(floats, elementTypeOf(type)));
  if (from != to && to == ElemKind::I4)
    return Bound::of(convertToFourBits(c, arg, expr));
  if (from != to && (isHeldOnly(from) || isHeldOnly(to)))
    return Bound::of(convertHeld(c, arg, expr));
  // Without a change of type there is nothing to convert.
  if (arg.getType() == type)
    return Bound::of(arg);
  IntegerAttr number; // a position that became a number, as `L - S` of equal lengths does
  if (arg.getType().isIndex() && matchPattern(arg, m_Constant(&number)) &&
      type.isSignlessInteger() && llvm::isIntN(type.getIntOrFloatBitWidth(), number.getInt()))
    return Bound::of(c.make<arith::ConstantOp>(loc, IntegerAttr::get(type, number.getInt())));
  return Bound::of(c.make<ConvertOp>(
      loc, type, arg, roundModeNames[static_cast<size_t>(expr.round)], expr.saturate));
}

static Bound buildField(BuildContext &c, const FieldExpr &expr) {
  Bound base = buildExpr(c, *expr.base);
  // Fields of structs are parts; those of ranges are computed.
  if (base.kind == Bound::Kind::Parts)
    return expr.fieldIndex < base.parts.size() ? base.parts[expr.fieldIndex] : Bound();
  Location loc = c.here(expr);
  if (expr.field == "start")
    return Bound::of(base.start);
  if (expr.field == "len")
    return Bound::of(base.length);
  if (expr.field == "size")
    return Bound::of(base.size);
  if (expr.field == "count")
    return Bound::of(base.count);
  // What remains is `end`, the position behind the last one.
  mlir::Value span = c.b.createOrFold<arith::MulIOp>(loc, base.length, base.step);
  return Bound::of(c.b.createOrFold<arith::AddIOp>(loc, base.start, span));
}

static Bound buildRange(BuildContext &c, const RangeExpr &expr) {
  Location loc = c.here(expr);
  Bound range;
  range.kind = Bound::Kind::Range;
  range.start = buildValue(c, *expr.lo);
  range.step = expr.step ? buildValue(c, *expr.step) : c.index(1);
  mlir::Value span = c.b.createOrFold<arith::SubIOp>(loc, buildValue(c, *expr.hi), range.start);
  mlir::Value count = c.b.createOrFold<arith::CeilDivSIOp>(loc, span, range.step);
  // A range whose end lies before its start is empty.
  range.length = c.b.createOrFold<arith::MaxSIOp>(loc, count, c.index(0));
  return range;
}

/// `r + 1` and `2*r + c`, whose numbers the checker knows.
static Bound buildRangeOf(BuildContext &c, const RangeInfo &info) {
  Bound range;
  range.kind = Bound::Kind::Range;
  range.start = emitDim(c, info.start);
  range.length = emitDim(c, info.length);
  range.step = info.step ? emitDim(c, info.step) : c.index(1);
  return range;
}

mlir::Value buildValue(BuildContext &c, const Expr &expr) {
  // A value that was built before is used again.
  if (auto found = c.prebuilt.find(&expr); found != c.prebuilt.end())
    return found->second;
  Bound bound = buildExpr(c, expr);
  if (bound.kind == Bound::Kind::Value)
    return readRef(c, bound, c.here(expr)).value;
  // Other kinds of values have no number; after an error any will do.
  return buildConstant(c, ElemKind::Int, 0, 0, c.here(expr));
}

Bound buildExpr(BuildContext &c, const Expr &expr) {
  llvm::SaveAndRestore place(c.place, c.here(expr));
  ++c.built;
  // A value that is known as a dimension need not be computed again.
  if (expr.dim.isKnown() && expr.type->isInt())
    return Bound::of(emitDim(c, expr.dim));
  switch (expr.kind) {
  case ExprKind::Const:
    return buildConst(c, cast<ConstExpr>(expr));
  case ExprKind::LocalRef:
    return buildLocalRef(c, cast<LocalRefExpr>(expr));
  case ExprKind::Dim:
    return Bound::of(emitDim(c, expr.dim));
  case ExprKind::Op:
    return expr.type->kind == TypeKind::Range ? buildRangeOf(c, *expr.type->range)
                                              : buildOp(c, cast<OpExpr>(expr));
  case ExprKind::Convert:
    return buildConvert(c, cast<ConvertExpr>(expr));
  case ExprKind::Call:
    return buildCall(c, cast<CallExpr>(expr));
  case ExprKind::Block:
    return buildBlockExpr(c, cast<BlockExpr>(expr));
  case ExprKind::Index:
    if (c.manual && expr.type->isScalar())
      return loadElement(c, cast<IndexExpr>(expr));
    return buildIndex(c, cast<IndexExpr>(expr));
  case ExprKind::If:
    return buildIfExpr(c, cast<IfExpr>(expr));
  case ExprKind::Range:
    return buildRange(c, cast<RangeExpr>(expr));
  case ExprKind::Field:
    return buildField(c, cast<FieldExpr>(expr));
  case ExprKind::Logical:
    return buildLogical(c, cast<LogicalExpr>(expr));
  case ExprKind::Tuple:
  case ExprKind::List:
  case ExprKind::StructMake: {
    const std::vector<Expr *> &elements =
        expr.kind == ExprKind::Tuple  ? cast<TupleExpr>(expr).elements
        : expr.kind == ExprKind::List ? cast<ListExpr>(expr).elements
                                      : cast<StructMakeExpr>(expr).fields;
    Bound bound;
    bound.kind = Bound::Kind::Parts;
    for (const Expr *element : elements)
      bound.parts.push_back(buildExpr(c, *element));
    return bound;
  }
  case ExprKind::Tiles:
  case ExprKind::String:
  case ExprKind::EnumTag:
  case ExprKind::Error:
    return {};
  }
  return {};
}

} // namespace ptl::ir

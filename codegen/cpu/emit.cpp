#include "codegen/cpu/emit.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace ptl::cpu {

Type withShapeOf(Type like, Type scalar) {
  if (auto vector = dyn_cast<VectorType>(like))
    return VectorType::get(vector.getShape(), scalar);
  return scalar;
}

int64_t laneCount(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 0;
}

static Value splatConstant(const Emit &e, Type like, TypedAttr scalar) {
  if (auto vector = dyn_cast<VectorType>(like))
    return e.b.create<arith::ConstantOp>(e.loc, DenseElementsAttr::get(vector, Attribute(scalar)));
  return e.b.create<arith::ConstantOp>(e.loc, scalar);
}

Value Emit::real(Type like, double value) const {
  return splatConstant(*this, like, b.getFloatAttr(scalarOf(like), value));
}
Value Emit::integer(Type like, int64_t value) const {
  Type scalar = scalarOf(like);
  if (scalar.isIndex())
    return splatConstant(*this, like, b.getIndexAttr(value));
  // Negative numbers keep their bits in narrower types.
  APInt bits(64, static_cast<uint64_t>(value), true);
  return splatConstant(*this, like,
                       IntegerAttr::get(scalar, bits.sextOrTrunc(scalar.getIntOrFloatBitWidth())));
}
Value Emit::index(int64_t value) const { return b.create<arith::ConstantIndexOp>(loc, value); }
Value Emit::i64(int64_t value) const { return integer(b.getI64Type(), value); }
Value Emit::i32(int64_t value) const { return integer(b.getI32Type(), value); }
Value Emit::zero(Type like) const {
  return isa<FloatType>(scalarOf(like)) ? real(like, 0.0) : integer(like, 0);
}

static bool isFloat(Value x) { return isa<FloatType>(scalarOf(x.getType())); }

Value Emit::add(Value x, Value y) const {
  if (isFloat(x))
    return b.createOrFold<arith::AddFOp>(loc, x, y);
  return b.createOrFold<arith::AddIOp>(loc, x, y);
}
Value Emit::sub(Value x, Value y) const {
  if (isFloat(x))
    return b.createOrFold<arith::SubFOp>(loc, x, y);
  return b.createOrFold<arith::SubIOp>(loc, x, y);
}
Value Emit::mul(Value x, Value y) const {
  if (isFloat(x))
    return b.createOrFold<arith::MulFOp>(loc, x, y);
  return b.createOrFold<arith::MulIOp>(loc, x, y);
}
Value Emit::divf(Value x, Value y) const { return b.createOrFold<arith::DivFOp>(loc, x, y); }
Value Emit::neg(Value x) const {
  if (isFloat(x))
    return b.createOrFold<arith::NegFOp>(loc, x);
  return sub(zero(x.getType()), x);
}
Value Emit::abs(Value x) const {
  if (isFloat(x))
    return b.create<math::AbsFOp>(loc, x);
  return select(cmpi(arith::CmpIPredicate::slt, x, 0), neg(x), x);
}
Value Emit::fma(Value x, Value y, Value z) const { return b.create<math::FmaOp>(loc, x, y, z); }

Value Emit::bitAnd(Value x, Value y) const { return b.createOrFold<arith::AndIOp>(loc, x, y); }
Value Emit::bitOr(Value x, Value y) const { return b.createOrFold<arith::OrIOp>(loc, x, y); }
Value Emit::bitXor(Value x, Value y) const { return b.createOrFold<arith::XOrIOp>(loc, x, y); }
Value Emit::bitNot(Value x) const { return bitXor(x, integer(x.getType(), -1)); }
Value Emit::shl(Value x, int64_t amount) const {
  return b.createOrFold<arith::ShLIOp>(loc, x, integer(x.getType(), amount));
}
Value Emit::shrUnsigned(Value x, int64_t amount) const {
  return b.createOrFold<arith::ShRUIOp>(loc, x, integer(x.getType(), amount));
}

Value Emit::cmpf(arith::CmpFPredicate predicate, Value x, Value y) const {
  return b.createOrFold<arith::CmpFOp>(loc, predicate, x, y);
}
Value Emit::cmpf(arith::CmpFPredicate predicate, Value x, double y) const {
  return cmpf(predicate, x, real(x.getType(), y));
}
Value Emit::cmpi(arith::CmpIPredicate predicate, Value x, Value y) const {
  return b.createOrFold<arith::CmpIOp>(loc, predicate, x, y);
}
Value Emit::cmpi(arith::CmpIPredicate predicate, Value x, int64_t y) const {
  return cmpi(predicate, x, integer(x.getType(), y));
}
Value Emit::select(Value condition, Value x, Value y) const {
  return b.createOrFold<arith::SelectOp>(loc, condition, x, y);
}

Value Emit::bitcast(Value x, Type scalar) const {
  Type type = withShapeOf(x.getType(), scalar);
  return type == x.getType() ? x : b.createOrFold<arith::BitcastOp>(loc, type, x);
}
Value Emit::extf(Value x, Type scalar) const {
  return b.createOrFold<arith::ExtFOp>(loc, withShapeOf(x.getType(), scalar), x);
}
Value Emit::truncf(Value x, Type scalar) const {
  return b.create<arith::TruncFOp>(loc, withShapeOf(x.getType(), scalar), x);
}
Value Emit::extui(Value x, Type scalar) const {
  return b.createOrFold<arith::ExtUIOp>(loc, withShapeOf(x.getType(), scalar), x);
}
Value Emit::trunci(Value x, Type scalar) const {
  return b.createOrFold<arith::TruncIOp>(loc, withShapeOf(x.getType(), scalar), x);
}
Value Emit::sitofp(Value x, Type scalar) const {
  return b.createOrFold<arith::SIToFPOp>(loc, withShapeOf(x.getType(), scalar), x);
}
Value Emit::fptosi(Value x, Type scalar) const {
  return b.createOrFold<arith::FPToSIOp>(loc, withShapeOf(x.getType(), scalar), x);
}
Value Emit::indexCast(Value x, Type scalar) const {
  Type type = withShapeOf(x.getType(), scalar);
  return type == x.getType() ? x : b.createOrFold<arith::IndexCastOp>(loc, type, x);
}
Value Emit::splat(Value x, Type like) const {
  auto vector = dyn_cast<VectorType>(like);
  if (!vector || isa<VectorType>(x.getType()))
    return x;
  return b.createOrFold<vector::SplatOp>(loc, VectorType::get(vector.getShape(), x.getType()), x);
}
Value Emit::copySign(Value magnitude, Value sign) const {
  return b.create<math::CopySignOp>(loc, magnitude, sign);
}

Value Emit::intrinsic(StringRef name, Type result, ValueRange operands) const {
  auto call = b.create<LLVM::CallIntrinsicOp>(loc, result, b.getStringAttr(name), operands);
  return result ? call->getResult(0) : Value();
}

Value Emit::call(StringRef callee, Type result, ValueRange operands) const {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  // Initialisers of globals are in the module itself.
  if (!module)
    module = cast<ModuleOp>(b.getInsertionBlock()->getParentOp());
  auto function = module.lookupSymbol<func::FuncOp>(callee);
  // A function of the runtime is declared at its first call.
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    TypeRange results = result ? TypeRange(result) : TypeRange();
    function = b.create<func::FuncOp>(loc, callee, b.getFunctionType(TypeRange(operands), results));
    function.setPrivate();
  }
  auto call = b.create<func::CallOp>(loc, function, operands);
  return result ? call.getResult(0) : Value();
}

// A new block behind the present one, at whose end emission continues.
static Block *blockAfter(const Emit &e, Block *previous, TypeRange types) {
  OpBuilder::InsertionGuard guard(e.b);
  SmallVector<Location> places(types.size(), e.loc);
  return e.b.createBlock(previous->getParent(), std::next(Region::iterator(previous)), types,
                         places);
}

SmallVector<Value> Emit::loop(Value lower, Value upper, Value step, ValueRange initial,
                              LoopBody body) const {
  SmallVector<Type> types = {lower.getType()};
  llvm::append_range(types, initial.getTypes());
  // The condition is tested first, so that a loop may have no rounds.
  Block *header = blockAfter(*this, b.getInsertionBlock(), types);
  Block *inside = blockAfter(*this, header, {});
  Block *after = blockAfter(*this, inside, {});
  SmallVector<Value> entry = {lower};
  llvm::append_range(entry, initial);
  b.create<cf::BranchOp>(loc, header, entry);
  b.setInsertionPointToEnd(header);
  Value counter = header->getArgument(0);
  Value more = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, counter, upper);
  b.create<cf::CondBranchOp>(loc, more, inside, after);
  b.setInsertionPointToEnd(inside);
  ValueRange carried = header->getArguments().drop_front();
  SmallVector<Value> next = {Value()};
  llvm::append_range(next, body(*this, counter, carried));
  next[0] = b.create<arith::AddIOp>(loc, counter, step);
  b.create<cf::BranchOp>(loc, header, next);
  b.setInsertionPointToEnd(after);
  return SmallVector<Value>(carried);
}

SmallVector<Value> Emit::branch(Value condition, TypeRange types, Branch then,
                                Branch otherwise) const {
  Block *yes = blockAfter(*this, b.getInsertionBlock(), {});
  Block *no = blockAfter(*this, yes, {});
  Block *after = blockAfter(*this, no, types);
  b.create<cf::CondBranchOp>(loc, condition, yes, no);
  // The results of the arms are arguments of the block behind them. An arm may end in another block
  // than it began with, so the branch is emitted wherever its code ended.
  for (auto [block, body] : {std::pair(yes, then), std::pair(no, otherwise)}) {
    b.setInsertionPointToEnd(block);
    SmallVector<Value> results;
    if (body)
      results = body(*this);
    b.create<cf::BranchOp>(loc, after, results);
  }
  b.setInsertionPointToEnd(after);
  return SmallVector<Value>(after->getArguments());
}

} // namespace ptl::cpu

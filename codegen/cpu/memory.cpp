#include "codegen/cpu/memory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace ptl::cpu {

Type pointerType(MLIRContext *context) { return LLVM::LLVMPointerType::get(context); }

Value elementPointer(const Emit &e, Value base, Type element, Value index) {
  Value offset = e.indexCast(index, e.b.getI64Type());
  return e.b.create<LLVM::GEPOp>(e.loc, base.getType(), element, base, offset);
}

Value bytePointer(const Emit &e, Value base, Value bytes) {
  return elementPointer(e, base, e.b.getI8Type(), bytes);
}

static unsigned alignmentOf(Type element) {
  return std::max(1u, element.getIntOrFloatBitWidth() / 8);
}

Value loadRaw(const Emit &e, Value pointer, Type element, int64_t lanes, Value mask) {
  // A vector may begin at any element, so it has the alignment of one.
  unsigned alignment = alignmentOf(element);
  if (!lanes)
    return e.b.create<LLVM::LoadOp>(e.loc, element, pointer, alignment);
  Type type = VectorType::get({lanes}, element);
  if (!mask)
    return e.b.create<LLVM::LoadOp>(e.loc, type, pointer, alignment);
  return e.b.create<LLVM::MaskedLoadOp>(e.loc, type, pointer, mask, ValueRange{e.zero(type)},
                                        alignment);
}

void storeRaw(const Emit &e, Value pointer, Value value, Value mask) {
  unsigned alignment = alignmentOf(scalarOf(value.getType()));
  if (mask)
    e.b.create<LLVM::MaskedStoreOp>(e.loc, value, pointer, mask, alignment);
  else
    e.b.create<LLVM::StoreOp>(e.loc, value, pointer, alignment);
}

Value laneNumbers(const Emit &e, int64_t lanes, Type scalar) {
  unsigned width = scalar.isIndex() ? 64 : scalar.getIntOrFloatBitWidth();
  SmallVector<APInt> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(APInt(width, static_cast<uint64_t>(lane)));
  auto type = VectorType::get({lanes}, scalar);
  return e.b.create<arith::ConstantOp>(e.loc, DenseElementsAttr::get(type, numbers));
}

// Lane numbers fit 32 bits, so the compare is as narrow as the data usually is.
Value laneMask(const Emit &e, Value count, int64_t lanes) {
  Value steps = laneNumbers(e, lanes, e.b.getI32Type());
  Value limit = e.b.createOrFold<arith::MinSIOp>(e.loc, count, e.integer(count.getType(), lanes));
  Value narrow = e.indexCast(limit, e.b.getI32Type());
  return e.cmpi(arith::CmpIPredicate::slt, steps, e.splat(narrow, steps.getType()));
}

static Value pointerVector(const Emit &e, Value base, Type element, Value indices) {
  int64_t lanes = laneCount(indices.getType());
  Type type = LLVM::getFixedVectorType(base.getType(), lanes);
  Value offsets = e.indexCast(indices, e.b.getI64Type());
  return e.b.create<LLVM::GEPOp>(e.loc, type, element, base, offsets);
}

static Value allLanes(const Emit &e, int64_t lanes) {
  return e.integer(VectorType::get({lanes}, e.b.getI1Type()), -1);
}

bool loadsByLanes(const Emit &e, Type element) {
  return !e.unit.gathersFast || element.getIntOrFloatBitWidth() < 32;
}

// One load for each lane.
static Value loadLanes(const Emit &e, Type element, int64_t lanes,
                       function_ref<Value(int64_t)> pointerOf) {
  Value result = e.b.create<LLVM::UndefOp>(e.loc, VectorType::get({lanes}, element));
  for (int64_t lane = 0; lane < lanes; ++lane)
    result = e.b.create<vector::InsertElementOp>(e.loc, loadRaw(e, pointerOf(lane), element, 0),
                                                 result, e.i32(lane));
  return result;
}

// The indices as scalars. Those of 32 bits leave their register in pairs, which takes half as many instructions.
static SmallVector<Value> lanesOf(const Emit &e, Value indices) {
  int64_t lanes = laneCount(indices.getType());
  auto extracted = [&](Value from, int64_t at) -> Value {
    return e.b.create<vector::ExtractElementOp>(e.loc, from, e.i32(at));
  };
  SmallVector<Value> result;
  auto isNarrow = [](Value value) { return scalarOf(value.getType()).isInteger(32); };
  Value narrow = indices;
  for (Operation *op = narrow.getDefiningOp();
       op && !isNarrow(narrow) && isa<arith::IndexCastOp, arith::ExtSIOp>(op);
       op = narrow.getDefiningOp())
    narrow = op->getOperand(0);
  // Longer indices do not come in pairs, and a last one without a partner neither.
  if (!isNarrow(narrow) || lanes % 2 != 0) {
    for (int64_t lane = 0; lane < lanes; ++lane)
      result.push_back(extracted(indices, lane));
    return result;
  }
  Value pairs =
      e.b.create<LLVM::BitcastOp>(e.loc, VectorType::get({lanes / 2}, e.b.getI64Type()), narrow);
  for (int64_t pair = 0; pair < lanes / 2; ++pair) {
    Value both = extracted(pairs, pair);
    // Both halves of a pair are signed, so each is brought to the top and shifted down with its
    // sign.
    Value shift = e.i64(32);
    Value first = e.b.create<arith::ShLIOp>(e.loc, both, shift);
    for (Value each : {first, both})
      result.push_back(
          e.indexCast(e.b.create<arith::ShRSIOp>(e.loc, each, shift), e.b.getIndexType()));
  }
  return result;
}

Value loadEvenly(const Emit &e, Value pointer, Type element, int64_t lanes, Value distance) {
  // Four pointers that follow each other are one and its multiples of the distance, which addresses contain.
  constexpr int64_t kTogether = 4;
  Value first = pointer;
  return loadLanes(e, element, lanes, [&](int64_t lane) {
    if (int64_t place = lane % kTogether; place != 0)
      return elementPointer(e, first, element, e.mul(distance, e.index(place)));
    if (lane != 0)
      first = elementPointer(e, first, element, e.mul(distance, e.index(kTogether)));
    return first;
  });
}

Value gatherRaw(const Emit &e, Value base, Type element, Value indices, Value mask) {
  int64_t lanes = laneCount(indices.getType());
  Type type = VectorType::get({lanes}, element);
  // Where a mask says which lanes load, any may be off, and nothing says where the others could load from.
  if (!mask && loadsByLanes(e, element)) {
    SmallVector<Value> each = lanesOf(e, indices);
    return loadLanes(e, element, lanes, [&](int64_t lane) {
      return elementPointer(e, base, element, each[static_cast<size_t>(lane)]);
    });
  }
  if (!mask)
    mask = allLanes(e, lanes);
  return e.b.create<LLVM::masked_gather>(e.loc, type, pointerVector(e, base, element, indices),
                                         mask, ValueRange{e.zero(type)}, alignmentOf(element));
}

void scatterRaw(const Emit &e, Value base, Value value, Value indices, Value mask) {
  Type element = scalarOf(value.getType());
  if (!mask)
    mask = allLanes(e, laneCount(indices.getType()));
  e.b.create<LLVM::masked_scatter>(e.loc, value, pointerVector(e, base, element, indices), mask,
                                   alignmentOf(element));
}

Value stackBuffer(const Emit &e, Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(e.b);
  // Outside of the entry block each round of a loop would take new memory from the stack.
  auto function = e.b.getInsertionBlock()->getParentOp();
  while (!isa<func::FuncOp>(function))
    function = function->getParentOp();
  e.b.setInsertionPointToStart(&cast<func::FuncOp>(function).getBody().front());
  return e.b.create<LLVM::AllocaOp>(e.loc, pointerType(e.b.getContext()), element, e.i64(count),
                                    64);
}

Value emitScratch(const Emit &e, Value context, Value bytes) {
  return e.call("ptl_rt_scratch", pointerType(e.b.getContext()),
                {context, e.indexCast(bytes, e.b.getI64Type())});
}

Value emitScratchMark(const Emit &e, Value context) {
  return e.call("ptl_rt_scratch_mark", e.b.getI64Type(), context);
}

void emitScratchRelease(const Emit &e, Value context, Value mark) {
  e.call("ptl_rt_scratch_release", {}, {context, mark});
}

} // namespace ptl::cpu

// Which registers and instructions a product gets, and small things that the emitters of its parts share.
#include "codegen/cpu/product_plan.h"

#include "codegen/cpu/product_functions.h"

using namespace mlir;

namespace ptl::cpu {

Type accumulatorType(Type a, Type b) {
  MLIRContext *context = a.getContext();
  if (isFloatElem(a))
    return a.isF64() ? a : Type(Float32Type::get(context));
  unsigned width = a.isIndex() ? 64 : std::max(a.getIntOrFloatBitWidth(), 32u);
  return IntegerType::get(context, width);
}

static bool isByte(Type t) { return t.isInteger(8) || t.isUnsignedInteger(8); }
// Whether all values of the type are values of i16.
static bool fitsI16(Type t) { return isByte(t) || (t.isInteger(16) && !t.isUnsignedInteger()); }

// Sums, one row of B and one number of A take at most 32 registers of AVX-512, 16 of any other unit. A tall product ends in one
// block that has as many rows as are left, or few more, and a narrow one in blocks of one vector. Each block is code that has to be
// compiled before the first result, so there are few of them: a 12x2, a 2x2 and a 14x1 more took half as long again.
static constexpr RegisterBlock kWideBlocks[] = {{14, 2}, {8, 2}, {4, 2}, {6, 1}};
static constexpr RegisterBlock kHalfBlocks[] = {{6, 2}, {2, 2}, {6, 1}};
static constexpr RegisterBlock kNarrowBlocks[] = {{5, 2}, {2, 2}, {5, 1}};

ProductPlan makeProductPlan(Type a, Type b, Type c, const VectorUnit &unit) {
  MLIRContext *context = a.getContext();
  ProductPlan p{a, b, c, ProductUnit::Number, c, c, 0, {}, 256, ""};
  // The instructions that add pairs of products to a sum are those of the widest registers.
  bool wide = unit.bytes >= 64;
  // Two numbers in one multiplication are half the work even where their sum takes an addition of its own.
  bool multipliesPairs = (wide && unit.i16Pairs) || unit.i16PairBytes == unit.bytes;
  if (wide && unit.bf16Pairs && a.isBF16() && b.isBF16()) {
    p.unit = ProductUnit::Bf16Pair;
    p.packed = IntegerType::get(context, 32);
  } else if (multipliesPairs && fitsI16(a) && fitsI16(b)) {
    p.unit = ProductUnit::I16Pair;
  } else if (isByte(a) && isByte(b)) {
    // Products of bytes are exact in f32 while their sum stays below 2^24: a bounded number of steps at a time.
    p.packed = p.sum = Float32Type::get(context);
    p.depth = a.isUnsignedInteger() || b.isUnsignedInteger() ? 256 : 512;
  }
  p.lanes = unit.bytes * 8 / p.sum.getIntOrFloatBitWidth();
  p.blocks = kNarrowBlocks;
  if (unit.bytes >= 32)
    p.blocks = kHalfBlocks;
  if (unit.bytes >= 64)
    p.blocks = kWideBlocks;
  llvm::raw_string_ostream name(p.suffix);
  name << a << '_' << b << '_' << c;
  return p;
}

static ModuleOp moduleOf(const Emit &e) {
  auto *op = e.b.getInsertionBlock()->getParentOp();
  return isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
}

func::FuncOp defineFunction(const Emit &e, const std::string &name, ArrayRef<Type> arguments,
                            llvm::function_ref<void(const Emit &, ValueRange)> body) {
  ModuleOp module = moduleOf(e);
  if (auto existing = module.lookupSymbol<func::FuncOp>(name))
    return existing;
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToEnd(module.getBody());
  auto function = e.b.create<func::FuncOp>(e.loc, name, e.b.getFunctionType(arguments, {}));
  function.setPrivate();
  if (e.bodies && !e.bodies->begin(function))
    return function;
  function->setAttr("llvm.linkage",
                    LLVM::LinkageAttr::get(e.b.getContext(), LLVM::Linkage::Internal));
  // A copy in each caller would be compiled again and again.
  function->setAttr("passthrough", e.b.getStrArrayAttr({"noinline"}));
  Block *entry = function.addEntryBlock();
  e.b.setInsertionPointToStart(entry);
  body(e, entry->getArguments());
  e.b.create<func::ReturnOp>(e.loc);
  if (e.bodies)
    e.bodies->end();
  return function;
}

void callFunction(const Emit &e, func::FuncOp function, ValueRange operands) {
  e.b.create<func::CallOp>(e.loc, function, operands);
}

void forEach(const Emit &e, Value upper, int64_t step,
             llvm::function_ref<void(const Emit &, Value)> body) {
  e.loop(e.index(0), upper, e.index(step), {}, [&](const Emit &inner, Value i, ValueRange) {
    body(inner, i);
    return SmallVector<Value>();
  });
}

Value minimum(const Emit &e, Value x, Value y) {
  return e.b.createOrFold<arith::MinSIOp>(e.loc, x, y);
}

Value countOf(const Emit &e, Value x, int64_t unit) {
  if (unit == 1)
    return x;
  Value sum = e.add(x, e.index(unit - 1));
  return e.b.createOrFold<arith::DivUIOp>(e.loc, sum, e.index(unit));
}

Value roundUpTo(const Emit &e, Value x, int64_t unit) {
  return e.mul(countOf(e, x, unit), e.index(unit));
}

Value evenParts(const Emit &e, Value whole, int64_t most, int64_t unit) {
  Value one = e.index(1);
  // Equal parts avoid a last one that is so small that packing it does not pay.
  Value parts = e.b.createOrFold<arith::MaxSIOp>(e.loc, countOf(e, whole, most), one);
  Value part = e.b.createOrFold<arith::DivUIOp>(e.loc, e.add(whole, e.sub(parts, one)), parts);
  return roundUpTo(e, e.b.createOrFold<arith::MaxSIOp>(e.loc, part, one), unit);
}

void forParts(const Emit &e, Value whole, Value part,
              llvm::function_ref<void(const Emit &, Value start, Value length)> body) {
  e.loop(e.index(0), whole, part, {}, [&](const Emit &e, Value i, ValueRange) {
    body(e, i, minimum(e, part, e.sub(whole, i)));
    return SmallVector<Value>();
  });
}

Value loadAs(const Emit &e, Type logical, Type to, Value pointer, int64_t lanes, Value mask) {
  Value value = fromStorage(e, loadRaw(e, pointer, storageType(logical), lanes, mask), logical);
  return registerType(logical) == to ? value : convertElem(e, value, logical, to);
}

} // namespace ptl::cpu

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
static bool areBytes(Type a, Type b) { return isByte(a) && isByte(b); }
static bool areF16(Type a, Type b) { return a.isF16() && b.isF16(); }
static bool areBf16(Type a, Type b) { return a.isBF16() && b.isBF16(); }
// Whether all values of the type are values of i16.
static bool fitsI16(Type t) { return isByte(t) || (t.isInteger(16) && !t.isUnsignedInteger()); }
static bool fitI16(Type a, Type b) { return fitsI16(a) && fitsI16(b); }
static bool areAny(Type, Type) { return true; }

namespace {
/// A way to multiply: which operands it takes, and what a processor needs for it.
struct MicroKernel {
  ProductUnit unit;
  bool (*takes)(Type a, Type b);
  bool (*isThere)(const VectorUnit &unit);
};
} // namespace

// The first that takes the operands and that the processor has is the fastest: matrices before vectors, four bytes in one instruction before two, two numbers
// in one multiplication even where their sum takes an addition of its own. Pairs of bf16 are for the widest registers alone.
static constexpr MicroKernel kMicroKernels[] = {
    {ProductUnit::ByteMatrix, areBytes,
     [](const VectorUnit &u) { return u.bytes >= 64 && u.matrices.bytes; }},
    {ProductUnit::Bf16Matrix, areBf16,
     [](const VectorUnit &u) { return u.bytes >= 64 && u.matrices.bf16; }},
    {ProductUnit::F16Matrix, areF16,
     [](const VectorUnit &u) { return u.bytes >= 64 && u.matrices.f16; }},
    {ProductUnit::Bf16Pair, areBf16,
     [](const VectorUnit &u) { return u.bytes >= 64 && u.bf16Pairs; }},
    {ProductUnit::ByteQuad, areBytes,
     [](const VectorUnit &u) { return u.byteDotBytes == u.bytes; }},
    {ProductUnit::I16Pair, fitI16,
     [](const VectorUnit &u) { return u.i16DotBytes == u.bytes || u.i16PairBytes == u.bytes; }},
    {ProductUnit::FloatOfByte, areBytes, [](const VectorUnit &) { return true; }},
    {ProductUnit::Number, areAny, [](const VectorUnit &) { return true; }},
};

// Sums, one row of B and one number of A take at most 32 registers of AVX-512, 16 of any other unit. A tall product ends in one
// block that has as many rows as are left, or few more, and a narrow one in blocks of one vector. Each block is code that has to be
// compiled before the first result, so there are few of them: a 12x2, a 2x2 and a 14x1 more took half as long again.
static constexpr RegisterBlock kWideBlocks[] = {{14, 2}, {8, 2}, {4, 2}, {6, 1}};
static constexpr RegisterBlock kHalfBlocks[] = {{6, 2}, {2, 2}, {6, 1}};
static constexpr RegisterBlock kNarrowBlocks[] = {{5, 2}, {2, 2}, {5, 1}};

// Four matrices of C, two of A and two of B are all eight registers.
static constexpr RegisterBlock kMatrixBlocks[] = {{32, 2}, {16, 2}, {32, 1}};

static ArrayRef<RegisterBlock> blocksOf(const VectorUnit &unit) {
  return unit.bytes >= 64   ? ArrayRef(kWideBlocks)
         : unit.bytes >= 32 ? ArrayRef(kHalfBlocks)
                            : ArrayRef(kNarrowBlocks);
}

// A panel of B that leaves the first cache still comes from the second one in time for the widest registers, which use each line of it
// for longer, while C is read and written half as often: products of 512^3 to 2048^3 take 3 to 5 % less on a Zen 5.
static int64_t depthOf(const ProductPlan &p, const VectorUnit &unit) {
  return unit.bytes >= 64 && p.packed.getIntOrFloatBitWidth() == 32 && !p.usesMatrices() ? 512
                                                                                         : 256;
}

int64_t ProductPlan::perLane() const {
  switch (unit) {
  case ProductUnit::Number:
  case ProductUnit::FloatOfByte:
    return 1;
  case ProductUnit::Bf16Pair:
  case ProductUnit::I16Pair:
  case ProductUnit::Bf16Matrix:
  case ProductUnit::F16Matrix:
    return 2;
  case ProductUnit::ByteQuad:
  case ProductUnit::ByteMatrix:
    return 4;
  }
  llvm_unreachable("unknown unit of products");
}

bool ProductPlan::movesA() const {
  return unit == ProductUnit::ByteQuad && isUnsigned(a) == isUnsigned(b);
}

ProductPlan makeProductPlan(Type a, Type b, Type c, const VectorUnit &unit) {
  MLIRContext *context = a.getContext();
  const MicroKernel *kernel = llvm::find_if(kMicroKernels, [&](const MicroKernel &each) {
    return each.takes(a, b) && each.isThere(unit);
  });
  ProductPlan p{a, b, c, kernel->unit, c, c, 0, blocksOf(unit), 256, ""};
  if (p.perLane() > 1)
    p.packed = IntegerType::get(context, 32);
  p.depth = depthOf(p, unit);
  if (p.unit == ProductUnit::FloatOfByte) {
    // Products of bytes are exact in f32 while their sum stays below 2^24: a bounded number of steps at a time.
    p.packed = p.sum = Float32Type::get(context);
    p.depth = isUnsigned(a) || isUnsigned(b) ? 256 : 512;
  }
  // Sums decide how many numbers a vector holds; factors may be shorter and are widened.
  p.lanes = unit.bytes * 8 / p.sum.getIntOrFloatBitWidth();
  llvm::raw_string_ostream name(p.suffix);
  name << a << '_' << b << '_' << c;
  if (p.usesMatrices()) {
    p.blocks = kMatrixBlocks;
    name << "_matrices";
  }
  return p;
}

ProductPlan withoutMatrices(const ProductPlan &p, const VectorUnit &unit) {
  VectorUnit vectors = unit;
  vectors.matrices = {};
  return makeProductPlan(p.a, p.b, p.c, vectors);
}

static ModuleOp moduleOf(const Emit &e) {
  auto *op = e.b.getInsertionBlock()->getParentOp();
  return isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
}

func::FuncOp defineFunction(const Emit &e, const std::string &name, ArrayRef<Type> arguments,
                            llvm::function_ref<void(const Emit &, ValueRange)> body) {
  ModuleOp module = moduleOf(e);
  // Products of the same types share one function: its name says all that it depends on.
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

// Blocks of C in registers of matrices (AMX): each has 16 rows of 64 bytes, and one instruction adds the product of two to a third.
#include "codegen/cpu/product_block.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

static constexpr int64_t kMatrixRows = 16, kMatrixRowBytes = 64, kMatrixRegisters = 8;
// Smaller products do not fill one register of C.
static constexpr int64_t kLeastMatrixRows = kMatrixRows, kLeastMatrixColumns = 16;

// An instruction, whose first operands may be numbers of registers.
static void matrixInstruction(const Emit &e, const Twine &name, ArrayRef<int64_t> registers,
                              ArrayRef<Value> others = {}) {
  SmallVector<Value> operands;
  for (int64_t number : registers)
    operands.push_back(e.integer(e.b.getI8Type(), number));
  operands.append(others.begin(), others.end());
  if (e.unit.matrices.isEmulated)
    e.call(("ptl_emulated_" + name).str(), {}, operands);
  else
    e.intrinsic(("llvm.x86." + name).str(), {}, operands);
}

// All registers have all their rows: what a product lacks of them is packed as zeros, or not stored.
void configureMatrices(const Emit &e) {
  Type i64 = e.b.getI64Type();
  // Bytes: 0 the palette, 16 the bytes of a row of each register in 16 bits, 48 the rows of each in 8 bits.
  int64_t widths = 0x0001'0001'0001'0001 * kMatrixRowBytes,
          rows = 0x0101'0101'0101'0101 * kMatrixRows;
  static_assert(kMatrixRegisters == 8, "two words of widths, one of rows");
  const int64_t words[] = {1, 0, widths, widths, 0, 0, rows, 0};
  Value memory = stackBuffer(e, i64, std::size(words));
  for (auto [at, word] : llvm::enumerate(words))
    storeRaw(e, elementPointer(e, memory, i64, e.index(static_cast<int64_t>(at))), e.i64(word));
  matrixInstruction(e, "ldtilecfg", {}, {memory});
}

void releaseMatrices(const Emit &e) { matrixInstruction(e, "tilerelease", {}); }

Value goesByMatrices(const Emit &e, Value m, Value n) {
  Value isLarge = e.bitAnd(e.cmpi(CmpIPredicate::uge, m, kLeastMatrixRows),
                           e.cmpi(CmpIPredicate::uge, n, kLeastMatrixColumns));
  return e.branch(
      isLarge, e.b.getI1Type(),
      [&](const Emit &e) -> SmallVector<Value> {
        bool isEmulated = e.unit.matrices.isEmulated;
        Value granted =
            e.call(isEmulated ? "ptl_emulated_matrix_registers" : "ptl_rt_matrix_registers",
                   e.b.getI32Type(), {});
        return {e.cmpi(CmpIPredicate::ne, granted, 0)};
      },
      [&](const Emit &e) { return SmallVector<Value>{e.integer(e.b.getI1Type(), 0)}; })[0];
}

// `body` gets the arguments, of which number `steps` is how many there are, and the multiple; nothing is to be written where that is the same.
static func::FuncOp padding(const Emit &outer, const std::string &name, ArrayRef<Type> types,
                            const ProductPlan &p, size_t steps,
                            llvm::function_ref<void(const Emit &, ValueRange, Value)> body) {
  return defineFunction(outer, name + p.suffix, types, [&](const Emit &e, ValueRange v) {
    Value end = roundUpTo(e, v[steps], p.lanes);
    e.branch(e.cmpi(CmpIPredicate::slt, v[steps], end), {},
             [&](const Emit &e) -> SmallVector<Value> {
               body(e, v, end);
               return {};
             });
  });
}

func::FuncOp padRowsFunction(const Emit &outer, const ProductPlan &p) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  return padding(outer, "ptl_pad_rows_", {pointer, index, index}, p, 2,
                 [&](const Emit &e, ValueRange v, Value) {
                   // Rows have room for a vector behind the deepest lane.
                   forEach(e, v[1], 1, [&](const Emit &e, Value r) {
                     Value at = e.add(e.mul(r, e.index(p.pitch())), v[2]);
                     storeRaw(e, elementPointer(e, v[0], p.packed, at),
                              e.zero(VectorType::get({p.lanes}, p.packed)));
                   });
                 });
}

func::FuncOp padPanelsFunction(const Emit &outer, const ProductPlan &p) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  auto row = [&](const Emit &e, Value panel, Value k) {
    for (int64_t vector = 0; vector < p.vectors(); ++vector) {
      Value at = e.add(e.mul(k, e.index(p.columns())), e.index(vector * p.lanes));
      storeRaw(e, elementPointer(e, panel, p.packed, at),
               e.zero(VectorType::get({p.lanes}, p.packed)));
    }
  };
  return padding(outer, "ptl_pad_panels_", {pointer, index, index}, p, 1,
                 [&](const Emit &e, ValueRange v, Value end) {
                   forEach(e, v[2], p.columns(), [&](const Emit &e, Value j) {
                     Value panel =
                         elementPointer(e, v[0], p.packed, e.mul(j, e.index(p.panelRows())));
                     e.loop(v[1], end, e.index(1), {}, [&](const Emit &e, Value k, ValueRange) {
                       row(e, panel, k);
                       return SmallVector<Value>();
                     });
                   });
                 });
}

namespace {
/// A block whose sums are in registers of matrices.
struct MatrixBlock : BlockArguments {
  using BlockArguments::BlockArguments;

  int64_t down() const { return size.rows / kMatrixRows; }
  // Registers: those of C first, then those of A, then those of B.
  int64_t ofC(int64_t i, int64_t j) const { return i * size.vectors + j; }
  int64_t ofA(int64_t i) const { return down() * size.vectors + i; }
  int64_t ofB(int64_t j) const { return down() * (size.vectors + 1) + j; }

  void forC(const Emit &e, StringRef instruction, Value base, Value stride) const;
  void start(const Emit &e, Value isWhole) const;
  void sum(const Emit &e) const;
  void store(const Emit &e, Value isWhole, func::FuncOp corner) const;
};
} // namespace

static Value inBytes(const Emit &e, Value numbers, Type type) {
  return e.indexCast(e.mul(numbers, e.index(type.getIntOrFloatBitWidth() / 8)), e.b.getI64Type());
}

// Loads or stores the registers of C, whose rows are `stride` numbers apart.
void MatrixBlock::forC(const Emit &e, StringRef instruction, Value base, Value stride) const {
  for (int64_t i = 0; i < down(); ++i)
    for (int64_t j = 0; j < size.vectors; ++j) {
      Value offset = e.add(e.mul(stride, e.index(i * kMatrixRows)), e.index(j * p.lanes));
      matrixInstruction(e, instruction, {ofC(i, j)},
                        {elementPointer(e, base, p.c, offset), inBytes(e, stride, p.c)});
    }
}

// Sums go on from what C holds where all of it can be loaded.
void MatrixBlock::start(const Emit &e, Value isWhole) const {
  Value isZero = e.bitOr(fresh, e.bitNot(isWhole));
  e.branch(
      isZero, {},
      [&](const Emit &e) -> SmallVector<Value> {
        for (int64_t number = 0; number < down() * size.vectors; ++number)
          matrixInstruction(e, "tilezero", {number});
        return {};
      },
      [&](const Emit &e) -> SmallVector<Value> {
        forC(e, "tileloadd64", c, rowStride);
        return {};
      });
}

static std::string multiplication(const ProductPlan &p) {
  if (p.unit == ProductUnit::Bf16Matrix)
    return "tdpbf16ps";
  if (p.unit == ProductUnit::F16Matrix)
    return "tdpfp16ps";
  auto sign = [](Type type) { return isUnsigned(type) ? "u" : "s"; };
  return std::string("tdpb") + sign(p.a) + sign(p.b) + "d";
}

void MatrixBlock::sum(const Emit &e) const {
  std::string multiply = multiplication(p);
  Value pitch = inBytes(e, e.index(p.pitch()), p.packed),
        width = inBytes(e, e.index(p.columns()), p.packed);
  forEach(e, depth, p.lanes, [&](const Emit &e, Value k) {
    for (int64_t j = 0; j < size.vectors; ++j) {
      Value at = e.add(e.mul(k, e.index(p.columns())), e.index(j * p.lanes));
      matrixInstruction(e, "tileloadd64", {ofB(j)}, {elementPointer(e, b, p.packed, at), width});
    }
    for (int64_t i = 0; i < down(); ++i) {
      Value at = e.add(k, e.index(i * kMatrixRows * p.pitch()));
      matrixInstruction(e, "tileloadd64", {ofA(i)}, {elementPointer(e, a, p.packed, at), pitch});
      for (int64_t j = 0; j < size.vectors; ++j)
        matrixInstruction(e, multiply, {ofC(i, j), ofA(i), ofB(j)});
    }
  });
}

void MatrixBlock::store(const Emit &e, Value isWhole, func::FuncOp corner) const {
  e.branch(
      isWhole, {},
      [&](const Emit &e) -> SmallVector<Value> {
        forC(e, "tilestored64", c, rowStride);
        return {};
      },
      [&](const Emit &e) -> SmallVector<Value> {
        // By way of memory, where rows and columns can be counted.
        Value whole = stackBuffer(e, p.c, size.rows * width());
        forC(e, "tilestored64", whole, e.index(width()));
        storeCorner(e, corner, whole);
        return {};
      });
}

func::FuncOp matrixBlockFunction(const Emit &outer, const ProductPlan &p, RegisterBlock size) {
  func::FuncOp corner = cornerFunction(outer, p);
  return defineBlock(outer, p, size, [&](const Emit &e, ValueRange v) {
    MatrixBlock block(p, size, v);
    Value isWhole = block.isWhole(e);
    block.start(e, isWhole);
    block.sum(e);
    block.store(e, isWhole, corner);
  });
}

} // namespace ptl::cpu

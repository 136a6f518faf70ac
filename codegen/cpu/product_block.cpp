// A block of C in registers: the innermost code of a product.
#include "codegen/cpu/product_block.h"

using namespace mlir;

namespace ptl::cpu {

// The sums of two neighbouring products of i16 each, added to `sum`. Of all i16, only four times -2^15 at once leaves the range of i32,
// whose sums wrap anyway.
static Value addPairs(const Emit &e, const ProductPlan &p, Value x, Value y, Value sum) {
  if (e.unit.i16DotBytes == e.unit.bytes)
    return e.intrinsic(p.lanes == 16 ? "llvm.x86.avx512.vpdpwssd.512"
                                     : "llvm.x86.avx512.vpdpwssd.256",
                       sum.getType(), {sum, x, y});
  const char *name = p.lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                     : p.lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                    : "llvm.x86.sse2.pmadd.wd";
  Type type = VectorType::get({p.lanes * 2}, e.b.getI16Type());
  x = e.b.create<vector::BitCastOp>(e.loc, type, x);
  y = e.b.create<vector::BitCastOp>(e.loc, type, y);
  return e.add(sum, e.intrinsic(name, sum.getType(), {x, y}));
}

// The sums of four neighbouring products of bytes each, added to `sum`: exact, since no product leaves the range of i16, and the
// instruction sums them as i32. Its first factor has no sign: that of A, unless only B has none, or both, where moving A gives it one.
static Value addQuads(const Emit &e, const ProductPlan &p, Value x, Value y, Value sum) {
  if (isUnsigned(p.b))
    std::swap(x, y);
  return e.intrinsic(p.lanes == 16 ? "llvm.x86.avx512.vpdpbusd.512"
                                   : "llvm.x86.avx512.vpdpbusd.256",
                     sum.getType(), {sum, x, y});
}

Value multiplyAdd(const Emit &e, const ProductPlan &p, Value x, Value y, Value sum) {
  switch (p.unit) {
  case ProductUnit::Number:
  case ProductUnit::FloatOfByte:
    return isa<FloatType>(p.sum) ? e.fma(x, y, sum) : e.add(sum, e.mul(x, y));
  case ProductUnit::I16Pair:
    return addPairs(e, p, x, y, sum);
  case ProductUnit::ByteQuad:
    return addQuads(e, p, x, y, sum);
  case ProductUnit::Bf16Pair: {
    Type type = VectorType::get({p.lanes * 2}, e.b.getBF16Type());
    x = e.b.create<vector::BitCastOp>(e.loc, type, x);
    y = e.b.create<vector::BitCastOp>(e.loc, type, y);
    return e.intrinsic("llvm.x86.avx512bf16.dpbf16ps.512", sum.getType(), {sum, x, y});
  }
  case ProductUnit::ByteMatrix:
  case ProductUnit::Bf16Matrix:
  case ProductUnit::F16Matrix:
    break;
  }
  llvm_unreachable("no unit of vectors");
}

namespace {
/// A block whose sums are vectors.
struct BlockEmitter : BlockArguments {
  using BlockArguments::BlockArguments;

  Value address(const Emit &e, int64_t row, int64_t vector) const {
    Value offset = e.add(e.mul(rowStride, e.index(row)), e.index(vector * p.lanes));
    return elementPointer(e, c, p.c, offset);
  }
  void prefetch(const Emit &e) const;
  SmallVector<Value> sums(const Emit &e) const;
  void store(const Emit &e, ValueRange sums, bool adds) const;
  void storeByMemory(const Emit &e, func::FuncOp corner, ValueRange sums) const;
};
} // namespace

Value BlockArguments::isWhole(const Emit &e) const {
  return e.bitAnd(e.cmpi(arith::CmpIPredicate::eq, rows, size.rows),
                  e.cmpi(arith::CmpIPredicate::eq, columns, width()));
}

void BlockArguments::storeCorner(const Emit &e, func::FuncOp corner, Value whole) const {
  callFunction(e, corner, {whole, e.index(width()), c, rowStride, rows, columns, fresh});
}

func::FuncOp defineBlock(const Emit &outer, const ProductPlan &p, RegisterBlock size,
                         llvm::function_ref<void(const Emit &, ValueRange)> body) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer, pointer, pointer, index,
                             index,   index,   index,   outer.b.getI1Type()};
  std::string name =
      "ptl_block" + std::to_string(size.rows) + "x" + std::to_string(size.vectors) + "_" + p.suffix;
  return defineFunction(outer, name, types, body);
}

// The lines of C are on their way while sums are computed. They go to the second level: rows of C that are a power of two apart
// share few places of the first one, and would drive out A and B. Rows need not start where a line does, so the line of their last
// byte is one more.
void BlockEmitter::prefetch(const Emit &e) const {
  int64_t bytes = width() * p.c.getIntOrFloatBitWidth() / 8;
  auto line = [&](int64_t row, int64_t at) {
    e.b.create<LLVM::Prefetch>(e.loc, bytePointer(e, address(e, row, 0), e.index(at)),
                               /*rw=*/0, /*hint=*/2, /*cache=*/1);
  };
  for (int64_t row = 0; row < size.rows; ++row) {
    // A line has 64 bytes on all processors with vector units.
    for (int64_t at = 0; at < bytes; at += 64)
      line(row, at);
    line(row, bytes - 1);
  }
}

// With what the sums of the columns of a vector begin: behind the last row of the panel.
static Value startAt(const Emit &e, const ProductPlan &p, Value panel, int64_t vector) {
  int64_t row = p.panelRows() - 1;
  return elementPointer(e, panel, p.packed, e.index(row * p.columns() + vector * p.lanes));
}

SmallVector<Value> BlockEmitter::sums(const Emit &e) const {
  Type packed = VectorType::get({p.lanes}, p.packed);
  // The sums are loop-carried values, so that the register allocator keeps them in registers.
  SmallVector<Value> starts(size.rows * size.vectors, e.zero(VectorType::get({p.lanes}, p.sum)));
  if (p.movesA())
    for (size_t i = 0; i < starts.size(); ++i)
      starts[i] =
          loadRaw(e, startAt(e, p, b, static_cast<int64_t>(i) % size.vectors), p.c, p.lanes);
  return e.loop(e.index(0), depth, e.index(1), starts,
                [&](const Emit &e, Value k, ValueRange sums) {
                  SmallVector<Value> next, right;
                  Value rowB = e.mul(k, e.index(p.columns()));
                  for (int64_t j = 0; j < size.vectors; ++j) {
                    Value at = elementPointer(e, b, p.packed, e.add(rowB, e.index(j * p.lanes)));
                    right.push_back(loadRaw(e, at, p.packed, p.lanes));
                  }
                  Value column = elementPointer(e, a, p.packed, k);
                  for (int64_t i = 0; i < size.rows; ++i) {
                    Value at = elementPointer(e, column, p.packed, e.index(i * p.pitch()));
                    // A load that is broadcast becomes an operand of the multiplication.
                    Value left = e.splat(loadRaw(e, at, p.packed, 0), packed);
                    for (int64_t j = 0; j < size.vectors; ++j)
                      next.push_back(multiplyAdd(e, p, left, right[j], sums[i * size.vectors + j]));
                  }
                  return next;
                });
}

void BlockEmitter::store(const Emit &e, ValueRange sums, bool adds) const {
  for (int64_t i = 0; i < size.rows; ++i)
    for (int64_t j = 0; j < size.vectors; ++j) {
      Value at = address(e, i, j), sum = sums[i * size.vectors + j];
      storeRaw(e, at, adds ? e.add(loadRaw(e, at, p.c, p.lanes), sum) : sum);
    }
}

// By way of memory, where rows and vectors can be counted.
void BlockEmitter::storeByMemory(const Emit &e, func::FuncOp corner, ValueRange sums) const {
  // Registers cannot be indexed by a count that is known only when the code runs.
  Value whole = stackBuffer(e, p.c, size.rows * width());
  for (auto [i, sum] : llvm::enumerate(sums))
    storeRaw(e, elementPointer(e, whole, p.c, e.index(static_cast<int64_t>(i) * p.lanes)), sum);
  storeCorner(e, corner, whole);
}

func::FuncOp cornerFunction(const Emit &outer, const ProductPlan &p) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer, index, pointer, index, index, index, outer.b.getI1Type()};
  return defineFunction(outer, "ptl_corner_" + p.suffix, types, [&](const Emit &e, ValueRange v) {
    Value whole = v[0], width = v[1], c = v[2], rowStride = v[3], columns = v[5], fresh = v[6];
    forEach(e, v[4], 1, [&](const Emit &e, Value r) {
      forEach(e, columns, p.lanes, [&](const Emit &e, Value j) {
        Value mask = laneMask(e, e.sub(columns, j), p.lanes);
        Value from = elementPointer(e, whole, p.c, e.add(e.mul(r, width), j));
        Value to = elementPointer(e, c, p.c, e.add(e.mul(r, rowStride), j));
        Value before = loadRaw(e, to, p.c, p.lanes, mask);
        // What C holds is ignored rather than multiplied by 0, since it may be NaN.
        before = e.select(fresh, e.zero(before.getType()), before);
        storeRaw(e, to, e.add(before, loadRaw(e, from, p.c, p.lanes)), mask);
      });
    });
  });
}

// A number a of a signed A is packed as a + 128, of an unsigned one as a - 128: each sum is too large by 128 times the sum of its
// column of B, or too small. Every number of A is moved by the same amount, so that is the sum of products of what 0 is packed as.
func::FuncOp startsFunction(const Emit &outer, const ProductPlan &p) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  return defineFunction(
      outer, "ptl_starts_" + p.suffix, {pointer, index, index}, [&](const Emit &e, ValueRange v) {
        Value steps = v[1];
        Type vector = VectorType::get({p.lanes}, p.packed);
        Value moved = e.splat(e.integer(p.packed, kMovedBytes), vector);
        forEach(e, v[2], p.columns(), [&](const Emit &e, Value j) {
          Value panel = elementPointer(e, v[0], p.packed, e.mul(j, e.index(p.panelRows())));
          SmallVector<Value> zeros(p.vectors(), e.zero(vector));
          auto sums = e.loop(
              e.index(0), steps, e.index(1), zeros, [&](const Emit &e, Value k, ValueRange sums) {
                SmallVector<Value> next;
                for (auto [n, sum] : llvm::enumerate(sums)) {
                  Value at = e.add(e.mul(k, e.index(p.columns())), e.index(n * p.lanes));
                  Value right =
                      loadRaw(e, elementPointer(e, panel, p.packed, at), p.packed, p.lanes);
                  next.push_back(multiplyAdd(e, p, moved, right, sum));
                }
                return next;
              });
          for (auto [n, sum] : llvm::enumerate(sums))
            storeRaw(e, startAt(e, p, panel, n), e.neg(sum));
        });
      });
}

func::FuncOp blockFunction(const Emit &outer, const ProductPlan &p, RegisterBlock size) {
  if (p.usesMatrices())
    return matrixBlockFunction(outer, p, size);
  func::FuncOp corner = cornerFunction(outer, p);
  return defineBlock(outer, p, size, [&](const Emit &e, ValueRange v) {
    BlockEmitter block(p, size, v);
    block.prefetch(e);
    SmallVector<Value> sums = block.sums(e);
    if (p.sum != p.c)
      for (Value &sum : sums)
        // Bytes are summed in f32, exactly, and added to C as integers.
        sum = e.fptosi(sum, p.c);
    Value isWhole = block.isWhole(e);
    auto stored = [&](bool adds) {
      return [&, adds](const Emit &e) -> SmallVector<Value> {
        block.store(e, sums, adds);
        return {};
      };
    };
    e.branch(
        isWhole, {},
        [&](const Emit &e) -> SmallVector<Value> {
          e.branch(block.fresh, {}, stored(false), stored(true));
          return {};
        },
        [&](const Emit &e) -> SmallVector<Value> {
          block.storeByMemory(e, corner, sums);
          return {};
        });
  });
}

} // namespace ptl::cpu

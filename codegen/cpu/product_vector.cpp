// Products of a matrix and a vector: every number of the matrix is used once, so nothing is packed and the speed is that of
// reading it.
#include "codegen/cpu/product_vector.h"

#include "codegen/cpu/combiner.h"

using namespace mlir;

namespace ptl::cpu {

// Rows that are multiplied at the same time. Their lines are asked for this far ahead: they are more streams than a processor keeps up
// with by itself. With AVX-512 they go to the first level: a matrix of 64 MB takes 1.32 ms so on a Zen 5, 1.49 by way of the second one,
// where they go else, since rows that are a power of two apart share few places of a first one.
static constexpr int64_t kRows = 8, kLine = 64, kBytesAhead = 1024;

namespace {
/// Numbers are multiplied as what they are summed in: f32, f64, or an integer of C's width.
struct VectorProduct {
  Type matrix, vector; // logical element types
  Type sum;
  int64_t lanes;

  int64_t bytesOf(Type logical) const {
    return storageType(logical).getIntOrFloatBitWidth() * lanes / 8;
  }
  /// Vectors of the matrix that a line has.
  int64_t perLine() const { return std::max<int64_t>(1, kLine / bytesOf(matrix)); }
  Value load(const Emit &e, Type logical, Value base, Value index, int64_t count,
             Value mask = {}) const {
    Value pointer = elementPointer(e, base, storageType(logical), index);
    return loadAs(e, logical, sum, pointer, count, mask);
  }
  void fetchAhead(const Emit &e, Value base, Value index) const {
    Value pointer = elementPointer(e, base, storageType(matrix), index);
    e.b.create<LLVM::Prefetch>(e.loc, bytePointer(e, pointer, e.index(kBytesAhead)), /*rw=*/0,
                               /*hint=*/e.unit.bytes >= 64 ? 3 : 2, /*cache=*/1);
  }
  Value fused(const Emit &e, Value x, Value y, Value z) const {
    return isa<FloatType>(sum) ? e.fma(x, y, z) : e.add(z, e.mul(x, y));
  }
};
} // namespace

static std::string nameOf(StringRef what, const ProductPlan &p, Type matrix, Type vector) {
  std::string name;
  llvm::raw_string_ostream(name) << "ptl_" << what << '_' << matrix << '_' << vector << '_' << p.c;
  return name;
}

static VectorProduct vectorProduct(const Emit &e, const ProductPlan &p, Type matrix, Type vector) {
  return {matrix, vector, p.c, e.unit.bytes * 8 / p.c.getIntOrFloatBitWidth()};
}

namespace {
/// Dot products of `count` rows from `row` on with x.
struct Dots {
  const VectorProduct &v;
  Value m, rowStride, x, depth;
  int64_t count;

  Values step(const Emit &e, ArrayRef<Value> rows, Value k, Values sums, Value mask) const;
  Values sumsOf(const Emit &e, Value row) const;
};
} // namespace

// One vector of each row from `k` on.
Values Dots::step(const Emit &e, ArrayRef<Value> rows, Value k, Values sums, Value mask) const {
  // One load of the vector serves all rows.
  Value right = v.load(e, v.vector, x, k, v.lanes, mask);
  for (auto [row, sum] : llvm::zip(rows, sums))
    sum = v.fused(e, v.load(e, v.matrix, m, e.add(row, k), v.lanes, mask), right, sum);
  return sums;
}

Values Dots::sumsOf(const Emit &e, Value row) const {
  Values rows;
  for (int64_t i = 0; i < count; ++i)
    rows.push_back(e.mul(e.add(row, e.index(i)), rowStride));
  auto below = [&](int64_t unit) {
    return e.sub(depth, e.b.create<arith::RemUIOp>(e.loc, depth, e.index(unit)));
  };
  // Most of a row goes by lines, the rest by vectors, and the last numbers under a mask.
  Value lines = below(v.lanes * v.perLine()), whole = below(v.lanes);
  auto loop = [&](Value from, Value to, int64_t vectors, ArrayRef<Value> sums) {
    return e.loop(from, to, e.index(vectors * v.lanes), sums,
                  [&](const Emit &e, Value k, ValueRange now) {
                    Values next(now);
                    if (vectors == v.perLine())
                      for (Value row : rows)
                        v.fetchAhead(e, m, e.add(row, k));
                    for (int64_t j = 0; j < vectors; ++j)
                      next = step(e, rows, e.add(k, e.index(j * v.lanes)), next, {});
                    return SmallVector<Value>(next.begin(), next.end());
                  });
  };
  SmallVector<Value> sums(count, e.zero(VectorType::get({v.lanes}, v.sum)));
  sums = loop(e.index(0), lines, v.perLine(), sums);
  if (v.perLine() > 1)
    sums = loop(lines, whole, 1, sums);
  // Numbers beyond the end are loaded as zeros.
  Value mask = laneMask(e, e.sub(depth, whole), v.lanes);
  Values all = step(e, rows, whole, Values(sums.begin(), sums.end()), mask);
  Combiner add{OpId::Add, v.sum, v.sum};
  Values results;
  for (Value sum : all)
    results.push_back(add.horizontal(e, sum));
  return results;
}

func::FuncOp dotsFunction(const Emit &outer, const ProductPlan &p, Type matrix, Type vector) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer, index, pointer, index,
                             pointer, index, index,   outer.b.getI1Type()};
  return defineFunction(
      outer, nameOf("dots", p, matrix, vector), types, [&](const Emit &e, ValueRange a) {
        VectorProduct v = vectorProduct(e, p, matrix, vector);
        Value c = a[0], cStep = a[1], count = a[5], fresh = a[7];
        auto rows = [&](const Emit &e, Value row, int64_t together) {
          Values sums = Dots{v, a[2], a[3], a[4], a[6], together}.sumsOf(e, row);
          for (auto [i, sum] : llvm::enumerate(sums)) {
            Value at = elementPointer(e, c, p.c,
                                      e.mul(e.add(row, e.index(static_cast<int64_t>(i))), cStep));
            Value before = e.select(fresh, e.zero(p.c), loadRaw(e, at, p.c, 0));
            storeRaw(e, at, e.add(before, sum));
          }
        };
        // Rows that are left go one by one.
        Value whole = e.sub(count, e.b.create<arith::RemUIOp>(e.loc, count, e.index(kRows)));
        forEach(e, whole, kRows, [&](const Emit &e, Value row) { rows(e, row, kRows); });
        e.loop(whole, count, e.index(1), {}, [&](const Emit &e, Value row, ValueRange) {
          rows(e, row, 1);
          return SmallVector<Value>();
        });
      });
}

func::FuncOp combinationFunction(const Emit &outer, const ProductPlan &p, Type matrix,
                                 Type vector) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer, pointer, index, pointer,
                             index,   index,   index, outer.b.getI1Type()};
  return defineFunction(
      outer, nameOf("combination", p, matrix, vector), types, [&](const Emit &e, ValueRange a) {
        VectorProduct v = vectorProduct(e, p, matrix, vector);
        Value c = a[0], m = a[1], rowStride = a[2], x = a[3], xStep = a[4];
        Value count = a[5], depth = a[6], fresh = a[7];
        Type type = VectorType::get({v.lanes}, v.sum);
        auto below = [&](int64_t unit) {
          return e.sub(count, e.b.create<arith::RemUIOp>(e.loc, count, e.index(unit)));
        };
        Value lines = below(v.lanes * v.perLine()), whole = below(v.lanes);
        Value mask = laneMask(e, e.sub(count, whole), v.lanes);
        Value isShort = e.cmpi(arith::CmpIPredicate::slt, whole, count);
        // All columns: what a line has at a time, and a vector at a time behind them.
        auto columns = [&](const Emit &e, llvm::function_ref<void(const Emit &, Value, Value)> one,
                           llvm::function_ref<void(const Emit &, Value)> beforeLine) {
          forEach(e, lines, v.lanes * v.perLine(), [&](const Emit &e, Value j) {
            beforeLine(e, j);
            for (int64_t n = 0; n < v.perLine(); ++n)
              one(e, e.add(j, e.index(n * v.lanes)), {});
          });
          if (v.perLine() > 1)
            e.loop(lines, whole, e.index(v.lanes), {}, [&](const Emit &e, Value j, ValueRange) {
              one(e, j, {});
              return SmallVector<Value>();
            });
          e.branch(isShort, {}, [&](const Emit &e) -> SmallVector<Value> {
            one(e, whole, mask);
            return {};
          });
        };
        // Clearing C first lets all rows of the matrix simply add to it.
        e.branch(fresh, {}, [&](const Emit &e) -> SmallVector<Value> {
          columns(
              e,
              [&](const Emit &e, Value j, Value mask) {
                storeRaw(e, elementPointer(e, c, p.c, j), e.zero(type), mask);
              },
              [](const Emit &, Value) {});
          return {};
        });
        // Rows are read from end to end, a few at a time so that sums are loaded and stored less often.
        auto rows = [&](const Emit &e, Value k, int64_t together) {
          Values factors, starts;
          for (int64_t n = 0; n < together; ++n) {
            Value row = e.add(k, e.index(n));
            factors.push_back(e.splat(v.load(e, v.vector, x, e.mul(row, xStep), 0), type));
            starts.push_back(e.mul(row, rowStride));
          }
          auto add = [&](const Emit &e, Value j, Value mask) {
            Value at = elementPointer(e, c, p.c, j);
            Value sum = loadRaw(e, at, p.c, v.lanes, mask);
            for (auto [factor, start] : llvm::zip(factors, starts))
              sum = v.fused(e, factor, v.load(e, v.matrix, m, e.add(start, j), v.lanes, mask), sum);
            storeRaw(e, at, sum, mask);
          };
          columns(e, add, [&](const Emit &e, Value j) {
            for (Value start : starts)
              v.fetchAhead(e, m, e.add(start, j));
          });
        };
        Value most = e.sub(depth, e.b.create<arith::RemUIOp>(e.loc, depth, e.index(kRows)));
        forEach(e, most, kRows, [&](const Emit &e, Value k) { rows(e, k, kRows); });
        e.loop(most, depth, e.index(1), {}, [&](const Emit &e, Value k, ValueRange) {
          rows(e, k, 1);
          return SmallVector<Value>();
        });
      });
}

} // namespace ptl::cpu

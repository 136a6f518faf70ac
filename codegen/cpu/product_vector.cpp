// Products of a matrix and a vector: every number of the matrix is used once, so nothing is packed and the speed is that of
// reading it.
#include "codegen/cpu/combiner.h"
#include "codegen/cpu/product_plan.h"

using namespace mlir;

namespace ptl::cpu {

namespace {
/// Numbers are multiplied as what they are summed in: f32, f64, or an integer of C's width.
struct VectorProduct {
  Type matrix, vector; // logical element types
  Type sum;
  int64_t lanes;

  Value load(const Emit &e, Type logical, Value base, Value index, int64_t count,
             Value mask = {}) const {
    Value pointer = elementPointer(e, base, storageType(logical), index);
    return loadAs(e, logical, sum, pointer, count, mask);
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

// Rows that are multiplied at the same time, and vectors of each.
static constexpr int64_t kRows = 8, kVectors = 1;

namespace {
/// Dot products of `count` rows from `row` on with x.
struct Dots {
  const VectorProduct &v;
  Value m, rowStride, x, depth;
  int64_t count;

  Values step(const Emit &e, ArrayRef<Value> rows, Value k, Values sums, int64_t vectors,
              Value mask) const;
  Values sumsOf(const Emit &e, Value row) const;
};
} // namespace

Values Dots::step(const Emit &e, ArrayRef<Value> rows, Value k, Values sums, int64_t vectors,
                  Value mask) const {
  for (int64_t j = 0; j < vectors; ++j) {
    Value at = e.add(k, e.index(j * v.lanes));
    // One load of the vector serves all rows.
    Value right = v.load(e, v.vector, x, at, v.lanes, mask);
    for (int64_t i = 0; i < count; ++i) {
      Value left = v.load(e, v.matrix, m, e.add(rows[i], at), v.lanes, mask);
      Value &sum = sums[i * kVectors + j];
      sum = v.fused(e, left, right, sum);
    }
  }
  return sums;
}

Values Dots::sumsOf(const Emit &e, Value row) const {
  Values rows;
  for (int64_t i = 0; i < count; ++i)
    rows.push_back(e.mul(e.add(row, e.index(i)), rowStride));
  auto below = [&](int64_t unit) {
    return e.sub(depth, e.b.create<arith::RemUIOp>(e.loc, depth, e.index(unit)));
  };
  // Most of a row goes by several vectors, the rest by one, and the last numbers under a mask.
  Value together = below(v.lanes * kVectors), whole = below(v.lanes);
  Value zero = e.zero(VectorType::get({v.lanes}, v.sum));
  auto loop = [&](Value from, Value to, int64_t vectors, ArrayRef<Value> sums) {
    return e.loop(from, to, e.index(vectors * v.lanes), sums,
                  [&](const Emit &e, Value k, ValueRange now) {
                    Values next = step(e, rows, k, Values(now), vectors, {});
                    return SmallVector<Value>(next.begin(), next.end());
                  });
  };
  SmallVector<Value> sums(count * kVectors, zero);
  sums = loop(e.index(0), together, kVectors, sums);
  sums = loop(together, whole, 1, sums);
  // Numbers beyond the end are loaded as zeros.
  Value mask = laneMask(e, e.sub(depth, whole), v.lanes);
  Values all = step(e, rows, whole, Values(sums.begin(), sums.end()), 1, mask);
  Combiner add{OpId::Add, v.sum, v.sum};
  Values results;
  for (int64_t i = 0; i < count; ++i) {
    Value sum = all[i * kVectors];
    for (int64_t j = 1; j < kVectors; ++j)
      sum = e.add(sum, all[i * kVectors + j]);
    results.push_back(add.horizontal(e, sum));
  }
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
        Value whole = e.sub(count, e.b.create<arith::RemUIOp>(e.loc, count, e.index(v.lanes)));
        Value mask = laneMask(e, e.sub(count, whole), v.lanes);
        Value isShort = e.cmpi(arith::CmpIPredicate::slt, whole, count);
        // All columns, a vector at a time.
        auto columns = [&](const Emit &e,
                           llvm::function_ref<void(const Emit &, Value, Value)> one) {
          forEach(e, whole, v.lanes, [&](const Emit &e, Value j) { one(e, j, {}); });
          e.branch(isShort, {}, [&](const Emit &e) -> SmallVector<Value> {
            one(e, whole, mask);
            return {};
          });
        };
        // Clearing C first lets all rows of the matrix simply add to it.
        e.branch(fresh, {}, [&](const Emit &e) -> SmallVector<Value> {
          columns(e, [&](const Emit &e, Value j, Value mask) {
            storeRaw(e, elementPointer(e, c, p.c, j), e.zero(type), mask);
          });
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
          columns(e, [&](const Emit &e, Value j, Value mask) {
            Value at = elementPointer(e, c, p.c, j);
            Value sum = loadRaw(e, at, p.c, v.lanes, mask);
            for (auto [factor, start] : llvm::zip(factors, starts))
              sum = v.fused(e, factor, v.load(e, v.matrix, m, e.add(start, j), v.lanes, mask), sum);
            storeRaw(e, at, sum, mask);
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

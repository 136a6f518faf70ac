// Statements, producers and shapes, end to end.
#include "codegen/cpu/test_program.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace ptl::cpu;
using namespace ptl::cpu::testing;

namespace lowering_test {

std::vector<float> ramp(int64_t count, float scale = 0.125f) {
  std::vector<float> result(count);
  for (int64_t i = 0; i < count; ++i)
    result[i] = float((i * 37) % 101 - 50) * scale;
  return result;
}

TEST(Lowering, VectorAddOfAnyLength) {
  Program program(R"(
func.func @f(%x: !ptl.array<f32[N], gm> {ptl.name = "x"}, %y: !ptl.array<f32[N], gm> {ptl.name = "y"},
             %z: !ptl.ref<f32[N], gm>, %N: index) attributes {ptl.kind = "kernel"} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  ptl.parallel (%i) = (%c0) to (%N) step (%c64) {
    %rest = arith.subi %N, %i : index
    %len = arith.minsi %rest, %c64 : index
    %a = ptl.slice %x[%i][%len] drop [] : !ptl.array<f32[N], gm> -> !ptl.array<f32[i:64], vec>
    %b = ptl.slice %y[%i][%len] drop [] : !ptl.array<f32[N], gm> -> !ptl.array<f32[i:64], vec>
    %s = "ptl.add"(%a, %b) : (!ptl.array<f32[i:64], vec>, !ptl.array<f32[i:64], vec>) -> !ptl.array<f32[i:64], vec>
    ptl.store %s, %z[%i][%len] drop [] : !ptl.array<f32[i:64], vec>, !ptl.ref<f32[N], gm>
  }
  return
})");
  for (int64_t n : {0, 1, 15, 16, 17, 63, 64, 65, 1000}) {
    std::vector<float> x = ramp(n), y = ramp(n, 2), z(n + 1, 7);
    ASSERT_EQ(program({array(x, {n}), array(y, {n}), array(z, {n})}, {n}), 0);
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(z[i], x[i] + y[i]) << i << " of " << n;
    EXPECT_EQ(z[n], 7);
  }
}

TEST(Lowering, SoftmaxOfRows) {
  Program program(R"(
func.func @f(%x: !ptl.array<f32[R, C], gm> {ptl.name = "x"}, %z: !ptl.ref<f32[R, C], gm>,
             %R: index, %C: index) attributes {ptl.kind = "kernel"} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  ptl.parallel (%i) = (%c0) to (%R) step (%c8) {
    %rest = arith.subi %R, %i : index
    %len = arith.minsi %rest, %c8 : index
    %a = ptl.slice %x[%i, %c0][%len, %C] drop [] : !ptl.array<f32[R, C], gm> -> !ptl.array<f32[i:8, C], vec>
    %m = "ptl.reduce_max"(%a) {axes = array<i64: 1>} : (!ptl.array<f32[i:8, C], vec>) -> !ptl.array<f32[i:8, 1], vec>
    %d = "ptl.sub"(%a, %m) : (!ptl.array<f32[i:8, C], vec>, !ptl.array<f32[i:8, 1], vec>) -> !ptl.array<f32[i:8, C], vec>
    %e = "ptl.exp"(%d) : (!ptl.array<f32[i:8, C], vec>) -> !ptl.array<f32[i:8, C], vec>
    %s = "ptl.reduce_sum"(%e) {axes = array<i64: 1>} : (!ptl.array<f32[i:8, C], vec>) -> !ptl.array<f32[i:8, 1], vec>
    %q = "ptl.div"(%e, %s) : (!ptl.array<f32[i:8, C], vec>, !ptl.array<f32[i:8, 1], vec>) -> !ptl.array<f32[i:8, C], vec>
    ptl.store %q, %z[%i, %c0][%len, %C] drop [] : !ptl.array<f32[i:8, C], vec>, !ptl.ref<f32[R, C], gm>
  }
  return
})");
  for (int64_t rows : {0, 1, 7, 8, 9, 30})
    for (int64_t columns : {1, 5, 16, 100, 257}) {
      std::vector<float> x = ramp(rows * columns), z(rows * columns);
      ASSERT_EQ(program({array(x, {rows, columns}), array(z, {rows, columns})}, {rows, columns}),
                0);
      for (int64_t r = 0; r < rows; ++r) {
        double sum = 0;
        for (int64_t c = 0; c < columns; ++c)
          sum += std::exp(double(x[r * columns + c]));
        for (int64_t c = 0; c < columns; ++c)
          ASSERT_NEAR(z[r * columns + c], std::exp(double(x[r * columns + c])) / sum, 1e-6)
              << r << ", " << c << " of " << rows << " x " << columns;
      }
    }
}

TEST(Lowering, TiledMatmulAccumulatesInALoop) {
  Program program(R"(
func.func @f(%a: !ptl.array<f32[M, K], gm> {ptl.name = "a"}, %b: !ptl.array<f32[K, N], gm> {ptl.name = "b"},
             %c: !ptl.ref<f32[M, N], gm>, %M: index, %N: index, %K: index) attributes {ptl.kind = "kernel"} {
  %c0 = arith.constant 0 : index
  %BM = arith.constant 48 : index
  %BN = arith.constant 64 : index
  %BK = arith.constant 32 : index
  ptl.parallel (%i, %j) = (%c0, %c0) to (%M, %N) step (%BM, %BN) {
    %ri = arith.subi %M, %i : index
    %li = arith.minsi %ri, %BM : index
    %rj = arith.subi %N, %j : index
    %lj = arith.minsi %rj, %BN : index
    %zero = "ptl.zeros"(%li, %lj) : (index, index) -> !ptl.array<f32[i:48, j:64], acc>
    %acc = scf.for %k = %c0 to %K step %BK iter_args(%s = %zero) -> (!ptl.array<f32[i:48, j:64], acc>) {
      %rk = arith.subi %K, %k : index
      %lk = arith.minsi %rk, %BK : index
      %x = ptl.slice %a[%i, %k][%li, %lk] drop [] : !ptl.array<f32[M, K], gm> -> !ptl.array<f32[i:48, k:32], vec>
      %y = ptl.slice %b[%k, %j][%lk, %lj] drop [] : !ptl.array<f32[K, N], gm> -> !ptl.array<f32[k:32, j:64], vec>
      %p = "ptl.matmul"(%x, %y) {precision = "full"} : (!ptl.array<f32[i:48, k:32], vec>, !ptl.array<f32[k:32, j:64], vec>) -> !ptl.array<f32[i:48, j:64], acc>
      %t = "ptl.add"(%s, %p) : (!ptl.array<f32[i:48, j:64], acc>, !ptl.array<f32[i:48, j:64], acc>) -> !ptl.array<f32[i:48, j:64], acc>
      scf.yield %t : !ptl.array<f32[i:48, j:64], acc>
    }
    ptl.store %acc, %c[%i, %j][%li, %lj] drop [] : !ptl.array<f32[i:48, j:64], acc>, !ptl.ref<f32[M, N], gm>
  }
  return
})");
  for (auto [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                         {48, 64, 32},
                         {50, 70, 33},
                         {100, 130, 0},
                         {97, 65, 100}}) {
    std::vector<float> a = ramp(m * k), b = ramp(k * n, 0.25f), c(m * n);
    ASSERT_EQ(program({array(a, {m, k}), array(b, {k, n}), array(c, {m, n})}, {m, n, k}), 0);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0, size = 1;
        for (int64_t l = 0; l < k; ++l) {
          sum += double(a[i * k + l]) * b[l * n + j];
          size += std::abs(double(a[i * k + l]) * b[l * n + j]);
        }
        ASSERT_NEAR(c[i * n + j], sum, 1e-6 * size) << i << ", " << j;
      }
  }
}

TEST(Lowering, ColumnsScansAndOrderings) {
  Program program(R"(
func.func @f(%x: !ptl.array<f32[R, C], gm> {ptl.name = "x"}, %s: !ptl.ref<f32[1, C], gm>,
             %w: !ptl.ref<f32[R, C], gm>, %v: !ptl.ref<f32[R, C], gm>, %p: !ptl.ref<i32[R, C], gm>, %m: !ptl.ref<i32[R, 1], gm>,
             %R: index, %C: index) attributes {ptl.kind = "fn"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = "ptl.reduce_sum"(%x) {axes = array<i64: 0>} : (!ptl.array<f32[R, C], gm>) -> !ptl.array<f32[1, C]>
  ptl.store %0, %s[%c0, %c0][%c1, %C] drop [] : !ptl.array<f32[1, C]>, !ptl.ref<f32[1, C], gm>
  %1 = "ptl.cumsum"(%x) {axis = 1 : i64} : (!ptl.array<f32[R, C], gm>) -> !ptl.array<f32[R, C]>
  ptl.store %1, %w[%c0, %c0][%R, %C] drop [] : !ptl.array<f32[R, C]>, !ptl.ref<f32[R, C], gm>
  %2 = "ptl.sort"(%x) {axis = 1 : i64, descending = true} : (!ptl.array<f32[R, C], gm>) -> !ptl.array<f32[R, C]>
  ptl.store %2, %v[%c0, %c0][%R, %C] drop [] : !ptl.array<f32[R, C]>, !ptl.ref<f32[R, C], gm>
  %3 = "ptl.argsort"(%x) {axis = 1 : i64, descending = false} : (!ptl.array<f32[R, C], gm>) -> !ptl.array<i32[R, C]>
  ptl.store %3, %p[%c0, %c0][%R, %C] drop [] : !ptl.array<i32[R, C]>, !ptl.ref<i32[R, C], gm>
  %4 = "ptl.reduce_argmax"(%x) {axis = 1 : i64} : (!ptl.array<f32[R, C], gm>) -> !ptl.array<i32[R, 1]>
  ptl.store %4, %m[%c0, %c0][%R, %c1] drop [] : !ptl.array<i32[R, 1]>, !ptl.ref<i32[R, 1], gm>
  return
})");
  for (int64_t rows : {1, 3})
    for (int64_t columns : {1, 2, 17, 100}) {
      std::vector<float> x = ramp(rows * columns), s(columns), w(rows * columns), v(rows * columns);
      std::vector<int32_t> p(rows * columns), m(rows);
      ASSERT_EQ(
          program({array(x, {rows, columns}), array(s, {1, columns}), array(w, {rows, columns}),
                   array(v, {rows, columns}), array(p, {rows, columns}), array(m, {rows, 1})},
                  {rows, columns}),
          0);
      for (int64_t c = 0; c < columns; ++c) {
        float sum = 0;
        for (int64_t r = 0; r < rows; ++r)
          sum += x[r * columns + c];
        ASSERT_NEAR(s[c], sum, 1e-4);
      }
      for (int64_t r = 0; r < rows; ++r) {
        const float *row = x.data() + r * columns;
        std::vector<int32_t> order(columns);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return row[a] < row[b]; });
        float sum = 0;
        for (int64_t c = 0; c < columns; ++c) {
          sum += row[c];
          ASSERT_NEAR(w[r * columns + c], sum, 1e-3);
          ASSERT_EQ(p[r * columns + c], order[c]);
          ASSERT_EQ(v[r * columns + c], row[order[columns - 1 - c]]);
        }
        ASSERT_EQ(m[r], std::max_element(row, row + columns) - row);
      }
    }
}

TEST(Lowering, ShapesOfEveryKind) {
  Program program(R"(
func.func @f(%x: !ptl.array<f32[4, 6], gm> {ptl.name = "x"}, %t: !ptl.ref<f32[6, 4], gm>, %c: !ptl.ref<f32[4, 12], gm>,
             %p: !ptl.ref<f32[7, 6], gm>, %r: !ptl.ref<f32[3, 8], gm>, %o: !ptl.ref<f32[4, 6], gm>,
             %l: !ptl.ref<f32[4, 6], gm>, %d: !ptl.ref<f32[4, 3], gm>) attributes {ptl.kind = "fn"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %m1 = arith.constant -1 : index
  %z = arith.constant 9.0 : f32
  %n = "ptl.neg"(%x) : (!ptl.array<f32[4, 6], gm>) -> !ptl.array<f32[4, 6]>
  %0 = "ptl.transpose"(%n) {axes = array<i64: 1, 0>} : (!ptl.array<f32[4, 6]>) -> !ptl.array<f32[6, 4]>
  ptl.store %0, %t[%c0, %c0][%c6, %c4] drop [] : !ptl.array<f32[6, 4]>, !ptl.ref<f32[6, 4], gm>
  %1 = "ptl.concat"(%x, %n) {axis = 1 : i64} : (!ptl.array<f32[4, 6], gm>, !ptl.array<f32[4, 6]>) -> !ptl.array<f32[4, 12]>
  ptl.store %1, %c[%c0, %c0][%c4, %c12] drop [] : !ptl.array<f32[4, 12]>, !ptl.ref<f32[4, 12], gm>
  %2 = "ptl.pad"(%x, %z, %c2, %c0, %c1, %c0) {operandSegmentSizes = array<i32: 1, 1, 2, 2>} : (!ptl.array<f32[4, 6], gm>, f32, index, index, index, index) -> !ptl.array<f32[7, 6]>
  ptl.store %2, %p[%c0, %c0][%c7, %c6] drop [] : !ptl.array<f32[7, 6]>, !ptl.ref<f32[7, 6], gm>
  %3 = "ptl.reshape"(%n) : (!ptl.array<f32[4, 6]>) -> !ptl.array<f32[3, 8]>
  ptl.store %3, %r[%c0, %c0][%c3, %c8] drop [] : !ptl.array<f32[3, 8]>, !ptl.ref<f32[3, 8], gm>
  %4 = ptl.slice %x[%m1, %c1][%c4, %c6] outside %z : f32 drop [] : !ptl.array<f32[4, 6], gm> -> !ptl.array<f32[4, 6]>
  ptl.store %4, %o[%c0, %c0][%c4, %c6] drop [] : !ptl.array<f32[4, 6]>, !ptl.ref<f32[4, 6], gm>
  %5 = "ptl.tril"(%x) : (!ptl.array<f32[4, 6], gm>) -> !ptl.array<f32[4, 6]>
  ptl.store %5, %l[%c0, %c0][%c4, %c6] drop [] : !ptl.array<f32[4, 6]>, !ptl.ref<f32[4, 6], gm>
  %6:2 = "ptl.deinterleave"(%n) : (!ptl.array<f32[4, 6]>) -> (!ptl.array<f32[4, 3]>, !ptl.array<f32[4, 3]>)
  ptl.store %6#1, %d[%c0, %c0][%c4, %c3] drop [] : !ptl.array<f32[4, 3]>, !ptl.ref<f32[4, 3], gm>
  return
})");
  std::vector<float> x = ramp(24), t(24), c(48), p(42), r(24), o(24), l(24), d(12);
  ASSERT_EQ(program({array(x, {4, 6}), array(t, {6, 4}), array(c, {4, 12}), array(p, {7, 6}),
                     array(r, {3, 8}), array(o, {4, 6}), array(l, {4, 6}), array(d, {4, 3})}),
            0);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 6; ++j) {
      float value = x[i * 6 + j];
      EXPECT_EQ(t[j * 4 + i], -value);
      EXPECT_EQ(c[i * 12 + j], value);
      EXPECT_EQ(c[i * 12 + 6 + j], -value);
      EXPECT_EQ(p[(i + 2) * 6 + j], value);
      EXPECT_EQ(r[i * 6 + j], -value);
      EXPECT_EQ(o[i * 6 + j], i == 0 || j == 5 ? 9 : x[(i - 1) * 6 + j + 1]);
      EXPECT_EQ(l[i * 6 + j], j <= i ? value : 0);
      if (j < 3)
        EXPECT_EQ(d[i * 3 + j], -x[i * 6 + 2 * j + 1]);
    }
  EXPECT_EQ(p[0], 9);
  EXPECT_EQ(p[41], 9);
}

TEST(Lowering, ScalarsBranchesAndChecks) {
  Program program(R"(
func.func @f(%x: !ptl.array<f32[N], gm> {ptl.name = "x"}, %a: f32 {ptl.name = "a"}, %n: i32 {ptl.name = "n"},
             %y: !ptl.ref<f32[N], gm>, %N: index) attributes {ptl.kind = "kernel"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %limit = arith.constant 3.0 : f32
  %positive = arith.cmpi sgt, %n, %zero : i32
  ptl.check %positive, "assert" "n counts from one, not {0}" (%n : i32)
  %total = "ptl.reduce_sum"(%x) : (!ptl.array<f32[N], gm>) -> f32
  %large = "ptl.gt"(%total, %limit) : (f32, f32) -> i1
  %v = scf.if %large -> (!ptl.array<f32[N]>) {
    %s = "ptl.mul"(%x, %a) : (!ptl.array<f32[N], gm>, f32) -> !ptl.array<f32[N]>
    scf.yield %s : !ptl.array<f32[N]>
  } else {
    %s = "ptl.neg"(%x) : (!ptl.array<f32[N], gm>) -> !ptl.array<f32[N]>
    scf.yield %s : !ptl.array<f32[N]>
  }
  %upper = arith.index_cast %n : i32 to index
  %w = scf.for %i = %c0 to %upper step %c1 iter_args(%s = %v) -> (!ptl.array<f32[N]>) {
    %t = "ptl.add"(%s, %a) : (!ptl.array<f32[N]>, f32) -> !ptl.array<f32[N]>
    scf.yield %t : !ptl.array<f32[N]>
  }
  ptl.store %w, %y[%c0][%N] drop [] : !ptl.array<f32[N]>, !ptl.ref<f32[N], gm>
  return
})");
  int64_t n = 20;
  std::vector<float> x(n, 1.0f), y(n);
  PtlScalar a{}, count{};
  a.f32 = 0.5f;
  count.i32 = 3;
  ASSERT_EQ(program({array(x, {n}), array(y, {n})}, {n}, {a, count}), 0);
  EXPECT_EQ(y[7], 0.5f + 1.5f);
  std::fill(x.begin(), x.end(), -1.0f);
  ASSERT_EQ(program({array(x, {n}), array(y, {n})}, {n}, {a, count}), 0);
  EXPECT_EQ(y[19], 1.0f + 1.5f);
  count.i32 = -4;
  EXPECT_EQ(program({array(x, {n}), array(y, {n})}, {n}, {a, count}), PTL_ERROR_ASSERT);
  EXPECT_EQ(program.message, "n counts from one, not -4");
}

// c = (a @ b) + row sums of a, in element types of several widths.
std::string productProgram(const std::string &elem, const std::string &acc) {
  std::string a = "!ptl.array<" + elem + "[M, K], gm>", b = "!ptl.array<" + elem + "[K, N], gm>";
  std::string c = acc + "[M, N]", s = "!ptl.array<" + elem + "[M, 1]>";
  return "func.func @f(%a: " + a + " {ptl.name = \"a\"}, %b: " + b +
         " {ptl.name = \"b\"}, %c: !ptl.ref<" + c + ", gm>, %s: !ptl.ref<" + elem +
         "[M, 1], gm>, %M: index, %N: index, %K: index) attributes {ptl.kind = \"fn\"} {\n"
         "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
         "  %p = \"ptl.matmul\"(%a, %b) {precision = \"full\"} : (" +
         a + ", " + b + ") -> !ptl.array<" + c +
         ">\n  ptl.store %p, %c[%c0, %c0][%M, %N] drop [] : !ptl.array<" + c + ">, !ptl.ref<" + c +
         ", gm>\n  %r = \"ptl.reduce_max\"(%a) {axes = array<i64: 1>} : (" + a + ") -> " + s +
         "\n  ptl.store %r, %s[%c0, %c0][%M, %c1] drop [] : " + s + ", !ptl.ref<" + elem +
         "[M, 1], gm>\n  return\n}";
}

TEST(Lowering, NothingBeyondTheArraysIsTouched) {
  struct Case {
    const char *elem, *acc;
    PtlElem code, accCode;
    size_t bytes;
  };
  for (Case type :
       {Case{"f32", "f32", PTL_F32, PTL_F32, 4}, Case{"f16", "f32", PTL_F16, PTL_F32, 2},
        Case{"bf16", "f32", PTL_BF16, PTL_F32, 2}, Case{"i8", "i32", PTL_I8, PTL_I32, 1}}) {
    Program program(productProgram(type.elem, type.acc));
    for (auto [m, n, k] :
         {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1}, {3, 5, 7}, {15, 33, 17}, {30, 70, 260}}) {
      Guarded a(m * k * type.bytes), b(k * n * type.bytes), c(m * n * 4), s(m * type.bytes);
      EXPECT_EQ(program({Array(type.code, a.data, {m, k}), Array(type.code, b.data, {k, n}),
                         Array(type.accCode, c.data, {m, n}), Array(type.code, s.data, {m, 1})},
                        {m, n, k}),
                0);
    }
  }
}

} // namespace lowering_test

// Reports on reads of values that some path does not assign, and on unreachable statements.

#include "frontend/sema/analysis/flow_test_util.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

TEST(Assignment, branches) {
  EXPECT_EQ(
      flowOf(
          "fn f(x: f32) -> f32 { var y: f32\nif x > 0.0 { y = 1.0 } else { y = 2.0 }\nreturn y }"),
      "");
  EXPECT_EQ(flowOf("fn f(x: f32) -> f32 { var y: f32\nif x > 0.0 { y = 1.0 }\nreturn y }"),
            "E0504 3\n");
  EXPECT_EQ(flowOf("fn f(x: f32) -> f32 { var y: f32\nif x > 0.0 { return x }\ny = x\nreturn y }"),
            "");
}

TEST(Assignment, loops) {
  EXPECT_EQ(flowOf("fn f(n: int) -> f32 { var y: f32\nfor _i in 0..n { y = 1.0 }\nreturn y }"),
            "E0504 3\n");
  EXPECT_EQ(flowOf("fn f(n: int) -> f32 { var y: f32\nwhile true { y = 1.0\nif n > 3 { break } "
                   "}\nreturn y }"),
            "");
  EXPECT_EQ(flowOf("fn f() -> f32 { var y: f32\nwhile y > 1.0 { y = 2.0 }\nreturn y }"),
            "E0504 2\n");
}

TEST(Assignment, arraysByElements) {
  EXPECT_EQ(flowOf("fn f[N](x: f32[N]) -> f32[N] { var y: f32[N]\nfor i in 0..N { y[i] = x[i] "
                   "}\nreturn y }"),
            "");
  EXPECT_EQ(flowOf("fn f[N](x: f32[N]) -> f32[N] { var y: f32[N]\nfor i in 1..N { y[i] = x[i] "
                   "}\nreturn y }"),
            "E0504 3\n");
}

TEST(Assignment, whatEarlierIterationsWrote) {
  EXPECT_EQ(flowOf("kernel k[R, static C](x: f32[R, C]) -> (y: f32[R, C])\nwhere C >= 1\n{ "
                   "parallel r in 0..R {\n"
                   "y[r, 0] = x[r, 0]\nfor k in 1..C { y[r, k] = y[r, k - 1] + x[r, k] } } }"),
            "");
  EXPECT_EQ(flowOf("kernel k[R, static C](x: f32[R, C]) -> (y: f32[R, C])\nwhere C >= 1\n{ "
                   "parallel r in 0..R {\n"
                   "y[r, C - 1] = x[r, C - 1]\nfor k in 1..C { let j = C - 1 - k\ny[r, j] = y[r, j "
                   "+ 1] + x[r, j] } } }"),
            "");
  EXPECT_EQ(flowOf("kernel k[R, static C](x: f32[R, C]) -> (y: f32[R, C])\nwhere C >= 1\n{ "
                   "parallel r in 0..R {\n"
                   "for k in 0..C - 1 { y[r, k] = y[r, k + 1] + x[r, k] } } }"),
            "E0505 4\n");
}

TEST(Assignment, outputs) {
  EXPECT_EQ(flowOf("kernel k[R, static C](x: f32[R, C]) -> (y: f32[R]) { parallel r in 0..R {\n"
                   "y[r] += sum(x[r, :]) } }"),
            "E0505 2\n");
  EXPECT_EQ(
      flowOf("program p[N](x: f32[N]) -> (y: f32[N]) { step(c: inout y) }\n"
             "kernel step[N](c: inout f32[N]) { parallel i in tiles(N, 8) { c[i] = c[i] * 2.0 } }"),
      "E0505 1\n");
  EXPECT_EQ(flowOf("kernel k[N](x: f32[N]) -> (y: f32[N], z: f32[N]) { parallel r in tiles(N, 64) "
                   "{ y[r] = x[r] }\n"
                   "parallel r in tiles(N, 64) { z[r] = y[r] * 2.0 } }"),
            "");
}

TEST(Assignment, unreachable) {
  EXPECT_EQ(flowOf("fn f(x: f32) -> f32 { return x\nlet y = x\nreturn y }"), "W1501 2\n");
  EXPECT_EQ(
      flowOf("fn f(n: int) -> int { for _i in 0..n { break\nassert(n > 3, \"\") }\nreturn n }"),
      "W1501 2\n");
}

} // namespace
} // namespace ptl

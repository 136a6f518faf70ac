// Outputs are written everywhere on every path.

#include "frontend/sema/analysis/flow_test_util.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

TEST(Coverage, loopsAndTilesOverAllOfAnAxis) {
  EXPECT_EQ(flowOf("kernel k[N](x: f32[N]) -> (y: f32[N]) { parallel i in 0..N { y[i] = x[i] } }"),
            "");
  EXPECT_EQ(flowOf("kernel k[M, N](x: f32[M, N]) -> (y: f32[N, M]) {\n"
                   "parallel i in tiles(M, 32), j in tiles(N, 32) { y[j, i] = x[i, j].T } }"),
            "");
  EXPECT_EQ(flowOf("kernel k[N](x: f32[N]) -> (y: f32[N]) {\n"
                   "parallel p in tiles(N, 8192) { for i in tiles(p, 2048) { y[i] = x[i] } } }"),
            "");
  EXPECT_EQ(flowOf("program p[L, N](x: f32[L, N]) -> (y: f32[L, N]) { for l in 0..L { y[l, :] = "
                   "x[l, :] } }"),
            "");
}

TEST(Coverage, positionsComputedFromSeveralVariables) {
  EXPECT_EQ(
      flowOf("kernel k[A, B, D](x: f32[A, B, D]) -> (y: f32[A * B * D]) {\n"
             "parallel a in 0..A, b in 0..B, d in 0..D { y[(a * B + b) * D + d] = x[a, b, d] } }"),
      "");
  EXPECT_EQ(
      flowOf("kernel k[N, static K](x: f32[N * K]) -> (y: f32[N * K]) {\n"
             "parallel r in tiles(N, 4) { y[r.start * K:r.end * K] = x[r.start * K:r.end * K] } }"),
      "");
  EXPECT_EQ(flowOf("kernel k[N](x: f32[N]) -> (p: f32[cdiv(N, 256)]) {\n"
                   "parallel r in tiles(N, 256) { p[r.count] = sum(x[r]) } }"),
            "");
}

TEST(Coverage, stepsWithShortEnds) {
  EXPECT_EQ(flowOf("kernel k[N](x: f32[N]) -> (y: f32[N]) where N % 4 == 0 {\n"
                   "parallel i in 0..N step 4 { y[i:i + 4] = x[i:i + 4] } }"),
            "");
  EXPECT_EQ(flowOf("kernel k[N](x: f32[N]) -> (y: f32[N]) {\n"
                   "parallel i in 0..N step 4 { y[i:min(i + 4, N)] = x[i:min(i + 4, N)] } }"),
            "");
}

/// The code alone of what a kernel of one point gets, whose output `y` has that many elements.
static std::string codeOfBody(const std::string &length, const std::string &body,
                              const std::string &where = "h <= 16") {
  return flowOf("kernel k[N](h: int, x: f32[64]) -> (y: f32[" + length + "]) where " + where +
                " {\nparallel _r in 0..1 {\n" + body + " } }")
      .substr(0, 5);
}

TEST(Coverage, stepsThatDoNotReachTheEnd) {
  // The rounds are at 0 and 4, and `i % 4` of their end is 0, while that of 6 is 2.
  const std::string spread = "for i in 0..6 step 4 { let at = i + 10 * (i % 4)\n";
  EXPECT_EQ(codeOfBody("26", spread + "y[at : at + 4] = x[at : at + 4] }"), "E0502");
  EXPECT_EQ(codeOfBody("8", spread + "y[at : at + 4] = x[at : at + 4] }"), "");
  std::string points;
  for (const char *offset : {"0", "1", "2", "3"})
    points += spread + "y[at + " + offset + "] = x[i] }\n";
  EXPECT_EQ(codeOfBody("26", points), "E0502");
  EXPECT_EQ(codeOfBody("8", points), "");
  // The last round goes beyond the end as written.
  EXPECT_EQ(codeOfBody("8", "for i in 0..6 step 4 { y[i : i + 4] = x[i : i + 4] }"), "");
  EXPECT_EQ(codeOfBody("9", "for i in 0..6 step 4 { y[i : i + 4] = x[i : i + 4] }"), "E0502");
}

TEST(Coverage, loopsWithoutRounds) {
  // `h` may be negative, and a square of it is not.
  const std::string bodies[] = {
      "for i in 0..h { y[i * i : (i + 1) * (i + 1)] = 1.0 }",
      "for i in 0..h { y[(h - 1 - i) * (h - 1 - i) : (h - i) * (h - i)] = 1.0 }",
      "for i in 0..h { y[i * h : (i + 1) * h] = 1.0 }",
      "for i in 0..h { y[(h - 1 - i) * h : (h - i) * h] = 1.0 }",
      "for r in tiles(h, 4) { y[r.start * r.start : r.end * r.end] = 1.0 }",
      "for r in tiles(h, 1) { y[r.count * r.count : (r.count + 1) * (r.count + 1)] = 1.0 }",
  };
  for (const std::string &body : bodies) {
    EXPECT_EQ(codeOfBody("h * h", body), "E0502") << body;
    EXPECT_EQ(codeOfBody("h * h", body, "h >= 0, h <= 16"), "") << body;
  }
  // A start that rises evenly says nothing where nothing runs.
  EXPECT_EQ(codeOfBody("4 * h", "for i in 0..h { y[i * 4 : (i + 1) * 4] = 1.0 }"), "");
  EXPECT_EQ(codeOfBody("h", "for i in 0..h { y[h - 1 - i] = 1.0 }"), "");
  // Without rounds there is no remainder of any step.
  const std::string strided = "for i in 0..h { y[i:12:h] = 1.0 }";
  EXPECT_EQ(codeOfBody("12", strided, "h >= 0, h <= 4"), "E0502");
  EXPECT_EQ(codeOfBody("12", strided, "h >= 1, h <= 4"), "");
  // That there is a round holds in the rounds alone.
  EXPECT_EQ(codeOfBody("N", "for i in 0..h { y[i : i + 1] = 1.0 }", "N <= 1"), "E0502");
  EXPECT_EQ(codeOfBody("N", "for i in 0..h { y[i : i + 1] = 1.0 }", "N <= 1, h >= 1"), "");
  // Nor does a point tell of the rows that have none.
  const std::string grid = "\n{ parallel i in 0..3, j in 0..h { y[i + j] = 1.0 } }";
  EXPECT_EQ(flowOf("kernel k(h: int) -> (y: f32[3]) where h <= 1" + grid), "E0502 1\n");
  EXPECT_EQ(flowOf("kernel k(h: int) -> (y: f32[3]) where h <= 1, h >= 1" + grid), "");
}

TEST(Coverage, placesPastTheLimitOfDimensions) {
  // The position of the next round has more terms than a dimension may have.
  EXPECT_EQ(flowOf("kernel k(a: int, b: int) -> (y: f32[(a + b + 4) ** 6 - (a + b) ** 6]) {\n"
                   "parallel _r in 0..1 { for i in 0..4 {\n"
                   "y[(a + b + i) ** 6 - (a + b) ** 6] = 1.0 } } }"),
            "E0502 1\n");
}

TEST(Coverage, slicesThatAdjoinOrInterleave) {
  const std::string head =
      "kernel k[N, static D](x: f32[N, D]) -> (y: f32[N, D])\nwhere D % 2 == 0\n{\n"
      "parallel r in tiles(N, 8) {\nlet h = D / 2\n";
  EXPECT_EQ(flowOf(head + "y[r, h:D] = x[r, 0:h]\ny[r, 0:h] = x[r, h:D] } }"), "");
  EXPECT_EQ(flowOf(head + "y[r, 0:D:2] = x[r, 0:h]\ny[r, 1:D:2] = x[r, h:D] } }"), "");
  EXPECT_EQ(flowOf(head + "y[r, 0:h] = x[r, h:D] } }"), "E0502 1\n");
  EXPECT_EQ(flowOf(head + "y[r, 0:D:2] = x[r, 0:h] } }"), "E0502 1\n");
  EXPECT_EQ(
      flowOf("kernel k[N](x: f32[2 * N]) -> (y: f32[2 * N]) {\n"
             "parallel i in tiles(N, 64) { y[2 * i] = x[2 * i]\ny[2 * i + 1] = x[2 * i + 1] } }"),
      "");
}

TEST(Coverage, theMissingSliceIsNamed) {
  auto checked =
      checkText("kernel k[N](x: f32[N]) -> (y: f32[N]) { parallel i in 1..N { y[i] = x[i] } }");
  ASSERT_EQ(checked->sink.all().size(), 1u);
  const Diagnostic &gap = checked->sink.all()[0];
  EXPECT_EQ(gap.message, "cannot prove that every element of the output `y` is written");
  ASSERT_EQ(gap.helps.size(), 1u);
  EXPECT_EQ(gap.helps[0], "write `y[0]` too");
  ASSERT_EQ(gap.fixes.size(), 1u);
  EXPECT_EQ(gap.fixes[0].edits[0].text, " = 0.0");
}

TEST(Coverage, paths) {
  const std::string head = "program p[N](x: f32[N], n: int) -> (y: f32[N]) {\n";
  EXPECT_EQ(flowOf(head + "if n > 3 { y = x } else { y = x * 2.0 } }"), "");
  EXPECT_EQ(flowOf(head + "if n > 3 { y = x\nreturn }\ny = x * 2.0 }"), "");
  EXPECT_EQ(flowOf(head + "if n > 3 { y = x } }"), "E0503 1\n");
  EXPECT_EQ(flowOf(head + "if n > 3 { return }\ny = x }"), "E0503 1\n");
  EXPECT_EQ(flowOf(head + "for _i in 0..n { y = x } }"), "E0503 1\n");
  EXPECT_EQ(flowOf(head + "while n > 3 { y = x } }"), "E0503 1\n");
  EXPECT_EQ(flowOf(head + "for i in 0..3 { if i == n { break }\ny = x } }"), "E0503 1\n");
  EXPECT_EQ(flowOf(head + "for _i in 0..3 { y = x } }"), "");
}

TEST(Coverage, iterationsThatEndEarly) {
  // What is empty at the end of the body need not be empty where an iteration left it.
  EXPECT_EQ(flowOf("kernel k(x: f32[8]) -> (y: f32[4]) {\nparallel _r in 0..1 {\n"
                   "for i in 0..5 {\nif i < 4 { continue }\n"
                   "y[i : min(i + 1, 4)] = x[i : min(i + 1, 4)] } } }")
                .substr(0, 5),
            "E0502");
  // Nothing is left where it left, and each way writes all that there is on it.
  EXPECT_EQ(flowOf("kernel k(x: f32[8]) -> (y: f32[4]) {\nparallel _r in 0..1 {\n"
                   "for i in 0..5 {\nif i >= 4 { continue }\ny[i] = x[i] } } }"),
            "");
  EXPECT_EQ(flowOf("kernel k(x: f32[8]) -> (y: f32[8]) {\nparallel _r in 0..1 {\nfor i in 0..8 {\n"
                   "if x[i] < 0.0 { y[i] = 0.0\ncontinue }\n"
                   "if x[i] > 1.0 { y[i] = 1.0\ncontinue }\ny[i] = x[i] } } }"),
            "");
}

TEST(Coverage, conditionsThatExcludeNothing) {
  EXPECT_EQ(flowOf("kernel k[N](x: f32[N]) -> (y: f32[N]) { parallel b in 0..cdiv(N, 256) {\n"
                   "for t in 0..256 { let i = b * 256 + t\nif i < N { y[i] = x[i] } } } }"),
            "");
  EXPECT_EQ(flowOf("kernel k[N](x: f32[N]) -> (y: f32[N]) { if N > 0 {\n"
                   "parallel i in 0..N { y[i] = x[i] } } }"),
            "");
  EXPECT_EQ(flowOf("kernel k[M](x: f32[M, M]) -> (y: f32[M, M]) { parallel i in 0..M {\n"
                   "for j in 0..i { y[i, j] = x[i, j] }\nfor j in i..M { y[i, j] = 0.0 } } }"),
            "");
}

TEST(Coverage, neverAndExempt) {
  EXPECT_EQ(flowOf("kernel k[N](x: f32[N]) -> (y: f32[N], z: f32[N]) { parallel i in tiles(N, 64) "
                   "{ y[i] = x[i] } }"),
            "E0501 1\n");
  EXPECT_EQ(
      flowOf("kernel k[N](x: f32[N]) -> (y: f32[N] = 0.0) { parallel i in 1..N { y[i] = x[i] } }"),
      "");
  EXPECT_EQ(
      flowOf("program p[N](x: f32[N]) -> (y: f32[N]) { y = x\nstep(c: inout y) }\n"
             "kernel step[N](c: inout f32[N]) { parallel i in tiles(N, 8) { c[i] = c[i] * 2.0 } }"),
      "");
}

TEST(Coverage, numbersThatGoOverSeveralAxes) {
  const std::string head = "kernel k[A, B](x: f32[A * B]) -> (y: f32[A, B]) {\n";
  EXPECT_EQ(flowOf(head + "parallel t in 0..A * B { y[t / B, t % B] = x[t] } }"), "");
  EXPECT_EQ(flowOf(head + "parallel t in 0..A * B - 1 { y[t / B, t % B] = x[t] } }"), "E0502 1\n");
  EXPECT_EQ(
      flowOf(head + "parallel p in 0..7 { for t in p..A * B step 7 { y[t / B, t % B] = x[t] } } }"),
      "");
  EXPECT_EQ(
      flowOf(head + "parallel p in 0..6 { for t in p..A * B step 7 { y[t / B, t % B] = x[t] } } }"),
      "E0502 1\n");
}

TEST(Coverage, permutations) {
  const std::string head = "kernel k[N](x: f32[N], p: i32[N]) -> (y: f32[N])\n";
  const std::string loop = "{ parallel i in 0..N { y[p[i]] = x[i] } }";
  EXPECT_EQ(flowOf(head + "where unique(p), all(p >= 0), all(p < N)\n" + loop), "");
  EXPECT_EQ(flowOf(head + "where unique(p), all(p >= 0)\n" + loop), "E0502 1\n");
  EXPECT_EQ(flowOf("program g[N](x: f32[N]) -> (y: f32[N]) { y[argsort(x)] = x }"), "");
}

TEST(Coverage, placesKnownOnlyWhenRunning) {
  EXPECT_EQ(flowOf("kernel k[N](x: f32[N], f: i32[N]) -> (y: f32[N]) where unique(f) {\n"
                   "parallel i in 0..N { y[f[i]] = x[i] } }"),
            "E0502 1\n");
}

} // namespace
} // namespace ptl

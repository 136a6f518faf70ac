// Iterations of a `parallel` do not touch each other's elements.

#include "frontend/sema/analysis/flow_test_util.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

static std::string codeOf(const std::string &text) { return flowOf(text).substr(0, 5); }

TEST(Independence, ownElementsInPlace) {
  EXPECT_EQ(flowOf("kernel k[M, N](c: inout f32[M, N]) {\n"
                   "parallel i in tiles(M, 8), j in 0..N { c[i, j] = c[i, j] * 2.0 } }"),
            "");
  EXPECT_EQ(flowOf("kernel k[B, M, S](x: f32[B, M]) -> (y: f32[B * S] = 0.0)\nwhere M <= S\n{\n"
                   "parallel b in 0..B, i in tiles(M, 16) { y[b * S + i] = x[b, i] } }"),
            "");
}

TEST(Independence, somePositionsOfOwnElements) {
  EXPECT_EQ(
      flowOf("kernel k[M](ids: i32[M], c: inout f32[M, 4]) -> (y: f32[M, 4]) {\n"
             "parallel i in tiles(M, 20) { y[i, :] = c[i, :][i.len - 1 - index(0..i.len), :]\n"
             "y[i, :] = y[i, :][ids[i], :] + y[i, 1:3][:, 0:1]\nc[i, :] = 1.0 } }"),
      "");
  // Of the neighbours', too; and nothing is known of those of all elements.
  EXPECT_EQ(codeOf("kernel k[M](ids: i32[M], c: inout f32[M, 4])\nwhere M >= 8\n{\n"
                   "parallel i in tiles(M, 20) { c[i, :] = c[0:8, :][ids[i], :] } }"),
            "E0507");
  EXPECT_EQ(codeOf("kernel k[M](ids: i32[M], c: inout f32[M, 4]) {\n"
                   "parallel i in tiles(M, 20) { c[i, :] = c[ids[i], :] } }"),
            "E0507");
  // Not all of what is chosen from is written.
  EXPECT_EQ(codeOf("kernel k[M](ids: i32[M]) -> (y: f32[M, 4]) {\n"
                   "parallel i in tiles(M, 20) { y[i, 0:2] = 1.0\n"
                   "y[i, 2:4] = y[i, :][ids[i], 1:3] } }"),
            "E0505");
}

TEST(Independence, conflicts) {
  EXPECT_EQ(
      codeOf("kernel k[N](x: f32[N]) -> (y: f32[1] = 0.0) { parallel i in 0..N { y[0] = x[i] } }"),
      "E0506");
  EXPECT_EQ(codeOf("kernel k[M, N](x: f32[M, N]) -> (y: f32[N] = 0.0) {\n"
                   "parallel i in 0..M, j in 0..N { y[j] = x[i, j] } }"),
            "E0506");
  EXPECT_EQ(codeOf("kernel k[N](c: inout f32[N]) { parallel i in 1..N { c[i] = c[i - 1] } }"),
            "E0506");
  EXPECT_EQ(
      codeOf("kernel k[N](c: inout f32[N]) { parallel i in 1..N { c[i - 1] = 0.0\nc[i] = 1.0 } }"),
      "E0506");
}

/// A store at an array of positions `p` in each tile `r`.
static std::string storedAt(const std::string &positions) {
  return codeOf("kernel k[N](x: f32[N], idx: i32[N]) -> (y: f32[2 * N] = 0.0)\n"
                "where unique(idx), all(idx >= 0), all(idx < N), N <= 64\n{\n"
                "parallel r in tiles(N, 8) {\nlet p = " +
                positions + "\ny[p] = x[r] } }");
}

TEST(Independence, positionsOfRanges) {
  for (const char *positions :
       {"index(r)", "N - 1 - index(r)", "index(r) + 3", "3 + (index(r) - 2)", "i64(index(r))"})
    EXPECT_EQ(storedAt(positions), "") << positions;
  EXPECT_EQ(storedAt("7 - (index(r) - r.start)"), "E0506");
  // What an iteration computes may be something else in the next one, so that they meet is not certain.
  EXPECT_EQ(storedAt("i32(x[r], round: .even)\nassert(unique(p))"), "E0507");
  EXPECT_EQ(storedAt("i8(index(r))"), "E0510");
  EXPECT_EQ(storedAt("index(r) * 2"), "E0510");
}

/// A scatter at `idx[i]`, with `before` in front of the grid and `inside` in front of the store.
static std::string scatter(const std::string &before, const std::string &inside) {
  return codeOf("kernel k[N](c: int, idx: i32[N], x: f32[N]) -> (y: f32[N] = 0.0)\n"
                "where all(idx >= 0), all(idx < N), N <= 64\n{\n" +
                before + "\nparallel i in 0..N {\n" + inside + "\ny[idx[i]] = x[i] } }");
}

TEST(Independence, assertsHoldWhereTheyHaveBeenPassed) {
  EXPECT_EQ(scatter("assert(unique(idx[:]))", ""), "");
  EXPECT_EQ(scatter("", "assert(unique(idx[:]))"), "");
  // An arm or a loop that need not run, and the right side of an `or`.
  EXPECT_EQ(scatter("if c > 0 { assert(unique(idx[:])) }", ""), "E0507");
  EXPECT_EQ(scatter("if c > 0 { } else { assert(unique(idx[:])) }", ""), "E0507");
  EXPECT_EQ(scatter("parallel _i in 0..c { assert(unique(idx[:])) }", ""), "E0507");
  EXPECT_EQ(scatter("", "for _i in 0..c { assert(unique(idx[:])) }"), "E0507");
  EXPECT_EQ(scatter("", "if c > 0 { assert(unique(idx[:])) }"), "E0507");
  EXPECT_EQ(scatter("", "while i < c { assert(unique(idx[:]))\nbreak }"), "E0507");
  EXPECT_EQ(scatter("",
                    "let t = c > 0 or if c < 9 { assert(unique(idx[:]))\ntrue } else { false }\n"
                    "assert(t)"),
            "E0507");
  // The other arm does not come here.
  EXPECT_EQ(codeOf("kernel k[N](c: int, idx: i32[N], x: f32[N]) -> (y: f32[N] = 0.0)\n"
                   "where all(idx >= 0), all(idx < N), N <= 64\n{\nparallel i in 0..N {\n"
                   "for _j in 0..1 {\nif c > 0 { assert(unique(idx[:])) } else { continue }\n"
                   "y[idx[i]] = x[i] } } }"),
            "");
  // Where one of two stores asserts it.
  EXPECT_EQ(scatter("", "if c > 0 { assert(unique(idx[:]))\ny[idx[i]] = x[i] }"), "E0507");
}

TEST(Independence, assertsOfOrder) {
  auto rows = [](const std::string &before, const std::string &inside) {
    return codeOf("kernel k[B, N](c: int, off: i32[B + 1], x: f32[N]) -> (y: f32[N] = 0.0)\n"
                  "where all(off >= 0), all(off <= N), B <= 64\n{\n" +
                  before + "\nparallel b in 0..B {\n" + inside +
                  "\nfor i in off[b]..off[b + 1] { y[i] = x[i] } } }");
  };
  EXPECT_EQ(rows("assert(sorted(off[:]))", ""), "");
  EXPECT_EQ(rows("", "assert(sorted(off[:]))"), "");
  EXPECT_EQ(rows("if c > 0 { assert(sorted(off[:])) }", ""), "E0507");
  EXPECT_EQ(rows("", "if c > 0 { assert(sorted(off[:])) }"), "E0507");
}

TEST(Independence, theSameElementsWhereLessIsKnown) {
  const std::string head = "kernel k[N](h: int, x: f32[N]) -> (y: f32[N * h + 1] = 0.0)\n"
                           "where h >= 0, h <= 16\n{ parallel i in 0..N {\n";
  const std::string known = "for _j in 0..h { y[i * h] = x[i] }\n", plain = "y[i * h] = x[i]\n";
  // Each round of the inner loop knows that `h` is at least 1.
  EXPECT_EQ(flowOf(head + known + "} }"), "");
  EXPECT_EQ(codeOf(head + plain + "} }"), "E0507");
  EXPECT_EQ(codeOf(head + known + plain + "} }"), "E0507");
  EXPECT_EQ(codeOf(head + plain + known + "} }"), "E0507");
}

TEST(Independence, wholeStructsAndTheirFields) {
  const std::string head = "struct S[N] {\na: f32[N]\nb: f32[N]\n}\n"
                           "fn total[N](s: S[N]) -> f32 { return s.a[0] + s.b[0] }\n"
                           "kernel k[N](s: inout S[N], x: f32[N]) -> (y: f32[N])\nwhere N >= 1\n"
                           "{ parallel i in 0..N {\n";
  EXPECT_EQ(codeOf(head + "s.a[i] = x[i]\ny[i] = total(s) } }"), "E0507");
  EXPECT_EQ(codeOf(head + "y[i] = total(s)\ns.b[i] = x[i] } }"), "E0507");
  EXPECT_EQ(codeOf(head + "s.a[i] = x[i]\ny[i] = s.a[0] } }"), "E0507");
  // Different fields have no element in common, and reads alone do no harm.
  EXPECT_EQ(flowOf(head + "s.a[i] = x[i]\ny[i] = s.b[0] } }"), "");
  EXPECT_EQ(flowOf(head + "y[i] = total(s) + s.a[0] } }"), "");
}

TEST(Independence, placesPastTheLimitOfDimensions) {
  // The position of a later iteration has more terms than a dimension may have. Two of these are
  // the same: `1` at 0 and at 2.
  EXPECT_EQ(codeOf("kernel k() -> (y: f32[64] = 0.0) { parallel i in 0..3 { y[(i - 1) ** 10] = 1.0 "
                   "} }"),
            "E0507");
}

TEST(Independence, missingFacts) {
  auto checked = checkText("kernel k[M, N, S](x: f32[M, N]) -> (y: f32[M * S] = 0.0) {\n"
                           "parallel i in 0..M, j in 0..N { y[i * S + j] = x[i, j] } }");
  ASSERT_EQ(checked->sink.all().size(), 1u);
  const Diagnostic &missing = checked->sink.all()[0];
  EXPECT_EQ(missing.message, "iterations of the `parallel` may write the same elements of `y`");
  ASSERT_EQ(missing.helps.size(), 1u);
  EXPECT_EQ(missing.helps[0], "if it always holds, state it: `where N <= S`");
}

TEST(Independence, oneErrorForOneCause) {
  EXPECT_EQ(flowOf("kernel k[N](x: f32[N]) -> (y: f32[N]) { parallel i in 0..N { y[0] = x[i] } }"),
            "E0506 1\n");
  EXPECT_EQ(
      flowOf("kernel k[N](x: f32[N]) -> (y: f32[N], z: f32[N]) { parallel i in tiles(N, 64) {\n"
             "z[i] = x[i]\ny[i] = z[0] } }"),
      "E0505 3\n");
}

TEST(Independence, conditions) {
  EXPECT_EQ(codeOf("kernel k[N](x: f32[N], f: i32[N]) -> (y: f32[N] = 0.0) {\n"
                   "parallel i in 0..N { if f[i] > 0 { y[0] = x[i] } } }"),
            "E0507");
  EXPECT_EQ(flowOf("kernel k[N](x: f32[N]) -> (y: f32[N] = 0.0) {\n"
                   "parallel i in 0..N { if i == 0 { y[0] = x[i] } } }"),
            "");
  EXPECT_EQ(flowOf("kernel k[N](x: f32[N]) -> (y: f32[N] = 0.0) {\n"
                   "parallel i in 0..N { if i >= N - 1 { y[0] = x[i] } } }"),
            "");
  EXPECT_EQ(flowOf("kernel k[N](x: f32[N]) -> (y: f32[N] = 0.0) {\n"
                   "parallel i in tiles(N, 64) { if i.count == 0 { y[0] = 1.0 } } }"),
            "");
}

TEST(Independence, indexArrays) {
  const std::string loop = "{ parallel t in 0..N { y[idx[t]] = x[t] } }";
  const std::string tile = "{ parallel t in tiles(N, 16) { let ids = idx[t]\ny[ids] = x[t] } }";
  const std::string head = "kernel k[N, V](x: f32[N], idx: i32[N]) -> (y: f32[V] = 0.0)\n";
  EXPECT_EQ(flowOf(head + "where unique(idx)\n" + loop), "");
  EXPECT_EQ(flowOf(head + "where unique(idx)\n" + tile), "");
  EXPECT_EQ(flowOf(head + loop), "E0507 2\n");
  EXPECT_EQ(flowOf(head + tile), "E0510 3\n");
  EXPECT_EQ(
      flowOf(
          "fn f[N](x: f32[N], i: i32[N]) -> f32[N] { var y = zeros(f32[N])\ny[i] = x\nreturn y }"),
      "E0510 2\n");
}

TEST(Independence, raggedRows) {
  const std::string head = "kernel k[B, N](x: f32[N], off: i32[B + 1]) -> (y: f32[N] = 0.0)\n";
  const std::string body =
      "{ parallel b in 0..B, i in tiles(int(off[b])..int(off[b + 1]), 64) { y[i] = x[i] } }";
  EXPECT_EQ(flowOf(head + "where sorted(off)\n" + body), "");
  EXPECT_EQ(codeOf(head + body), "E0507");
  EXPECT_EQ(flowOf(head + "where sorted(off)\n{ parallel b in 0..B { let lo = int(off[b])\nlet hi "
                          "= int(off[b + 1])\n"
                          "for i in tiles(lo..hi, 64) { y[i] = x[i] } } }"),
            "");
}

TEST(Independence, rangesCutFromRanges) {
  const std::string head =
      "kernel k[M](x: f32[M]) -> (y: f32[M] = 0.0) {\nparallel g in tiles(M, 48)";
  EXPECT_EQ(flowOf(head + ", i in tiles(g, 16) { y[i] = x[i] } }"), "");
  EXPECT_EQ(flowOf(head + " { parallel i in tiles(g, 16) { y[i] = x[i] } } }"), "");
  EXPECT_EQ(flowOf(head + " { y[g] = x[g]\nparallel i in tiles(g, 16) { y[i] = x[i] } } }"), "");
  auto checked = checkText(head + ", i in tiles(g.start..min(g.end + 8, M), 16) { y[i] = x[i] } }");
  ASSERT_EQ(checked->sink.all().size(), 1u);
  EXPECT_EQ(checked->sink.all()[0].message,
            "iterations of the `parallel` may write the same elements of `y`");
  EXPECT_TRUE(checked->sink.all()[0].notes.empty()); // they do depend on `g`
}

TEST(Independence, quotientsAndRemainders) {
  const std::string head = "kernel k[A, B, C](x: f32[A * B]) -> (y: f32[A, B] = 0.0) {\n";
  EXPECT_EQ(flowOf(head + "parallel t in 0..A * B { y[t / B, t % B] = x[t] } }"), "");
  EXPECT_EQ(codeOf(head + "parallel t in 0..A * B { y[t / C, t % B] = x[t] } }"), "E0507");
  const std::string worker = head + "parallel p in 0..8 { for t in p..A * B step ";
  EXPECT_EQ(flowOf(worker + "8 { y[t / B, t % B] = x[t] } } }"), "");
  EXPECT_EQ(codeOf(worker + "7 { y[t / B, t % B] = x[t] } } }"), "E0507");
}

TEST(Independence, valuesThatDiffer) {
  const std::string head = "kernel k[T, B, P](x: f32[T], s: i32[T]) -> (y: f32[B, P] = 0.0)\n";
  const std::string loop = "{ parallel t in 0..T { y[s[t] / P, s[t] % P] = x[t] } }";
  EXPECT_EQ(flowOf(head + "where unique(s)\n" + loop), "");
  auto checked = checkText(head + loop);
  ASSERT_EQ(checked->sink.all().size(), 1u);
  ASSERT_EQ(checked->sink.all()[0].helps.size(), 1u);
  EXPECT_EQ(checked->sink.all()[0].helps[0], "state that they differ: `where unique(s)`");
}

TEST(Independence, atomic) {
  EXPECT_EQ(flowOf("kernel k[N, V](idx: i32[N]) -> (h: i32[V] = 0) { parallel t in 0..N { atomic "
                   "h[idx[t]] += 1 } }"),
            "");
  EXPECT_EQ(flowOf("kernel k[N, V](idx: i32[N]) -> (h: i32[V]) { parallel t in 0..N { atomic "
                   "h[idx[t]] += 1 } }"),
            "E0508 1\n");
  EXPECT_EQ(
      flowOf("kernel k[N](x: f32[N]) -> (y: i32[1] = 0) { parallel _i in 0..N { atomic y[0] += 1\n"
             "atomic y[0] max= 2 } }"),
      "E0509 2\n");
}

} // namespace
} // namespace ptl

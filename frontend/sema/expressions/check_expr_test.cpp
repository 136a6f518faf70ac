// Expressions and statements: what is accepted, what the tree then says, and one error per cause.
#include "frontend/sema/check_test_util.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

/// Programs without a mistake, grouped by what they show.
const char *const accepted[] = {
    R"ptl(
fn silu[T: float](x: T[..]) -> T[..] { return x / (1 + exp(-x)) }
const TAPS = 4
const EPS: f32 = 1e-6
type Row[N] = f32[1, N]
struct Mlp[D, F] { up: f32[D, F]
 down: f32[F, D] }

fn half[N](x: f32[N]) -> f32[N] { return x * (1/2) }
fn named(x: f32[TAPS]) -> f32[4] { return x + EPS }
fn struct_use[B, D, F](x: f32[B, D], p: Mlp[D, F]) -> f32[B, D] { return silu(x @ p.up) @ p.down }
fn make[D, F](a: f32[D, F], b: f32[F, D]) -> Mlp[D, F] { return Mlp(up: a, down: b) }
fn use_make[D, F](a: f32[D, F], b: f32[F, D]) -> f32[D, D] {
  let m = make(a, b)
  return m.up @ m.down
}
fn rest[C](x: f32[.., C]) -> f32[.., C - 1] where C >= 1 { return x[.., 0:C - 1] }
fn gath[V, D, N](table: f32[V, D], ids: i32[N]) -> f32[N, D] { return table[ids, :] }
fn strided[N](x: f32[2 * N]) -> f32[N] { return x[0:2 * N:2] + x[1:2 * N:2] }
fn cat[N, M](a: f32[N], b: f32[M]) -> f32[N + M] { return concat(a, b, axis: 0) }
fn cond(x: f32, n: int) -> f32 { return if n > 3 and x > 0.0 { x } else if n == 2 { 0.0 } else { -x } }
fn tup[N](x: f32[N]) -> (f32[N], f32) { return (x, sum(x)) }
fn usetup[N](x: f32[N]) -> f32[N] { let (a, b) = tup(x)
 return a * b }
fn reduce2[A, B, C](x: f32[A, B, C]) -> f32[1, B, 1] { return sum(x, axis: [0, 2]) }
fn logic[N](x: f32[N]) -> bool[N] { return (x > 0.0 and x < 1.0) or not (x == x) }
fn ints[N](x: i32[N], n: int) -> i32[N] { return x + n * 2 }
fn pw[N](x: f32[N]) -> f32[N] { return x ** 2 + 2 ** x }
fn bits[N](x: u32[N]) -> u32[N] { return ~x & 0xff | (x << 3) ^ x }
fn neg(x: f32) -> f32 { return -inf + x }
fn accT[M, K, T: float](a: T[M, K], b: T[K, M]) -> acc(T)[M, M] { return a @ b }
fn conv[N, T: float](x: T[N]) -> T[N] { return T(f32(x) * 2.0) }
fn ntypes[N, T: number](x: T[N]) -> T[N] { return x + 1 }
fn clampi[N](x: i8[N]) -> i8[N] { return max(min(x, 100), -100) }
fn loopsum[N](x: f32[N]) -> f32 {
  var s = 0.0
  for i in 0..N step 2 { s += x[i] }
  for i in 0..N as outer { if x[i] > 3.0 { continue }
    s -= x[i] }
  for i in 0..N unroll 4 { s += x[i] }
  var k = 0
  while k < 10 { k += 1 }
  static for t in [1, 2, 3] { s += f32(t) }
  return s
}
fn shapes[N](x: f32[4 * N]) -> f32[N, 2, 2] { return reshape(x, [N, 2, 2]) }
fn shadow[N](x: f32[N]) -> f32 { let max = max(x)
 let max = max + 1.0
 return max }
kernel conv1[N](x: f32[N]) -> (y: f32[N]) tune T = 128 {
  parallel r in tiles(N, T) {
     y[r] = load(x[r - 1], outside: 0.0) + x[r] + load(x[r + 1], outside: 0.0)
  }
}
kernel paged[B, P, S, H, static D](kc: f16[P, S, H, D], table: i32[B, 8], len: i32[B], q: f16[B, H, D]) -> (o: f32[B, H, D])
where S <= 64, D <= 128
{
  parallel b in 0..B, h in 0..H {
    var acc = zeros(f32[1, D])
    for j in 0..cdiv(len[b], 16) {
       let k = kc[table[b, j], :, h, :]
       let s = q[b, h, new, :] @ k.T
       acc += f16(s) @ k
    }
    o[b, h, :] = acc[0, :]
  }
}
kernel hist[N](x: i32[N]) -> (h: i32[256] = 0) {
  parallel r in tiles(N, 1024) {
     atomic h[x[r]] += 1
  }
}
kernel step[N](x: f32[N], cache: inout f32[N]) { parallel r in tiles(N, 128) { cache[r] += x[r] } }
program prog[N](x: f32[N]) -> (y: f32[N]) {
  y = x * 2.0
  step(x, cache: inout y)
  for _i in 0..3 { step(x, cache: inout y) }
}
program mm[M, K](a: f16[M, K], b: f16[K, M]) -> (c: f32[M, M]) {
  task first { c = a @ b }
}
kernel dynlen[N](x: f32[N], n: int) -> (y: f32[N] = 0.0) where n <= N, n >= 0 {
  let m = n
  parallel r in tiles(m, 128) { y[r] = x[r] }
}
kernel rowsb[R, C](x: f32[R, C]) -> (y: f32[R, C]) where C <= 8192 {
  parallel r in tiles(R, 4) { let a: _ @vec = x[r, :]
   let b: f32[r, C] = a * 2
   y[r, :] = b / sum(b, axis: -1) }
}
kernel sub[N](x: f32[N]) -> (y: f32[N]) where N >= 0 tune A = 256, B = 64 {
  parallel p in tiles(N, A) { for q in tiles(p, B) { y[q] = x[q] } }
}
fn two_parts[N](x: f32[2 * N]) -> f32[2 * N] { return concat(x[N:2 * N], x[0:N], axis: -1) }
fn mask[S, T](x: f32[S, T]) -> f32[S, T] { return select(index(0..S)[:, new] >= index(0..T), x, -inf) }
fn one[N](id: i32[N]) -> f32[N, 64] { return one_hot(id, E: 64) }
fn srt[N, M](x: f32[N, M]) -> f32[N, M] { return gather(x, argsort(x, axis: 0), axis: 0) }
fn eins[B, H, S, T, D](q: f16[B, H, S, D], k: f16[B, H, T, D]) -> f32[B, H, S, T] { return einsum("bhsd,bhtd->bhst", q, k) }
property "p"[R: 0..20, C: 1..20] { let x = random(f32[R, C], seed: 3)
 expect_close(sum(x, axis: 1), sum(x, axis: -1)) }
bench "b" { half(random(f32[100], seed: 1)) }
test "t" { let r = two(A: 3)
 expect(r == 3) }
fn two[A](k: int = 2) -> int { return A + k - k }
fn bat[B, M, K, N](a: f16[B, M, K], b: f16[K, N]) -> f32[B, M, N] { return a @ b }
fn vecmat[K, N](a: f32[K], b: f32[K, N]) -> f32[N] { return a @ b }
fn mixed[N](x: f32[N], k: i32[N]) -> f32[N] { return f32(k) + x * f32(N) }
fn assertn[N, M](x: f32[N], y: f32[M]) -> f32[N] { assert(N == M, "equal")
 return x + y }
)ptl",
    R"ptl(
fn facts[N, M](x: f32[N], y: f32[M], n: int) -> f32[N] where n >= 0, n <= N {
  assert(n == M)
  let z = x[0:n] + y
  return concat(z, x[n:N], axis: 0)
}
kernel shifts[N](x: f32[2 * N + 2]) -> (y: f32[N]) {
  parallel r in tiles(N, 128) { y[r] = x[2 * r + 1] + x[r + 1] + x[2 * r] }
}
kernel mmk[M, N](a: f16[M, N], b: f16[N, M]) -> (c: f32[M, M]) tune BM: [32, 64] = 32, FAST: bool = true {
  parallel i in tiles(M, BM), j in tiles(M, BM) {
    var acc = zeros(f32[i, j])
    for k in tiles(N, 64) pipeline 2 { acc += a[i, k] @ b[k, j] }
    static if FAST { c[i, j] = acc } else { c[i, j] = acc * 1.0 }
  }
}
program callt[M, N](a: f16[M, N], b: f16[N, M]) -> (c: f32[M, M]) { c = mmk(a, b, BM: 64, FAST: false) }
kernel scat[N, V, static D](x: f32[N, D], idx: i64[N], n: i32[1]) -> (y: f32[V, D] = 0.0) where unique(idx), all(idx < V), all(idx >= 0) {
  let m = n[0]
  parallel r in tiles(min(m, N), 32) { y[idx[r], :] = x[r, :] }
}
program callscat[N, static D](x: f32[N, D], idx: i64[N], n: i32[1]) -> (y: f32[100, D]) { y = scat(x, idx, n, V: 100) }
extern kernel ext[N](x: f32[N]) -> (y: f32[N])
program useext[N](x: f32[N]) -> (y: f32[N]) { y = ext(x) }
kernel nested[N, static C](x: f32[N, C]) -> (y: f32[N, C]) {
  parallel r in tiles(N, 8) {
    var best = x[r, :]
    for i in 0..10 {
      if i == 3 { break }
      best = best * 0.5
    }
    while max(best) > 1.0 { best = best * 0.5 }
    let t = best.T
    y[r, :] = t.T
  }
}
fn pos[N](x: f32[N], i: u8) -> f32 { return x[i] }
fn lst() -> f32 { let w = [0.25, 0.5, 0.25]
 var s = 0.0
 for i in 0..3 { s += w[i] }
 for v in w { s += v }
 return s }
fn dimsarith[N](x: f32[N]) -> f32 { return f32(N) / 2.0 + f32(N % 3) + f32(cdiv(N, 2)) + f32(min(N, 5)) }
fn unaryT[A, B, C](x: f32[A, B, C]) -> f32[A, C, B] { return -x.T }
fn newax[A](x: f32[A]) -> f32[1, A, 1] { return x[new, :, new] }
fn select3[N](c: bool, x: f32[N]) -> f32[N] { return select(c, x, 0) }
fn ifarr[N](c: bool, x: f32[N]) -> f32[N] { let y = if c { x } else { -x }
 return y }
fn i64s[N](x: i64[N], n: int) -> i64[N] { return x * n + N }
fn cmpd[N](x: i32[N], n: int) -> bool[N] { return x < n and x >= 0 }
fn cumul[N](x: f32[N]) -> f32[N] { return cumsum(x, axis: 0) / (cumsum(x * x)) }
fn quant[R, C](x: f32[R, C]) -> (i8[R, C], f32[R, 1]) {
  let s = max(abs(x), axis: -1) / 127
  return (i8(x / s, round: .even, saturate: true), s)
}
fn padz[N](x: f32[N]) -> f32[N + 2] { return pad(x, 0, before: [1], after: [1]) }
fn diag[N](x: f32[N, N]) -> f32[N, N] { return tril(x) + triu(x, diagonal: 1) }
fn early(x: f32) -> f32 { if x > 0.0 { return x } else { return -x } }
fn implicit(x: f32) -> f32 { x * 2.0 }
fn implif(x: f32) -> f32 { if x > 0.0 { x } else { 0 } }
fn slicing[N](x: f32[N]) -> f32 where N >= 4 { return sum(x[1:]) + sum(x[:3]) + sum(x[::2]) + sum(x[1:3]) }
fn fnarg[N, T: float](x: T[N], eps: T) -> T[N] { return x / sqrt(sum(x * x) + eps) }
fn usefn[N](x: f16[N]) -> f16[N] { return fnarg(x, 1e-3) }
fn sc(x: f32) -> f32 { return sigm(x) }
fn sigm[T: float](x: T[..]) -> T[..] { return 1 / (1 + exp(-x)) }
fn lits[N](x: bf16[N]) -> bf16[N] { return 1 - x * 0.5 + (1/3) }
fn hoist[N](x: f32[N], k: i32[1]) -> f32 { return sum(x[0:k[0]]) + sum(x[int(k[0]):N]) }
fn chain[N](x: f32[N], y: f32[N]) -> f32[N] { let a = x
  let b = a * y
  return b }
)ptl",
};

TEST(CheckExpr, accepted) {
  for (const char *source : accepted)
    EXPECT_EQ(diagnosticsOf(source), "");
}

TEST(CheckExpr, oneErrorPerCause) {
  EXPECT_EQ(diagnosticsOf("fn f[N](x: i32[N]) -> f32[N] { return x * 1.5 }"),
            "E0301 1:39 `*` needs operands of one element type, found `i32` and `f32`\n");
  EXPECT_EQ(diagnosticsOf("fn f(x: f32[4]) { for _i in tiles(max(1, 2, 3), 4) { print(x) } }")
                .find("E0319", 5),
            std::string::npos);
  EXPECT_EQ(diagnosticsOf("fn f() -> i32 { return 1.5 }"),
            "E0313 1:24 `1.5` is not a value of type `i32`\n");
  EXPECT_EQ(
      diagnosticsOf(
          "fn f[N](x: f32[N]) -> f32[N] {\n let y = exq(x)\n let z = y + 1\n return z @ y[0] }"),
      "E0202 2:10 unknown function `exq`\n");
  EXPECT_EQ(diagnosticsOf("fn f[N](x: f32[N]) -> f32[1] { return sum(x, axis: 2) + x }"),
            "E0346 1:52 axis 2 does not exist: the rank of `f32[N]` is 1\n");
}

TEST(CheckExpr, partsOfPartsAreNoPlaces) {
  const char *const kernel =
      "kernel k[N](c: inout f32[N]) { parallel r in tiles(N, 4) { c[r] += 1.0 } }\n";
  for (const char *statement : {"d[1:3, :][0, :] = 9.0", "k(inout d[1:3, :][0, :])"}) {
    std::string text = diagnosticsOf(std::string(kernel) +
                                     "program p(x: f32[4, 4]) -> (y: f32[4, 4]) {\n var d = x\n " +
                                     statement + "\n y = d }");
    EXPECT_EQ(text.substr(0, 5), "E0521") << statement << "\n" << text;
    EXPECT_EQ(text.find("E0", 5), text.npos) << statement << "\n" << text;
  }
}

TEST(CheckExpr, lengthsThatAreTooLarge) {
  // A length that is unknown equals all others, so none of these may stay without a report.
  const char *const sources[] = {
      "fn f(x: f32[1000000 ** 4]) -> f32[4] { return x[0:4] }",
      "fn f(x: f32[1000000 ** 3 << 5]) -> f32[4] { return x[0:4] }",
      "fn f[N](x: f32[cdiv(9223372036854775807, 2) * N * 3]) -> f32 { return 0.0 }",
      "fn f(x: f32[4611686018427387904], y: f32[7]) -> f32[7] {\n"
      "return concat(x, x, axis: 0) + y }",
      "fn g[N](x: f32[N], y: f32[N ** 3]) -> f32[N] { return x + y[0:N] }\n"
      "fn f(x: f32[4000000000], y: f32[7]) -> f32[4000000000] { return g(x, y) }",
      "fn g[N](x: f32[N]) -> f32[N * N * N] { return zeros(f32[N * N * N]) + x[0] }\n"
      "fn f(x: f32[4000000000], y: f32[7]) -> f32[7] { return g(x) + y }",
      "fn g[N](x: f32[N]) -> f32[N] where N ** 3 <= 5 { return x }\n"
      "fn f(x: f32[4000000000]) -> f32[4000000000] { return g(x) }",
      "const MIN = 0 - 9223372036854775807 - 1\n"
      "fn f[N](x: f32[N]) -> f32[N - MIN] { return x }",
      "struct S[N] { a: f32[N ** 3] }\n"
      "fn f(x: S[4000000000], y: f32[7]) -> f32[7] { return x.a + y }",
  };
  for (const char *source : sources) {
    std::string text = diagnosticsOf(source);
    // One report for one cause.
    EXPECT_EQ(text.substr(0, 5), "E0603") << source << "\n" << text;
    EXPECT_EQ(text.find("E0", 5), text.npos) << source << "\n" << text;
  }
}

TEST(CheckExpr, contractedExtentsOfferTransposition) {
  auto checked =
      checkText("fn f[S, T, D](q: f16[S, D], k: f16[T, D]) -> f32[S, T] { return q @ (k + k) }");
  ASSERT_EQ(checked->text(), "E0312 1:65 the contracted extents differ: `D` is not `T`\n");
  ASSERT_EQ(checked->sink.all()[0].fixes.size(), 1u);
  EXPECT_EQ(checked->sink.all()[0].fixes[0].edits[0].text, ".T");
}

/// The dump of one declaration.
std::string dumpOf(const char *source) {
  auto checked = checkText(source);
  EXPECT_EQ(checked->text(), "");
  return dumpChecked(*checked->program);
}

TEST(CheckExpr, boundsOfTilesAreProved) {
  std::string text = dumpOf("kernel k[N](x: f32[N]) -> (y: f32[N])\n"
                            "{ parallel r in tiles(N, 128) { y[r] = x[r] } }");
  EXPECT_EQ(text.find("check"), std::string::npos) << text;
}

TEST(CheckExpr, dataFactsAndEarlyReturnsBoundPositions) {
  auto checked = checkText("fn f[V, D, N](t: f32[V, D], ids: i32[N]) -> f32[N, D]\n"
                           "where all(ids >= 0), all(ids < V) { return t[ids, :] }\n"
                           "fn g[N](x: f32[N]) -> f32 { if N < 3 { return 0.0 }\n return x[2] }");
  ASSERT_EQ(checked->text(), "");
  size_t indices = 0;
  for (const auto &[node, expr] : checked->program->exprOfNode) {
    if (expr->kind != ExprKind::Index)
      continue;
    ++indices;
    for (const IndexItem &item : cast<IndexExpr>(expr)->items)
      EXPECT_FALSE(item.needsCheck);
  }
  EXPECT_EQ(indices, 2u);
}

TEST(CheckExpr, computedLengthsBecomeLets) {
  auto checked = checkText("fn f[N](x: f32[N], k: i32[1]) -> f32 { return sum(x[0:k[0]]) }");
  ASSERT_EQ(checked->text(), "");
  const CallableDecl *decl = checked->program->modules[0]->callables[0];
  ASSERT_EQ(decl->body->stmts.size(), 2u);
  ASSERT_EQ(decl->body->stmts[0]->kind, StmtKind::Let);
  EXPECT_TRUE(cast<LetStmt>(decl->body->stmts[0])->locals[0]->symbol.has_value());
}

TEST(CheckExpr, callsBindDimensionsAndLeaveChecks) {
  auto checked = checkText(
      "fn even[N](x: f32[N]) -> f32[N] where N % 2 == 0 { return x }\n"
      "fn f[M](x: f32[2 * M], y: f32[M]) -> f32[M] { return y + sum(even(x)) + even(y) }");
  ASSERT_EQ(checked->text(), "");
  std::vector<const CallExpr *> calls;
  for (const auto &[node, expr] : checked->program->exprOfNode)
    if (expr->kind == ExprKind::Call)
      calls.push_back(cast<CallExpr>(expr));
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0]->checks.size() + calls[1]->checks.size(), 1u);
}

TEST(CheckExpr, constantsAreExact) {
  auto checked = checkText("fn f(x: f64) -> f64 { return x * (1/3) }");
  ASSERT_EQ(checked->text(), "");
  bool found = false;
  for (const auto &[node, expr] : checked->program->exprOfNode)
    if (expr->kind == ExprKind::Op)
      found = cast<ConstExpr>(cast<OpExpr>(expr)->args[1])->floatValue == 1.0 / 3.0;
  EXPECT_TRUE(found);
}

} // namespace
} // namespace ptl

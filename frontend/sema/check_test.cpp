#include "frontend/sema/check_test_util.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

TEST(Check, simpleDeclarations) {
  EXPECT_EQ(diagnosticsOf("fn twice[N](x: f32[N]) -> f32[N] { return x * 2.0 }"), "");
  EXPECT_EQ(diagnosticsOf("kernel k[N](x: f32[N]) -> (y: f32[N])\ntune B = 64\n"
                          "{ parallel i in tiles(N, B) { y[i] = x[i] } }"),
            "");
}

TEST(Check, valuesAndCallablesAreSeparate) {
  EXPECT_EQ(
      diagnosticsOf("fn f[N](x: f32[N]) -> f32[N] { let max = max(x, axis: 0)\n return x - max }"),
      "");
}

TEST(Check, unknownNamesSuggest) {
  auto checked = checkText("fn f(value: f32) -> f32 { return valeu }");
  ASSERT_EQ(checked->text(), "E0201 1:34 unknown name `valeu`\n");
  ASSERT_EQ(checked->sink.all()[0].fixes.size(), 1u);
  EXPECT_EQ(checked->sink.all()[0].fixes[0].edits[0].text, "value");
}

TEST(Check, oneMistakeIsReportedOnce) {
  EXPECT_EQ(diagnosticsOf("fn f(x: f32) -> f32 { let a = y + y\n return a * y }\n"
                          "fn g(x: f32) -> f32 { return y }"),
            "E0201 1:31 unknown name `y`\nE0201 3:30 unknown name `y`\n");
  EXPECT_EQ(diagnosticsOf("fn f[N](N: f32[N]) -> f32[N] { return N }"),
            "E0205 1:9 `N` is already a dimension here\n");
}

TEST(Check, endlessLoopsNeedNoResultBehindThem) {
  const std::string head = "fn f(x: f32) -> f32 { var y = x\n while true { y = y * 2.0\n ";
  EXPECT_EQ(diagnosticsOf(head + "if y > 9.0 { return y } } }"), "");
  EXPECT_EQ(
      diagnosticsOf(head + "if y > 9.0 { break } } }"),
      "E0245 3:25 `f` must return a value of type `f32`, but its end is reached without one\n");
}

TEST(Check, shadowing) {
  EXPECT_EQ(diagnosticsOf("fn f[N](x: f32[N]) -> f32[N] { let a = x\n let a = a + a\n return a }"),
            "");
  EXPECT_EQ(diagnosticsOf("fn f(x: f32) -> f32 { let x = x\n return x }"),
            "E0206 1:27 `x` would hide the parameter of that name\n");
  EXPECT_EQ(diagnosticsOf("fn f[N](N: f32) -> f32 { return 1.0 }"),
            "E0205 1:9 `N` is already a dimension here\n");
}

TEST(Check, constants) {
  EXPECT_EQ(diagnosticsOf("const A = B * 2\nconst B = 4\nfn f(x: f32[A]) -> f32[8] { return x }"),
            "");
  EXPECT_EQ(diagnosticsOf("const A = B\nconst B = A"),
            "E0213 1:7 the definition of `A` needs `A` itself\n");
  EXPECT_EQ(diagnosticsOf("const EPS: f32 = 1e-6\nconst N: i8 = 128"),
            "E0239 2:15 128 is not a value of type `i8`\n");
  EXPECT_EQ(diagnosticsOf("const A = 1 / 0"), "E0241 1:11 division by zero\n");
}

TEST(Check, aliasesAndStructs) {
  EXPECT_EQ(
      diagnosticsOf("type Row[N] = f32[1, N]\nfn f[C](x: Row[2*C]) -> f32[1, 2*C] { return x }"),
      "");
  EXPECT_EQ(diagnosticsOf("struct Mlp[D, F] {\n w: f32[D, F]\n b: f32[F]\n}\n"
                          "fn f[D, F](p: Mlp[D, F]) -> f32[D, F] { return p.w + p.b }"),
            "");
  EXPECT_EQ(diagnosticsOf("struct A { b: B }\nstruct B { a: A }"),
            "E0235 1:12 `A` contains itself\n");
  EXPECT_EQ(diagnosticsOf("struct A { x: f32\n x: f32 }"),
            "E0205 2:2 `x` is already a field here\n");
}

TEST(Check, prefixes) {
  EXPECT_EQ(diagnosticsOf("fn f[C](x: f32[.., C]) -> f32[.., 1] { return sum(x, axis: -1) }"), "");
  EXPECT_EQ(diagnosticsOf("fn f[C](x: f32[C]) -> f32[.., C] { return x }").substr(0, 11),
            "E0225 1:27 ");
}

TEST(Check, recursionIsReportedOnce) {
  EXPECT_EQ(
      diagnosticsOf("fn a(x: f32) -> f32 { return b(x) }\nfn b(x: f32) -> f32 { return a(x) }"),
      "E0212 2:30 `a` calls itself through `b`\n");
}

TEST(Check, imports) {
  CheckOptions options;
  options.overlays["lib.ptl"] =
      "pub fn one(x: f32) -> f32 { return x }\nfn two(x: f32) -> f32 { return x }\n"
      "pub const K = 3\npub type V = f32[K]";
  EXPECT_EQ(
      diagnosticsOf("import \"lib.ptl\"\nfn f(x: lib.V) -> f32[3] { return x + lib.one(1.0) }",
                    options),
      "");
  EXPECT_EQ(diagnosticsOf("import lib: one, K\nfn f(x: f32[K]) -> f32[K] { return x + one(1.0) }",
                          options),
            "");
  EXPECT_EQ(diagnosticsOf("import lib: two", options),
            "E0210 1:13 `two` is private to module `lib`\n");
  EXPECT_EQ(diagnosticsOf("import lib: onne", options), "E0209 1:13 module `lib` has no `onne`\n");
  EXPECT_EQ(diagnosticsOf("import lib: one", options),
            "W1202 1:13 `one` is imported but never used\n");
  EXPECT_EQ(diagnosticsOf("import nothing", options),
            "E0207 1:8 cannot find the module `nothing`\n");
  // The import is the mistake, and what it was to bind is no other one.
  EXPECT_EQ(diagnosticsOf("import nothing: lost\nimport void\nimport lib: onne\n"
                          "fn f(x: f32) -> f32 { return lost(x) + void.g(x) + onne(x) }",
                          options),
            "E0207 1:8 cannot find the module `nothing`\n"
            "E0207 2:8 cannot find the module `void`\n"
            "E0209 3:13 module `lib` has no `onne`\n");
  options.overlays["a.ptl"] = "import b";
  options.overlays["b.ptl"] = "import a";
  EXPECT_EQ(diagnosticsOf("import a", options),
            "E0208 1:8 the imports form a cycle: `a` imports `b` imports `a`\n");
}

TEST(Check, tunables) {
  const std::string body = "{ parallel i in tiles(N, B) { y[i] = x[i] } }";
  const std::string head = "kernel k[N](x: f32[N]) -> (y: f32[N])\ntune ";
  EXPECT_EQ(diagnosticsOf(head + "B: [8, 16] = 8\n" + body), "");
  EXPECT_EQ(diagnosticsOf(head + "B: 16..64 step 16 = 48\n" + body), "");
  EXPECT_EQ(diagnosticsOf(head + "B: [8, 16] = 9\n" + body),
            "E0703 2:19 `B = 9` is not in the domain of `B`\n");
  EXPECT_EQ(diagnosticsOf("kernel k[N](x: f32[B]) -> (y: f32[N])\ntune B = 8\n{ parallel i in "
                          "tiles(N, B) { y[i] = x[0] } }")
                .substr(0, 11),
            "E0701 1:20 ");
}

TEST(Check, capacity) {
  auto checked = checkText("kernel k[R, C](x: f32[R, C]) -> (y: f32[R, C]) {\n"
                           "parallel r in tiles(R, 8) { y[r, :] = x[r, :] } }");
  ASSERT_FALSE(checked->sink.all().empty());
  const Diagnostic &first = checked->sink.all()[0];
  EXPECT_STREQ(diagInfo(first.id).code, "E0605");
  EXPECT_EQ(first.fixes.size(), 2u);
  EXPECT_EQ(diagnosticsOf("kernel k[R, static C](x: f32[R, C]) -> (y: f32[R, C]) {\n"
                          "parallel r in tiles(R, 8) { y[r, :] = x[r, :] } }"),
            "");
  EXPECT_EQ(diagnosticsOf("kernel k[R, C](x: f32[R, C]) -> (y: f32[R, C])\nwhere C <= 8192\n{\n"
                          "parallel r in tiles(R, 8) { y[r, :] = x[r, :] } }"),
            "");
}

TEST(Check, unused) {
  EXPECT_EQ(diagnosticsOf("fn f(x: f32, y: f32) -> f32 { return x }"),
            "W1201 1:14 the parameter `y` is never used\n");
  EXPECT_EQ(diagnosticsOf("fn f(x: f32, _y: f32) -> f32 { let _a = x\n return x }"), "");
}

TEST(Check, aLengthWithoutABoundIsOneMistake) {
  EXPECT_EQ(diagnosticsOf("kernel k[N, M](x: f32[N, M], z: f32[M, N]) -> (y: f32[N, M])\n"
                          "{ parallel r in tiles(N, 4) { y[r, :] = x[r, :] + z[:, r].T } }"),
            "E0605 2:41 the extent `M` of this load needs a static bound on chip: `f32[r, M]`\n");
}

TEST(Check, conditionsOnTunablesHoldForTheirValues) {
  auto kernel = [](const std::string &rest) {
    return "kernel k[N](x: f32[N]) -> (y: f32[N])\nwhere A % 2 == 0, A <= B\n" + rest +
           "\n{ parallel i in tiles(N, A) { for j in tiles(i, B) { y[j] = x[j] } } }\n";
  };
  EXPECT_EQ(diagnosticsOf(kernel("tune A = 8, B = 9")), "");
  EXPECT_EQ(diagnosticsOf(kernel("tune A = 7, B = 9")),
            "E0625 2:7 `k` requires `A % 2 == 0`, which is false here\n");
  EXPECT_EQ(diagnosticsOf(kernel("tune A = 8, B = 9") + "schedule k { B = 6 }"),
            "E0625 5:1 `k` requires `A <= B`, which is false here\n");
  EXPECT_EQ(diagnosticsOf(kernel("tune A = 8, B = 9") +
                          "program p[N](x: f32[N]) -> (y: f32[N]) { y = k(x, A: 5) }"),
            "E0625 5:46 `k` requires `A % 2 == 0`, which is false here\n");
}

TEST(Check, argumentsInAnIndex) {
  const std::string header = "kernel k[N](x: f32[N]) -> (y: f32[N])\n";
  EXPECT_EQ(
      diagnosticsOf(header + "{ parallel r in tiles(N, 4) { y[r] = x[r - 1, outside: 0.0] } }"),
      "E0201 2:47 unknown name `outside`\n");
  EXPECT_EQ(diagnosticsOf(header +
                          "{ parallel r in tiles(N, 4) { y[r] = load(x[r - 1, outside: 0.0]) } }"),
            "E0201 2:52 unknown name `outside`\n");
  // A value of this name begins a slice.
  EXPECT_EQ(diagnosticsOf("fn f(x: f32[9]) -> f32[4] { let outside = 2\n return x[outside:6] }"),
            "");
}

TEST(Check, propertiesAndTests) {
  EXPECT_EQ(diagnosticsOf("property \"p\"[N: 0..300] { expect(2 * N == N + N) }"), "");
  EXPECT_EQ(diagnosticsOf("test \"t\" { for c in [1, 7] { let x = ones(f32[3, c])\n "
                          "expect_close(x, x, atol: 1e-5) } }"),
            "");
}

TEST(Check, schedules) {
  const std::string kernel =
      "kernel k[N](x: f32[N]) -> (y: f32[N])\ntune B: [64, 128] = 64\n"
      "{ parallel i in tiles(N, B) { for j in tiles(i, 16) pipeline 2 { y[j] = x[j] } } }\n";
  EXPECT_EQ(diagnosticsOf(kernel + "schedule k on a3 when N > 100 { B = 128, pipeline j 3 }"), "");
  EXPECT_EQ(diagnosticsOf(kernel + "schedule k { B = 100 }"),
            "E0703 4:18 `B = 100` is not in the domain of `B`\n");
  EXPECT_EQ(diagnosticsOf(kernel + "schedule k { pipeline q 3 }"),
            "E0709 4:23 `k` has no label `q`\n");
}

TEST(Check, brokenSourceStaysUsable) {
  for (const char *text :
       {"fn", "fn f[", "kernel k[N](x: f32[N", "const = 3", "struct { }", "schedule on a3 {",
        "import", "fn f() -> { return }", "type T =", "test { x }", "property \"\"[N] { }"}) {
    auto checked = checkText(text);
    EXPECT_TRUE(checked->sink.hasErrors()) << text;
    dumpChecked(*checked->program);
  }
}

} // namespace
} // namespace ptl

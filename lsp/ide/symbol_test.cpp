// `$0` marks the cursor. Every text is also tried with all that follows the cursor's word cut off.
#include "lsp/ide/symbol.h"
#include "lsp/ide/symbol_at.h"
#include "lsp/ide/test_options.h"

#include <gtest/gtest.h>

namespace ptl::ide {
namespace symbol_test {

struct Case {
  const char *text;     ///< `$0` is the cursor
  const char *type;     ///< in words
  const char *expected; ///< the line of the definition, trimmed; empty: built in
};

std::string trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(' ');
  return std::string(begin == text.npos ? "" : text.substr(begin));
}

void expectSymbol(const Case &each, bool cutsRest) {
  std::string text = each.text;
  size_t cursor = text.find("$0");
  ASSERT_NE(cursor, text.npos) << text;
  text.erase(cursor, 2);
  if (cutsRest) {
    size_t end = text.find_first_of('\n', cursor);
    text.resize(std::min(end, text.size()));
  }
  Workspace workspace(testOptions());
  File &file = workspace.open("/test/a.ptl", text, 1);
  auto symbol = symbolAt(workspace, file, static_cast<uint32_t>(cursor));
  ASSERT_TRUE(symbol) << text;
  EXPECT_EQ(words(symbol->type), each.type) << text;
  std::string line;
  if (symbol->definition) {
    const Document &document = symbol->definition.file->document;
    line = document.lineText(document.position(symbol->definition.range.begin).line);
    if (symbol->type != SymbolType::Module) {
      EXPECT_EQ(document.text(symbol->definition.range), symbol->name);
    }
  }
  EXPECT_EQ(trimmed(line), each.expected) << text;
}

constexpr Case kCases[] = {
    {"fn f(a: f32[..], b: f32[..]) -> f32[..] where associative { return a + b }\n"
     "fn g[N](x: f32[N]) -> f32[N] { return scan($0f, x, start: 0.0) }",
     "`fn`", "fn f(a: f32[..], b: f32[..]) -> f32[..] where associative { return a + b }"},
    {"fn g[N](x: f32[N]) -> f32[N] { return $0scan(f, x, start: 0.0) }", "built-in", ""},
    {"fn f[N](x: f32[N]) -> f32[N] {\n let y = x\n return $0y\n}", "`let`", "let y = x"},
    {"fn f[N](x: f32[N]) -> f32[N] {\n let x = x\n return x$0 + 1\n}", "`let`", "let x = x"},
    {"fn f[N](x: f32[N]) -> f32[N] {\n let x = $0x + 1\n return x\n}", "parameter",
     "fn f[N](x: f32[N]) -> f32[N] {"},
    {"fn f[N](x: f32[$0N]) -> f32[N] {\n return x\n}", "dimension",
     "fn f[N](x: f32[N]) -> f32[N] {"},
    {"fn f[N, T: float](x: $0T[N]) -> T[N] {\n return x\n}", "type parameter",
     "fn f[N, T: float](x: T[N]) -> T[N] {"},
    {"fn f[N, T: float](x: T[N]) -> T[N] {\n return $0T(x)\n}", "type parameter",
     "fn f[N, T: float](x: T[N]) -> T[N] {"},
    {"fn f(x: f32) -> f32 { return x }\nfn g(x: f32) -> f32 { return $0f(x) }", "`fn`",
     "fn f(x: f32) -> f32 { return x }"},
    {"fn f(x: f32) -> f32 { return x }\nfn g(y: f32) -> f32 { return f($0x: y) }", "parameter",
     "fn f(x: f32) -> f32 { return x }"},
    {"fn g(x: f32) -> f32 { return $0exp(x) }", "built-in", ""},
    {"fn g(x: f32) -> f32 { return x $0* x }", "built-in", ""},
    {"fn g[M, N](x: f32[M, N]) -> f32[N, M] { return x.$0T }", "built-in", ""},
    {"fn g[M](x: f32[M]) -> f32[1] { return sum(x, $0axis: 0) }", "parameter of a built-in", ""},
    {"fn g[M](x: f32[M]) -> i8[M] { return i8(x, round: .$0even) }", "value of an argument", ""},
    {"$0fn g(x: f32) -> f32 { return x }", "keyword", ""},
    {"fn g(x: $0f32) -> f32 { return x }", "element type", ""},
    {"import std.nn\nfn g[N](x: f32[N]) -> f32[N] { return nn.$0silu(x) }", "`fn`",
     "pub fn silu[T: float](x: T[..]) -> T[..] {"},
    {"import std.nn: silu\nfn g[N](x: f32[N]) -> f32[N] { return $0silu(x) }", "`fn`",
     "pub fn silu[T: float](x: T[..]) -> T[..] {"},
    {"import std.nn: $0silu\n", "`fn`", "pub fn silu[T: float](x: T[..]) -> T[..] {"},
    {"import std.nn\nfn g[N](x: f32[N]) -> f32[N] { return $0nn.silu(x) }", "module",
     "/// Building blocks of neural networks, at tensor level: they work on tensors and on tiles, "
     "over any leading axes `..`."},
    {"struct S[N] {\n w: f32[N]\n}\nfn g[N](s: S[N]) -> f32[N] {\n return s.$0w\n}", "field",
     "w: f32[N]"},
    {"struct S[N] {\n w: f32[N]\n}\nfn g[N](s: S[N]) -> f32[N] {\n let t = s\n return t.$0w\n}",
     "field", "w: f32[N]"},
    {"fn g(x: f32) -> f32 {\n let b = x\n return +) $0b\n}", "`let`", "let b = x"},
    {"struct S {\n w: f32\n}\nstruct R {\n s: S\n}\nfn g(r: R) -> f32 {\n return r.s.$0w +)\n}",
     "field", "w: f32"},
    {"struct S {\n w: f32\n}\nfn g() -> f32 {\n let a = S(w: 1.0)\n let b = (a)\n return "
     "b.$0w +)\n}",
     "field", "w: f32"},
    {"struct S[N] {\n w: f32[N]\n}\nfn g[N](s: $0S[N]) -> f32[N] {\n return s.w\n}", "struct",
     "struct S[N] {"},
    {"const E = 4\nfn g(x: f32[E]) -> f32[E] { return x * $0E }", "constant", "const E = 4"},
    {"type Row[N] = f32[1, N]\nfn g[N](x: $0Row[N]) -> f32[1, N] { return x }", "type",
     "type Row[N] = f32[1, N]"},
    {"kernel k[N](x: f32[N]) -> (y: f32[N])\ntune B = 4\n{\n parallel i in tiles(N, B) {\n  "
     "y[$0i] = x[i]\n }\n}",
     "loop variable", "parallel i in tiles(N, B) {"},
    {"kernel k[N](x: f32[N]) -> (y: f32[N])\ntune B = 4\n{\n parallel i in tiles(N, $0B) {\n  "
     "y[i] = x[i]\n }\n}",
     "tunable", "tune B = 4"},
    {"kernel k[N](x: f32[N]) -> (y: f32[N])\ntune B = 4\n{\n parallel i in tiles(N, B) {\n  "
     "$0y[i] = x[i]\n }\n}",
     "output", "kernel k[N](x: f32[N]) -> (y: f32[N])"},
    {"kernel k[N](x: f32[N]) -> (y: f32[N])\ntune B = 4\n{\n for i in tiles(N, B) {\n  y[i] = "
     "x[i]\n }\n}\nschedule k on a3 { $0B = 8 }",
     "tunable", "tune B = 4"},
    {"kernel k[N](x: f32[N]) -> (y: f32[N])\ntune B = 4\n{\n for i in tiles(N, B) {\n  y[i] = "
     "x[i]\n }\n}\nschedule k on a3 { pipeline $0i 2 }",
     "loop variable", "for i in tiles(N, B) {"},
    {"kernel k[N](x: f32[N]) -> (y: f32[N])\ntune B = 4\n{\n for i in tiles(N, B) {\n  y[i] = "
     "x[i]\n }\n}\nschedule $0k on a3 { B = 8 }",
     "kernel", "kernel k[N](x: f32[N]) -> (y: f32[N])"},
    {"kernel k[N](x: f32[N]) -> (y: f32[N])\n{\n}\nschedule k on $0a3 when N == 4 { }", "machine",
     ""},
    {"kernel k[N](x: f32[N]) -> (y: f32[N])\n{\n}\nschedule k on a3 when $0N == 4 { }", "dimension",
     "kernel k[N](x: f32[N]) -> (y: f32[N])"},
    {"fn g[N](x: f32[N]) -> f32[N] {\n let a = x +\n let b = $0a\n", "`let`", "let a = x +"},
    {"fn g[N](x: f32[N] -> f32[N] {\n let a = x\n let b = $0a\n}", "`let`", "let a = x"},
    {"kernel k[N](x: f32[N]) -> (y: f32[N])\n{\n parallel i in 0..N {\n  let v = x[i]\n  y[i] = "
     "v * $0v",
     "`let`", "let v = x[i]"},
};

TEST(Symbol, IsWhatTheNameMeans) {
  for (const Case &each : kCases)
    expectSymbol(each, false);
}

TEST(Symbol, IsTheSameInTextThatEndsBehindIt) {
  for (const Case &each : kCases)
    expectSymbol(each, true);
}

TEST(Symbol, LocalsAreVisibleFromTheirStatementOn) {
  Workspace workspace(testOptions());
  std::string text = "fn g[N](x: f32[N]) -> f32[N] {\n let a = x\n let b = a\n ";
  File &file = workspace.open("/test/a.ptl", text, 1);
  const Chunk &chunk = *file.document.places()[0].chunk;
  auto names = [&](size_t offset) {
    std::string all;
    for (NodeId name : localsAt(chunk, static_cast<uint32_t>(offset)))
      all += std::string(chunk.tree->text(name)) + " ";
    return all;
  };
  EXPECT_EQ(names(text.find("= x")), "x N ");
  EXPECT_EQ(names(text.find("= a")), "a x N ");
  EXPECT_EQ(names(text.size()), "b a x N ");
}

} // namespace symbol_test
} // namespace ptl::ide

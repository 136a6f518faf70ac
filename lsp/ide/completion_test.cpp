#include "ir/ops/instruction_table.h"
#include "lsp/ide/completion.h"
#include "lsp/ide/inlay_hints.h"
#include "lsp/ide/semantic_tokens.h"
#include "lsp/ide/words.h"
#include "lsp/ide/writing_test_util.h"

#include <gtest/gtest.h>

namespace ptl::ide {
namespace completion_test {

/// The first labels offered at `$0`.
std::string offered(const std::string &text, size_t most = 6) {
  MarkedSource source(text);
  Completions found = completionsAt(source.workspace, *source.file, source.cursor);
  std::string labels;
  for (size_t i = 0; i < std::min(most, found.items.size()); ++i)
    labels += (i ? " " : "") + found.items[i].label;
  return labels;
}

struct Case {
  const char *from, *to, *expected;
};

TEST(Completion, InAKernel) {
  const Case cases[] = {
      {"let kj = k[j, :]", "let kj = $0", "j m qi i o scale"},
      {"let kj = k[j, :]", "let kj = q$0",
       "q qi quantize_rows quantize_mxfp4 quantize_mxfp8 quantize_mxfp8_e5m2"},
      {"let kj = k[j, :]", "let kj = i.$0", "count end len size start"},
      {"let kj = k[j, :]", "let kj = qi.$0", "T"},
      {"let kj = k[j, :]", "let kj = nn.so$0",
       "softmax log_softmax rms_norm cross_entropy causal_attention"},
      {"let kj = k[j, :]", "let kj: $0", "bf16 bool f16 f32 f4e2m1 f64"},
      {"let kj = k[j, :]", "let kj: f32[j, D] @$0", "acc bias gm left mat right"},
      {"let kj = k[j, :]", "let kj: f32[j, D] @vec $0", "dn nd nz"},
      {"let kj = k[j, :]", "let kj = max(qi, $0", "axis: keep: j m qi i"},
      {"let kj = k[j, :]", "let kj = attention(q, sc$0",
       "scale: scale scan scatter scaled_dot select"},
      {"let kj = k[j, :]", "let kj = i8(qi, round: .$0", "away down even up zero"},
      {"let kj = k[j, :]", "fo$0", "for for … in tiles(…) for … in … floor frobenius"},
      {"let kj = k[j, :]", "let $0", ""},
      {"pipeline 2", "$0", "as checkpoint pipeline step unroll"},
      {"BK: [64, 128]", "BK: [64, 128] // $0", ""},
      {"tune", "$0", "at from on tune where bench"},
      {"where", "on aiv for $0", "a2 a2server a3 a5 a5superpod cloudmatrix384"},
      {"import std.nn", "import std.$0", "experts linalg math mx nn quant"},
      {"import std.nn", "import $0", "std.experts std.linalg std.math std.mx std.nn std.quant"},
      {"import std.nn", "import std.nn: so$0",
       "softmax log_softmax rms_norm cross_entropy causal_attention"},
      {"import std.nn", "import std.nn\n$0", "bench const extern fn import kernel"},
      {"import std.nn", "import std.nn\nschedule $0", "attention nn"},
      {"import std.nn", "import std.nn\nschedule attention on $0",
       "a2 a2server a3 a5 a5superpod cloudmatrix384"},
      {"import std.nn", "import std.nn\nschedule attention on a3 { $0 }", "BK BQ D S T i"},
      {"import std.nn", "import std.nn\nfn f(x: $0", "bf16 bool f16 f32 f4e2m1 f64"},
      {"import std.nn", "import std.nn\nfn f[T: $0", "any float integer number"},
      {"import std.nn", "import std.nn\nfn f(x: f32) -> $0", "bf16 bool f16 f32 f4e2m1 f64"},
      {"let kj = k[j, :]", "let kj = transp$0", "transpose matmul_transposed"},
  };
  for (const Case &each : cases)
    EXPECT_EQ(offered(attentionWith(each.from, each.to)), each.expected) << each.to;
}

TEST(Completion, OfProgramsOnParts) {
  auto program = [](const std::string &line, size_t most = 9) {
    return offered("program p[P, N](rows: f32[P, N], x: f32[N] partial(+) over chip) -> (y: "
                   "f32[N]) at host {\n"
                   "    let kv = pool(f32[N], disk: 1MiB)\n    var all = zeros(f32[N])\n    for p "
                   "in 0..P {\n        " +
                       line + "\n    }\n    y = all\n}\n",
                   most);
  };
  EXPECT_EQ(program("let a = all_re$0", 1), "all_reduce");
  EXPECT_EQ(program("let a = poo$0", 1), "pool");
  EXPECT_EQ(program("let a = fin$0", 1), "find");
  EXPECT_EQ(program("let a = kee$0", 1), "keep");
  EXPECT_EQ(program("let a = subm$0", 1), "submit");
  EXPECT_EQ(program("let a = submit(f(x), $0", 1), "over:");
  EXPECT_EQ(program("let a = pool(f32[N], $0", 3), "disk: memory: over:");
  EXPECT_EQ(program("let a = pool(f32[N], memory: 1KiB, $0", 2), "disk: over:");
  EXPECT_EQ(program("let a = all_reduce(x, $0", 2), "how: over:");
  EXPECT_EQ(program("let a = reduce_scatter(x, over: chip, $0", 2), "by: how:");
  EXPECT_EQ(program("let a = send(x, over: chip, $0", 2), "how: to:");
  EXPECT_EQ(program("let a = all_reduce(x, over: chip, how: $0"),
            "tree doubling ring mesh halving two_level");
  EXPECT_EQ(program("let a = all_to_all(x, over: chip, how: b$0", 1), "bruck");
  EXPECT_EQ(program("let a = all_reduce(x, over: ch$0", 1), "chip");
  // What a `fn` has by the same name, or is no program.
  EXPECT_EQ(offered("fn f[N](x: f32[N]) -> f32[N] {\n    return all_re$0\n}\n", 1), "");
}

TEST(Completion, OfCoresAndPipes) {
  auto manual = [](const std::string &line) {
    return offered("manual kernel add[N](a: f32[N], b: f32[N]) -> (c: f32[N]) on aiv for a2 {\n"
                   "    event ready: mte2 -> v\n    " +
                       line + "\n}\n",
                   9);
  };
  EXPECT_EQ(manual("event f: $0"), "mte2 mte3 s v fix m mte1 aic aiv");
  EXPECT_EQ(manual("event f: mte2 -> $0"), "mte2 mte3 s v fix m mte1 aic aiv");
  EXPECT_EQ(manual("event f: aic.$0"), "fix m mte1 mte2 mte3 s");
  EXPECT_EQ(manual("event f: aic.fix -> aiv.$0"), "mte2 mte3 s v");
  EXPECT_EQ(manual("barrier(m$0)"), "m mte2 mte3 max min mean maxnan minnan mte1");
}

TEST(Completion, KnowsAllPipes) {
  for (size_t i = 0; i < kNumPipes; ++i)
    EXPECT_TRUE(findWord(pipeNames[i], WordGroup::Pipe) ||
                findWord(pipeNames[i], WordGroup::CubePipe) ||
                findWord(pipeNames[i], WordGroup::VectorPipe))
        << pipeNames[i];
}

TEST(Completion, ArgumentsOfTheRightTypeComeFirst) {
  std::string text = "fn f(x: f32[8], scale: f32, count: int) -> f32[8] { return x * scale }\n"
                     "fn g(a: f32[8], b: f16[8], s: f32, n: int) -> f32[8] { return f($0) }\n";
  auto with = [&](std::string_view arguments) {
    std::string changed = text;
    return offered(changed.replace(changed.find("$0"), 2, arguments), 6);
  };
  EXPECT_EQ(with("$0"), "a count: scale: x: n s");
  EXPECT_EQ(with("a, $0"), "s count: scale: n b a");
  EXPECT_EQ(with("a, s, $0"), "n count: s b a f");
  EXPECT_EQ(with("a, count: $0"), "n s b a f g");
}

TEST(Completion, ImportsWhatItOffers) {
  auto textAfter = [](const std::string &text, const std::string &label) -> std::string {
    MarkedSource source(text);
    Completions found = completionsAt(source.workspace, *source.file, source.cursor);
    for (const CompletionItem &item : found.items) {
      if (item.label != label)
        continue;
      std::vector<Edit> edits = item.edits;
      edits.push_back({found.replace, item.insert});
      return applied(source.file->document.text(), edits);
    }
    return "";
  };
  EXPECT_EQ(textAfter("fn f(x: f32[8]) -> f32[8] { return sof$0 }\n", "softmax"),
            "import std.nn: softmax\n\nfn f(x: f32[8]) -> f32[8] { return softmax($0) }\n");
  EXPECT_EQ(textAfter("import std.nn: relu\nfn f(x: f32[8]) -> f32[8] { return sof$0", "softmax"),
            "import std.nn: relu, softmax\nfn f(x: f32[8]) -> f32[8] { return softmax($0)");
  EXPECT_EQ(textAfter("import std.math\nfn f(x: f32[8]) -> f32[8] { return sof$0", "softmax"),
            "import std.math\nimport std.nn: softmax\nfn f(x: f32[8]) -> f32[8] { return "
            "softmax($0)");
  EXPECT_EQ(textAfter("import std.nn\nfn f(x: f32[8]) -> f32[8] { return sof$0", "nn.softmax"),
            "import std.nn\nfn f(x: f32[8]) -> f32[8] { return nn.softmax($0)");
}

TEST(Completion, AnswersEverywhere) {
  std::string text(kAttention);
  for (size_t at = 0; at <= text.size(); at += 7) {
    offered(std::string(text).insert(at, "$0"));
    offered(text.substr(0, at) + "$0");
    offered(text.substr(0, at) + "." + "$0" + text.substr(at));
  }
}

TEST(InlayHints, OfAKernel) {
  MarkedSource source(std::string(kAttention) +
                      "fn two() -> f32 { return f(1.0, 2.0) }\n"
                      "fn f(low: f32, high: f32) -> f32 { return low + high }\n"
                      "fn broken(x: f32[8]) -> f32[8] { let y = x + \n let z = x * x \n");
  std::string shown;
  auto hints = inlayHints(source.workspace, *source.file, {0, source.file->document.size()}, {});
  for (const InlayHint &hint : hints) {
    LineByte at = source.file->document.position(hint.offset);
    auto details = hintDetails(source.workspace, *source.file, hint.offset, hint.kind);
    ASSERT_TRUE(details);
    EXPECT_NE(details->tooltip, "");
    shown += std::to_string(at.line + 1) + " " + joined(hint.label) + " | " +
             details->insertion.value_or("-") + "\n";
  }
  EXPECT_EQ(shown, "10  ≤ 64 | -\n"
                   "11 : f32[i, D] | : f32[i, D]\n"
                   "12 : f32[i, 1] 256 B | : f32[i, 1]\n"
                   "13  ≤ 128 | -\n"
                   "14 : f32[j, D] 2 × | : f32[j, D]\n"
                   "15 : f32[i, j] 32 KiB | : f32[i, j]\n"
                   "21 low:  | -\n"
                   "21 high:  | high: \n"
                   "24 : f32[8] 32 B | : f32[8]\n");
}

/// A program over parts: where values lie, what one part has of them, also before an error.
TEST(InlayHints, OfAPlacedProgram) {
  MarkedSource source(
      "fn twice[B, D](x: f32[B, D]) -> f32[B, D] { return x * 2.0 }\n"
      "program p[B, D, F](x: f32[B, D], up: f32[D, F] over chip by F, down: f32[F, D] "
      "over chip by F)\n    -> (y: f32[B, D]) at host\n{\n"
      "    let hidden = x @ up\n"
      "    let owed = twice(hidden @ down)\n"
      "    let sum = all_reduce(owed, over: chip)\n"
      "    y = owed\n"
      "    let after = sum + x\n}\n"
      "program q[N](x: f32[N, 64] over rows by N, k: f32[8] at rows 0) -> (y: f32[N, 64])\n"
      "at host mesh chip as rows: 4\n"
      "{\n    let z = x + x\n    let w = k * 2.0\n    let u = sqrt(unknown)\n}\n"
      "program r[N](x: f32[N, 64] over host, chip by N) -> (y: f32[N])\nat pod\n{\n"
      "    let z = x\n    let m = shift(x, over: [host, chip], by: 1)\n}\n");
  std::string shown;
  for (const InlayHint &hint :
       inlayHints(source.workspace, *source.file, {0, source.file->document.size()}, {})) {
    auto details = hintDetails(source.workspace, *source.file, hint.offset, hint.kind);
    ASSERT_TRUE(details);
    shown += joined(hint.label) + " | " + details->insertion.value_or("-") + "\n";
  }
  EXPECT_EQ(
      shown,
      ": f32[B, F] over chip by F · f32[B, cdiv(F, chips)] · 4*B*cdiv(F, chips) B | : f32[B, F]\n"
      ": f32[B, D] partial(+) over chip · f32[B, D] · 4*B*D B | : f32[B, D]\n"
      ": f32[B, D] | : f32[B, D]\n"
      ": f32[B, D] | : f32[B, D]\n"
      ": f32[N, 64] over rows by N · f32[cdiv(N, 4), 64] · 256*cdiv(N, 4) B | : f32[N, 64]\n"
      ": f32[8] 32 B at rows 0 · f32[8] · 32 B | : f32[8]\n"
      ": f32[N, 64] over host, chip by N · f32[cdiv(cdiv(N, hosts), chips), 64] · "
      "256*cdiv(cdiv(N, hosts), chips) B | : f32[N, 64]\n"
      ": f32[N, 64] over host, chip by N · "
      "f32[cdiv(cdiv(N, hosts), chips), 64] · 256*cdiv(cdiv(N, hosts), chips) B | : f32[N, "
      "64]\n");
}

TEST(InlayHints, LinkToWhatTheyName) {
  MarkedSource source{std::string(kAttention)};
  std::string links;
  for (const InlayHint &hint : inlayHints(source.workspace, *source.file, {0, 2000}, {}))
    for (const LabelPart &part : hint.label)
      if (Location location = source.workspace.locate(part.definition))
        links += part.text + "=" + location.file->document.text(location.range) + " ";
  EXPECT_EQ(links, "64=BQ i=i D=D i=i 128=BK j=j D=D i=i j=j ");
}

/// The tokens of a line, from 1.
std::string tokensOfLine(const std::string &text, uint32_t line) {
  MarkedSource source(text);
  std::string shown;
  const Document &document = source.file->document;
  const Place &place = document.places()[document.placeAtLine(line - 1)];
  for (const SemanticToken &token : semanticTokens(*source.file, *place.chunk)) {
    if (place.line + token.line + 1 != line)
      continue;
    shown += place.chunk->file.text().substr(token.begin, token.end - token.begin);
    shown += ":" + std::string(name(token.type));
    for (unsigned bit = 0; bit < 6; ++bit)
      if (token.modifiers >> bit & 1)
        shown += "." + std::string(name(static_cast<TokenModifier>(bit)));
    shown += " ";
  }
  return shown;
}

TEST(SemanticTokens, OfAKernel) {
  std::string text(kAttention);
  EXPECT_EQ(tokensOfLine(text, 1), "import:keyword std:namespace nn:namespace ");
  EXPECT_EQ(tokensOfLine(text, 4),
            "pub:keyword kernel:keyword attention:function.declaration "
            "S:dimension.declaration.readonly T:dimension.declaration.readonly static:keyword "
            "D:dimension.declaration.readonly.static ");
  EXPECT_EQ(tokensOfLine(text, 10),
            "parallel:keyword i:variable.declaration.readonly in:keyword "
            "tiles:function.defaultLibrary S:dimension.readonly BQ:tunable.readonly.static ");
  EXPECT_EQ(tokensOfLine(text, 16),
            "m:variable.modification.mutable max:function.defaultLibrary m:variable.mutable "
            "max:function.defaultLibrary s:variable.readonly axis:parameter ");
}

TEST(SemanticTokens, FollowOtherChunks) {
  MarkedSource source("fn f() -> f32 { return g(EPS) }\nfn h(x: f32) -> f32 { return x }\n");
  File &file = *source.file;
  auto modifiersOf = [&](size_t token) {
    return semanticTokens(file, *file.document.places()[0].chunk)[token].modifiers;
  };
  uint32_t before = modifiersOf(5);
  uint64_t meaning = meaningOfNames(file);
  uint32_t end = file.document.size();
  source.workspace.edit(file, {end - 3, end - 3}, " ");
  EXPECT_EQ(meaningOfNames(file), meaning);
  end = file.document.size();
  source.workspace.edit(file, {end, end}, "const EPS = 1.0\n");
  EXPECT_NE(meaningOfNames(file), meaning);
  EXPECT_NE(modifiersOf(5), before);
}

} // namespace completion_test
} // namespace ptl::ide

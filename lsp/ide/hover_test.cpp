#include "lsp/ide/hover.h"
#include "lsp/ide/signature_help.h"
#include "lsp/ide/writing_test_util.h"

#include <gtest/gtest.h>

namespace ptl::ide {
namespace hover_test {

std::string hoverOf(const std::string &text) {
  MarkedSource source(text);
  auto hover = hoverAt(source.workspace, *source.file, source.cursor);
  if (!hover)
    return "";
  return source.file->document.text(hover->range) + " | " + hover->markdown;
}

TEST(Hover, Locals) {
  EXPECT_EQ(hoverOf(attentionWith("let s =", "let $0s =")),
            "s | ```ptl\nlet s: f32[i, j]\n```\n`let` of `attention`\n"
            "\n- at most 32 KiB with `BQ = 64, BK = 128`"
            "\n- `i`: tile of `BQ = 64` positions, the last may be shorter"
            "\n- `j`: tile of `BK = 128` positions, the last may be shorter"
            "\n- live on lines 15–16, read 1 time");
  EXPECT_EQ(hoverOf(attentionWith("(qi @", "($0qi @")),
            "qi | ```ptl\nlet qi: f32[i, D]\n```\n`let` of `attention`\n"
            "\n- at most `256*D B` with `BQ = 64`"
            "\n- `i`: tile of `BQ = 64` positions, the last may be shorter"
            "\n- live on lines 11–18, read 2 times");
  EXPECT_EQ(hoverOf(attentionWith("tiles(T, BK)", "tiles(T, $0BK)")),
            "BK | ```ptl\ntune BK: [64, 128] = 128\n```\ntunable of `attention`\n"
            "\n- default `128`\n- searched among `64, 128`");
  EXPECT_EQ(hoverOf(attentionWith("T, BK)", "$0T, BK)")),
            "T | ```ptl\nT\n```\ndimension of `attention`\n\n- where `S <= T`");
}

/// Numbers of parts, the range of a part, and what lies on each.
TEST(Hover, RangesOfParts) {
  const std::string text =
      "program p[B, D](x: f32[B, D] over chip by B) -> (y: f32[B, D] over chip by B) "
      "at host\nwhere B % chips == 0\n{\n"
      "    parallel c in parts(B, over: chip) {\n"
      "        let own = x[c, :] * 2.0\n        y[c, :] = own\n    }\n}\n"
      "program q[B](x: f32[B] over rows by B) -> (y: f32[B] over rows by B) at host mesh chip as "
      "rows\n"
      "{\n    y = x * f32(rows)\n}\n";
  auto hoverAtWord = [&](const std::string &before) {
    std::string marked = text;
    return hoverOf(marked.insert(text.find(before), "$0"));
  };
  EXPECT_EQ(hoverAtWord("chips =="),
            "chips | **`chips`**: the number of parts of the level `chip`, at least 1, "
            "which is known when the program starts");
  EXPECT_EQ(hoverAtWord("rows)\n"),
            "rows | **`rows`**: the number of parts along the axis `rows` of the mesh, at "
            "least 1, which is known when the program starts");
  EXPECT_NE(hoverAtWord("parts(B").find("the range of `B` that each chip has"), std::string::npos);
  EXPECT_NE(hoverAtWord("own = x").find("lies on each chip: a part has `f32[c.len, D]`"),
            std::string::npos)
      << hoverAtWord("own = x");
}

/// What the words of pools do, and what the key of a page is made of.
TEST(Hover, WordsOfPools) {
  const std::string text = "program p[P, N](rows: f32[P, N], w: f32[N], scale: int) -> (y: f32[N] "
                           "over chip by N) at host\n{\n"
                           "    let kv = pool(f32[N], memory: 1KiB)\n    var all = zeros(f32[N])\n"
                           "    for p in 0..P {\n"
                           "        let page = if p < find(kv, rows) { kv[p] } else { keep(kv, "
                           "rows[p, :] * w * f32(scale)) }\n"
                           "        all = all + page\n    }\n    y = all\n}\n";
  auto hoverAtWord = [&](const std::string &before) {
    std::string marked = text;
    return hoverOf(marked.insert(text.find(before), "$0"));
  };
  auto has = [](const std::string &hover, const std::string &fact) {
    return hover.find(fact) != hover.npos ? "" : hover;
  };
  EXPECT_EQ(has(hoverAtWord("pool("), "keeps pages from run to run"), "");
  EXPECT_EQ(has(hoverAtWord("find("),
                "the number of leading pages of these rows that the pool already has"),
            "");
  std::string keep = hoverAtWord("keep(");
  EXPECT_EQ(has(keep, "returns the page and stores it in the pool"), "");
  EXPECT_EQ(has(keep, "its key is made of the program, its parts, and the rows up to its own, `w`"),
            "");
  EXPECT_EQ(has(keep, "`scale`"), "");
  EXPECT_EQ(keep.find("`P`"), keep.npos) << keep;
}

/// Where a value of a placed program lies, why it is partial, and what a movement sends.
TEST(Hover, PlacedValues) {
  const std::string text =
      "fn twice[B, D](x: f32[B, D]) -> f32[B, D] { return x * 2.0 }\n"
      "program p[B, D, E](x: f32[B, D] over chip by D, w: f32[D, E] over chip by D,\n"
      "    z: f32[B, D] partial(max) over chip) -> (y: f32[B, E]) at host\n{\n"
      "    let a = x @ w.T.T\n    let b = twice(a)\n"
      "    let c = all_reduce(b, over: chip)\n    let d = max(z, z)\n    y = c\n}\n";
  auto facts = [&](const std::string &before) {
    std::string marked = text;
    std::string hover = hoverOf(marked.insert(text.find(before) + before.size(), "$0"));
    size_t at = std::min({hover.find("- lies"), hover.find("- the same"), hover.find("- `all")});
    size_t end = hover.find("\n- live");
    return at == hover.npos ? hover : hover.substr(at, end == hover.npos ? end : end - at);
  };
  std::string partial =
      "- lies partial(+) over chip: a part has `f32[B, E]`, `4*B*E B`\n"
      "- `x @ w.T.T` adds along `D`, which is cut over the chips: every chip has a "
      "summand, and `all_reduce(…, over: chip)` or `reduce_scatter` gives the value";
  EXPECT_EQ(facts("(x: f32[B, D] over chip by D, "),
            "- lies over chip by D: a part has `f32[cdiv(D, chips), E]`, `4*cdiv(D, chips)*E B`");
  EXPECT_EQ(facts("let "), partial);
  EXPECT_EQ(facts("    let b"), partial);
  EXPECT_EQ(facts("let c"), "- the same on every part");
  EXPECT_EQ(
      facts("let d"),
      "- lies partial(max) over chip: a part has `f32[B, D]`, `4*B*D B`\n- `z` comes so: every "
      "chip has a maximum of its own, and `all_reduce(…, over: chip)` or `reduce_scatter` gives "
      "the value");
  EXPECT_EQ(facts("all_re"),
            "- `all_reduce` adds the summands of all parts and gives every part the sum\n"
            "- `each of n chips sends 2 * (n - 1) / n of 4 * B * E bytes`\n"
            "- the same on every part");
  EXPECT_EQ(facts("let a = x @ w"),
            "- lies over chip by D: a part has `f32[cdiv(D, chips), E]`, `4*cdiv(D, chips)*E B`");
}

TEST(Hover, BuiltIns) {
  std::string reduction = hoverOf(attentionWith("max(s,", "$0max(s,"));
  EXPECT_TRUE(reduction.starts_with("max | ```ptl\nmax(f32[i, j], axis: -1) -> f32[i, 1]\n```\n"))
      << reduction;
  EXPECT_NE(reduction.find("largest value along axes"), reduction.npos);
  std::string matrices = hoverOf(attentionWith("(qi @ kj.T)", "(qi $0@ kj.T)"));
  EXPECT_TRUE(matrices.starts_with("@ | ```ptl\nf32[i, D] @ f32[D, j] -> f32[i, j]\n```\n"))
      << matrices;
  std::string product = hoverOf(attentionWith("* scale", "$0* scale"));
  EXPECT_TRUE(product.starts_with("* | ```ptl\nf32[i, j] * f32 -> f32[i, j]\n```\n")) << product;
  EXPECT_EQ(hoverOf(attentionWith("pipeline 2", "$0pipeline 2")),
            "pipeline | **`pipeline`**: The number of iterations that may overlap: tiles that the "
            "body loads have that many buffers.");
}

TEST(Hover, Declarations) {
  EXPECT_EQ(hoverOf(attentionWith("import std.nn", "import std.nn\nfn f(x: f32[8]) -> f32[8] { "
                                                   "return nn.$0relu(x) }")),
            "relu | ```ptl\npub fn relu[T: float](x: T[..]) -> T[..]\n```\nof `nn`\n\n"
            "Negative values become 0.\n\n- gives `f32[8]`\n- 32 B");
  EXPECT_EQ(hoverOf("/// Small.\nconst E$0PS: f32 = 1e-6\n"),
            "EPS | ```ptl\nconst EPS: f32 = 1e-6\n```\n\nSmall.");
}

TEST(Hover, Expressions) {
  EXPECT_EQ(hoverOf(attentionWith("(qi @ kj.T)", "$0(qi @ kj.T)")),
            "(qi @ kj.T) | ```ptl\n(qi @ kj.T): f32[i, j]\n```\n"
            "\n- at most 32 KiB with `BQ = 64, BK = 128`"
            "\n- `i`: tile of `BQ = 64` positions, the last may be shorter"
            "\n- `j`: tile of `BK = 128` positions, the last may be shorter");
}

TEST(Hover, AnswersEverywhere) {
  std::string text(kAttention);
  for (size_t at = 0; at <= text.size(); at += 7) {
    hoverOf(std::string(text).insert(at, "$0"));
    hoverOf(text.substr(0, at) + "$0");
  }
}

std::string helpOf(const std::string &text) {
  MarkedSource source(text);
  auto help = signatureHelpAt(source.workspace, *source.file, source.cursor);
  std::string result;
  if (help)
    for (size_t i = 0; i < help->signatures.size(); ++i) {
      const auto &[label, doc, active] = help->signatures[i];
      std::string text = label.text;
      if (active >= 0) {
        const SignatureParam &param = label.params[static_cast<size_t>(active)];
        text.insert(param.end, "<").insert(param.begin, ">");
      }
      result += (help->active == i ? "*" : " ") + text + "\n";
    }
  return result;
}

TEST(SignatureHelp, Calls) {
  EXPECT_EQ(
      helpOf(attentionWith("max(s, axis: 1)", "max(s, $0)")),
      "*max(a: T[*], >b: T[*]<) -> T[*]   (T: number)\n"
      " max(x: T[..], axis: axes?, keep: true or false = true) -> T[reduced]   (T: number)\n");
  EXPECT_EQ(
      helpOf(attentionWith("max(s, axis: 1)", "max(s, axis: $0)")),
      " max(a: T[*], b: T[*]) -> T[*]   (T: number)\n"
      "*max(x: T[..], >axis: axes?<, keep: true or false = true) -> T[reduced]   (T: number)\n");
  EXPECT_EQ(helpOf(attentionWith("max(s, axis: 1)", "nn.layer_norm(s, eps: $0")),
            "*layer_norm(x: T[.., C], gamma: T[C], beta: T[C], >eps: f32 = 1e-5<) -> T[.., C]\n");
  EXPECT_EQ(helpOf(attentionWith("let s = (qi @ kj.T) * scale", "let s = attention(qi, kj[$0")),
            "*attention(q: f32[S, D], >k: f32[T, D]<, v: f32[T, D], scale: f32, BQ = 64, BK: [64, "
            "128] = 128) -> (o: f32[S, D])\n");
  EXPECT_EQ(helpOf(attentionWith("let s =", "let $0s =")), "");
  EXPECT_EQ(helpOf("struct P {\n x: f32\n y: f32\n}\nfn f() -> f32 { let p = P(1.0, $0"),
            "*P(x: f32, >y: f32<)\n");
}

} // namespace hover_test
} // namespace ptl::ide

// What becomes of the worker's answers about chips.
#include "lsp/server/feasibility.h"
#include "lsp/server/handlers.h"

#include <gtest/gtest.h>

namespace ptl::lsp {
namespace feasibility_test {

const char *const kPath = "/chips.ptl";
const std::string kText =
    "fn f(x: f32) -> f32 {\n    return x\n}\n\n"
    "kernel k(x: f32[4]) -> (y: f32[4])\n{\n    let a = f(1.0)\n    y[:] = x\n}\n";

json placeOf(const std::string &text, const std::string &piece) {
  auto begin = text.find(piece);
  return {{"path", kPath}, {"begin", begin}, {"end", begin + piece.size()}};
}

json buffer(int line, int column) {
  return {{"name", "a"},    {"file", kPath}, {"line", line},    {"column", column},
          {"bytes", 2048},  {"count", 2},    {"address", 4096}, {"kind", "slots"},
          {"beginLine", 7}, {"endLine", 8},  {"pipes", {"v"}}};
}

json ledger(int64_t peak) {
  json space = {{"place", "vec"}, {"peak", peak}, {"usable", 188416}, {"buffers", {buffer(7, 13)}}};
  return {{"machine", "a3"}, {"functions", {{{"name", "k"}, {"spaces", {space}}}}}};
}

json failure(const json &place, const json &fixes = json::array()) {
  return {{"code", "E0421"}, {"message", "full"}, {"label", ""},     {"labels", json::array()},
          {"place", place},  {"notes", {"why"}},  {"helps", {"do"}}, {"fixes", fixes}};
}

class FeasibilityTest : public testing::Test {
protected:
  FeasibilityTest() {
    session_.settings.targets = {"a3"};
    file_ = &session_.workspace.open(kPath, kText, 1);
  }
  void take(json result) {
    result["target"] = "a3";
    ChipEntry entry = chipEntries(file_->document).front();
    session_.verdicts[{kPath, entry.name, "a3"}] =
        readVerdict(session_, file_->document, entry, std::move(result));
  }
  std::string title() { return verdictTitle(session_, kPath, "k", "a3"); }
  /// Lines of the diagnostics that are about the present text.
  std::vector<uint32_t> lines() {
    std::vector<uint32_t> found;
    forEachVerdict(session_, *file_, [&](const ide::FileDiagnostic &each, const std::string &) {
      found.push_back(file_->document.position(each.range.begin).line);
    });
    return found;
  }
  void replace(const std::string &piece, const std::string &text) {
    std::string now = file_->document.text();
    auto begin = static_cast<uint32_t>(now.find(piece));
    session_.workspace.edit(*file_, {begin, begin + static_cast<uint32_t>(piece.size())}, text);
  }

  Session session_;
  ide::File *file_ = nullptr;
};

TEST_F(FeasibilityTest, TitlesSayWhatIsNeeded) {
  EXPECT_EQ(title(), "a3: …");
  take({{"fits", true}, {"ledger", ledger(98304)}});
  EXPECT_EQ(title(), "a3: fits · vec 96/184 KiB");
  take({{"fits", true}, {"ledger", ledger(20)}});
  EXPECT_EQ(title(), "a3: fits · vec 0.1/184 KiB");
  json overflow = {{"place", "vec"}, {"needed", 208896}, {"usable", 188416}};
  take({{"fits", false}, {"overflow", overflow}});
  EXPECT_EQ(title(), "a3: does not fit · vec 204/184 KiB");
  take({{"fits", false}, {"diagnostics", {failure(placeOf(kText, "f(1.0)"))}}});
  EXPECT_EQ(title(), "a3: cannot be compiled (E0421)");
}

TEST_F(FeasibilityTest, LensesAreShort) {
  auto lens = [&] { return verdictLens(session_, kPath, "k", "a3"); };
  EXPECT_EQ(lens(), "a3 …");
  EXPECT_EQ(sizesLens(session_, kPath, "k"), "for other sizes");
  json cost = {{"us", 41.2},
               {"bound", "cube-bound 87 %"},
               {"sizes", {{{"name", "N"}, {"value", 1024}, {"why", "asked for"}}}},
               {"groups", {{"used", 24}, {"chip", 24}}},
               {"roofline", {{"gap", 1.5}, {"by", "memory"}}}};
  take({{"fits", true}, {"ledger", ledger(98304)}, {"cost", cost}});
  EXPECT_EQ(lens(), "a3 ✓ 41.2 µs · cube 87 %");
  EXPECT_EQ(sizesLens(session_, kPath, "k"), "for N = 1024");
  cost["roofline"]["gap"] = 5.25;
  take({{"fits", true}, {"ledger", ledger(98304)}, {"cost", cost}});
  EXPECT_EQ(lens(), "a3 ✓ 41.2 µs · cube 87 % · 5.2 × the least time of memory");
  cost["groups"]["used"] = 4;
  take({{"fits", true}, {"ledger", ledger(98304)}, {"cost", cost}});
  EXPECT_EQ(lens(), "a3 ✓ 41.2 µs · cube 87 % · 20 of 24 core groups idle");
  cost["groups"]["used"] = 19;
  cost["roofline"]["gap"] = 1.0;
  json assumed = {{"name", "D"}, {"value", 16}, {"why", "assumed"}};
  cost["sizes"].push_back(assumed);
  take({{"fits", true}, {"ledger", ledger(98304)}, {"cost", cost}});
  EXPECT_EQ(lens(), "a3 ✓ ~41.2 µs · cube 87 %");
  EXPECT_EQ(sizesLens(session_, kPath, "k"), "for N = 1024, D = 16 (assumed)");
  EXPECT_NE(title().find("· ~41.2 µs ·"), std::string::npos) << title();
  json overflow = {{"place", "vec"}, {"needed", 208896}, {"usable", 188416}};
  take({{"fits", false}, {"overflow", overflow}});
  EXPECT_EQ(lens(), "a3 ✗ vec 204/184 KiB");
  take({{"fits", false}, {"diagnostics", {failure(placeOf(kText, "f(1.0)"))}}});
  EXPECT_EQ(lens(), "a3 ✗ E0421");
  take({{"fits", true}, {"ledger", ledger(0)}});
  EXPECT_EQ(lens(), "a3 ✓");
  replace("y[:] = x", "y[:] = x + x");
  EXPECT_EQ(lens(), "a3 ✓ · stale");
}

TEST_F(FeasibilityTest, OneHintForEachLine) {
  LineHints hints;
  hints.add(20, "a3", "31.0 µs · 75 %", "The loop");
  hints.add(20, "a5", "4 parts of 32", "Parts");
  hints.add(20, "a3", "4 parts of 32", "Parts");
  hints.add(20, "a3", "31.0 µs · 75 %", "The loop");
  hints.add(40, "a3", "in 2 parts", "Others");
  json list = json::parse("[" + hints.text(session_, *file_) + "]");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["label"], "a3: 31.0 µs · 75 % · 4 parts of 32  a5: 4 parts of 32");
  EXPECT_EQ(list[0]["tooltip"]["value"], "The loop\n\nParts");
  EXPECT_EQ(list[1]["label"], "a3: in 2 parts");
}

TEST(Markdown, FormulasStandForThemselves) {
  Session session;
  std::string text = asMarkdown("2*H*S*D bytes of `q*k` [1] in \\");
  EXPECT_EQ(text, "2\\*H\\*S\\*D bytes of `q*k` \\[1\\] in \\\\");
  EXPECT_EQ(session.markup(text)["value"], "2*H*S*D bytes of q*k [1] in \\");
  EXPECT_EQ(session.markup("**a** `**b`\n```\nx ** \\y\n```")["value"], "a **b\nx ** \\y");
}

TEST_F(FeasibilityTest, WhatIsAboutAnOlderTextIsNoDiagnostic) {
  take({{"fits", false}, {"diagnostics", {failure(placeOf(kText, "f(1.0)"))}}});
  EXPECT_EQ(lines(), std::vector<uint32_t>{6});
  replace("fn f", "\n\nfn f");
  EXPECT_EQ(lines(), std::vector<uint32_t>{8}) << "lines above move it";
  replace("return x", "return x + x");
  EXPECT_EQ(lines(), std::vector<uint32_t>{8}) << "a neighbour is another chunk";
  replace("y[:] = x", "y[:] = x + x");
  EXPECT_TRUE(lines().empty());
  EXPECT_TRUE(title().ends_with(" · stale")) << title();
}

TEST_F(FeasibilityTest, FixesAndPlacesOfOtherChunksCount) {
  json fix = {{"title", "do it"},
              {"edits", {{{"place", placeOf(kText, "return x")}, {"text", "z"}}}}};
  take({{"fits", false}, {"diagnostics", {failure(placeOf(kText, "f(1.0)"), json::array({fix}))}}});
  EXPECT_EQ(lines().size(), 1u);
  json action = codeAction(session_, {{"textDocument", {{"uri", Session::uri(kPath)}}},
                                      {"range",
                                       {{"start", {{"line", 6}, {"character", 12}}},
                                        {"end", {{"line", 6}, {"character", 12}}}}},
                                      {"context", {{"only", {"quickfix"}}}}});
  ASSERT_EQ(action.size(), 1u) << action;
  EXPECT_EQ(action[0]["command"], "ptl.server.applyEdit") << "for a client without literals";
  replace("return x", "return x + x");
  EXPECT_TRUE(lines().empty()) << "the place of the fix is gone";
}

TEST_F(FeasibilityTest, WhatLiesElsewhereStandsAtTheName) {
  json nowhere;
  take({{"fits", false}, {"diagnostics", {failure(nowhere)}}});
  EXPECT_EQ(lines(), std::vector<uint32_t>{4});
}

TEST_F(FeasibilityTest, HoversShowBuffersWhereTheyAreMade) {
  take({{"fits", true}, {"ledger", ledger(98304)}});
  auto hoverOf = [&](const std::string &piece) {
    auto at = static_cast<uint32_t>(file_->document.text().find(piece));
    return ledgerText(session_, *file_, {at, at + 1});
  };
  std::string own = "`a`: 2 × 2 KiB in `vec` at 0x1000, live from line 7 to 8, used in turn (v)";
  EXPECT_NE(hoverOf("k(x").find("a3: fits"), std::string::npos);
  EXPECT_NE(hoverOf("k(x").find(own), std::string::npos);
  EXPECT_NE(hoverOf("a = ").find(own), std::string::npos);
  EXPECT_EQ(hoverOf("a = ").find("fits"), std::string::npos);
  EXPECT_EQ(hoverOf("y[:]"), "");
  replace("fn f", "\nfn f");
  EXPECT_NE(hoverOf("a = ").find("live from line 8 to 9"), std::string::npos) << hoverOf("a = ");
}

TEST_F(FeasibilityTest, LensesOfChipsAreResolved) {
  const json raw = codeLens(session_, {{"textDocument", {{"uri", Session::uri(kPath)}}}});
  const auto &bytes = raw.get_binary();
  std::vector<json> chips;
  for (const json &lens : json::parse(bytes.begin(), bytes.end()))
    if (lens.contains("data") && lens["data"].is_object())
      chips.push_back(resolveCodeLens(session_, lens));
  ASSERT_EQ(chips.size(), 1u);
  EXPECT_EQ(chips[0]["command"]["title"], "a3 …");
  EXPECT_EQ(chips[0]["data"]["tooltip"], "a3: …");
  EXPECT_EQ(chips[0]["command"]["command"], "ptl.showMemory");
  EXPECT_EQ(chips[0]["command"]["arguments"], json({Session::uri(kPath), "k", "a3"}));
}

} // namespace feasibility_test
} // namespace ptl::lsp

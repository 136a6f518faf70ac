// Symbols, folding and selection.
#include "lsp/ide/folding.h"
#include "lsp/ide/navigation_test_util.h"
#include "lsp/ide/symbols.h"

namespace ptl::ide {
namespace outline_test {

std::string outline(const std::string &text) {
  Workspace workspace(testOptions());
  File &file = workspace.open("/a.ptl", text, 1);
  std::string all;
  for (const Place &place : file.document.places())
    for (const OutlineItem &item : outlineOf(*place.chunk)) {
      Range range{place.begin + item.selection.begin, place.begin + item.selection.end};
      EXPECT_EQ(file.document.text(range), item.name);
      EXPECT_LE(item.whole.begin, item.selection.begin);
      EXPECT_GE(item.whole.end, item.selection.end);
      all += (item.isNested ? "  " : "") + item.name +
             (item.detail.empty() ? "" : ": " + item.detail) + "\n";
    }
  return all;
}

TEST(Outline, IsTheTreeOfDeclarations) {
  EXPECT_EQ(outline("import std.nn\nconst E: f32 = 1e-6\nstruct S[N] {\n w: f32[N]\n}\n"
                    "kernel k[N](x: f32[N])\n    -> (y: f32[N])\ntune B = 4\n{\n for i in tiles(N, "
                    "B) {\n  let v: f32[i] = x[i]\n  y[i] = v\n }\n}\nschedule k on a3 { B = 8 }\n"
                    "test \"t\" {\n let a = 1\n}\n"),
            "E: : f32 = 1e-6\nS: [N]\n  w: f32[N]\nk: [N](x: f32[N]) -> (y: f32[N])\n  v: f32[i]\n"
            "k: on a3\n\"t\": test\n");
}

TEST(Outline, IsThereInBrokenText) {
  EXPECT_EQ(outline("fn f(x: f32 -> f32 {\n let a = \n let b = 1\nfn g() -> f32 { 1.0 }\n"),
            "f: (x: f32 -> f32\n  a\n  b\ng: () -> f32\n");
}

std::string found(Workspace &workspace, std::string_view query) {
  std::string all;
  for (const FoundSymbol &each : workspaceSymbols(workspace, query, 3, {}))
    all += each.container + "." + each.item->name + " ";
  return all;
}

TEST(Symbols, AreFoundByTheirLetters) {
  Workspace workspace(testOptions());
  workspace.open("/a.ptl",
                 "import std.nn: silu\nfn soft_max(x: f32) -> f32 { return silu(x) }\nfn "
                 "some(x: f32) -> f32 { return x }\nstruct S {\n alpha: f32[4]\n}\n",
                 1);
  EXPECT_EQ(found(workspace, "softmax"), "nn.softmax a.soft_max nn.log_softmax ");
  EXPECT_EQ(found(workspace, "sm"), "a.soft_max a.some nn.softmax ");
  EXPECT_EQ(found(workspace, "alph"), "S.alpha ");
  EXPECT_EQ(found(workspace, "qqq"), "");
}

std::string foldsText(const std::string &text) {
  Workspace workspace(testOptions());
  File &file = workspace.open("/a.ptl", text, 1);
  std::string all;
  for (const Fold &fold : folds(file.document))
    all += std::to_string(fold.first) + "-" + std::to_string(fold.last) +
           (fold.kind == FoldKind::Comment   ? "c "
            : fold.kind == FoldKind::Imports ? "i "
                                             : " ");
  return all;
}

TEST(Folding, FoldsWhatTakesSeveralLines) {
  EXPECT_EQ(foldsText("import std.nn\nimport std.math\n\n// a\n// b\n\n/// d\nfn f(\n  x: f32,\n  "
                      "y: f32\n) -> f32\n{\n  let a = max(x,\n    y)\n  return a\n}\n"),
            "0-1i 3-4c 7-14 11-14 12-13 ");
  EXPECT_EQ(foldsText("/* a\n b */\nfn f(x: f32) -> f32 { return x }\n"), "0-1c ");
  EXPECT_EQ(foldsText("fn f(x: f32) -> f32 { // a\n  // b\n  return x\n}\n"), "0-2 ");
}

TEST(Folding, FoldsBrokenText) {
  EXPECT_EQ(foldsText("fn f(x: f32) -> f32 {\n  let a = g(1,\n    2\n  return x\n}\n"), "0-3 ");
  foldsText(")\n]\n}\n{{{(\n[\n");
  foldsText("");
}

TEST(Selection, GrowsToTheDocument) {
  std::string text = "fn f(x: f32) -> f32 {\n let a = max(x + 1, 2)\n return a\n}\n\nconst E = 4\n";
  Workspace workspace(testOptions());
  File &file = workspace.open("/a.ptl", text, 1);
  std::string all;
  for (Range range : selectionRanges(file.document, static_cast<uint32_t>(text.find("x + 1"))))
    all += file.document.text(range) + "|";
  EXPECT_EQ(all, "x|x + 1|x + 1, 2|(x + 1, 2)|max(x + 1, 2)|let a = max(x + 1, 2)|let a = max(x + "
                 "1, 2)\n return a|{\n let a = max(x + 1, 2)\n return a\n}|" +
                     text.substr(0, text.find("\n\nconst")) + "|" + text + "|");
}

TEST(Selection, AlwaysGrows) {
  std::string text = "/// doc\nfn f(x: f32) -> f32 {\n let a = max(x + , 2\n return a[0, :]";
  Workspace workspace(testOptions());
  File &file = workspace.open("/a.ptl", text, 1);
  for (uint32_t at = 0; at <= text.size(); ++at) {
    auto ranges = selectionRanges(file.document, at);
    ASSERT_FALSE(ranges.empty());
    for (size_t i = 1; i < ranges.size(); ++i)
      EXPECT_TRUE(ranges[i].begin <= ranges[i - 1].begin && ranges[i - 1].end <= ranges[i].end &&
                  !(ranges[i] == ranges[i - 1]));
    EXPECT_EQ(ranges.back(), (Range{0, static_cast<uint32_t>(text.size())}));
  }
}

} // namespace outline_test
} // namespace ptl::ide

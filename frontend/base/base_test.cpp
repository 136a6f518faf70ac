#include "frontend/base/explain.h"
#include "frontend/base/fixes.h"
#include "frontend/base/json.h"
#include "frontend/base/render.h"
#include "frontend/base/render_json.h"
#include "frontend/base/render_sarif.h"
#include "frontend/base/utf8.h"

#include <gtest/gtest.h>

#include <chrono>

using namespace ptl;

namespace {

/// A diagnostic with made-up texts at a piece of the source.
struct Scene {
  SourceManager sources;
  FileId file;
  explicit Scene(std::string text) : file(sources.add("attn.ptl", std::move(text))) {}

  Span at(std::string_view piece) const {
    size_t begin = sources.file(file).text().find(piece);
    return {file, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + piece.size())};
  }
  Diagnostic error(Span span, std::string message) const {
    return {DiagId::CannotReadFile, Severity::Error, span, std::move(message), {}, {}, {}, {}, {}};
  }
  std::string human(const Diagnostic &diagnostic, bool color = false) const {
    return renderDiagnostics(sources, {diagnostic}, {DiagnosticFormat::Human, color});
  }
};

TEST(Render, humanShowsEveryPlaceWithItsText) {
  Scene scene("\n\n    let q = a[i, :]\n\n    let s = q @ b[j, :]\n");
  Diagnostic error = scene.error(scene.at("@"), "the contracted extents differ: `D` is not `j`");
  error.primaryLabel = "found f16[i, D] @ f16[j, D]";
  error.labels = {{scene.at("a[i, :]"), "`D` is the last extent of `a`"}};
  error.notes = {"first\nsecond"};
  error.helps = {"transpose the right side: `q @ b[j, :].T`"};
  EXPECT_EQ(scene.human(error), R"(error[E0001]: the contracted extents differ: `D` is not `j`
  --> attn.ptl:5:15
   |
 3 |     let q = a[i, :]
   |             ------- `D` is the last extent of `a`
 5 |     let s = q @ b[j, :]
   |               ^ found f16[i, D] @ f16[j, D]
   = note: first
           second
   = help: transpose the right side: `q @ b[j, :].T`
)");
}

TEST(Render, severalMarksOnOneLine) {
  Scene scene("a + bb");
  Diagnostic error = scene.error(scene.at("+"), "message");
  error.primaryLabel = "here";
  error.labels = {{scene.at("a"), "left"}, {scene.at("bb"), "right"}};
  EXPECT_EQ(scene.human(error), R"(error[E0001]: message
  --> attn.ptl:1:3
   |
 1 | a + bb
   | - ^ -- right
   | | here
   | left
)");
}

TEST(Render, tabsAndWideTextKeepTheMarksInPlace) {
  Scene scene("\tü漢 x\n");
  std::string text = scene.human(scene.error(scene.at("x"), "message"));
  EXPECT_NE(text.find(" 1 |     ü漢 x\n   |         ^\n"), std::string::npos) << text;
}

TEST(Render, brokenBytesAndSpansAtTheEnd) {
  Scene scene("a\xff\xfe\x01 b");
  std::string text = scene.human(scene.error({scene.file, 6, 6}, "message"));
  EXPECT_NE(text.find("a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD b\n   |       ^\n"), std::string::npos)
      << text;
}

TEST(Render, longLineIsCutQuickly) {
  Scene scene(std::string(5'000'000, 'x') + "!" + std::string(5'000'000, 'y'));
  auto start = std::chrono::steady_clock::now();
  std::string text = scene.human(scene.error(scene.at("!"), "message"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(50));
  EXPECT_LT(text.size(), 600u);
  EXPECT_NE(text.find("…xxx"), std::string::npos);
  EXPECT_NE(text.find("yyy…"), std::string::npos);
}

TEST(Render, shortAndPlaceless) {
  Scene scene("a\nb c\n");
  RenderOptions options{DiagnosticFormat::Short};
  EXPECT_EQ(renderDiagnostics(scene.sources, {scene.error(scene.at("c"), "message")}, options),
            "attn.ptl:2:3: error[E0001]: message\n");
  EXPECT_EQ(renderDiagnostics(scene.sources, {scene.error(kNoSpan, "message")}, options),
            "error[E0001]: message\n");
  EXPECT_EQ(scene.human(scene.error(kNoSpan, "message")), "error[E0001]: message\n");
}

TEST(Render, colorsOnlyWhenAsked) {
  Scene scene("a");
  EXPECT_EQ(scene.human(scene.error(scene.at("a"), "m")).find('\x1b'), std::string::npos);
  EXPECT_NE(scene.human(scene.error(scene.at("a"), "m"), true).find("\x1b[1;31m"),
            std::string::npos);
}

TEST(Render, documentsForPrograms) {
  Scene scene("ä x");
  Diagnostic error = scene.error(scene.at("x"), "a \"quoted\" message");
  error.fixes = {{FixId::Spelling, "write y", {{scene.at("x"), "y"}}}};
  std::string json = renderJson(scene.sources, {error});
  EXPECT_NE(json.find(R"("message": "a \"quoted\" message")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("errors": 1)"), std::string::npos);
  std::string sarif = renderSarif(scene.sources, {error});
  EXPECT_NE(sarif.find(R"("startColumn": 3)"), std::string::npos) << sarif;
  EXPECT_NE(renderJson(scene.sources, {}).find("\"diagnostics\": []"), std::string::npos);
}

TEST(Json, stringsAreAlwaysValid) {
  std::string out;
  appendJsonString(out, std::string_view("a\"\\\n\x01\xffü", 8));
  EXPECT_EQ(out, "\"a\\\"\\\\\\n\\u0001\xEF\xBF\xBDü\"");
}

TEST(Utf8, rejectsWhatIsNotUtf8) {
  for (std::string_view bad : {"\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\x80"})
    EXPECT_FALSE(decodeUtf8(bad, 0).valid);
  EXPECT_EQ(decodeUtf8("€", 0).value, U'€');
  EXPECT_EQ(countCodePoints("aü漢\xff"), 4u);
}

TEST(Fixes, appliesWholeFixesThatDoNotOverlap) {
  auto edit = [](uint32_t begin, uint32_t end, std::string text) {
    return TextEdit{{0, begin, end}, std::move(text)};
  };
  std::vector<Fix> fixes = {{FixId::Spelling, "", {edit(0, 1, "A"), edit(4, 4, "!")}},
                            {FixId::Spelling, "", {edit(2, 3, "C"), edit(0, 2, "?")}},
                            {FixId::Spelling, "", {edit(2, 3, "X")}},
                            {FixId::Spelling, "", {edit(90, 91, "far")}}};
  FixedText fixed = applyFixes("abcd", 0, fixes);
  EXPECT_EQ(fixed.text, "AbXd!");
  EXPECT_EQ(fixed.applied, 2u);
  EXPECT_EQ(fixed.skipped, 2u);
}

TEST(Explain, pagesAndSuggestions) {
  ASSERT_TRUE(explainPage("E0001"));
  EXPECT_EQ(explainPage("E0001")->substr(0, 9), "# E0001: ");
  EXPECT_FALSE(explainPage("E000"));
  EXPECT_EQ(similarCodes("E00011", 3).front(), "E0001");
  EXPECT_EQ(similarCodes("CannotReadFile", 3).front(), "E0001");
}

TEST(Explain, EveryPageHasTheTitleOfItsCodeAlone) {
  for (const DiagInfo &info : allDiagInfos()) {
    std::string text = "\n" + std::string(explainPage(info.code).value_or(""));
    EXPECT_TRUE(text.starts_with("\n# " + std::string(info.code) + ": ")) << text;
    EXPECT_EQ(text.find("\n# E", 1), std::string::npos) << text;
    EXPECT_EQ(text.find("\n# W", 1), std::string::npos) << text;
  }
}

} // namespace

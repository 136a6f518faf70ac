// Formatting by edits: the result is that of the formatter, the edits are small, and broken files
// keep what cannot be read.
#include "lsp/ide/formatting.h"

#include "frontend/format/format.h"
#include "frontend/parse/parse.h"
#include "lsp/ide/workspace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace ptl::ide {
namespace formatting_test {

/// A document with the marks `$[`, `$]` or `$0` taken out.
struct Marked {
  Workspace workspace;
  File *file = nullptr;
  Range range;

  explicit Marked(std::string source) {
    auto take = [&](const char *mark, uint32_t &at) {
      size_t found = source.find(mark);
      if (found != source.npos)
        source.erase(found, 2);
      if (found != source.npos)
        at = static_cast<uint32_t>(found);
    };
    take("$0", range.begin);
    take("$[", range.begin);
    take("$]", range.end);
    file = &workspace.open("/test.ptl", source, 1);
  }
  std::string text() const { return file->document.text(); }
};

std::string typed(const std::string &source, char c) {
  Marked marked(source);
  return applied(marked.text(), formatOnType(marked.file->document, marked.range.begin, c));
}

std::string inRange(const std::string &source) {
  Marked marked(source);
  return applied(marked.text(), formatRange(marked.file->document, marked.range));
}

TEST(Formatting, EditsAreSmall) {
  auto edits = textEdits("let a=1;\nlet  b = 2\n", "let a = 1\nlet b = 2\n");
  EXPECT_EQ(applied("let a=1;\nlet  b = 2\n", edits), "let a = 1\nlet b = 2\n");
  EXPECT_EQ(edits.size(), 4u);
  for (const Edit &edit : edits)
    EXPECT_LE(edit.range.end - edit.range.begin + edit.text.size(), 1u);
  // Where the texts differ otherwise, by lines.
  edits = textEdits("a\nb\nc\nd\n", "a\nx\nc\nd\ny\n");
  EXPECT_EQ(applied("a\nb\nc\nd\n", edits), "a\nx\nc\nd\ny\n");
  EXPECT_EQ(edits.size(), 2u);
  EXPECT_TRUE(textEdits("same\n", "same\n").empty());
  EXPECT_EQ(applied("", textEdits("", "x\n")), "x\n");
  EXPECT_EQ(applied("x\n", textEdits("x\n", "")), "");
}

TEST(Formatting, RandomTexts) {
  std::mt19937 random(3);
  const std::string letters = "ab ,;\n";
  for (int i = 0; i < 2000; ++i) {
    std::string a, b;
    for (unsigned n = random() % 12; n > 0; --n)
      a += letters[random() % letters.size()];
    for (unsigned n = random() % 12; n > 0; --n)
      b += letters[random() % letters.size()];
    ASSERT_EQ(applied(a, textEdits(a, b)), b) << a << "|" << b;
  }
}

TEST(Formatting, WholeFiles) {
  for (const auto &entry :
       std::filesystem::directory_iterator(PTL_SOURCE_DIR + std::string("/examples"))) {
    if (entry.path().extension() != ".ptl")
      continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    std::ostringstream all;
    all << stream.rdbuf();
    std::string text = all.str();
    std::mt19937 random(1);
    for (int i = 0; i < 10; ++i) {
      std::string messy = text;
      for (int k = 0; k < 20; ++k)
        if (size_t at = messy.find(' ', random() % messy.size()); at != messy.npos)
          messy.insert(at, i % 2 ? "  " : "");
      if (i > 5)
        messy.erase(random() % messy.size(), 3); // broken
      Workspace workspace;
      File &file = workspace.open(entry.path().string(), messy, 1);
      auto edits = formatDocument(file.document);
      EXPECT_EQ(applied(messy, edits), formatted(messy));
      // What a range of everything gives is the same, but for blank lines between declarations.
      std::string ranged = applied(messy, formatRange(file.document, {0, file.document.size()}));
      EXPECT_FALSE(ranged.empty());
    }
  }
}

TEST(Formatting, RangesLeaveTheRestAlone) {
  EXPECT_EQ(inRange("fn f(x:f32)->f32 {\n  let a=x\n  $[let b=a$]\n  let c=b\n  return c\n}\n"),
            "fn f(x:f32)->f32 {\n  let a=x\n    let b = a\n  let c=b\n  return c\n}\n");
  EXPECT_EQ(inRange("fn f(x:f32)->f32 { return x }\n\n\n\n$[fn g(x:f32)->f32 { return x }$]\n"),
            "fn f(x:f32)->f32 { return x }\n\n\n\nfn g(x: f32) -> f32 { return x }\n");
  EXPECT_EQ(inRange("$[fn f(x:f32)->f32 {\n  let a=x +\n  let b  =x\n  return b\n}$]\n"),
            formatted("fn f(x:f32)->f32 {\n  let a=x +\n  let b  =x\n  return b\n}\n"));
}

TEST(Formatting, NewLines) {
  EXPECT_EQ(typed("fn f(x: f32) -> f32 {\n$0", '\n'), "fn f(x: f32) -> f32 {\n    ");
  EXPECT_EQ(typed("fn f(x: f32) -> f32 {\n    let a = x\n$0\n    return a\n}\n", '\n'),
            "fn f(x: f32) -> f32 {\n    let a = x\n    \n    return a\n}\n");
  EXPECT_EQ(typed("fn f(x: f32) -> f32 {\n    let a =\n$0\n    return a\n}\n", '\n'),
            "fn f(x: f32) -> f32 {\n    let a =\n        \n    return a\n}\n");
  EXPECT_EQ(typed("fn f(x: f32) -> f32 {\n    if x > 0 {\n$0}\n", '\n'),
            "fn f(x: f32) -> f32 {\n    if x > 0 {\n    }\n");
  EXPECT_EQ(typed("fn f(\n$0x: f32) -> f32 {\n}\n", '\n'), "fn f(\n    x: f32) -> f32 {\n}\n");
  EXPECT_EQ(typed("kernel k[N](a: f32[N]) -> (c: f32[N])\n$0", '\n'),
            "kernel k[N](a: f32[N]) -> (c: f32[N])\n");
  EXPECT_EQ(typed("/* a\n$0 b */\n", '\n'), "/* a\n b */\n");
}

TEST(Formatting, Braces) {
  EXPECT_EQ(
      typed("fn f(x: f32) -> f32 {\n    if x>0 {\n  let  y=x\n        }$0\n    return x\n}\n", '}'),
      "fn f(x: f32) -> f32 {\n    if x > 0 {\n        let y = x\n    }\n    return x\n}\n");
  EXPECT_EQ(typed("fn f(x: f32) -> f32 {\n    return x\n    }$0\n", '}'),
            "fn f(x: f32) -> f32 {\n    return x\n}\n");
  EXPECT_EQ(typed("fn f(x: f32) -> f32 {\n    let a = (x +\n    }$0\n", '}'),
            "fn f(x: f32) -> f32 {\n    let a = (x +\n}\n");
  EXPECT_EQ(typed("fn f(x: f32) {\n    if x > 0 {\n\n        }$0\n}\n", '}'),
            "fn f(x: f32) {\n    if x > 0 {\n\n    }\n}\n");
  EXPECT_EQ(typed("}$0", '}'), "}");
}

} // namespace formatting_test
} // namespace ptl::ide

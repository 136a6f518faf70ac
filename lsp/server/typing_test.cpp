// What is kept back while somebody types, and when it is said.
#include "lsp/server/typing.h"

#include <gtest/gtest.h>

namespace ptl::lsp {
namespace typing_test {

const std::string kKernel =
    "kernel k[N](x: f32[N]) -> (y: f32[N])\n{\n    let a = x\n    y[:] = a\n}\n";

/// An editor with one file, and the diagnostics that somebody else finds.
class TypingTest : public testing::Test {
protected:
  TypingTest() {
    file_ =
        &workspace_.open("/a.ptl", kKernel + "\n" + "fn f(x: f32) -> f32 {\n    return x\n}\n", 1);
    shown({});
  }
  /// Types a text behind the first `piece`.
  void type(const std::string &piece, const std::string &text) {
    std::string now = file_->document.text();
    auto at = static_cast<uint32_t>(now.find(piece) + piece.size());
    typing_.begin(*file_, {at, at}, text);
    workspace_.edit(*file_, {at, at}, text);
    typing_.end(*file_, {at, at}, text);
  }
  static json diagnostic(uint32_t line, const std::string &code, int severity = 1) {
    json at = {{"line", line}, {"character", 0}};
    return {{"range", {{"start", at}, {"end", at}}},
            {"code", code},
            {"severity", severity},
            {"message", "of " + code}};
  }
  /// The codes that are said of these.
  std::string shown(const std::vector<json> &found) {
    std::string codes;
    for (const json &each : typing_.shown(*file_, found))
      codes += (codes.empty() ? "" : " ") + each.value("code", "");
    return codes;
  }

  ide::Workspace workspace_;
  ide::File *file_ = nullptr;
  Typing typing_;
};

TEST_F(TypingTest, SaysEverythingWhileNobodyTypes) {
  EXPECT_EQ(shown({diagnostic(2, "E0201"), diagnostic(0, "E0501")}), "E0201 E0501");
  EXPECT_TRUE(typing_.holding().empty());
}

TEST_F(TypingTest, KeepsBackWhatAnEditMakesWrong) {
  type("let a = x", " + unk");
  EXPECT_EQ(shown({diagnostic(2, "E0201"), diagnostic(3, "E0312"), diagnostic(7, "E0202")}), "");
  EXPECT_TRUE(typing_.holding().contains("/a.ptl"));
  // After a pause all of it is said, and kept back again when the typing goes on.
  typing_.rest();
  EXPECT_EQ(shown({diagnostic(2, "E0201"), diagnostic(3, "E0312")}), "E0201 E0312");
  EXPECT_TRUE(typing_.holding().empty());
  type("+ unk", "n");
  EXPECT_EQ(shown({diagnostic(2, "E0201"), diagnostic(3, "E0312")}), "");
}

TEST_F(TypingTest, SaysAtOnceThatAWordCannotBecomeAName) {
  auto unknown = [](const std::string &word) {
    json found = diagnostic(2, "E0201");
    found["message"] = "unknown name `" + word + "`";
    return found;
  };
  type("let a = x", " + ma");
  EXPECT_EQ(shown({unknown("ma")}), "") << "it may become `max`";
  type("+ ma", "q");
  EXPECT_EQ(shown({unknown("maq")}), "E0201");
  EXPECT_EQ(shown({diagnostic(2, "E0312")}), "") << "anything else waits";
}

TEST_F(TypingTest, SaysWhatIsWrongWithALineThatWasLeft) {
  type("let a = x", " + unk");
  EXPECT_EQ(shown({diagnostic(2, "E0201"), diagnostic(0, "E0501")}), "");
  type("y[:] = a", " ");
  // The output may still be written, but the name is wrong.
  EXPECT_EQ(shown({diagnostic(2, "E0201"), diagnostic(0, "E0501")}), "E0201");
  type("y[:] = a ", "+");
  EXPECT_EQ(shown({diagnostic(2, "E0201"), diagnostic(0, "E0501")}), "E0201");
}

TEST_F(TypingTest, WaitsForTheEndOfABrokenDeclaration) {
  type("let a = x", " + unk(");
  EXPECT_EQ(shown({diagnostic(2, "E0108"), diagnostic(2, "E0201")}), "");
  type("y[:] = a", " ");
  EXPECT_EQ(shown({diagnostic(2, "E0108"), diagnostic(2, "E0201")}), "");
  // Elsewhere is another declaration.
  type("return x", " ");
  EXPECT_EQ(shown({diagnostic(2, "E0108"), diagnostic(2, "E0201")}), "E0108 E0201");
}

TEST_F(TypingTest, BracketsHoldLinesTogether) {
  type("let a = x", " + max(");
  type("max(", ")");
  type("max(", "\n        x");
  EXPECT_EQ(shown({diagnostic(2, "E0320")}), "") << "the call begins on the line before";
  type("max(\n        x", ",");
  EXPECT_EQ(shown({diagnostic(2, "E0320")}), "");
  type("max(\n        x,)", "\n    ");
  EXPECT_EQ(shown({diagnostic(2, "E0320")}), "E0320") << "the call is written";
}

TEST_F(TypingTest, KeepsWhatWasSaidBefore) {
  EXPECT_EQ(shown({diagnostic(3, "E0312"), diagnostic(2, "E0201")}), "E0312 E0201");
  type("let a = x", " + y");
  // The line itself is another now.
  EXPECT_EQ(shown({diagnostic(3, "E0312"), diagnostic(2, "E0201")}), "E0312");
  EXPECT_EQ(shown({diagnostic(2, "E0201")}), "");
}

TEST_F(TypingTest, InformationsAreNotAgainstTheText) {
  type("let a = x", " + 1.0");
  EXPECT_EQ(shown({diagnostic(2, "ptl.advice", 3), diagnostic(2, "W1201", 2)}), "ptl.advice");
}

TEST_F(TypingTest, SaysEverythingAfterOtherChanges) {
  type("let a = x", " + unk");
  EXPECT_EQ(shown({diagnostic(2, "E0201")}), "");
  type("let a = x", "\n\n\n\n");
  EXPECT_EQ(shown({diagnostic(2, "E0201")}), "E0201");
  type("let a = x", " + 1.0");
  typing_.forget();
  EXPECT_EQ(shown({diagnostic(2, "E0201")}), "E0201");
}

TEST_F(TypingTest, SaysWhatIsWrongWithAFileThatWasLeft) {
  type("let a = x", " + unk");
  EXPECT_EQ(shown({diagnostic(2, "E0201")}), "");
  ide::File *first = file_;
  file_ = &workspace_.open("/b.ptl", kKernel, 1);
  type("let a = x", " +");
  EXPECT_EQ(shown({diagnostic(2, "E0108")}), "");
  file_ = first;
  EXPECT_EQ(shown({diagnostic(2, "E0201"), diagnostic(3, "E0300")}), "E0201");
  typing_.closed("/b.ptl");
  EXPECT_EQ(shown({diagnostic(2, "E0201"), diagnostic(3, "E0300")}), "E0201 E0300");
}

} // namespace typing_test
} // namespace ptl::lsp

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
  /// Deletes the first letter of the first `piece`.
  void take(const std::string &piece) {
    auto at = static_cast<uint32_t>(file_->document.text().find(piece));
    typing_.begin(*file_, {at, at + 1}, "");
    workspace_.edit(*file_, {at, at + 1}, "");
    typing_.end(*file_, {at, at + 1}, "");
  }
  static PlacedFinding diagnostic(uint32_t line, const std::string &code, int severity = 1,
                                  const std::string &message = "") {
    auto finding = std::make_shared<Finding>();
    finding->text.position(0, 0);
    finding->severity = severity;
    finding->code = code;
    finding->message = message;
    finding->hash = std::hash<std::string>()(code + message);
    return {finding, line};
  }
  /// The codes that are said of these.
  std::string shown(const std::vector<PlacedFinding> &found) {
    std::string codes;
    for (const PlacedFinding &each : typing_.shown(*file_, found))
      codes += (codes.empty() ? "" : " ") + each->code;
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
    return diagnostic(2, "E0201", 1, "unknown name `" + word + "`");
  };
  type("let a = x", " + ma");
  EXPECT_EQ(shown({unknown("ma")}), "") << "it may become `max`";
  type("+ ma", "q");
  EXPECT_EQ(shown({unknown("maq")}), "E0201");
  EXPECT_EQ(shown({diagnostic(2, "E0312")}), "") << "anything else waits";
  type("+ maq", "\n    let b = exp");
  PlacedFinding exp = unknown("exp");
  exp.origin = 3;
  EXPECT_EQ(shown({exp}), "") << "its bracket may follow";
  type("let b = exp", "(axq");
  PlacedFinding argument = unknown("axq");
  argument.origin = 3;
  EXPECT_EQ(shown({argument}), "") << "it may be the name of an argument";
  type("y[:] = ", "exp");
  PlacedFinding before = unknown("expa");
  before.origin = 4;
  EXPECT_EQ(shown({before}), "") << "it may be parted from the word behind it";
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

TEST_F(TypingTest, AnOperatorAtTheEndHoldsLinesTogether) {
  type("let a = x", " +");
  type("let a = x +", "\n        ");
  EXPECT_EQ(shown({diagnostic(2, "E0108")}), "");
  type("let a = x +\n        ", "x");
  EXPECT_EQ(shown({diagnostic(2, "E0302")}), "");
  type("let a = x +\n        x", "\n    ");
  EXPECT_EQ(shown({diagnostic(2, "E0302")}), "E0302") << "the statement is written";
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
  typing_.forget();
  EXPECT_EQ(shown({diagnostic(2, "E0201")}), "E0201");
}

TEST_F(TypingTest, WhatIsPastedWaitsToo) {
  type("let a = x", "\n    let b = unk\n    let c = b\n    let d = c");
  EXPECT_EQ(shown({diagnostic(3, "E0201")}), "");
  type("let a = x", " ");
  EXPECT_EQ(shown({diagnostic(3, "E0201")}), "E0201") << "the pasted lines were left";
}

TEST_F(TypingTest, WhatAnEditMakesWrongElsewhereWaits) {
  // The declaration of `a` gets another name, and its use is wrong until it gets it, too.
  type("let a", "_b");
  EXPECT_EQ(shown({diagnostic(3, "E0201")}), "");
  type("y[:]", " ");
  EXPECT_EQ(shown({diagnostic(3, "E0201")}), "");
  type("let a_b = x", " ");
  EXPECT_EQ(shown({diagnostic(3, "E0201")}), "E0201") << "its line was left";
}

TEST_F(TypingTest, WhoGoesToAnErrorKnowsOfIt) {
  type("kernel k", "_b");
  EXPECT_EQ(shown({diagnostic(7, "E0202"), diagnostic(8, "E0202"), diagnostic(3, "E0312")}), "");
  // The use of the old name is mended; others are said to be wrong when something else is done.
  type("return x", "y");
  EXPECT_EQ(shown({diagnostic(8, "E0202"), diagnostic(3, "E0312")}), "E0312");
}

TEST_F(TypingTest, WhoMendsOneUseOfANameKnowsOfTheOthers) {
  type("kernel k", "_b");
  PlacedFinding call = diagnostic(3, "E0202", 1, "unknown function `k`"),
                schedule = diagnostic(7, "E0706", 1, "no kernel, program or `fn` is named `k`");
  schedule.origin = 7;
  EXPECT_EQ(shown({call, schedule}), "");
  type("return x", "y");
  EXPECT_EQ(shown({call}), "") << "its turn comes behind the schedule's";
}

TEST_F(TypingTest, WhoRenamesInACommentKnowsOfTheName) {
  file_ = &workspace_.open("/c.ptl", kKernel + "\n// As k does.\nfn g() -> int { return 1 }\n", 1);
  shown({});
  type("kernel k", "_b");
  PlacedFinding call = diagnostic(7, "E0202", 1, "unknown function `k`");
  EXPECT_EQ(shown({call}), "");
  type("// As k", "_b");
  EXPECT_EQ(shown({call}), "");
  type("let a = x", " ");
  EXPECT_EQ(shown({call}), "E0202");
}

TEST_F(TypingTest, ABrokenStatementHidesNoErrorOfAnother) {
  type("let a = x", " + unk");
  EXPECT_EQ(shown({diagnostic(2, "E0201")}), "");
  type("y[:] = a", " +");
  // The check stops at the syntax.
  EXPECT_EQ(shown({diagnostic(3, "E0108")}), "E0201");
  type("y[:] = a +", " (");
  EXPECT_EQ(shown({diagnostic(3, "E0108")}), "E0201");
  type("y[:] = a + (", "a)");
  EXPECT_EQ(shown({}), "") << "it was mended by the other statement";
  type("y[:] = a + (a)", " +");
  EXPECT_EQ(shown({diagnostic(3, "E0108")}), "");
}

TEST_F(TypingTest, SaysTheSyntaxOfALineThatWasLeft) {
  type("let a = x", " x");
  EXPECT_EQ(shown({diagnostic(2, "E0112")}), "");
  type("y[:] = a", " ");
  EXPECT_EQ(shown({diagnostic(2, "E0112"), diagnostic(0, "E0129")}), "E0112");
  // With an open bracket, nobody knows where the declaration is broken.
  type("y[:] = a ", "+ (");
  EXPECT_EQ(shown({diagnostic(2, "E0112"), diagnostic(3, "E0108")}), "E0112");
  type("let a = x x", " x");
  EXPECT_EQ(shown({diagnostic(2, "E0112"), diagnostic(3, "E0108")}), "");
}

TEST_F(TypingTest, WhoGoesToADeclarationKnowsOfItsErrors) {
  type("kernel k", "_b");
  EXPECT_EQ(shown({diagnostic(8, "E0202"), diagnostic(3, "E0312")}), "");
  type("fn f", "_b");
  EXPECT_EQ(shown({diagnostic(8, "E0202"), diagnostic(3, "E0312")}), "E0312");
}

TEST_F(TypingTest, ADeclarationWithoutItsBracketGoesOn) {
  take("{\n    return");
  EXPECT_EQ(shown({diagnostic(6, "E0107"), diagnostic(7, "E0111")}), "");
  type("return x", "y");
  EXPECT_EQ(shown({diagnostic(6, "E0107"), diagnostic(7, "E0111")}), "");
  type("let a = x", " ");
  EXPECT_EQ(shown({diagnostic(6, "E0107"), diagnostic(7, "E0111")}), "E0107 E0111");
}

TEST_F(TypingTest, WhatIsHiddenMovesWithItsLine) {
  type("y[:] = a", " + unk");
  EXPECT_EQ(shown({diagnostic(3, "E0201")}), "");
  type("let a = x", "\n    let b");
  std::vector<PlacedFinding> list = typing_.shown(*file_, {diagnostic(3, "E0105")});
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].line(), 4u);
  EXPECT_EQ(json::parse(list[0].text())["line"], 4);
  type("y[:] = a + unk", " +");
  EXPECT_EQ(shown({diagnostic(3, "E0105")}), "E0105") << "the other one's own line is written";
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

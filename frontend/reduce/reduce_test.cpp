#include "frontend/reduce/search.h"
#include "frontend/reduce/smaller.h"

#include <gtest/gtest.h>
#include <set>

namespace ptl {
namespace {

struct Forms {
  std::string text;
  std::vector<Rewrite> rewrites;
  explicit Forms(const std::string &text) : text(text), rewrites(smallerForms(text)) {}
  size_t size() const { return rewrites.size(); }
  std::string make(size_t index) const { return rewritten(text, rewrites[index]); }
};

std::set<std::string> formsOf(const std::string &text) {
  Forms forms(text);
  std::set<std::string> made;
  for (size_t i = 0; i < forms.size(); ++i)
    made.insert(forms.make(i));
  return made;
}

/// The smallest text that contains all words.
std::string reduced(const std::string &text, const std::vector<std::string> &words,
                    size_t atOnce = 3) {
  return smallestAccepted(
      text, atOnce, [](const std::string &each) { return Forms(each); },
      [&](const std::vector<std::string> &batch) {
        std::vector<bool> accepted;
        for (const std::string &each : batch)
          accepted.push_back(std::ranges::all_of(
              words, [&](const std::string &word) { return each.find(word) != each.npos; }));
        return accepted;
      });
}

TEST(Reduce, EditsAreAppliedInTheOrderOfTheText) {
  EXPECT_EQ(rewritten("one two three", {{0, 3, "1"}, {8, 13, ""}}), "1 two ");
  EXPECT_EQ(rewritten("same", {}), "same");
}

TEST(Reduce, LeavesOutDeclarationsStatementsAndParameters) {
  std::set<std::string> made =
      formsOf("fn f(a: f32, b: f32) -> f32 {\n    let c = a\n    return b\n}\nfn g() {}\n");
  EXPECT_TRUE(made.contains("fn f(a: f32, b: f32) -> f32 {\n    let c = a\n    return b\n}\n\n"));
  EXPECT_TRUE(made.contains("fn f(a: f32, b: f32) -> f32 {\n    \n    return b\n}\nfn g() {}\n"));
  EXPECT_TRUE(made.contains("fn f(a: f32) -> f32 {\n    let c = a\n    return b\n}\nfn g() {}\n"));
}

TEST(Reduce, LeavesOutResultsWithWhatWritesThem) {
  std::set<std::string> made =
      formsOf("program p(x: f32[4]) -> (y: f32[4], z: f32[4]) {\n    y = x\n    z[0] = 1.0\n}\n");
  EXPECT_TRUE(made.contains("program p(x: f32[4]) -> (y: f32[4]) {\n    y = x\n    \n}\n"))
      << *made.begin();
}

TEST(Reduce, OpensEachStatementWithABody) {
  for (std::string head : {"for i in 0..4 pipeline 2", "parallel i in tiles(N, 4)", "while n < 4",
                           "if n < 4", "task t", "on aiv"}) {
    std::string start = "kernel k[N](n: int) -> (y: f32[N]) {\n    ", end = "\n}\n";
    EXPECT_TRUE(
        formsOf(start + head + " { y[0] = 1.0 }" + end).contains(start + " y[0] = 1.0 " + end))
        << head;
  }
  EXPECT_TRUE(formsOf("fn f() {\n    for i in 0..4 pipeline 2 { g(i) }\n}\n")
                  .contains("fn f() {\n    for i in 0..4 { g(i) }\n}\n"));
}

TEST(Reduce, LooksAtEveryFormOfTheLanguage) {
  // What nothing can be made of is left alone.
  for (const char *text : {"kernel k() { for }", "fn f(", "kernel k[N]() where { if }",
                           "let (a, b) = ", "x[:, 0:]", "program p() -> ("})
    smallerForms(text);
}

TEST(Reduce, PutsTheValueOfALetInPlaceOfItsName) {
  std::set<std::string> made =
      formsOf("fn f(a: f32) -> f32 {\n    let c = a + 1.0\n    return c * 2.0\n}\n");
  EXPECT_TRUE(
      made.contains("fn f(a: f32) -> f32 {\n    let c = a + 1.0\n    return (a + 1.0) * 2.0\n}\n"));
}

TEST(Reduce, FindsWhatIsLookedFor) {
  std::string text = "// A comment.\nfn other(x: f32) -> f32 {\n    return x\n}\n"
                     "fn f(a: f32, n: int) -> f32 {\n    let b = a * 3.0\n"
                     "    let c = exp(b + 1.0)\n    return c - 256.0\n}\n";
  std::string found = reduced(text, {"exp("});
  EXPECT_NE(found.find("exp("), found.npos);
  EXPECT_LT(found.size(), 60u) << found;
  EXPECT_EQ(found.find("other"), found.npos);
  // However many are judged at once, nothing that is left can be left out.
  for (size_t atOnce : {1u, 2u, 64u})
    for (const std::string &smaller : formsOf(reduced(text, {"exp("}, atOnce)))
      EXPECT_EQ(smaller.find("exp("), smaller.npos) << smaller;
}

TEST(Reduce, ShortensWhatDoesNotParse) {
  std::string text = "fn a() {}\n) ( ]\nstruct S { x: f32 }\nlet @@ crash here\nfn b() {}\n";
  std::string found = reduced(text, {"crash"});
  EXPECT_NE(found.find("crash"), found.npos);
  EXPECT_LT(found.size(), 12u) << found;
}

TEST(Reduce, AnEmptyAnswerEndsTheSearch) {
  int asked = 0;
  std::string found = smallestAccepted(
      std::string("fn a() {}\nfn b() {}\n"), 1, [](const std::string &each) { return Forms(each); },
      [&](const std::vector<std::string> &batch) {
        return ++asked > 2 ? std::vector<bool>() : std::vector<bool>(batch.size(), asked == 2);
      });
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(found, "\nfn b() {}\n");
}

TEST(Reduce, TheEmptyTextHasNoSmallerForm) { EXPECT_TRUE(smallerForms("").empty()); }

} // namespace
} // namespace ptl

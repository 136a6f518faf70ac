// The corpus of the grammar, in the format of tree-sitter's own runner: texts and their trees.
#include "tests/tree_sitter/grammar.h"
#include "tests/tree_sitter/sources.h"

#include <gtest/gtest.h>

namespace ptl::sitter {
namespace {

/// One space between all parts, names of fields removed.
std::string normalised(std::string_view tree) {
  std::string result;
  size_t at = 0;
  while (at < tree.size()) {
    size_t end = at;
    while (end < tree.size() && !isspace(tree[end]) && tree[end] != '(' && tree[end] != ')')
      ++end;
    std::string_view word = tree.substr(at, end - at);
    if (!word.empty() && word.back() != ':') {
      bool joined = result.empty() || result.back() == '(';
      result += (joined ? "" : " ") + std::string(word);
    }
    if (end < tree.size() && tree[end] == '(')
      result += result.empty() || result.back() == '(' ? "(" : " (";
    if (end < tree.size() && tree[end] == ')')
      result += ")";
    at = end + 1;
  }
  return result;
}

TEST(Corpus, HasTheTreesThatItSays) {
  Grammar grammar;
  ASSERT_TRUE(grammar.usable());
  std::vector<CorpusCase> cases = readCorpus(PTL_ROOT "/editors/tree-sitter-ptl/test/corpus");
  ASSERT_GT(cases.size(), 30u);
  for (const CorpusCase &each : cases) {
    SitterTree tree = grammar.parse(each.text);
    EXPECT_EQ(normalised(expression(tree.get())), normalised(each.tree)) << each.title;
    EXPECT_FALSE(ts_node_has_error(ts_tree_root_node(tree.get()))) << each.title;
  }
}

TSPoint pointAt(const std::string &text, size_t offset) {
  TSPoint point{0, 0};
  for (size_t i = 0; i < offset; ++i) {
    ++point.column;
    if (text[i] == '\n')
      point = {point.row + 1, 0};
  }
  return point;
}

/// The text is `text` with some of its middle replaced by that of `changed`.
TSInputEdit editBetween(const std::string &text, const std::string &changed) {
  size_t begin = 0, end = 0;
  size_t shorter = std::min(text.size(), changed.size());
  while (begin < shorter && text[begin] == changed[begin])
    ++begin;
  while (end < shorter - begin && text[text.size() - 1 - end] == changed[changed.size() - 1 - end])
    ++end;
  size_t oldEnd = text.size() - end, newEnd = changed.size() - end;
  return {static_cast<uint32_t>(begin),  static_cast<uint32_t>(oldEnd),
          static_cast<uint32_t>(newEnd), pointAt(text, begin),
          pointAt(text, oldEnd),         pointAt(changed, newEnd)};
}

TEST(Incremental, EqualsAFreshParse) {
  Grammar grammar;
  std::vector<SourceText> pieces = splitIntoDeclarations(collectSources(PTL_ROOT));
  size_t compared = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    auto any = [&]() -> const std::string & {
      return pieces[dice.below(static_cast<uint32_t>(pieces.size()))].text;
    };
    std::string text = any() + any();
    SitterTree tree = grammar.parse(text);
    for (int i = 0; i < 10; ++i) {
      // Every other edit takes the one before back, so that most texts are right.
      std::string changed = mutate(text, any(), dice);
      for (bool back : {false, true}) {
        const std::string &before = back ? changed : text;
        const std::string &next = back ? text : changed;
        TSInputEdit edit = editBetween(before, next);
        ts_tree_edit(tree.get(), &edit);
        tree = grammar.parseAgain(tree.get(), next);
        SitterTree fresh = grammar.parse(next);
        bool good = !ts_node_has_error(ts_tree_root_node(fresh.get()));
        EXPECT_EQ(good, !ts_node_has_error(ts_tree_root_node(tree.get())))
            << before << "->" << next;
        if (good) {
          EXPECT_EQ(expression(tree.get()), expression(fresh.get())) << before << "->" << next;
        }
        compared += good;
      }
    }
  }
  EXPECT_GT(compared, 1000u);
}

} // namespace
} // namespace ptl::sitter

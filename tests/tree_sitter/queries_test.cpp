// The queries fit the grammar, and each of their patterns finds something in the sources.
#include "tests/tree_sitter/grammar.h"
#include "tests/tree_sitter/sources.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace ptl::sitter {
namespace {

using Query = std::unique_ptr<TSQuery, void (*)(TSQuery *)>;
using Cursor = std::unique_ptr<TSQueryCursor, void (*)(TSQueryCursor *)>;

Query compiled(const std::string &text, const std::string &name) {
  uint32_t offset = 0;
  TSQueryError error = TSQueryErrorNone;
  TSQuery *query = ts_query_new(tree_sitter_ptl(), text.data(), static_cast<uint32_t>(text.size()),
                                &offset, &error);
  EXPECT_NE(query, nullptr) << name << ": error " << error << " at " << text.substr(offset, 80);
  return {query, ts_query_delete};
}

/// Calls `each(match)` for all matches in a tree.
template <typename Each> void forMatches(const TSQuery *query, const TSTree *tree, Each each) {
  Cursor cursor(ts_query_cursor_new(), ts_query_cursor_delete);
  ts_query_cursor_exec(cursor.get(), query, ts_tree_root_node(tree));
  TSQueryMatch match;
  while (ts_query_cursor_next_match(cursor.get(), &match))
    each(match);
}

const char *const kQueries[] = {"highlights", "folds", "indents", "locals", "tags", "injections"};

std::string queryPath(const std::string &name) {
  return PTL_ROOT "/editors/tree-sitter-ptl/queries/" + name + ".scm";
}

TEST(Queries, FindSomethingWithEachPattern) {
  Grammar grammar;
  std::vector<SourceText> sources = collectSources(PTL_ROOT);
  // A mistake, for patterns that look for one.
  sources.push_back({"", "fn f( { let }\n"});
  for (const char *name : kQueries) {
    std::string text = readText(queryPath(name));
    Query query = compiled(text, name);
    ASSERT_NE(query, nullptr);
    std::set<uint16_t> unmatched;
    for (uint32_t i = 0; i < ts_query_pattern_count(query.get()); ++i)
      unmatched.insert(static_cast<uint16_t>(i));
    for (const SourceText &source : sources)
      forMatches(query.get(), grammar.parse(source.text).get(),
                 [&](const TSQueryMatch &match) { unmatched.erase(match.pattern_index); });
    for (uint16_t pattern : unmatched) {
      uint32_t at = ts_query_start_byte_for_pattern(query.get(), pattern);
      ADD_FAILURE() << name << ".scm: nothing matches "
                    << text.substr(at, text.find('\n', at) - at);
    }
  }
}

/// The last pattern that captures a word decides on its colour. The built-in names are those of the
/// query's list; other predicates do not occur.
std::map<std::string, std::string> colours(const std::string &source) {
  std::string text = readText(queryPath("highlights"));
  Query query = compiled(text, "highlights");
  SitterTree tree = Grammar().parse(source);
  std::map<std::string, std::pair<uint16_t, std::string>> found;
  forMatches(query.get(), tree.get(), [&](const TSQueryMatch &match) {
    for (uint16_t i = 0; i < match.capture_count; ++i) {
      const TSQueryCapture &capture = match.captures[i];
      uint32_t length = 0;
      const char *name = ts_query_capture_name_for_id(query.get(), capture.index, &length);
      uint32_t begin = ts_node_start_byte(capture.node);
      std::string word = source.substr(begin, ts_node_end_byte(capture.node) - begin);
      std::string colour(name, length);
      bool listed = text.find(" \"" + word + "\"") != std::string::npos;
      if (colour == "function.builtin" && !listed)
        continue;
      auto &best = found[word];
      if (best.second.empty() || match.pattern_index >= best.first)
        best = {match.pattern_index, colour};
    }
  });
  std::map<std::string, std::string> result;
  for (const auto &[word, colour] : found)
    result[word] = colour.second;
  return result;
}

TEST(Queries, ColourTheWords) {
  auto colour = colours("import std.nn\n/// Doc\nkernel k[N](x: f32[N] @vec) -> (y: T[N])\n"
                        "tune B = 64\n{\n    parallel i in tiles(N, B) as outer {\n"
                        "        y[i] = exp(own(x[i])) @ nn.silu(1.5)  // line\n    }\n}\n");
  const std::pair<const char *, const char *> expected[] = {
      {"import", "keyword.import"},
      {"std", "module"},
      {"/// Doc", "comment.documentation"},
      {"kernel", "keyword.function"},
      {"k", "function"},
      {"f32", "type.builtin"},
      {"vec", "attribute"},
      {"T", "type"},
      {"tune", "keyword"},
      {"64", "number"},
      {"parallel", "keyword.repeat"},
      {"in", "keyword.repeat"},
      {"outer", "label"},
      {"exp", "function.builtin"},
      {"own", "function.call"},
      {"silu", "function.method.call"},
      {"1.5", "number.float"},
      {"@", "operator"},
      {"// line", "comment"},
      {"{", "punctuation.bracket"},
  };
  for (const auto &[word, wanted] : expected)
    EXPECT_EQ(colour[word], wanted) << word;
}

} // namespace
} // namespace ptl::sitter

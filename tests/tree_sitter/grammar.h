// The tree-sitter grammar as the tests use it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tree_sitter/api.h>

extern "C" const TSLanguage *tree_sitter_ptl(void);

namespace ptl::sitter {

using SitterTree = std::unique_ptr<TSTree, void (*)(TSTree *)>;

/// One parser; for one thread.
class Grammar {
public:
  Grammar() : parser_(ts_parser_new(), ts_parser_delete) {
    usable_ = ts_parser_set_language(parser_.get(), tree_sitter_ptl());
  }
  /// False if the generated parser does not fit the library.
  bool usable() const { return usable_; }
  SitterTree parse(std::string_view text) {
    return {ts_parser_parse_string(parser_.get(), nullptr, text.data(),
                                   static_cast<uint32_t>(text.size())),
            ts_tree_delete};
  }
  /// Parses again after an edit of the text of `old`; the caller has entered the edit in `old`.
  SitterTree parseAgain(const TSTree *old, std::string_view text) {
    return {
        ts_parser_parse_string(parser_.get(), old, text.data(), static_cast<uint32_t>(text.size())),
        ts_tree_delete};
  }
  /// No part of the text is wrong or missing.
  bool accepts(std::string_view text) {
    return !ts_node_has_error(ts_tree_root_node(parse(text).get()));
  }

private:
  std::unique_ptr<TSParser, void (*)(TSParser *)> parser_;
  bool usable_ = false;
};

/// The tree as an S-expression with the names of fields.
inline std::string expression(const TSTree *tree) {
  char *text = ts_node_string(ts_tree_root_node(tree));
  std::string result(text);
  free(text);
  return result;
}

} // namespace ptl::sitter

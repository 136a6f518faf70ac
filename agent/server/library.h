// What an agent can read: the documents, the pages of diagnostics, examples, the library, machine files and
// schemas, which are all part of the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ptl::agent {

struct LibraryPage {
  std::string uri;         ///< `ptl://docs/language.md`
  std::string name;        ///< `language.md`
  std::string description; ///< its first heading or comment
  std::string type;        ///< `text/markdown`
  std::string_view text;
};

/// All pages, in order of their addresses.
const std::vector<LibraryPage> &libraryPages();
/// Null if there is none at that address.
const LibraryPage *libraryPage(std::string_view uri);

/// A part of a page that is about what was asked for.
struct FoundPart {
  const LibraryPage *page;
  std::string title; ///< of the section, or of the page
  size_t line = 1;   ///< where it begins
  size_t byte = 0, bytes = 0;
  std::string excerpt;
  double score = 0;
};

/// The parts of pages whose address begins with one of `where` that have most of the words, the best first.
std::vector<FoundPart> searchLibrary(std::string_view query, const std::vector<std::string> &where,
                                     size_t most);

} // namespace ptl::agent

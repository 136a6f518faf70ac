// The pages that an agent can read: documents, explanations of diagnostics, examples, the library,
// machine files and schemas. All of them are embedded in the program.
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
/// The page at an address; null if there is none.
const LibraryPage *libraryPage(std::string_view uri);

/// A part of a page that matches a search.
struct FoundPart {
  const LibraryPage *page;
  std::string title; ///< of the section, or of the page
  size_t line = 1;   ///< where it begins
  size_t byte = 0, bytes = 0;
  std::string excerpt;
  double score = 0;
};

/// Searches the pages whose address begins with one of `where`. Returns the parts that contain most
/// words of the query, the best first.
std::vector<FoundPart> searchLibrary(std::string_view query, const std::vector<std::string> &where,
                                     size_t most);

} // namespace ptl::agent

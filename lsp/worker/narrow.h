// A file with nothing in it but what one declaration needs, so that checking it takes as long as
// the declaration is and not as long as the file.
#pragma once

#include "lsp/ide/document.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ptl::worker {

/// Remembers the texts that it has seen: of one that comes again, a little changed, only what
/// changed is parsed.
class Narrower {
public:
  /// `text` with spaces for the declarations that are neither the wanted ones, nor named by these,
  /// directly or not, nor by blocks that name them. All else keeps its place. The wanted ones have
  /// the name `entry` (a test: its text), or hold the byte `offset`.
  std::string narrowed(const std::string &path, std::string text, const std::string &entry,
                       std::optional<uint32_t> offset);

private:
  struct Seen {
    std::string text;
    ide::Document document;
  };
  const ide::Document &documentOf(const std::string &path, const std::string &text);

  std::map<std::string, Seen> seen_;
  FileId nextId_ = 0;
};

} // namespace ptl::worker

// Reduces a file to the declarations that one declaration depends on, so that the time of a check
// depends on the declaration and not on the file.
#pragma once

#include "lsp/ide/document.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ptl::worker {

/// Caches the texts that it has seen. When a text comes again with a small change, only the change
/// is parsed.
class Narrower {
public:
  /// `text` with blanks in place of the declarations that are not needed. Needed are the wanted
  /// declarations, their direct and indirect dependencies, and the blocks that mention them.
  /// Everything else keeps its place. The wanted declarations have the name `entry` (a test: its
  /// text), or contain the byte `offset`.
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

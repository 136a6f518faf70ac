// Annotated sources for tests: `$0` is the cursor, `«…»` are the expected ranges. A line `//-
// /b.ptl` begins another file; the first is `/a.ptl`.
#pragma once

#include "lsp/ide/test_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ptl::ide {

struct Marked {
  struct Text {
    std::string path;
    std::string text;
    std::vector<Range> marks;
  };
  std::vector<Text> files;
  size_t cursorFile = 0;
  uint32_t cursor = 0;
};

inline void readMarks(Marked &marked, std::string_view source) {
  Marked::Text &file = marked.files.back();
  constexpr std::string_view open = "«", close = "»";
  std::vector<uint32_t> begins;
  while (!source.empty()) {
    auto at = static_cast<uint32_t>(file.text.size());
    if (source.starts_with("$0")) {
      marked.cursorFile = marked.files.size() - 1;
      marked.cursor = at;
      source.remove_prefix(2);
    } else if (source.starts_with(open)) {
      begins.push_back(at);
      source.remove_prefix(open.size());
    } else if (source.starts_with(close)) {
      file.marks.push_back({begins.back(), at});
      begins.pop_back();
      source.remove_prefix(close.size());
    } else {
      file.text += source[0];
      source.remove_prefix(1);
    }
  }
}

inline Marked readMarked(std::string_view source) {
  Marked marked;
  std::string path = "/a.ptl";
  while (true) {
    size_t next = source.find("//- ");
    marked.files.push_back({path, "", {}});
    readMarks(marked, source.substr(0, next));
    if (next == source.npos)
      return marked;
    source.remove_prefix(next + 4);
    size_t end = source.find('\n');
    path = source.substr(0, end);
    source.remove_prefix(end + 1);
  }
}

/// A workspace in which the files are open.
struct Opened {
  explicit Opened(const Marked &marked) : workspace(testOptions()) {
    // Imported files first.
    for (size_t i = marked.files.size(); i-- > 0;)
      workspace.open(marked.files[i].path, marked.files[i].text, 1);
  }
  File &file(const Marked &marked) { return *workspace.find(marked.files[marked.cursorFile].path); }
  Workspace workspace;
};

} // namespace ptl::ide

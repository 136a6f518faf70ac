// Source positions. A position is a byte offset into one file; lines and columns are computed on
// demand.
#pragma once

#include <cstdint>

namespace ptl {

/// Index of a file in a `SourceManager`.
using FileId = uint32_t;

/// The file of spans without a location: problems of the command line or of the machine.
inline constexpr FileId kNoFile = ~FileId(0);

/// A half-open byte range `[begin, end)` of one source file.
struct Span {
  FileId file = 0;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool operator==(const Span &) const = default;
  bool contains(uint32_t offset) const { return begin <= offset && offset < end; }
};

/// The span of something without a source location.
inline constexpr Span kNoSpan = {kNoFile, 0, 0};

/// The smallest span that covers both. Both must lie in the same file.
inline Span join(Span a, Span b) {
  return {a.file, a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

} // namespace ptl

// Source files: text, path and line table. Files never change once added; an edit adds a new one.
#pragma once

#include "frontend/base/span.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

/// A source location for people: both numbers are 1-based; `column` counts bytes.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;
};

/// One immutable source text.
class SourceFile {
public:
  SourceFile(FileId id, std::string path, std::string text);

  FileId id() const { return id_; }
  /// Path as the user wrote it; `<stdin>` and `<test>` are legal.
  const std::string &path() const { return path_; }
  std::string_view text() const { return text_; }
  /// Number of lines, at least 1.
  uint32_t lineCount() const { return static_cast<uint32_t>(lineStarts_.size()); }
  /// Text of a 1-based line without its line end.
  std::string_view line(uint32_t line) const;
  /// Byte offset at which the 1-based line starts.
  uint32_t lineStart(uint32_t line) const { return lineStarts_[line - 1]; }
  LineColumn lineColumn(uint32_t offset) const;

private:
  FileId id_;
  std::string path_;
  std::string text_;
  std::vector<uint32_t> lineStarts_;
};

/// Owns all source files of one compilation.
class SourceManager {
public:
  /// Adds a text under a path and returns its id.
  FileId add(std::string path, std::string text);
  /// Reads a file. If it cannot be read, returns nothing, with the reason in words in `error`.
  std::optional<FileId> load(const std::string &path, std::string *error);
  const SourceFile &file(FileId id) const { return *files_[id]; }
  std::string_view text(Span span) const {
    return file(span.file).text().substr(span.begin, span.end - span.begin);
  }
  /// The location at which a span begins, as `FILE:LINE:COLUMN`; empty if it is in no file.
  std::string place(Span span) const;
  size_t size() const { return files_.size(); }

private:
  std::vector<std::unique_ptr<SourceFile>> files_;
};

} // namespace ptl

#include "frontend/base/source.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ptl {

SourceFile::SourceFile(FileId id, std::string path, std::string text)
    : id_(id), path_(std::move(path)), text_(std::move(text)) {
  lineStarts_.push_back(0);
  for (uint32_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n')
      lineStarts_.push_back(i + 1);
}

std::string_view SourceFile::line(uint32_t line) const {
  uint32_t begin = lineStarts_[line - 1];
  uint32_t end = line < lineCount() ? lineStarts_[line] - 1 : static_cast<uint32_t>(text_.size());
  if (end > begin && text_[end - 1] == '\r')
    --end;
  return std::string_view(text_).substr(begin, end - begin);
}

LineColumn SourceFile::lineColumn(uint32_t offset) const {
  auto it = std::upper_bound(lineStarts_.begin(), lineStarts_.end(), offset);
  auto line = static_cast<uint32_t>(it - lineStarts_.begin());
  return {line, offset - lineStarts_[line - 1] + 1};
}

FileId SourceManager::add(std::string path, std::string text) {
  auto id = static_cast<FileId>(files_.size());
  files_.push_back(std::make_unique<SourceFile>(id, std::move(path), std::move(text)));
  return id;
}

/// The largest file that is read; offsets are 32 bits wide.
static constexpr size_t kMaxSourceBytes = size_t(1) << 30;

/// Reads a whole file; false, with `errno` set, if that fails.
static bool readFile(std::FILE *in, std::string &text) {
  char buffer[1 << 16];
  while (size_t count = std::fread(buffer, 1, sizeof buffer, in)) {
    text.append(buffer, count);
    if (text.size() > kMaxSourceBytes) {
      errno = EFBIG;
      return false;
    }
  }
  return !std::ferror(in);
}

std::string SourceManager::place(Span span) const {
  if (span.file >= size())
    return "";
  LineColumn begin = file(span.file).lineColumn(span.begin);
  return file(span.file).path() + ":" + std::to_string(begin.line) + ":" +
         std::to_string(begin.column);
}

std::optional<FileId> SourceManager::load(const std::string &path, std::string *error) {
  std::FILE *in = std::fopen(path.c_str(), "rb");
  std::string text;
  bool fine = in && readFile(in, text);
  if (!fine && error)
    *error = std::strerror(errno);
  if (in)
    std::fclose(in);
  return fine ? std::optional(add(path, std::move(text))) : std::nullopt;
}

} // namespace ptl

// The text of a file as a list of chunks. An edit reparses only the chunks that it touches. Copies
// are cheap and share their chunks.
#pragma once

#include "lsp/ide/chunk.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptl::ide {

/// A position: line and byte in the line, both from 0.
struct LineByte {
  uint32_t line = 0;
  uint32_t byte = 0;
  bool operator==(const LineByte &) const = default;
};

/// The position of a byte in a text that stands alone.
inline LineByte lineByteOf(const SourceFile &file, uint32_t offset) {
  LineColumn at = file.lineColumn(offset);
  return {at.line - 1, at.column - 1};
}

/// A chunk at its place in the document, with the result of its check. The frequently used members
/// of the chunk are repeated here, so that iterating over all places does not touch the chunks.
struct Place {
  Place(std::shared_ptr<const Chunk> chunk, FileId id)
      : chunk(std::move(chunk)), id(id), reach(this->chunk->reach),
        isQuiet(this->chunk->syntax.all().empty()) {}

  std::shared_ptr<const Chunk> chunk;
  uint32_t begin = 0;                      ///< byte in the document
  uint32_t line = 0;                       ///< first line in the document, from 0
  std::shared_ptr<const ChunkCheck> check; ///< of this chunk; null: not checked yet
  bool isStale = true; ///< `check` is missing, or one of its dependencies has changed
  /// `isStale` only because a dependency must be checked first: the check may still hold.
  bool isDoubtful = false;
  FileId id = 0;       ///< of the chunk
  uint32_t reach = 0;  ///< of the chunk
  bool isQuiet = true; ///< the chunk has no diagnostics, as far as it has been checked
};

/// A range of bytes of a document.
struct Range {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool operator==(const Range &) const = default;
  bool contains(uint32_t offset) const { return begin <= offset && offset <= end; }
};

/// The effect of an edit on the list of chunks: those from `first` on are new.
struct DocumentChange {
  size_t first = 0;
  size_t added = 0;
  std::vector<Place> removed;
};

class Document {
public:
  /// `newId` returns file ids for chunks, which are unique among all chunks in use.
  Document(std::string path, std::function<FileId()> newId);

  const std::string &path() const { return path_; }
  /// Never empty.
  std::span<const Place> places() const { return places_; }
  void setCheck(size_t place, std::shared_ptr<const ChunkCheck> check);
  void markStale(size_t place);
  /// The same for a check that may still hold.
  void markDoubtful(size_t place);
  /// Records that the check of a doubtful place still holds.
  void confirm(size_t place);

  /// The number of bytes.
  uint32_t size() const;
  /// At least 1.
  uint32_t lineCount() const;
  std::string text() const { return text({0, size()}); }
  std::string text(Range range) const;
  /// The text of a line (from 0) without its line end; empty behind the last.
  std::string_view lineText(uint32_t line) const;

  /// Offsets and positions beyond the text mean its end.
  LineByte position(uint32_t offset) const;
  uint32_t offset(LineByte position) const;
  /// The chunk that holds a byte. An offset between two chunks belongs to the second.
  size_t placeAt(uint32_t offset) const;
  size_t placeAtLine(uint32_t line) const;
  /// The place of a chunk by its file id; nothing if it is no longer there.
  const Place *placeOf(FileId id) const;
  std::optional<size_t> indexOf(FileId id) const;

  /// Replaces a range of bytes, which is clamped to the text.
  DocumentChange replace(Range range, std::string_view text);

private:
  /// An edit in progress: `text` replaces the places `[first, last]`.
  struct Reparse {
    size_t first = 0;
    size_t last = 0;
    size_t lastEdited = 0; ///< places after it contain none of the edited text
    std::string text;
    std::vector<bool> isTaken; ///< places from `first` on whose id a new chunk has taken over
  };
  /// Parses until an old chunk begins where a new one would begin.
  DocumentChange reparse(Reparse &edit);
  void extend(Reparse &edit) const;
  Place identify(Reparse &edit, std::shared_ptr<const Chunk> chunk, std::string_view rest,
                 TextPart part);
  void exchange(DocumentChange &change, size_t end, std::vector<Place> added);
  void renumber(size_t first, size_t count);

  std::string path_;
  std::function<FileId()> newId_;
  std::vector<Place> places_;
};

} // namespace ptl::ide

#include "runtime/sim/held_writes.h"

namespace ptl::rt::sim {

void HeldWrites::watchPiece(uint8_t *memory, size_t size) {
  watched_.push_back({memory, size, bytes_.size()});
  bytes_.insert(bytes_.end(), memory, memory + size);
}

void HeldWrites::addWhole(uint8_t *memory, size_t size, size_t at) {
  // Pieces that follow each other are joined, which keeps the list short.
  Piece *last = whole_.empty() ? nullptr : &whole_.back();
  if (last && last->memory + last->size == memory && last->at + last->size == at)
    last->size += size;
  else
    whole_.push_back({memory, size, at});
}

void HeldWrites::watch(const Plane &plane, bool whole) {
  auto size = static_cast<size_t>(elemBytes(plane.elem));
  size_t tileAt = bytes_.size();
  if (plane.tile)
    watchPiece(plane.base, static_cast<size_t>(plane.tile->bufferBytes()));
  // The whole buffer of a tile is watched; rows matter only if all of it counts as written.
  if (plane.tile && !whole)
    return;
  for (int64_t row = 0; row < plane.rows; ++row)
    plane.forRuns(row, 0, plane.cols, [&](uint8_t *memory, int64_t stride, int64_t n) {
      // Elements that lie apart are pieces of their own.
      int64_t pieces = stride == 1 ? 1 : n;
      size_t pieceSize = stride == 1 ? static_cast<size_t>(n) * size : size;
      for (int64_t i = 0; i < pieces; ++i) {
        uint8_t *piece = memory + i * stride * static_cast<int64_t>(size);
        size_t at = plane.tile ? tileAt + static_cast<size_t>(piece - plane.base) : bytes_.size();
        if (!plane.tile)
          watchPiece(piece, pieceSize);
        if (whole)
          addWhole(piece, pieceSize, at);
      }
    });
}

void HeldWrites::addChanged(const Piece &piece, const uint8_t *fresh) {
  const uint8_t *old = bytes_.data() + piece.at;
  size_t i = 0;
  while (i < piece.size) {
    // Most memory is unchanged, so it is compared in steps before it is looked at byte by byte.
    size_t step = std::min<size_t>(64, piece.size - i);
    if (std::memcmp(old + i, fresh + i, step) == 0) {
      i += step;
      continue;
    }
    while (old[i] == fresh[i])
      ++i;
    size_t begin = i;
    while (i < piece.size && old[i] != fresh[i])
      ++i;
    written_.push_back({piece.memory + begin, i - begin, fresh_.size()});
    fresh_.insert(fresh_.end(), fresh + begin, fresh + i);
  }
}

void HeldWrites::take() {
  // What is written as a whole counts as written even where the bytes stay the same.
  for (const Piece &piece : whole_) {
    written_.push_back({piece.memory, piece.size, fresh_.size()});
    fresh_.insert(fresh_.end(), piece.memory, piece.memory + piece.size);
    // The old bytes come back, so that the write is not visible yet.
    std::memcpy(piece.memory, bytes_.data() + piece.at, piece.size);
  }
  for (const Piece &piece : watched_)
    addChanged(piece, piece.memory);
  for (const Piece &piece : watched_)
    std::memcpy(piece.memory, bytes_.data() + piece.at, piece.size);
  // The bytes from before are kept too, for hiding the write again.
  old_.resize(fresh_.size());
  for (const Piece &piece : written_)
    std::memcpy(old_.data() + piece.at, piece.memory, piece.size);
  watched_.clear();
  whole_.clear();
  bytes_.clear();
}

void HeldWrites::commit() const {
  for (const Piece &piece : written_)
    std::memcpy(piece.memory, fresh_.data() + piece.at, piece.size);
}

void HeldWrites::hide() {
  hidden_.resize(fresh_.size());
  for (const Piece &piece : written_) {
    std::memcpy(hidden_.data() + piece.at, piece.memory, piece.size);
    // Bytes that something else has written since then stay.
    for (size_t i = 0; i < piece.size; ++i)
      if (piece.memory[i] == fresh_[piece.at + i])
        piece.memory[i] = old_[piece.at + i];
  }
}

/// Pieces may overlap, so the first to be hidden is the last to come back.
void HeldWrites::reveal() const {
  for (auto piece = written_.rbegin(); piece != written_.rend(); ++piece)
    std::memcpy(piece->memory, hidden_.data() + piece->at, piece->size);
}

} // namespace ptl::rt::sim

// Holds back the writes of an instruction until others may see them.
#pragma once

#include "runtime/sim/element.h"

#include <vector>

namespace ptl::rt::sim {

class HeldWrites {
public:
  /// To be called before the instruction, for each memory that it may write. With `whole`, the
  /// whole valid part counts as written, otherwise only bytes that change.
  void watch(const Plane &plane, bool whole);
  /// To be called after the instruction: saves the written bytes and restores the previous
  /// contents.
  void take();
  /// Makes the writes permanent.
  void commit() const;
  /// After `commit`: restores the previous contents, except where something else has been written
  /// since. `reveal` undoes the last `hide`.
  void hide();
  void reveal() const;

private:
  struct Piece {
    uint8_t *memory;
    size_t size, at; ///< `at`: index of the written bytes in `bytes_` or the buffers below
  };
  void watchPiece(uint8_t *memory, size_t size);
  void addWhole(uint8_t *memory, size_t size, size_t at);
  void addChanged(const Piece &piece, const uint8_t *fresh);

  std::vector<Piece> watched_; ///< with the previous contents in `bytes_`
  std::vector<uint8_t> bytes_;
  std::vector<Piece> whole_; ///< memory that counts as written independently of its values
  std::vector<Piece> written_;
  std::vector<uint8_t> fresh_, old_, hidden_;
};

} // namespace ptl::rt::sim

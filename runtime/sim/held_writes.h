// Holds back what an instruction has written until others may see it.
#pragma once

#include "runtime/sim/element.h"

#include <vector>

namespace ptl::rt::sim {

class HeldWrites {
public:
  /// Called before the instruction with memory that it may write. With `whole`, all of the valid
  /// part counts as written, otherwise only bytes that change.
  void watch(const Plane &plane, bool whole);
  /// Called after the instruction: takes what it wrote and restores what was there.
  void take();
  /// Writes the bytes for good.
  void commit() const;
  /// After `commit`: restores what was there before, except where something else has been written
  /// since. `reveal` undoes the last `hide`.
  void hide();
  void reveal() const;

private:
  struct Piece {
    uint8_t *memory;
    size_t size, at; ///< `at` in `bytes_`, of written ones in the buffers below
  };
  void watchPiece(uint8_t *memory, size_t size);
  void addWhole(uint8_t *memory, size_t size, size_t at);
  void addChanged(const Piece &piece, const uint8_t *fresh);

  std::vector<Piece> watched_; ///< with the old bytes in `bytes_`
  std::vector<uint8_t> bytes_;
  std::vector<Piece> whole_; ///< written whatever the values
  std::vector<Piece> written_;
  std::vector<uint8_t> fresh_, old_, hidden_;
};

} // namespace ptl::rt::sim

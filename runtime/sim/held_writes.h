// What an instruction has written, taken back and kept until others may see it.
#pragma once

#include "runtime/sim/element.h"

#include <vector>

namespace ptl::rt::sim {

class HeldWrites {
public:
  /// Before the instruction: what it may write. With `whole`, all of the valid part counts as
  /// written, else only what has changed.
  void watch(const Plane &plane, bool whole);
  /// After the instruction: takes what it wrote and puts back what was there.
  void take();
  /// Writes it for good.
  void commit() const;
  /// After `commit`: puts back what was there before, where nothing else has been written since.
  /// `reveal` undoes the last `hide`.
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

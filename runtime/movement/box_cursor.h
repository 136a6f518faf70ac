// Walks the bytes of a box inside a dense array, as many at a time as somebody has room for.
#pragma once

#include "runtime/movement/step_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptl::movement {

/// Where the next byte of a box lies. The bytes are walked in the order of the box, in runs that lie one behind the
/// other; axes that are whole are part of a run.
template <typename Byte> class BoxCursor {
public:
  /// `bytes` are those of an array that holds `within`; `box` lies in it and has elements.
  BoxCursor(Byte *bytes, const Box &within, const Box &box, size_t elementBytes)
      : at_(bytes), run_(elementBytes),
        rest_(static_cast<size_t>(elementCount(box)) * elementBytes) {
    size_t stride = elementBytes;
    for (size_t axis = box.size(); axis-- > 0;) {
      auto length = static_cast<size_t>(box[axis].length());
      at_ += static_cast<size_t>(box[axis].begin - within[axis].begin) * stride;
      if (loops_.empty() && run_ == stride)
        run_ *= length;
      else if (length > 1)
        loops_.push_back({length, stride, 0});
      stride *= static_cast<size_t>(within[axis].length());
    }
    left_ = run_;
  }

  /// Whether all bytes lie one behind the other.
  bool isOneRun() const { return loops_.empty(); }
  Byte *at() const { return at_; }
  /// How many bytes have not been walked.
  size_t rest() const { return rest_; }

  /// Calls `piece(bytes, size)` for the next `size` bytes, run by run.
  template <typename Piece> void next(size_t size, Piece piece) {
    rest_ -= size;
    while (size > 0) {
      size_t part = std::min(size, left_);
      piece(at_, part);
      at_ += part;
      left_ -= part;
      size -= part;
      if (left_ == 0)
        nextRun();
    }
  }

private:
  struct Loop {
    size_t count, stride, done;
  };

  void nextRun() {
    at_ -= run_;
    left_ = run_;
    for (Loop &loop : loops_) {
      at_ += loop.stride;
      if (++loop.done < loop.count)
        return;
      at_ -= loop.count * loop.stride;
      loop.done = 0;
    }
  }

  Byte *at_;
  size_t run_, left_ = 0, rest_;
  std::vector<Loop> loops_; ///< over runs, the innermost first
};

/// The next `size` bytes of two boxes of one shape: `piece(a, b, size)`.
template <typename A, typename B, typename Piece>
void walkBoth(BoxCursor<A> &a, BoxCursor<B> &b, size_t size, Piece piece) {
  a.next(size, [&](A *atA, size_t run) {
    b.next(run, [&](B *atB, size_t part) {
      piece(atA, atB, part);
      atA += part;
    });
  });
}

} // namespace ptl::movement

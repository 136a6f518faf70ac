// Reads and writes boxes of arrays.
#pragma once

#include "codegen/reference/value.h"

#include <optional>
#include <span>
#include <vector>

namespace ptl::execute {

/// A box: for each axis of the base its beginning, the number of positions and the distance between
/// them.
struct Box {
  std::vector<int64_t> offsets, lengths, steps;
  std::span<const int64_t> dropped; ///< axes that the content does not have

  bool isInside(std::span<const int64_t> shape) const;
  /// Lengths of the axes that stay.
  std::vector<int64_t> shape() const;
};

/// How written elements are combined with those that are there.
enum class Meeting : uint8_t { Replace, Add, Max, Min };

/// The content of a box, a scalar where all axes are dropped. Positions beyond the edges hold
/// `outside`; without `outside` the result is nothing if there are any.
std::optional<reference::Value> readBox(const reference::RefArray &base, const Box &box,
                                        const std::optional<Scalar> &outside);

/// A write to a box: with `index`, position p of `indexAxis` goes to `index[p]`.
struct BoxWrite {
  Box box;
  reference::Value value; ///< broadcasts to the box
  const reference::RefArray *index = nullptr;
  size_t indexAxis = 0;
  Meeting meeting = Meeting::Replace;
};

/// Writes a box. Returns false at a position outside the base, and elements after it are not
/// written.
bool writeBox(reference::RefArray &base, const BoxWrite &write);

} // namespace ptl::execute

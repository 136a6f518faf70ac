// Reads and writes boxes of arrays.
#pragma once

#include "codegen/reference/value.h"

#include <optional>
#include <span>
#include <vector>

namespace ptl::execute {

/// A box: for each axis of the base its start, its number of positions and their distance.
struct Box {
  std::vector<int64_t> offsets, lengths, steps;
  std::span<const int64_t> dropped; ///< axes that the contents lack

  bool isInside(std::span<const int64_t> shape) const;
  /// The lengths of the axes that are not dropped.
  std::vector<int64_t> shape() const;
};

/// How written elements are combined with the stored ones.
enum class Meeting : uint8_t { Replace, Add, Max, Min };

/// The contents of a box; a scalar if all axes are dropped. Positions beyond the edges read as
/// `outside`; without `outside` the result is nothing if there are such positions.
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

/// Writes a box. Returns false at the first position outside the base; later elements are not
/// written.
bool writeBox(reference::RefArray &base, const BoxWrite &write);

} // namespace ptl::execute

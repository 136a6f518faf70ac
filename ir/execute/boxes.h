// Boxes of arrays: reading and writing.
#pragma once

#include "codegen/reference/value.h"

#include <optional>
#include <span>
#include <vector>

namespace ptl::execute {

/// Per axis of a base where a box begins, how many positions it has and how far they are apart.
struct Box {
  std::vector<int64_t> offsets, lengths, steps;
  std::span<const int64_t> dropped; ///< axes that the content does not have

  bool isInside(std::span<const int64_t> shape) const;
  /// Lengths of the axes that stay.
  std::vector<int64_t> shape() const;
};

/// How elements that are written meet those that are there.
enum class Meeting : uint8_t { Replace, Add, Max, Min };

/// The content of a box, a scalar where all axes are dropped. Positions beyond the edges hold
/// `outside`. Nothing where they have to lie inside and do not.
std::optional<reference::Value> readBox(const reference::RefArray &base, const Box &box,
                                        const std::optional<Scalar> &outside);

/// What goes where: with `index`, position p of `indexAxis` goes to `index[p]`.
struct BoxWrite {
  Box box;
  reference::Value value; ///< broadcasts to the box
  const reference::RefArray *index = nullptr;
  size_t indexAxis = 0;
  Meeting meeting = Meeting::Replace;
};

/// Writes a box; false, and what comes after not written, at a position outside of the base.
bool writeBox(reference::RefArray &base, const BoxWrite &write);

} // namespace ptl::execute

// Movements that go by chunks beside a product: the product of the rows that have come, while others come, or the movement of
// rows that are computed, while others are.
#pragma once

#include "codegen/parts/grid.h"
#include "codegen/reference/value.h"
#include "frontend/sema/placement/chunked_pairs.h"

#include <optional>
#include <vector>

namespace ptl::parts {

/// What of an axis is moved at once: of an axis that the movement cuts or gathers, a piece of the block of each part, in their
/// order. In positions of what the group of parts has.
using Chunk = std::vector<movement::Interval>;

/// The chunks of a movement: `wanted`, if that is not 0, else as many as are worth it. None if it is too small to be cut, or if the pieces of
/// blocks were no blocks of what is moved at once. All ranks get the same answer.
std::vector<Chunk> chunksOf(const movement::Request &request, size_t axis, size_t elementBytes,
                            int64_t leastBytes, int64_t wanted = 0);
int64_t lengthOf(const Chunk &chunk);
/// The movement of one chunk among the same parts.
GroupMove chunkOf(const GroupMove &group, size_t axis, const Chunk &chunk, size_t elementBytes,
                  const movement::Cost &cost);
/// The piece of a chunk that a part has before or after the movement, in positions of its block, if `isCut`, or else of all.
Chunk pieceOf(const movement::Request &request, size_t axis, const Chunk &chunk, bool isCut,
              uint32_t rank);

/// The pieces of an array along an axis, one behind the other; and the reverse.
reference::Value takeChunk(const reference::Value &array, size_t axis, const Chunk &chunk);
void putChunk(reference::Value &array, const std::vector<int64_t> &shape, size_t axis,
              const Chunk &chunk, const reference::Value &piece);

} // namespace ptl::parts

// The sizes of chunks.
#pragma once

#include "passes/transform/groups/chunk_emit.h"

namespace ptl::ir {

/// Chooses the axes of the group that are the rows and columns of its tiles, and the length of
/// chunks. `groups`: all that share the grid; `axes`: by number, those of `group`.
void chooseChunks(llvm::ArrayRef<OpGroup *> groups, OpGroup &group, const TileSizes &sizes,
                  std::vector<TileAxis> &axes);

} // namespace ptl::ir

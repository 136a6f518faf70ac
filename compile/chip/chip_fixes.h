// Finds the places in the source that determine the need for a chip's memory, and edits there that
// reduce it.
#pragma once

#include "ir/build/build_ir.h"
#include "passes/analysis/buffer_overflow.h"

namespace ptl {

/// The edit that gives a tunable of the entry another value: in the schedule that sets it,
/// otherwise its default. Empty if the source alone does not determine it (`-D`, several
/// schedules).
std::vector<TextEdit> tunableEdits(const CheckedProgram &program, const ir::EntryBinding &binding,
                                   const Tunable &tunable, int64_t value);

/// A number in the source that determines the tile size of a loop: the last argument of `tiles(M,
/// 64)`.
struct TileNumber {
  Span span;
  int64_t value;
  std::string before; ///< `tiles(M, `
};
/// The tile numbers of the declaration, in the order of its text. Empty unless it is in the root
/// file.
std::vector<TileNumber> tileNumbers(const CheckedProgram &program, const CallableDecl &decl);

/// The edits that reduce the depth of `pipeline` loops around buffers with more than
/// `overflow.pipeline` copies to that number. Empty if some of these copies do not come from such a
/// loop.
std::vector<TextEdit> pipelineEdits(const CheckedProgram &program, const SourceManager &sources,
                                    const Overflow &overflow);

} // namespace ptl

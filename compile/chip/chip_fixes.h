// Finds the places in the source that decide how much of a chip's memory is needed, and edits there
// with which less is needed.
#pragma once

#include "ir/build/build_ir.h"
#include "passes/analysis/buffer_overflow.h"

namespace ptl {

/// The edit that gives a tunable of the entry another value: in the schedule that says it, else its
/// default. Empty where the source alone does not say it (`-D`, several schedules).
std::vector<TextEdit> tunableEdits(const CheckedProgram &program, const ir::EntryBinding &binding,
                                   const Tunable &tunable, int64_t value);

/// A number in the source that decides how large the tiles of a loop are: the last argument of
/// `tiles(M, 64)`.
struct TileNumber {
  Span span;
  int64_t value;
  std::string before; ///< `tiles(M, `
};
/// The tile numbers of the declaration, in the order of its text. There are none unless it is in
/// the root file.
std::vector<TileNumber> tileNumbers(const CheckedProgram &program, const CallableDecl &decl);

/// The edits that give `pipeline` loops around buffers with more copies than `overflow.pipeline`
/// that depth. Empty if some of these copies come from no such loop.
std::vector<TextEdit> pipelineEdits(const CheckedProgram &program, const SourceManager &sources,
                                    const Overflow &overflow);

} // namespace ptl

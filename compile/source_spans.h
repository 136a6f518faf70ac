// The source locations of IR.
#pragma once

#include "frontend/base/source.h"
#include "passes/analysis/buffer_ledger.h"

#include "mlir/IR/Location.h"

namespace ptl {

/// The innermost source span of a location.
Span spanOf(mlir::Location location);

/// Whether all of one span lies in another.
inline bool isWithin(Span inner, Span outer) {
  return inner.file == outer.file && outer.begin <= inner.begin && inner.end <= outer.end;
}

/// The span of a place in the buffer ledger: the word that begins there. `kNoSpan` if no source
/// contains it.
Span spanAt(const SourceManager &sources, const LedgerPlace &place);

} // namespace ptl

// The source locations of IR.
#pragma once

#include "frontend/base/source.h"
#include "passes/analysis/buffer_ledger.h"

#include "mlir/IR/Location.h"

namespace ptl {

/// The innermost source span of a location.
Span spanOf(mlir::Location location);

/// The span of a place in the buffer ledger: the word that begins there. `kNoSpan` if no source
/// contains it.
Span spanAt(const SourceManager &sources, const LedgerPlace &place);

} // namespace ptl

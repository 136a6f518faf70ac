// Where in the source something of the IR stands.
#pragma once

#include "frontend/base/source.h"
#include "passes/analysis/buffer_ledger.h"

#include "mlir/IR/Location.h"

namespace ptl {

/// The innermost place in the source that a location stands for.
Span spanOf(mlir::Location location);

/// A place of the ledger in the texts: the word that begins there. `kNoSpan` if no text has it.
Span spanAt(const SourceManager &sources, const LedgerPlace &place);

} // namespace ptl

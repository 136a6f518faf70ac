// The parts of a declaration between its name and its body. Each function starts at the first word
// or bracket of its part.
#pragma once

#include "frontend/parse/parser.h"

namespace ptl {

/// Parses `[M, static C, T: float]`; `kNoNode` if there is no bracket.
NodeId parseGenerics(Parser &p);

/// Parses `(x: f32[N], y: f32 = 1.0)`.
NodeId parseParams(Parser &p);

/// Parses `-> (y: f32[N])` or `-> f32[N]`.
NodeId parseResults(Parser &p);

/// Parses `on aiv for a2, a3`.
NodeId parseOnClause(Parser &p);

/// Parses `at host as worker mesh chip as rows, columns: 4`.
NodeId parseAtClause(Parser &p);

/// Parses `where N > 0, unique(ids)`.
NodeId parseWhere(Parser &p);

/// Parses `tune BM: [64, 128] = 128`.
NodeId parseTune(Parser &p);

/// Parses `from a3 "symbol"` of an `extern` kernel.
NodeId parseSources(Parser &p);

} // namespace ptl

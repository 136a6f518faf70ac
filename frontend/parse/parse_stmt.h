// Blocks and statements of the tensor and tile levels.
#pragma once

#include "frontend/parse/parser.h"

namespace ptl {

/// Parses `{ … }`.
NodeId parseBlock(Parser &p);

/// Parses `if` with all its arms, as a statement or an expression.
NodeId parseIf(Parser &p);

/// Parses `i in 0..n`.
NodeId parseLoopBinding(Parser &p);

/// Parses a condition, and reports `=` that was meant as `==`.
NodeId parseCondition(Parser &p);

} // namespace ptl

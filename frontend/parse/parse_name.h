// Names, paths, text and patterns. `what` says in messages what is missing: "a parameter".
#pragma once

#include "frontend/parse/parser.h"

namespace ptl {

NodeId parseName(Parser &p, const char *what);

/// Parses `nn.silu`.
NodeId parsePath(Parser &p, const char *what);

/// Parses text in double quotes.
NodeId parseText(Parser &p);

/// Parses `a` or `(a, (b, c))`.
NodeId parsePattern(Parser &p);

} // namespace ptl

// Types: `f16[M, K] @mat dn strides [S, 1] over host by M, chip by K`.
#pragma once

#include "frontend/parse/parser.h"

namespace ptl {

NodeId parseType(Parser &p);

/// Parses `[.., M, K]`.
NodeId parseShape(Parser &p);

/// Parses `@mat dn`.
NodeId parsePlace(Parser &p);

} // namespace ptl

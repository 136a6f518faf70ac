// Files and declarations.
#pragma once

#include "frontend/parse/parser.h"

namespace ptl {

/// Parses a whole file: the `Module` node.
NodeId parseModule(Parser &p);

/// Parses one declaration of a file and pushes it. Text that cannot be parsed becomes an `Error`
/// node.
void parseItem(Parser &p);

/// Parses a declaration with its modifiers.
NodeId parseDeclaration(Parser &p);

/// Parses `const`, which may stand in bodies, too.
NodeId parseConst(Parser &p);

} // namespace ptl

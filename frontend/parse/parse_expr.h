// Expressions, by precedence climbing.
#pragma once

#include "frontend/parse/parser.h"

namespace ptl {

NodeId parseExpr(Parser &p);

/// Parses an expression whose operators bind at least as tightly as `least`.
NodeId parseBinary(Parser &p, Precedence least);

/// Parses an operand with its calls, indices and members.
NodeId parsePostfix(Parser &p);

/// Reports two adjacent tokens that form an operator in other languages (`&&`), and consumes the
/// first; `word` is the spelling in this language (`and`).
bool acceptForeignOperator(Parser &p, TokenKind left, TokenKind right, const char *word);

} // namespace ptl

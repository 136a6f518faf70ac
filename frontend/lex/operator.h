// The precedence of operators: how tightly they bind.
#pragma once

#include "frontend/lex/token.h"

namespace ptl {

/// How tightly the outermost operator of an expression binds, loosest first. `None` is no operator
/// of two operands: ranges and conditionals bind loosest.
enum class Precedence : uint8_t {
  None,
  Or,
  And,
  Not,
  Comparison, ///< does not chain
  BitOr,
  BitXor,
  BitAnd,
  Shift,
  Sum,
  Product,
  Unary,
  Power, ///< groups to the right
  Postfix
};

constexpr Precedence tighter(Precedence precedence) {
  return static_cast<Precedence>(static_cast<uint8_t>(precedence) + 1);
}

/// The precedence of a binary operator; `None` for other tokens.
Precedence precedenceOf(TokenKind kind);
/// The same by its spelling.
Precedence precedenceOf(std::string_view spelling);

} // namespace ptl

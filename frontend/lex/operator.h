// The precedence of operators.
#pragma once

#include "frontend/lex/token.h"

namespace ptl {

/// The precedence of an expression's outermost operator, the lowest first. `None` means that there
/// is no binary operator: ranges and conditionals have the lowest precedence.
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
  Power, ///< right-associative
  Postfix
};

constexpr Precedence tighter(Precedence precedence) {
  return static_cast<Precedence>(static_cast<uint8_t>(precedence) + 1);
}

/// The precedence of a binary operator; `None` for other tokens.
Precedence precedenceOf(TokenKind kind);
/// The precedence of a binary operator with that spelling.
Precedence precedenceOf(std::string_view spelling);

} // namespace ptl

#include "frontend/lex/operator.h"

namespace ptl {

namespace {
struct Row {
  TokenKind kind;
  Precedence precedence;
};
constexpr Row kRows[] = {
#define OPERATOR(TOKEN, PRECEDENCE) {TokenKind::TOKEN, Precedence::PRECEDENCE},
#include "frontend/lex/operators.def"
};
} // namespace

Precedence precedenceOf(TokenKind kind) {
  for (const Row &row : kRows)
    if (row.kind == kind)
      return row.precedence;
  return Precedence::None;
}

Precedence precedenceOf(std::string_view text) {
  for (const Row &row : kRows)
    if (spelling(row.kind) == text)
      return row.precedence;
  return Precedence::None;
}

} // namespace ptl

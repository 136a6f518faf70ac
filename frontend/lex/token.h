// Tokens and the trivia between them. Both are byte ranges of one file: together they cover every
// byte, so the exact text can be rebuilt.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ptl {

/// One entry per row of `tokens.def`: `TokenKind::Kernel`, `TokenKind::TF16`,
/// `TokenKind::StarStar`.
enum class TokenKind : uint8_t {
#define TOKEN(NAME, DESCRIPTION) NAME,
#define PUNCT(NAME, SPELLING) NAME,
#define KEYWORD(NAME, SPELLING) NAME,
#define ELEMENT(NAME, SPELLING) NAME,
#include "frontend/lex/tokens.def"
};

enum class TriviaKind : uint8_t { Whitespace, Newline, LineComment, DocComment, BlockComment };

/// The text between tokens. A `Newline` is one line end (`\n` or `\r\n`).
struct Trivia {
  TriviaKind kind;
  uint32_t begin;
  uint32_t end;
};

using TokenIndex = uint32_t;

struct Token {
  TokenKind kind = TokenKind::EndOfFile;
  bool newlineBefore =
      false; ///< a line end lies between this token and the one before (or it is the first)
  bool malformed = false; ///< the lexer has reported an error for it; its value is unspecified
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t firstTrivia = 0; ///< index of the first trivia before this token
};

/// The tokens of one file. The last one is `EndOfFile` and owns the trivia at the end.
/// Trivia of token `i` (all before it): `trivia[tokens[i].firstTrivia .. tokens[i +
/// 1].firstTrivia)`.
struct TokenList {
  std::vector<Token> tokens;
  std::vector<Trivia> trivia;
};

/// The spelling of punctuation, keywords and element types; empty for the others.
std::string_view spelling(TokenKind kind);
/// For messages: the spelling in backticks, or the description (`name`, `end of file`).
std::string_view describe(TokenKind kind);
/// The kind of a reserved word or element type, else `Identifier`.
TokenKind wordKind(std::string_view word);

bool isPunct(TokenKind kind);
/// A bracket of any form that opens, and one that closes.
inline bool isOpener(TokenKind kind) {
  return kind == TokenKind::LParen || kind == TokenKind::LBracket || kind == TokenKind::LBrace;
}
inline bool isCloser(TokenKind kind) {
  return kind == TokenKind::RParen || kind == TokenKind::RBracket || kind == TokenKind::RBrace;
}
/// Reserved words, without element types.
bool isKeyword(TokenKind kind);
/// `f16`, `bool`, `int` …
bool isElementType(TokenKind kind);
/// False for tokens after which a statement continues on the next line: operators, `,`, `->`, `=`,
/// `(` …
bool canEndStatement(TokenKind kind);

} // namespace ptl

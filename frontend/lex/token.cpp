#include "frontend/lex/token.h"

#include <array>

namespace ptl {
namespace {

enum class TokenClass : uint8_t { Other, Punct, Keyword, Element };

struct TokenInfo {
  std::string_view spelling;
  std::string_view description;
  TokenClass tokenClass;
};

constexpr TokenInfo kTokenInfos[] = {
#define TOKEN(NAME, DESCRIPTION) {"", DESCRIPTION, TokenClass::Other},
#define PUNCT(NAME, SPELLING) {SPELLING, "`" SPELLING "`", TokenClass::Punct},
#define KEYWORD(NAME, SPELLING) {SPELLING, "`" SPELLING "`", TokenClass::Keyword},
#define ELEMENT(NAME, SPELLING) {SPELLING, "`" SPELLING "`", TokenClass::Element},
#include "frontend/lex/tokens.def"
};
constexpr size_t kTokenKindCount = sizeof(kTokenInfos) / sizeof(kTokenInfos[0]);

const TokenInfo &infoOf(TokenKind kind) { return kTokenInfos[static_cast<size_t>(kind)]; }

constexpr size_t kSlots = 256;

constexpr size_t hashWord(std::string_view word) {
  size_t hash = word.size();
  for (char c : word)
    hash = hash * 31 + static_cast<unsigned char>(c);
  return hash % kSlots;
}

/// Reserved words by hash with linear probing; 0 (`EndOfFile`) marks a free slot.
constexpr std::array<uint8_t, kSlots> makeWordTable() {
  std::array<uint8_t, kSlots> table{};
  for (size_t kind = 0; kind < kTokenKindCount; ++kind) {
    TokenClass c = kTokenInfos[kind].tokenClass;
    if (c != TokenClass::Keyword && c != TokenClass::Element)
      continue;
    size_t slot = hashWord(kTokenInfos[kind].spelling);
    while (table[slot])
      slot = (slot + 1) % kSlots;
    table[slot] = static_cast<uint8_t>(kind);
  }
  return table;
}
constexpr std::array<uint8_t, kSlots> kWordTable = makeWordTable();
constexpr size_t kLongestWord = 8;

} // namespace

std::string_view spelling(TokenKind kind) { return infoOf(kind).spelling; }

std::string_view describe(TokenKind kind) { return infoOf(kind).description; }

TokenKind wordKind(std::string_view word) {
  if (word.size() > kLongestWord)
    return TokenKind::Identifier;
  for (size_t slot = hashWord(word); kWordTable[slot]; slot = (slot + 1) % kSlots)
    if (kTokenInfos[kWordTable[slot]].spelling == word)
      return static_cast<TokenKind>(kWordTable[slot]);
  return TokenKind::Identifier;
}

bool isPunct(TokenKind kind) { return infoOf(kind).tokenClass == TokenClass::Punct; }
bool isKeyword(TokenKind kind) { return infoOf(kind).tokenClass == TokenClass::Keyword; }
bool isElementType(TokenKind kind) { return infoOf(kind).tokenClass == TokenClass::Element; }

bool canEndStatement(TokenKind kind) {
  switch (kind) {
  case TokenKind::RParen:
  case TokenKind::RBracket:
  case TokenKind::RBrace:
  case TokenKind::Semicolon:
    return true;
  case TokenKind::And:
  case TokenKind::Or:
  case TokenKind::Not:
  case TokenKind::Where:
    return false;
  default:
    return !isPunct(kind);
  }
}

} // namespace ptl

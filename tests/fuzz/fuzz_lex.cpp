// The lexer covers every byte, in order, and ends in `EndOfFile`.
#include "frontend/lex/lexer.h"
#include "frontend/lex/literal.h"
#include "tests/fuzz/fuzz_input.h"

using namespace ptl;

static void readLiteral(const Token &token, std::string_view text) {
  switch (token.kind) {
  case TokenKind::IntLiteral:
    intLiteralValue(text);
    break;
  case TokenKind::SizeLiteral:
    sizeLiteralValue(text);
    break;
  case TokenKind::FloatLiteral:
    floatLiteralValue(text);
    fuzz::require(!decimalLiteralValue(text).digits.empty(), "a number without digits");
    break;
  case TokenKind::StringLiteral:
    stringLiteralValue(text);
    break;
  default:
    break;
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceFile file = fuzz::inputFile(data, size);
  DiagnosticSink sink;
  TokenList list = lex(file, sink);
  fuzz::require(!list.tokens.empty() && list.tokens.back().kind == TokenKind::EndOfFile,
                "no end of file");
  uint32_t at = 0;
  size_t trivia = 0;
  for (size_t i = 0; i < list.tokens.size(); ++i) {
    const Token &token = list.tokens[i];
    size_t end = i + 1 < list.tokens.size() ? list.tokens[i + 1].firstTrivia : list.trivia.size();
    for (; trivia < end; ++trivia) {
      fuzz::require(list.trivia[trivia].begin == at && list.trivia[trivia].end > at,
                    "a gap before trivia");
      at = list.trivia[trivia].end;
    }
    fuzz::require(token.begin == at && (token.end > at || token.kind == TokenKind::EndOfFile),
                  "a gap");
    at = token.end;
    fuzz::require(!token.malformed || sink.hasErrors(), "a malformed token without an error");
    if (!token.malformed)
      readLiteral(token, file.text().substr(token.begin, token.end - token.begin));
  }
  fuzz::require(at == file.text().size(), "text behind the end of file");
  return 0;
}

#include "frontend/format/essence.h"

namespace ptl {

std::string essence(std::string_view text, const TokenList &list) {
  std::string tokens, comments;
  auto append = [&](std::string &result, uint32_t begin, uint32_t end) {
    for (char c : text.substr(begin, end - begin))
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
        result += c;
    result += '\n';
  };
  size_t trivia = 0;
  for (size_t i = 0; i < list.tokens.size(); ++i) {
    size_t end = i + 1 < list.tokens.size() ? list.tokens[i + 1].firstTrivia : list.trivia.size();
    for (; trivia < end; ++trivia)
      if (list.trivia[trivia].kind >= TriviaKind::LineComment)
        append(comments, list.trivia[trivia].begin, list.trivia[trivia].end);
    size_t next = i + 1;
    while (next < list.tokens.size() && list.tokens[next].kind == TokenKind::Semicolon)
      ++next;
    // Formatting may add or remove the comma before a closing bracket, and nothing else.
    bool trailing = list.tokens[i].kind == TokenKind::Comma && next < list.tokens.size() &&
                    (list.tokens[next].kind == TokenKind::RParen ||
                     list.tokens[next].kind == TokenKind::RBracket);
    if (!trailing && list.tokens[i].kind != TokenKind::Semicolon)
      append(tokens, list.tokens[i].begin, list.tokens[i].end);
  }
  return tokens + comments;
}

} // namespace ptl

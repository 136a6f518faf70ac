#include "frontend/format/format.h"

#include "frontend/format/formatter.h"
#include "frontend/lex/lexer.h"
#include "frontend/parse/parse.h"

#include <algorithm>

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

namespace {

FormatResult unchanged(const Tree &tree, const char *reason) {
  FormatResult result;
  result.text = std::string(tree.fileText());
  result.untouched.push_back(
      {{tree.file(), 0, static_cast<uint32_t>(tree.fileText().size())}, reason});
  return result;
}

/// With syntax errors, what the parser makes of a statement may depend on the lines around it; then
/// the text is not touched at all, which is idempotent by itself.
bool isStable(const std::string &text) {
  SourceFile file(0, "", text);
  DiagnosticSink sink;
  Tree tree = parse(file, sink);
  return Formatter(tree).run().text == text;
}

} // namespace

Formatter::Formatter(const Tree &tree) : tree_(tree) {
  assignRoles();
  measure();
}

FormatResult Formatter::run() {
  Container file;
  file.node = tree_.root();
  file.items = tree_.children(tree_.root());
  items(file, 0);
  align();
  FormatResult result;
  result.untouched = std::move(untouched_);
  for (const OutputLine &l : lines_) {
    if (!l.text.empty())
      result.text.append(l.indent, ' ');
    result.text += l.text;
    result.text += '\n';
  }
  return result;
}

FormatResult format(const Tree &tree) {
  FormatResult result = Formatter(tree).run();
  SourceFile file(0, "", result.text);
  DiagnosticSink sink;
  TokenList after = lex(file, sink);
  TokenList before{tree.tokens(), tree.trivia()};
  bool malformed = std::any_of(tree.tokens().begin(), tree.tokens().end(),
                               [](const Token &t) { return t.malformed; });
  // Where a string without an end stops depends on the white space behind it.
  if (essence(tree.fileText(), before) != essence(result.text, after))
    return unchanged(tree, malformed ? "has syntax errors"
                                     : "cannot be formatted without changing its meaning");
  if ((malformed || !tree.errorTokens().empty()) && !isStable(result.text))
    return unchanged(tree, "has syntax errors");
  return result;
}

std::string formatted(const std::string &text) {
  SourceFile file(0, "", text);
  DiagnosticSink sink;
  Tree tree = parse(file, sink);
  return format(tree).text;
}

} // namespace ptl

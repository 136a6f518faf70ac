#include "frontend/parse/operand_comment.h"

#include "common/words.h"
#include "frontend/base/word_char.h"

#include <unordered_set>

namespace ptl {
namespace {

/// `G`, `2`, `f(a, b)`, `r.len`, `x[i]`: one operand and nothing else. Gives its first word, else
/// nothing.
std::string_view operandHead(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && isWordChar(text[i]))
    ++i;
  std::string_view head = text.substr(0, i);
  unsigned depth = 0;
  for (; i < text.size(); ++i) {
    char c = text[i];
    if (c == '(' || c == '[')
      ++depth;
    else if (c == ')' || c == ']')
      depth -= depth > 0;
    else if (depth == 0 && c != '.' && !isWordChar(c))
      return {};
  }
  bool closed = depth == 0 && !text.ends_with('.');
  return closed ? head : std::string_view();
}

bool endsOperand(TokenKind kind) {
  return kind == TokenKind::Identifier || kind == TokenKind::IntLiteral ||
         kind == TokenKind::RParen || kind == TokenKind::RBracket;
}

} // namespace

void warnOperandComments(Parser &p, TokenIndex first) {
  // Words of a sentence are rarely names of the declaration, so only those that are count.
  std::unordered_set<std::string_view> names;
  for (TokenIndex i = first + 1; i <= p.position; ++i) {
    if (!endsOperand(p.tree.tokenKind(i - 1)))
      continue;
    for (const Trivia &t : p.tree.triviaBefore(i)) {
      if (t.kind == TriviaKind::Newline)
        break;
      if (t.kind != TriviaKind::LineComment || t.end - t.begin > 80)
        continue;
      std::string_view text = trimmed(p.tree.fileText().substr(t.begin + 2, t.end - t.begin - 2));
      std::string_view head = operandHead(text);
      if (head.empty())
        continue;
      if (names.empty())
        for (TokenIndex k = first; k < p.position; ++k)
          if (p.tree.tokenKind(k) == TokenKind::Identifier)
            names.insert(p.tree.tokenText(k));
      bool isNumber = head[0] >= '0' && head[0] <= '9';
      if (isNumber || names.contains(head))
        p.sink.report(DiagId::OperandComment, {p.tree.file(), t.begin, t.end}, {std::string(text)})
            .fix(FixId::OperandComment, "write `/`",
                 {{{p.tree.file(), t.begin, t.begin + 2}, "/"}});
    }
  }
}

} // namespace ptl

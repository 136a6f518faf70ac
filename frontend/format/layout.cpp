// One line of tokens, or several when it is too long; and the comments around it.
#include "frontend/format/layout.h"
#include "frontend/format/source_text.h"

#include <algorithm>

namespace ptl {
namespace {

/// How loosely an operator binds, for choosing where to break; 0 for other tokens.
unsigned looseness(TokenKind kind) {
  switch (kind) {
  case TokenKind::Or:
    return 7;
  case TokenKind::And:
    return 6;
  case TokenKind::EqualEqual:
  case TokenKind::NotEqual:
  case TokenKind::Less:
  case TokenKind::LessEqual:
  case TokenKind::Greater:
  case TokenKind::GreaterEqual:
    return 5;
  case TokenKind::Pipe:
  case TokenKind::Caret:
  case TokenKind::Amp:
    return 4;
  case TokenKind::ShiftLeft:
  case TokenKind::ShiftRight:
    return 3;
  case TokenKind::Plus:
  case TokenKind::Minus:
    return 2;
  case TokenKind::Star:
  case TokenKind::Slash:
  case TokenKind::Percent:
  case TokenKind::At:
    return 1;
  default:
    return 0;
  }
}

} // namespace

void Layout::blankLine() {
  bool opens = lines.empty() || lines.back().text.empty() ||
               (!lines.back().isComment && lines.back().text.ends_with('{'));
  if (!opens)
    lines.emplace_back();
}

void Layout::addComment(const Trivia &trivia, unsigned indent, bool ownLine) {
  std::string text = textOf(tree_, trivia.begin, trivia.end);
  bool lineComment = trivia.kind != TriviaKind::BlockComment;
  // Behind a comment that ends with its line there is no room for another one.
  if (ownLine || lines.empty() || lines.back().closed) {
    OutputLine added;
    added.indent = indent;
    added.text = std::move(text);
    added.isComment = true;
    added.closed = lineComment;
    lines.push_back(std::move(added));
    return;
  }
  OutputLine &last = lines.back();
  std::string &target = last.isComment ? last.text : last.comment;
  if (!target.empty())
    target += ' ';
  else
    last.sourceComment = sourceColumn(tree_, trivia.begin);
  target += text;
  last.closed = lineComment;
}

void Layout::comments(TokenIndex first, TokenIndex before, unsigned indent) {
  // The most line ends in a row since the last comment: a line with a `;` alone leaves no gap.
  unsigned gap = 0;
  for (TokenIndex i = first; i <= before; ++i) {
    // The beginning of the file counts as the end of a line, so that a comment there stands in a line of its own.
    unsigned lineEnds = i == 0 ? 1 : 0;
    gap = std::max(gap, lineEnds);
    for (const Trivia &t : tree_.triviaBefore(i)) {
      if (t.kind == TriviaKind::Newline) {
        gap = std::max(gap, ++lineEnds);
      } else if (t.kind >= TriviaKind::LineComment) {
        if (gap > 1)
          blankLine();
        addComment(t, indent, gap > 0);
        lineEnds = gap = 0;
      }
    }
    if (i < before && tree_.tokenKind(i) == TokenKind::Comma && !lines.empty()) {
      lines[lastCode].text += ',';
      gap = 0;
    }
  }
  if (gap > 1 && tree_.tokenKind(before) != TokenKind::RBrace &&
      tree_.tokenKind(before) != TokenKind::EndOfFile)
    blankLine();
}

void Layout::emit(TokenIndex a, TokenIndex b, unsigned indent) {
  OutputLine added;
  added.indent = indent;
  // Comments before a whole line have been put out already.
  if (a != lineFirst_)
    for (const Trivia &t : tree_.triviaBefore(a))
      if (t.kind >= TriviaKind::LineComment)
        added.text += textOf(tree_, t.begin, t.end) + ' ';
  added.text += spacing_.flat(a, b);
  lastCode = lines.size();
  lines.push_back(std::move(added));
}

void Layout::verbatim(TokenIndex a, TokenIndex b, unsigned indent, const char *reason) {
  uint32_t begin = tree_.token(a).begin;
  uint32_t end = tree_.token(b - 1).end;
  untouched.push_back({{tree_.file(), begin, end}, reason});
  std::string text = textOf(tree_, begin, end);
  // Lines move along with the first one.
  auto indentAt = [](std::string_view s) {
    int columns = 0;
    for (size_t i = 0; i < s.size() && (s[i] == ' ' || s[i] == '\t'); ++i)
      columns += s[i] == '\t' ? 4 : 1;
    return columns;
  };
  std::optional<uint32_t> start = lineStart(tree_, begin);
  int shift = start ? static_cast<int>(indent) - indentAt(tree_.fileText().substr(*start)) : 0;
  OutputLine added;
  added.indent = indent;
  for (size_t i = 0; i < text.size();) {
    size_t stop = std::min(text.find('\n', i), text.size());
    std::string_view piece = std::string_view(text).substr(i, stop - i);
    if (i > 0) {
      added.text += '\n';
      int columns = std::max(0, indentAt(piece) + shift);
      size_t content = piece.find_first_not_of(" \t");
      piece = content == std::string_view::npos ? std::string_view() : piece.substr(content);
      while (piece.ends_with(' ') || piece.ends_with('\t'))
        piece.remove_suffix(1);
      if (!piece.empty())
        added.text.append(static_cast<size_t>(columns), ' ');
    }
    added.text += piece;
    i = stop + 1;
  }
  lastCode = lines.size();
  lines.push_back(std::move(added));
}

void Layout::line(TokenIndex a, TokenIndex b, unsigned indent) {
  lineFirst_ = a;
  if (spacing_.mustStayVerbatim(a, b))
    verbatim(a, b, indent,
             spacing_.hasMalformed(a, b) ? "has a malformed token" : "has a comment inside");
  else if (spacing_.fits(a, b, indent))
    emit(a, b, indent);
  else
    split(a, b, indent);
}

void Layout::split(TokenIndex a, TokenIndex b, unsigned indent) {
  if (!splitAtOperators(a, b, indent) && !splitAtBracket(a, b, indent))
    emit(a, b, indent);
}

void Layout::fill(TokenIndex a, const std::vector<TokenIndex> &ends, unsigned indent) {
  TokenIndex start = a;
  unsigned at = indent;
  for (size_t i = 0; i < ends.size(); ++i) {
    bool last = i + 1 == ends.size();
    // A line takes as many parts as fit; all lines behind the first one are indented.
    if (!last && spacing_.fits(start, ends[i + 1], at))
      continue;
    if (spacing_.fits(start, ends[i], at) || !splitAtBracket(start, ends[i], at))
      emit(start, ends[i], at);
    start = ends[i];
    at = indent + kFormatIndent;
  }
}

bool Layout::splitAtOperators(TokenIndex a, TokenIndex b, unsigned indent) {
  // A line may end in a comma or an operator, so these are the places outside brackets.
  unsigned loosest = 0;
  int depth = 0;
  bool commas = false;
  for (TokenIndex i = a; i < b; ++i) {
    TokenKind kind = tree_.tokenKind(i);
    depth += isOpener(kind) - isCloser(kind);
    if (depth != 0 || i + 1 == b || i == a)
      continue;
    commas |= kind == TokenKind::Comma && !spacing_.has(i, kInnerComma);
    if (!spacing_.has(i, kTightAfter))
      loosest = std::max(loosest, looseness(kind));
  }
  if (depth != 0 || (!commas && loosest == 0))
    return false;
  std::vector<TokenIndex> ends;
  for (TokenIndex i = a; i < b; ++i) {
    TokenKind kind = tree_.tokenKind(i);
    depth += isOpener(kind) - isCloser(kind);
    // Commas separate more than any operator does, so where there are some, only they break.
    bool breaks = commas ? kind == TokenKind::Comma && !spacing_.has(i, kInnerComma)
                         : looseness(kind) == loosest && !spacing_.has(i, kTightAfter) && i > a;
    if (depth == 0 && breaks && i + 1 < b)
      ends.push_back(i + 1);
  }
  ends.push_back(b);
  fill(a, ends, indent);
  return true;
}

bool Layout::splitAtBracket(TokenIndex a, TokenIndex b, unsigned indent) {
  // The widest bracket gives way.
  TokenIndex open = b, close = b, candidate = b;
  int depth = 0;
  for (TokenIndex i = isCloser(tree_.tokenKind(a)) ? a + 1 : a; i < b; ++i) {
    TokenKind kind = tree_.tokenKind(i);
    if (isOpener(kind) && depth++ == 0)
      candidate = i;
    if (!isCloser(kind) || --depth != 0)
      continue;
    bool wider = open == b || spacing_.width(candidate, i) > spacing_.width(open, close);
    if (wider && i > candidate + 1 && kind != TokenKind::RBrace) {
      open = candidate;
      close = i;
    }
  }
  if (open == b)
    return false;
  emit(a, open + 1, indent);
  unsigned inner = indent + kFormatIndent;
  if (spacing_.fits(open + 1, close, inner))
    emit(open + 1, spacing_.has(close - 1, kTrailingComma) ? close - 1 : close, inner);
  else
    splitAtCommas(open + 1, close, inner);
  if (spacing_.fits(close, b, indent) || !splitAtBracket(close, b, indent))
    emit(close, b, indent);
  return true;
}

void Layout::splitAtCommas(TokenIndex a, TokenIndex b, unsigned indent) {
  TokenIndex start = a;
  int depth = 0;
  auto part = [&](TokenIndex from, TokenIndex to) {
    if (from >= to)
      return;
    // Without a comma at this depth there is one part, which is the whole again; only then
    // operators may be the next place to break.
    bool wholeRange = from == a && to == b;
    if (spacing_.fits(from, to, indent + (spacing_.has(to - 1, kTrailingComma) ? 1 : 0)))
      emit(from, to, indent);
    else if (!(wholeRange && splitAtOperators(from, to, indent)) &&
             !splitAtBracket(from, to, indent))
      emit(from, to, indent);
  };
  for (TokenIndex i = a; i < b; ++i) {
    TokenKind kind = tree_.tokenKind(i);
    depth += isOpener(kind) - isCloser(kind);
    if (depth != 0 || kind != TokenKind::Comma || spacing_.has(i, kInnerComma))
      continue;
    part(start, i + 1);
    start = i + 1;
  }
  part(start, b);
}

} // namespace ptl

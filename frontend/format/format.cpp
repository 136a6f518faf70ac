#include "frontend/format/format.h"

#include "frontend/format/align.h"
#include "frontend/format/essence.h"
#include "frontend/format/structure.h"
#include "frontend/lex/lexer.h"
#include "frontend/parse/parse.h"

#include <algorithm>

namespace ptl {

namespace {

FormatResult unchanged(const Tree &tree, const char *reason) {
  FormatResult result;
  result.text = std::string(tree.fileText());
  result.untouched.push_back(
      {{tree.file(), 0, static_cast<uint32_t>(tree.fileText().size())}, reason});
  return result;
}

/// Formats without looking at what comes out.
FormatResult laidOut(const Tree &tree) {
  Spacing spacing(tree);
  Layout layout(tree, spacing);
  Structure(tree, spacing, layout).file();
  FormatResult result;
  result.untouched = std::move(layout.untouched);
  align(layout.lines);
  for (const OutputLine &l : layout.lines) {
    if (!l.text.empty())
      result.text.append(l.indent, ' ');
    result.text += l.text;
    result.text += '\n';
  }
  return result;
}

/// With syntax errors, what the parser makes of a statement may depend on the lines around it; then
/// the text is not touched at all, which is idempotent by itself.
bool isStable(const std::string &text) {
  SourceFile file(0, "", text);
  DiagnosticSink sink;
  Tree tree = parse(file, sink);
  return laidOut(tree).text == text;
}

} // namespace

FormatResult format(const Tree &tree) {
  FormatResult result = laidOut(tree);
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

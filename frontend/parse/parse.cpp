#include "frontend/parse/parse.h"

#include "frontend/lex/lexer.h"
#include "frontend/parse/parser.h"

namespace ptl {

void Parser::reportTooHigh() {
  const std::vector<NodeId> &high = tree_.tooHigh();
  if (reportedTooHigh_ == high.size())
    return;
  errorAt(tree_.span(high[reportedTooHigh_]), DiagId::NestingTooDeep,
          {std::to_string(kMaxTreeHeight)})
      .help("cut the expression apart with `let`");
  for (; reportedTooHigh_ < high.size(); ++reportedTooHigh_)
    tree_.addErrorToken(tree_.node(high[reportedTooHigh_]).firstToken);
}

Tree Parser::run() {
  parseModule();
  return std::move(tree_);
}

Tree parse(const SourceFile &file, DiagnosticSink &sink) {
  return Parser(file.id(), file.text(), lex(file, sink), sink).run();
}

/// The end of the line on which the token before `next` ends: behind its line end, or 0 when `next`
/// stands on the same line.
static uint32_t endOfLineBefore(const Tree &tree, TokenIndex next) {
  for (const Trivia &trivia : tree.triviaBefore(next))
    if (trivia.kind == TriviaKind::Newline)
      return trivia.end;
  bool isLast = tree.tokenKind(next) == TokenKind::EndOfFile;
  return isLast ? tree.token(next).end : 0;
}

ParsedChunk Parser::runChunk() {
  size_t start = mark();
  uint32_t size = 0;
  while (!at(TokenKind::EndOfFile) && size == 0) {
    if (!accept(TokenKind::Semicolon))
      parseItem();
    size = endOfLineBefore(tree_, look(0));
  }
  if (at(TokenKind::EndOfFile))
    size = token().end;
  uint32_t reach = tree_.token(furthest_).end;
  tree_.cutAt(at_, size);
  at_ = lastToken();
  finish(NodeKind::Module, 0, start);
  tree_.shrink();
  return {std::move(tree_), size, reach};
}

ParsedChunk parseChunk(FileId file, std::string_view text, bool isFileStart, DiagnosticSink &sink) {
  DiagnosticSink lexical;
  Parser parser(file, text, lex(file, text, lexical, isFileStart), sink);
  ParsedChunk chunk = parser.runChunk();
  // What lies behind the chunk is reported with the next one.
  if (chunk.size < text.size())
    lexical.removeIf([&](const Diagnostic &each) { return each.span.begin >= chunk.size; });
  sink.append(lexical);
  return chunk;
}

} // namespace ptl

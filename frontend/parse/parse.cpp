#include "frontend/parse/parse.h"

#include "frontend/lex/lexer.h"
#include "frontend/parse/parse_decl.h"

namespace ptl {

Tree parse(const SourceFile &file, DiagnosticSink &sink) {
  Parser parser(file.id(), file.text(), lex(file, sink), sink);
  parseModule(parser);
  return std::move(parser.tree);
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

/// Parses whole lines from the start of the text until a declaration ends with its line.
static ParsedChunk parseFirstLines(Parser &p) {
  size_t start = p.mark();
  uint32_t size = 0;
  while (!p.at(TokenKind::EndOfFile) && size == 0) {
    if (!p.accept(TokenKind::Semicolon))
      parseItem(p);
    size = endOfLineBefore(p.tree, p.look(0));
  }
  if (p.at(TokenKind::EndOfFile))
    size = p.token().end;
  uint32_t reach = p.tree.token(p.furthest).end;
  p.tree.cutAt(p.position, size);
  p.position = p.lastToken();
  p.finish(NodeKind::Module, 0, start);
  p.tree.shrink();
  return {std::move(p.tree), size, reach};
}

ParsedChunk parseChunk(FileId file, std::string_view text, bool isFileStart, DiagnosticSink &sink) {
  DiagnosticSink lexical;
  Parser parser(file, text, lex(file, text, lexical, isFileStart), sink);
  ParsedChunk chunk = parseFirstLines(parser);
  // What lies behind the chunk is reported with the next one.
  if (chunk.size < text.size())
    lexical.removeIf([&](const Diagnostic &each) { return each.span.begin >= chunk.size; });
  sink.append(lexical);
  return chunk;
}

} // namespace ptl

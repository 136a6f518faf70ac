#include "frontend/parse/parser.h"

#include "frontend/parse/foreign_syntax.h"

namespace ptl {

bool Parser::atStatementEnd() const {
  return at(TokenKind::EndOfFile) || at(TokenKind::Semicolon) || at(TokenKind::RBrace) ||
         token().newlineBefore;
}

bool Parser::atDeclaration() const {
  // Declarations begin lines, so the same words inside of a line are something else.
  if (!token().newlineBefore)
    return false;
  switch (kind()) {
  case TokenKind::Import:
  case TokenKind::Pub:
  case TokenKind::Fn:
  case TokenKind::Kernel:
  case TokenKind::Manual:
  case TokenKind::Extern:
  case TokenKind::Program:
  case TokenKind::Schedule:
  case TokenKind::Test:
  case TokenKind::Property:
  case TokenKind::Bench:
  case TokenKind::Type:
  case TokenKind::Struct:
    return true;
  default:
    return false;
  }
}

bool Parser::atStatementWord() const {
  switch (kind()) {
  case TokenKind::Const:
  case TokenKind::Let:
  case TokenKind::Var:
  case TokenKind::For:
  case TokenKind::Parallel:
  case TokenKind::While:
  case TokenKind::Static:
  case TokenKind::Break:
  case TokenKind::Continue:
  case TokenKind::Return:
  case TokenKind::Assert:
  case TokenKind::Atomic:
  case TokenKind::Task:
  case TokenKind::PipeWord:
  case TokenKind::On:
  case TokenKind::Buffer:
  case TokenKind::Event:
    return true;
  default:
    return false;
  }
}

bool Parser::atBarrier() const {
  switch (kind()) {
  case TokenKind::EndOfFile:
  case TokenKind::LBrace:
  case TokenKind::RBrace:
  case TokenKind::Semicolon:
    return true;
  case TokenKind::Static:
    // `static C` may begin a line in a list of dimensions.
    return token().newlineBefore && kind(1) != TokenKind::Identifier;
  default:
    // A word at the start of a line begins a new statement, even inside of unclosed brackets, unless
    // it is the name of an argument: `atomic: .add`.
    return token().newlineBefore && kind(1) != TokenKind::Colon &&
           (atDeclaration() || atStatementWord());
  }
}

bool Parser::accept(TokenKind k) {
  if (!at(k))
    return false;
  advance();
  return true;
}

bool Parser::acceptWord(std::string_view word) {
  if (!atWord(word))
    return false;
  advance();
  return true;
}

bool Parser::expect(TokenKind k) {
  if (accept(k))
    return true;
  errorExpected(std::string(describe(k)));
  return false;
}

bool Parser::expectWord(std::string_view word) {
  if (acceptWord(word))
    return true;
  errorExpected("`" + std::string(word) + "`");
  return false;
}

void Parser::expectCloser(TokenKind closer, TokenIndex open) {
  if (accept(closer))
    return;
  // Errors about a missing closer point to the bracket that was opened.
  Span opener = tree.tokenSpan(open);
  // At the end of the file the opener is where the mistake is.
  if (at(TokenKind::EndOfFile) || atDeclaration()) {
    if (lastError != position)
      errorAt(opener, DiagId::UnclosedBracket, {std::string(tree.tokenText(open))})
          .help("add " + std::string(describe(closer)));
    lastError = position;
    return;
  }
  errorExpected(std::string(describe(closer))).label(opener, "opened here");
  // The list goes on behind what does not belong to it, if it can.
  recoverInList(closer);
  if (accept(closer))
    return;
  // A closer of the wrong kind that no open bracket waits for was meant for this one.
  bool isCloser = at(TokenKind::RParen) || at(TokenKind::RBracket);
  if (isCloser && std::find(closers.begin(), closers.end(), kind()) == closers.end())
    advance();
}

Span Parser::errorSpan() const {
  // An error at the start of a line belongs to the end of the line before.
  bool behind = token().newlineBefore && position != itemStart;
  if (position > 0 && (behind || at(TokenKind::EndOfFile))) {
    uint32_t end = tree.token(position - 1).end;
    return {tree.file(), end, end};
  }
  return tree.tokenSpan(position);
}

std::string Parser::found() const {
  if (at(TokenKind::EndOfFile))
    return "the end of the file";
  // Inside of brackets lines do not end.
  if (token().newlineBefore && bracketDepth == 0 && position > 0 && position != itemStart)
    return "the end of the line";
  std::string_view word = text();
  // A long text would hide the message.
  if (word.size() > 40)
    return std::string(describe(kind()));
  return "`" + std::string(word) + "`";
}

DiagnosticBuilder Parser::error(DiagId id, std::vector<std::string> args) {
  // One error for a token is enough, and malformed tokens were reported by the lexer.
  if (lastError == position || token().malformed) {
    lastError = position;
    markError();
    ignored = {};
    return DiagnosticBuilder(&ignored);
  }
  lastError = position;
  const char *help = foreignFormHelp(*this, id, args.empty() ? std::string_view() : args[0]);
  DiagnosticBuilder report = errorAt(errorSpan(), id, std::move(args));
  if (help)
    report.help(help);
  return report;
}

DiagnosticBuilder Parser::errorAt(Span span, DiagId id, std::vector<std::string> args) {
  markError();
  ++errors;
  // Behind so many errors the rest are consequences.
  if (errors == kMaxSyntaxErrors + 1)
    sink.report(DiagId::TooManyErrors, span, {std::to_string(kMaxSyntaxErrors)});
  if (errors <= kMaxSyntaxErrors)
    return sink.report(id, span, std::move(args));
  ignored = {};
  return DiagnosticBuilder(&ignored);
}

void Parser::skipBalanced() {
  // Brackets are skipped with all that they hold, so that recovery does not stop inside of them.
  unsigned depth = 0;
  do {
    switch (kind()) {
    case TokenKind::LParen:
    case TokenKind::LBracket:
    case TokenKind::LBrace:
      ++depth;
      break;
    case TokenKind::RParen:
    case TokenKind::RBracket:
    case TokenKind::RBrace:
      depth -= depth > 0;
      break;
    case TokenKind::EndOfFile:
      return;
    default:
      break;
    }
    advance();
    // A declaration ends everything, even an unclosed bracket.
    if (depth > 0 && atDeclaration())
      return;
  } while (depth > 0);
}

void Parser::skipStatement() {
  while (!atStatementEnd() && !atDeclaration())
    skipBalanced();
}

NodeId Parser::skipIntoError(NodeId understood, TokenIndex first) {
  // At least one token is taken, so that the loop of the caller ends.
  if (position == first)
    skipBalanced();
  markError();
  skipStatement();
  return make(NodeKind::Error, first, {understood});
}

bool Parser::recoverInList(TokenKind closer) {
  // Statements, declarations and braces end every list.
  while (!atBarrier()) {
    if (at(closer))
      return true;
    if (accept(TokenKind::Comma))
      return true;
    // Another closer belongs to a list around this one.
    if (at(TokenKind::RParen) || at(TokenKind::RBracket) || at(TokenKind::Arrow))
      return false;
    skipBalanced();
  }
  return false;
}

NodeId Parser::finish(NodeKind kind, TokenIndex first, TokenIndex main, size_t mark) {
  // The children are on the scratch stack from the mark on.
  Node node{
      .kind = kind, .firstToken = first, .endToken = std::max(position, first), .mainToken = main};
  NodeId id = tree.add(node, std::span(scratch).subspan(mark));
  scratch.resize(mark);
  return id;
}

NodeId Parser::make(NodeKind kind, TokenIndex first, TokenIndex main,
                    std::initializer_list<NodeId> children) {
  Node node{
      .kind = kind, .firstToken = first, .endToken = std::max(position, first), .mainToken = main};
  return tree.add(node, std::span(children.begin(), children.size()));
}

NodeId Parser::leaf(NodeKind kind) {
  TokenIndex first = position;
  advance();
  return make(kind, first, {});
}

NodeId Parser::missing() { return make(NodeKind::Error, position, {}); }

bool Parser::Nesting::tooDeep() {
  // Deep nesting would overflow the stack of a recursive parser.
  if (parser.nesting <= kMaxNesting)
    return false;
  parser.error(DiagId::NestingTooDeep, {std::to_string(kMaxNesting)});
  while (!parser.at(TokenKind::RParen) && !parser.at(TokenKind::RBracket) &&
         !parser.at(TokenKind::Comma) && !parser.at(TokenKind::RBrace) &&
         !parser.at(TokenKind::EndOfFile) && !parser.atDeclaration() &&
         (parser.bracketDepth > 0 || !parser.token().newlineBefore))
    parser.skipBalanced();
  return true;
}

} // namespace ptl

#include "frontend/parse/parse_stmt.h"

#include "frontend/parse/foreign_syntax.h"
#include "frontend/parse/parse_block_level.h"
#include "frontend/parse/parse_decl.h"
#include "frontend/parse/parse_expr.h"
#include "frontend/parse/parse_name.h"
#include "frontend/parse/parse_type.h"

namespace ptl {
namespace {

/// How far recovery looks for the body of a statement.
constexpr unsigned kMaxHeadTokens = 64;

bool isAssignment(TokenKind kind) {
  return kind >= TokenKind::Equal && kind <= TokenKind::ShiftRightEqual;
}

/// Operators that cannot begin an expression.
bool isInfixOnly(TokenKind kind) {
  return (kind >= TokenKind::Plus && kind <= TokenKind::GreaterEqual && kind != TokenKind::Minus &&
          kind != TokenKind::Tilde) ||
         kind == TokenKind::And || kind == TokenKind::Or || kind == TokenKind::Dot ||
         kind == TokenKind::DotDot || isAssignment(kind) || kind == TokenKind::Comma;
}

} // namespace

static void parseStatements(Parser &p, TokenIndex open);
static void parseNextStatement(Parser &p, bool nested);
static NodeId parseIndentedBody(Parser &p);
static NodeId parseNestedDeclaration(Parser &p);
static NodeId parseStatement(Parser &p);
static NodeId parseBinding(Parser &p, NodeKind node);
static NodeId parseLoop(Parser &p, NodeKind node);
static bool atForeignLoopHead(const Parser &p);
static NodeId parseForeignLoop(Parser &p, NodeKind node);
static NodeId parseCheckpoint(Parser &p);
static NodeId parseWhile(Parser &p);
static NodeId parseStatic(Parser &p);
static NodeId parseReturn(Parser &p);
static NodeId parseAssert(Parser &p);
static NodeId parsePrint(Parser &p);
static NodeId parseAtomic(Parser &p);
static NodeId parseExpressionStatement(Parser &p);
static NodeId parseStrayOperator(Parser &p);

NodeId parseBlock(Parser &p) {
  TokenIndex first = p.position;
  if (!p.at(TokenKind::LBrace)) {
    // A single statement without braces is read, so that what follows does not fail as well.
    auto report = p.errorExpected("`{`");
    if (atIndentedBody(p))
      return parseIndentedBody(p);
    if (p.atStatementWord() && !p.token().newlineBefore) {
      report.help("put the body in braces");
      Parser::Nesting nesting(p);
      if (nesting.tooDeep())
        return p.make(NodeKind::Error, first, {});
      NodeId statement = parseStatement(p);
      return p.make(NodeKind::Error, first, {statement});
    }
    // A mistake in the head should not cost the body.
    // The search stays on the line, since the next line may hold another brace.
    TokenIndex ahead = p.position;
    while (ahead < p.lastToken() && ahead < p.position + kMaxHeadTokens &&
           !p.tree.token(ahead).newlineBefore && p.tree.tokenKind(ahead) != TokenKind::LBrace &&
           p.tree.tokenKind(ahead) != TokenKind::RBrace)
      ++ahead;
    if (p.tree.tokenKind(ahead) != TokenKind::LBrace || ahead == p.position ||
        p.tree.token(ahead).newlineBefore)
      return p.missing();
    p.position = ahead;
  }
  Parser::Nesting nesting(p);
  if (nesting.tooDeep())
    return p.make(NodeKind::Error, first, {});
  // Errors about the closer name the opener.
  TokenIndex open = p.position;
  p.advance();
  size_t start = p.mark();
  Parser::Brackets inside(p, true);
  // Brackets outside of the block do not wait for closers inside of it.
  std::vector<TokenKind> outer;
  outer.swap(p.closers);
  parseStatements(p, open);
  outer.swap(p.closers);
  return p.finish(NodeKind::Block, first, start);
}

static void parseStatements(Parser &p, TokenIndex open) {
  while (true) {
    if (p.accept(TokenKind::Semicolon))
      continue;
    if (p.accept(TokenKind::RBrace))
      return;
    // A declaration at the start of a line means that a brace is missing; an indented one was
    // nested by mistake.
    bool nested = p.atDeclaration() && !p.tree.triviaBefore(p.position).empty() &&
                  p.tree.triviaBefore(p.position).back().kind == TriviaKind::Whitespace;
    if (p.at(TokenKind::EndOfFile) || (p.atDeclaration() && !nested))
      return p.expectCloser(TokenKind::RBrace, open);
    parseNextStatement(p, nested);
  }
}

static void parseNextStatement(Parser &p, bool nested) {
  TokenIndex first = p.itemStart = p.position;
  NodeId statement = nested ? parseNestedDeclaration(p) : parseStatement(p);
  // An error at this token was reported already.
  bool clean = p.lastError != p.position;
  if (!p.atStatementEnd() || p.position == first) {
    // What stands behind the statement on the same line does not belong to it.
    if (clean && p.position != first)
      p.error(DiagId::ExpectedStatementEnd, {p.found()});
    statement = p.skipIntoError(statement, first);
  }
  p.push(statement);
}

/// The body of Python's form, reported already, is read as if it were in braces, so that the rest of
/// the declaration does not fail as well.
static NodeId parseIndentedBody(Parser &p) {
  TokenIndex first = p.position;
  Parser::Nesting nesting(p);
  if (nesting.tooDeep())
    return p.make(NodeKind::Error, first, {});
  TokenIndex owner = p.itemStart;
  uint32_t outside = indentationOf(p, owner);
  p.advance();
  size_t start = p.mark();
  Parser::Brackets inside(p, true);
  std::vector<TokenKind> outer;
  outer.swap(p.closers);
  while (!p.at(TokenKind::EndOfFile) && !p.at(TokenKind::RBrace) && !p.atDeclaration() &&
         indentationOf(p, p.position) > outside)
    if (!p.accept(TokenKind::Semicolon))
      parseNextStatement(p, false);
  outer.swap(p.closers);
  // An `else` belongs to the statement around the body again.
  p.itemStart = owner;
  return p.finish(NodeKind::Block, first, start);
}

static NodeId parseNestedDeclaration(Parser &p) {
  TokenIndex first = p.position;
  p.error(DiagId::NestedDeclaration, {std::string(p.text())});
  NodeId declaration = parseDeclaration(p);
  return p.make(NodeKind::Error, first, {declaration});
}

static NodeId parseStatement(Parser &p) {
  switch (p.kind()) {
  case TokenKind::Let:
    return parseBinding(p, NodeKind::LetStmt);
  case TokenKind::Var:
    return parseBinding(p, NodeKind::VarStmt);
  case TokenKind::Const:
    return parseConst(p);
  case TokenKind::For:
    return parseLoop(p, NodeKind::ForStmt);
  case TokenKind::Parallel:
    return parseLoop(p, NodeKind::ParallelStmt);
  case TokenKind::While:
    return parseWhile(p);
  case TokenKind::If:
    return parseIf(p);
  case TokenKind::Static:
    return parseStatic(p);
  case TokenKind::Break:
    return p.leaf(NodeKind::BreakStmt);
  case TokenKind::Continue:
    return p.leaf(NodeKind::ContinueStmt);
  case TokenKind::Return:
    return parseReturn(p);
  case TokenKind::Assert:
    return parseAssert(p);
  case TokenKind::Atomic:
    return parseAtomic(p);
  case TokenKind::Task:
    return parseTask(p);
  case TokenKind::PipeWord:
    return parsePipe(p);
  case TokenKind::On:
    return parseOn(p);
  case TokenKind::Buffer:
    return parseBuffer(p);
  case TokenKind::Event:
    return parseEvent(p);
  case TokenKind::LBrace:
    return parseBlock(p);
  // An `else` here stands behind a finished statement, usually on a line of its own.
  case TokenKind::Else: {
    TokenIndex first = p.position;
    p.error(DiagId::ElseWithoutIf);
    p.advance();
    NodeId body = p.at(TokenKind::If) ? parseIf(p) : parseBlock(p);
    return p.make(NodeKind::Error, first, {body});
  }
  case TokenKind::RParen:
  case TokenKind::RBracket:
    p.error(DiagId::UnmatchedCloser, {std::string(p.text())});
    return p.leaf(NodeKind::Error);
  default:
    break;
  }
  // A dot begins an expression only in front of a name.
  if (isInfixOnly(p.kind()) && !(p.at(TokenKind::Dot) && p.kind(1) != TokenKind::Identifier))
    return parseStrayOperator(p);
  // `print` is a word only in front of a parenthesis, so that it can be a name elsewhere.
  if (p.atWord("print") && p.kind(1) == TokenKind::LParen)
    return parsePrint(p);
  return parseExpressionStatement(p);
}

static NodeId parseStrayOperator(Parser &p) {
  TokenIndex first = p.position;
  auto report = p.error(DiagId::LineStartsWithOperator, {std::string(p.text())});
  if (p.token().newlineBefore && first > 0)
    // The operator probably continues the line before.
    report.help("move the operator to the end of the line before: a statement goes on after a line "
                "that ends with an operator");
  p.advance();
  NodeId rest = p.atStatementEnd() ? p.missing() : parseCondition(p);
  return p.make(NodeKind::Error, first, {rest});
}

static NodeId parseBinding(Parser &p, NodeKind node) {
  TokenIndex first = p.position;
  bool isLet = p.at(TokenKind::Let);
  p.advance();
  NodeId pattern = parsePattern(p);
  // `:=` of other languages is reported and read as `=`.
  acceptForeignOperator(p, TokenKind::Colon, TokenKind::Equal, "=");
  NodeId type = p.accept(TokenKind::Colon) ? parseType(p) : kNoNode;
  // `let x @gm = ...` names a place without a type.
  if (p.at(TokenKind::At) && type == kNoNode && p.continues()) {
    Span name = p.tree.span(pattern);
    p.error(DiagId::ExpectedToken, {"`:` and a type", p.found()})
        .fix(FixId::PlaceBehindName, "a place belongs to the type, which may be `_`",
             {{{name.file, name.end, name.end}, ": _"}});
    type = parsePlace(p);
  }
  NodeId value = kNoNode;
  if (p.accept(TokenKind::Equal))
    value = parseExpr(p);
  // Behind an error in the head no second one is told.
  else if (!p.atStatementEnd() && p.lastError != p.position)
    p.errorExpected("`=`");
  // A `var` may have a type alone, a `let` needs its value.
  else if (isLet || type == kNoNode)
    p.error(DiagId::MissingValue, {isLet ? "let" : "var"});
  if (isLet && value == kNoNode)
    value = p.missing();
  return p.make(node, first, {pattern, type, value});
}

static NodeId parseLoop(Parser &p, NodeKind node) {
  TokenIndex first = p.position;
  p.advance();
  // `for (i in ...)` is how other languages write it.
  bool inParens =
      p.at(TokenKind::LParen) && p.kind(1) == TokenKind::Identifier && p.atWord("in", 2);
  if (inParens) {
    p.error(DiagId::ExpectedName, {"a name", p.found()})
        .help("write the head of a loop without parentheses: `for i in 0..n {`");
    p.advance();
  }
  if (p.at(TokenKind::LParen) && atForeignLoopHead(p))
    return parseForeignLoop(p, node);
  // `for static` is read as `static for`.
  bool isStatic = node == NodeKind::ForStmt && p.at(TokenKind::Static);
  if (isStatic) {
    p.errorAt(p.tree.tokenSpan(p.position), DiagId::ReservedWord, {"static", "a name"})
        .fix(FixId::StaticLoop, "write `static for`: the loop is unrolled",
             {{join(p.tree.tokenSpan(first), p.tree.tokenSpan(p.position)), "static for"}});
    p.advance();
  }
  TokenIndex bindingsFirst = p.position;
  size_t start = p.mark();
  p.commaList([&] { return parseLoopBinding(p); });
  NodeId bindings = p.finish(NodeKind::LoopBindings, bindingsFirst, start);
  if (inParens)
    p.accept(TokenKind::RParen);
  NodeId label = kNoNode, pipeline = kNoNode, unroll = kNoNode, checkpoint = kNoNode;
  // The clauses may come in any order, each once.
  while (true) {
    if (label == kNoNode && p.acceptWord("as")) {
      label = parseName(p, "a label");
    } else if (pipeline == kNoNode && p.acceptWord("pipeline")) {
      pipeline = parseBinary(p, Precedence::Or);
    } else if (unroll == kNoNode && p.atWord("unroll")) {
      TokenIndex unrollFirst = p.position;
      p.advance();
      // `unroll` without a number is followed by another clause or by the body.
      bool counted = !p.at(TokenKind::LBrace) && !p.atWord("as") && !p.atWord("pipeline") &&
                     !p.atWord("checkpoint");
      NodeId count = counted ? parseBinary(p, Precedence::Or) : kNoNode;
      unroll = p.make(NodeKind::Unroll, unrollFirst, {count});
    } else if (checkpoint == kNoNode && p.atWord("checkpoint")) {
      checkpoint = parseCheckpoint(p);
    } else {
      break;
    }
  }
  NodeId body = parseBlock(p);
  NodeId loop = p.make(node, first, {bindings, label, pipeline, unroll, checkpoint, body});
  if (isStatic)
    p.flag(loop, NodeFlag::Static);
  return loop;
}

/// Whether the parenthesis holds what a loop of C has: three parts between semicolons.
static bool atForeignLoopHead(const Parser &p) {
  for (uint32_t ahead = 1; ahead < kMaxHeadTokens; ++ahead) {
    TokenKind kind = p.kind(ahead);
    if (kind == TokenKind::Semicolon)
      return true;
    if (kind == TokenKind::RParen || kind == TokenKind::LBrace || kind == TokenKind::EndOfFile)
      return false;
  }
  return false;
}

/// Reports the head of a loop of C, and reads the body behind it.
static NodeId parseForeignLoop(Parser &p, NodeKind node) {
  TokenIndex first = p.position - 1;
  p.error(DiagId::ExpectedName, {"a name", p.found()})
      .help("a loop runs over a range, as in `for i in 0..n {`");
  NodeId name = p.missing();
  p.skipBalanced();
  NodeId binding = p.make(NodeKind::LoopBinding, first, {name, p.missing()});
  NodeId bindings = p.make(NodeKind::LoopBindings, first, {binding});
  NodeId body = parseBlock(p);
  return p.make(node, first, {bindings, kNoNode, kNoNode, kNoNode, kNoNode, body});
}

static NodeId parseCheckpoint(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  NodeId folder = kNoNode;
  if (p.at(TokenKind::StringLiteral)) {
    folder = p.leaf(NodeKind::StringLiteral);
  } else {
    p.errorExpected("a string, the folder of the checkpoints");
    folder = p.missing();
  }
  NodeId every = p.expectWord("every") ? parseBinary(p, Precedence::Or) : p.missing();
  NodeId keep = p.acceptWord("keep") ? parseBinary(p, Precedence::Or) : kNoNode;
  return p.make(NodeKind::Checkpoint, first, {folder, every, keep});
}

NodeId parseLoopBinding(Parser &p) {
  TokenIndex first = p.position;
  NodeId pattern = parsePattern(p);
  NodeId domain = p.expectWord("in") ? parseExpr(p) : p.missing();
  return p.make(NodeKind::LoopBinding, first, {pattern, domain});
}

static NodeId parseWhile(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  NodeId condition = parseCondition(p);
  NodeId body = parseBlock(p);
  return p.make(NodeKind::WhileStmt, first, {condition, body});
}

NodeId parseCondition(Parser &p) {
  TokenIndex first = p.position;
  NodeId value = parseExpr(p);
  // `=` in a condition was meant as a comparison.
  if (!p.at(TokenKind::Equal) || !p.continues())
    return value;
  p.error(DiagId::AssignmentAsValue)
      .fix(FixId::Comparison, "write `==` to compare", {{p.tree.tokenSpan(p.position), "=="}});
  TokenIndex main = p.position;
  p.advance();
  NodeId rhs = parseExpr(p);
  return p.make(NodeKind::BinaryExpr, first, main, {value, rhs});
}

NodeId parseIf(Parser &p) {
  TokenIndex first = p.position;
  Parser::Nesting nesting(p);
  if (nesting.tooDeep())
    return p.make(NodeKind::Error, first, {});
  p.advance();
  NodeId condition = parseCondition(p);
  NodeId then = parseBlock(p);
  NodeId otherwise = kNoNode;
  // `elif` is read as `else if`, with all that follows.
  if (p.atWord("elif")) {
    p.errorAt(p.tree.tokenSpan(p.position), DiagId::ForeignWord, {"elif", "else if"})
        .fix(FixId::ElseIf, "write `else if`", {{p.tree.tokenSpan(p.position), "else if"}});
    otherwise = parseIf(p);
  } else if (p.accept(TokenKind::Else)) {
    otherwise = p.at(TokenKind::If) ? parseIf(p) : parseBlock(p);
  }
  return p.make(NodeKind::If, first, {condition, then, otherwise});
}

static NodeId parseStatic(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  if (!p.at(TokenKind::If) && !p.at(TokenKind::For)) {
    p.error(DiagId::MisplacedModifier, {"static", p.found()});
    NodeId rest = p.atStatementEnd() ? p.missing() : parseStatement(p);
    return p.make(NodeKind::Error, first, {rest});
  }
  NodeId statement = p.at(TokenKind::If) ? parseIf(p) : parseLoop(p, NodeKind::ForStmt);
  p.flag(statement, NodeFlag::Static);
  // The statement begins at `static`, which was read before it.
  p.tree.setFirstToken(statement, first);
  return statement;
}

static NodeId parseReturn(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  NodeId value = p.atStatementEnd() ? kNoNode : parseExpr(p);
  return p.make(NodeKind::ReturnStmt, first, {value});
}

static NodeId parseAssert(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  size_t start = p.mark();
  if (p.at(TokenKind::LParen))
    p.bracketed(TokenKind::RParen, [&] { return parseCondition(p); });
  else
    p.expect(TokenKind::LParen);
  if (p.mark() == start) {
    p.error(DiagId::ExpectedExpression, {p.found()});
    p.push(p.missing());
  }
  // Surplus arguments are reported and dropped, so that the tree has its form.
  while (p.mark() - start > 2) {
    // More than a condition and a message.
    p.errorAt(p.tree.span(p.scratch.back()), DiagId::ExpectedToken,
              {"`)`", "`" + std::string(p.tree.text(p.scratch.back()).substr(0, 40)) + "`"})
        .help("`assert` takes a condition and a message");
    p.scratch.resize(start + 2);
  }
  // The message may be missing, and has a place in the tree even so.
  if (p.mark() - start < 2)
    p.push(kNoNode);
  return p.finish(NodeKind::AssertStmt, first, start);
}

static NodeId parsePrint(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  size_t start = p.mark();
  p.bracketed(TokenKind::RParen, [&] { return parseCondition(p); });
  return p.finish(NodeKind::PrintStmt, first, start);
}

static NodeId parseAtomic(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  NodeId target = parsePostfix(p);
  TokenIndex main = p.position;
  // `max=` and `min=` are two tokens, since both words can be names.
  bool wordOperator = (p.atWord("max") || p.atWord("min")) && p.kind(1) == TokenKind::Equal;
  NodeId value = kNoNode;
  if (p.accept(TokenKind::PlusEqual) || wordOperator) {
    if (wordOperator)
      p.position += 2;
    value = parseExpr(p);
  } else {
    p.error(DiagId::AtomicOperator, {p.found()});
    // The operator is unknown, but its value is read, so that errors in it are found.
    main = first;
    if (isAssignment(p.kind()) && !p.token().newlineBefore) {
      p.advance();
      value = parseExpr(p);
    } else {
      value = p.missing();
    }
  }
  return p.make(NodeKind::AtomicStmt, first, main, {target, value});
}

static NodeId parseExpressionStatement(Parser &p) {
  TokenIndex first = p.position;
  NodeId expr = parseExpr(p);
  if (p.position == first)
    return expr;
  // A value by itself is a statement; an assignment needs its operator on the same line.
  if (!isAssignment(p.kind()) || !p.continues())
    return p.make(NodeKind::ExprStmt, first, {expr});
  TokenIndex main = p.position;
  p.advance();
  NodeId value = parseExpr(p);
  return p.make(NodeKind::AssignStmt, first, main, {expr, value});
}

} // namespace ptl

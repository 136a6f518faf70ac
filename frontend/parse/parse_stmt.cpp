// Blocks and statements of the tensor and tile levels.
#include "frontend/parse/parser.h"

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

NodeId Parser::parseBlock() {
  TokenIndex first = at_;
  if (!at(TokenKind::LBrace)) {
    // A single statement without braces is read, so that what follows does not fail as well.
    auto report = errorExpected("`{`");
    if (atStatementWord() && !token().newlineBefore) {
      report.help("bodies stand in braces");
      Nesting nesting(*this);
      if (nesting.tooDeep())
        return make(NodeKind::Error, first, {});
      NodeId statement = parseStatement();
      return make(NodeKind::Error, first, {statement});
    }
    // A mistake in the head should not cost the body.
    // The search stays on the line, since the next line may hold another brace.
    TokenIndex ahead = at_;
    while (ahead < lastToken() && ahead < at_ + kMaxHeadTokens &&
           !tree_.token(ahead).newlineBefore && tree_.tokenKind(ahead) != TokenKind::LBrace &&
           tree_.tokenKind(ahead) != TokenKind::RBrace)
      ++ahead;
    if (tree_.tokenKind(ahead) != TokenKind::LBrace || ahead == at_ ||
        tree_.token(ahead).newlineBefore)
      return missing();
    at_ = ahead;
  }
  Nesting nesting(*this);
  if (nesting.tooDeep())
    return make(NodeKind::Error, first, {});
  // Errors about the closer name the opener.
  TokenIndex open = at_;
  advance();
  size_t start = mark();
  Brackets inside(*this, true);
  // Brackets outside of the block do not wait for closers inside of it.
  std::vector<TokenKind> outer;
  outer.swap(closers_);
  parseStatements(open);
  outer.swap(closers_);
  return finish(NodeKind::Block, first, start);
}

void Parser::parseStatements(TokenIndex open) {
  while (true) {
    if (accept(TokenKind::Semicolon))
      continue;
    if (accept(TokenKind::RBrace))
      return;
    // A declaration at the start of a line means that a brace is missing; an indented one was
    // nested by mistake.
    bool nested = atDeclaration() && !tree_.triviaBefore(at_).empty() &&
                  tree_.triviaBefore(at_).back().kind == TriviaKind::Whitespace;
    if (at(TokenKind::EndOfFile) || (atDeclaration() && !nested))
      return expectCloser(TokenKind::RBrace, open);
    TokenIndex first = itemStart_ = at_;
    NodeId statement = nested ? parseNestedDeclaration() : parseStatement();
    // An error at this token was reported already.
    bool clean = lastError_ != at_;
    if (!atStatementEnd() || at_ == first) {
      // What stands behind the statement on the same line does not belong to it.
      if (clean && at_ != first) {
        auto report = error(DiagId::ExpectedStatementEnd, {found()});
        if (at(TokenKind::If))
          report.help(
              "a choice is a value: `if c { a } else { b }`; elementwise it is `select(c, a, b)`");
        else if (at(TokenKind::Comma))
          report.help("several values are one between parentheses: `(a, b)`");
      }
      // At least one token is taken, so that the loop goes on.
      if (at_ == first)
        skipBalanced();
      statement = skipIntoError(statement, first);
    }
    push(statement);
  }
}

NodeId Parser::parseNestedDeclaration() {
  TokenIndex first = at_;
  error(DiagId::NestedDeclaration, {std::string(text())});
  NodeId declaration = parseDeclaration();
  return make(NodeKind::Error, first, {declaration});
}

NodeId Parser::parseStatement() {
  switch (kind()) {
  case TokenKind::Let:
    return parseBinding(NodeKind::LetStmt);
  case TokenKind::Var:
    return parseBinding(NodeKind::VarStmt);
  case TokenKind::Const:
    return parseConst();
  case TokenKind::For:
    return parseLoop(NodeKind::ForStmt);
  case TokenKind::Parallel:
    return parseLoop(NodeKind::ParallelStmt);
  case TokenKind::While:
    return parseWhile();
  case TokenKind::If:
    return parseIf();
  case TokenKind::Static:
    return parseStatic();
  case TokenKind::Break:
    return leaf(NodeKind::BreakStmt);
  case TokenKind::Continue:
    return leaf(NodeKind::ContinueStmt);
  case TokenKind::Return:
    return parseReturn();
  case TokenKind::Assert:
    return parseAssert();
  case TokenKind::Atomic:
    return parseAtomic();
  case TokenKind::Task:
    return parseTask();
  case TokenKind::PipeWord:
    return parsePipe();
  case TokenKind::On:
    return parseOn();
  case TokenKind::Buffer:
    return parseBuffer();
  case TokenKind::Event:
    return parseEvent();
  case TokenKind::LBrace:
    return parseBlock();
  // An `else` here stands behind a finished statement, usually on a line of its own.
  case TokenKind::Else: {
    TokenIndex first = at_;
    error(DiagId::ElseWithoutIf);
    advance();
    NodeId body = at(TokenKind::If) ? parseIf() : parseBlock();
    return make(NodeKind::Error, first, {body});
  }
  case TokenKind::RParen:
  case TokenKind::RBracket:
    error(DiagId::UnmatchedCloser, {std::string(text())});
    return leaf(NodeKind::Error);
  default:
    break;
  }
  // A dot begins an expression only in front of a name.
  if (isInfixOnly(kind()) && !(at(TokenKind::Dot) && kind(1) != TokenKind::Identifier))
    return parseStrayOperator();
  // `print` is a word only in front of a parenthesis, so that it can be a name elsewhere.
  if (atWord("print") && kind(1) == TokenKind::LParen)
    return parsePrint();
  return parseExpressionStatement();
}

NodeId Parser::parseStrayOperator() {
  TokenIndex first = at_;
  auto report = error(DiagId::LineStartsWithOperator, {std::string(text())});
  if (token().newlineBefore && first > 0)
    // The operator probably continues the line before.
    report.help(
        "end the line before with it: an operator at the end of a line continues the statement");
  advance();
  NodeId rest = atStatementEnd() ? missing() : parseCondition();
  return make(NodeKind::Error, first, {rest});
}

NodeId Parser::parseBinding(NodeKind node) {
  TokenIndex first = at_;
  bool isLet = at(TokenKind::Let);
  advance();
  NodeId pattern = parsePattern();
  // `:=` of other languages is reported and read as `=`.
  acceptForeignOperator(TokenKind::Colon, TokenKind::Equal, "=");
  NodeId type = accept(TokenKind::Colon) ? parseType() : kNoNode;
  // `let x @gm = ...` names a place without a type.
  if (at(TokenKind::At) && type == kNoNode && continues()) {
    Span name = tree_.span(pattern);
    error(DiagId::ExpectedToken, {"`:` and a type", found()})
        .fix(FixId::PlaceBehindName, "a place belongs to the type, which may be `_`",
             {{{name.file, name.end, name.end}, ": _"}});
    type = parsePlace();
  }
  NodeId value = kNoNode;
  if (accept(TokenKind::Equal))
    value = parseExpr();
  // Behind an error in the head no second one is told.
  else if (!atStatementEnd() && lastError_ != at_)
    errorExpected("`=`");
  // A `var` may have a type alone, a `let` needs its value.
  else if (isLet || type == kNoNode)
    error(DiagId::MissingValue, {isLet ? "let" : "var"});
  if (isLet && value == kNoNode)
    value = missing();
  return make(node, first, {pattern, type, value});
}

NodeId Parser::parseLoop(NodeKind node) {
  TokenIndex first = at_;
  advance();
  // `for (i in ...)` is how other languages write it.
  bool inParens = at(TokenKind::LParen) && kind(1) == TokenKind::Identifier && atWord("in", 2);
  if (inParens) {
    error(DiagId::ExpectedName, {"a name", found()})
        .help("the head of a loop has no parentheses: `for i in 0..n {`");
    advance();
  }
  // `for static` is read as `static for`.
  bool isStatic = node == NodeKind::ForStmt && at(TokenKind::Static);
  if (isStatic) {
    errorAt(tree_.tokenSpan(at_), DiagId::ReservedWord, {"static", "a name"})
        .fix(FixId::StaticLoop, "write `static for`: the loop is unrolled",
             {{join(tree_.tokenSpan(first), tree_.tokenSpan(at_)), "static for"}});
    advance();
  }
  TokenIndex bindingsFirst = at_;
  size_t start = mark();
  commaList([&] { return parseLoopBinding(); });
  NodeId bindings = finish(NodeKind::LoopBindings, bindingsFirst, start);
  if (inParens)
    accept(TokenKind::RParen);
  NodeId label = kNoNode, pipeline = kNoNode, unroll = kNoNode, checkpoint = kNoNode;
  // The clauses may come in any order, each once.
  while (true) {
    if (label == kNoNode && acceptWord("as")) {
      label = parseName("a label");
    } else if (pipeline == kNoNode && acceptWord("pipeline")) {
      pipeline = parseBinary(Precedence::Or);
    } else if (unroll == kNoNode && atWord("unroll")) {
      TokenIndex unrollFirst = at_;
      advance();
      // `unroll` without a number is followed by another clause or by the body.
      bool counted =
          !at(TokenKind::LBrace) && !atWord("as") && !atWord("pipeline") && !atWord("checkpoint");
      NodeId count = counted ? parseBinary(Precedence::Or) : kNoNode;
      unroll = make(NodeKind::Unroll, unrollFirst, {count});
    } else if (checkpoint == kNoNode && atWord("checkpoint")) {
      checkpoint = parseCheckpoint();
    } else {
      break;
    }
  }
  NodeId body = parseBlock();
  NodeId loop = make(node, first, {bindings, label, pipeline, unroll, checkpoint, body});
  if (isStatic)
    flag(loop, NodeFlag::Static);
  return loop;
}

NodeId Parser::parseCheckpoint() {
  TokenIndex first = at_;
  advance();
  NodeId folder = kNoNode;
  if (at(TokenKind::StringLiteral)) {
    folder = leaf(NodeKind::StringLiteral);
  } else {
    errorExpected("the folder of the checkpoints, a text");
    folder = missing();
  }
  NodeId every = expectWord("every") ? parseBinary(Precedence::Or) : missing();
  NodeId keep = acceptWord("keep") ? parseBinary(Precedence::Or) : kNoNode;
  return make(NodeKind::Checkpoint, first, {folder, every, keep});
}

NodeId Parser::parseLoopBinding() {
  TokenIndex first = at_;
  NodeId pattern = parsePattern();
  NodeId domain = expectWord("in") ? parseExpr() : missing();
  return make(NodeKind::LoopBinding, first, {pattern, domain});
}

NodeId Parser::parseWhile() {
  TokenIndex first = at_;
  advance();
  NodeId condition = parseCondition();
  NodeId body = parseBlock();
  return make(NodeKind::WhileStmt, first, {condition, body});
}

NodeId Parser::parseCondition() {
  TokenIndex first = at_;
  NodeId value = parseExpr();
  // `=` in a condition was meant as a comparison.
  if (!at(TokenKind::Equal) || !continues())
    return value;
  error(DiagId::AssignmentAsValue)
      .fix(FixId::Comparison, "write `==` to compare", {{tree_.tokenSpan(at_), "=="}});
  TokenIndex main = at_;
  advance();
  NodeId rhs = parseExpr();
  return make(NodeKind::BinaryExpr, first, main, {value, rhs});
}

NodeId Parser::parseIf() {
  TokenIndex first = at_;
  Nesting nesting(*this);
  if (nesting.tooDeep())
    return make(NodeKind::Error, first, {});
  advance();
  NodeId condition = parseCondition();
  NodeId then = parseBlock();
  NodeId otherwise = kNoNode;
  // `elif` is read as `else if`, with all that follows.
  if (atWord("elif")) {
    error(DiagId::ForeignWord, {"elif", "else if"})
        .fix(FixId::ElseIf, "write `else if`", {{tree_.tokenSpan(at_), "else if"}});
    otherwise = parseIf();
  } else if (accept(TokenKind::Else)) {
    otherwise = at(TokenKind::If) ? parseIf() : parseBlock();
  }
  return make(NodeKind::If, first, {condition, then, otherwise});
}

NodeId Parser::parseStatic() {
  TokenIndex first = at_;
  advance();
  if (!at(TokenKind::If) && !at(TokenKind::For)) {
    error(DiagId::MisplacedModifier, {"static", found()});
    NodeId rest = atStatementEnd() ? missing() : parseStatement();
    return make(NodeKind::Error, first, {rest});
  }
  NodeId statement = at(TokenKind::If) ? parseIf() : parseLoop(NodeKind::ForStmt);
  flag(statement, NodeFlag::Static);
  // The statement begins at `static`, which was read before it.
  tree_.setFirstToken(statement, first);
  return statement;
}

NodeId Parser::parseReturn() {
  TokenIndex first = at_;
  advance();
  NodeId value = atStatementEnd() ? kNoNode : parseExpr();
  return make(NodeKind::ReturnStmt, first, {value});
}

NodeId Parser::parseAssert() {
  TokenIndex first = at_;
  advance();
  size_t start = mark();
  if (at(TokenKind::LParen))
    bracketed(TokenKind::RParen, [&] { return parseCondition(); });
  else
    expect(TokenKind::LParen);
  if (mark() == start) {
    error(DiagId::ExpectedExpression, {found()});
    push(missing());
  }
  // Surplus arguments are reported and dropped, so that the tree has its form.
  while (mark() - start > 2) {
    // More than a condition and a message.
    errorAt(tree_.span(scratch_.back()), DiagId::ExpectedToken,
            {"`)`", "`" + std::string(tree_.text(scratch_.back()).substr(0, 40)) + "`"})
        .help("`assert` takes a condition and a message");
    scratch_.resize(start + 2);
  }
  // The message may be missing, and has a place in the tree even so.
  if (mark() - start < 2)
    push(kNoNode);
  return finish(NodeKind::AssertStmt, first, start);
}

NodeId Parser::parsePrint() {
  TokenIndex first = at_;
  advance();
  size_t start = mark();
  bracketed(TokenKind::RParen, [&] { return parseCondition(); });
  return finish(NodeKind::PrintStmt, first, start);
}

NodeId Parser::parseAtomic() {
  TokenIndex first = at_;
  advance();
  NodeId target = parsePostfix();
  TokenIndex main = at_;
  // `max=` and `min=` are two tokens, since both words can be names.
  bool wordOperator = (atWord("max") || atWord("min")) && kind(1) == TokenKind::Equal;
  NodeId value = kNoNode;
  if (accept(TokenKind::PlusEqual) || wordOperator) {
    if (wordOperator)
      at_ += 2;
    value = parseExpr();
  } else {
    error(DiagId::AtomicOperator, {found()});
    // The operator is unknown, but its value is read, so that errors in it are found.
    main = first;
    if (isAssignment(kind()) && !token().newlineBefore) {
      advance();
      value = parseExpr();
    } else {
      value = missing();
    }
  }
  return make(NodeKind::AtomicStmt, first, main, {target, value});
}

NodeId Parser::parseExpressionStatement() {
  TokenIndex first = at_;
  NodeId expr = parseExpr();
  if (at_ == first)
    return expr;
  // A value by itself is a statement; an assignment needs its operator on the same line.
  if (!isAssignment(kind()) || !continues())
    return make(NodeKind::ExprStmt, first, {expr});
  TokenIndex main = at_;
  advance();
  NodeId value = parseExpr();
  return make(NodeKind::AssignStmt, first, main, {expr, value});
}

} // namespace ptl

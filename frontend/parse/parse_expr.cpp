// Expressions, by precedence climbing.
#include "frontend/parse/parser.h"

namespace ptl {

NodeId Parser::parseExpr() {
  TokenIndex first = at_;
  // Each level of nesting is counted, since the parser is recursive.
  Nesting nesting(*this);
  if (nesting.tooDeep())
    return make(NodeKind::Error, first, {});
  NodeId start = parseBinary(Precedence::Or);
  if (!at(TokenKind::DotDot) || !continues())
    return start;
  TokenIndex main = at_;
  advance();
  NodeId stop = parseBinary(Precedence::Or);
  NodeId step = kNoNode;
  if (continues() && acceptWord("step"))
    step = parseBinary(Precedence::Or);
  return make(NodeKind::RangeExpr, first, main, {start, stop, step});
}

Precedence Parser::binaryPrecedence() {
  if (!continues())
    return Precedence::None;
  // `&&` and `||` lex as two operators that touch.
  // The language has `and` and `or`; the doubled signs are read as these after an error.
  bool doubled = kind(1) == kind() && touchesNext();
  if (doubled && at(TokenKind::Amp))
    return Precedence::And;
  if (doubled && at(TokenKind::Pipe))
    return Precedence::Or;
  Precedence precedence = precedenceOf(kind());
  // Powers bind tighter than prefix operators, and are read by `parsePower`.
  return precedence > Precedence::Product ? Precedence::None : precedence;
}

bool Parser::acceptForeignOperator(TokenKind left, TokenKind right, const char *word) {
  if (!at(left) || kind(1) != right || !touchesNext())
    return false;
  Span both = join(tree_.tokenSpan(at_), tree_.tokenSpan(at_ + 1));
  std::string shown(tree_.fileText().substr(both.begin, both.end - both.begin));
  errorAt(both, DiagId::ForeignOperator, {shown})
      .fix(FixId::ForeignOperator, "write `" + std::string(word) + "`", {{both, word}});
  advance();
  return true;
}

// This is precedence climbing: operands of an operator are all that bind tighter.
NodeId Parser::parseBinary(Precedence least) {
  TokenIndex first = at_;
  NodeId lhs = parsePrefix(least);
  bool compared = false;
  while (true) {
    Precedence precedence = binaryPrecedence();
    if (precedence == Precedence::None || precedence < least)
      return lhs;
    // `x++` at the end of a statement has no operand behind it.
    bool ends = newlineAt(2) || kind(2) == TokenKind::Semicolon || kind(2) == TokenKind::RBrace;
    if (precedence == Precedence::Sum && ends && kind(1) == kind() && touchesNext()) {
      Span both = join(tree_.tokenSpan(at_), tree_.tokenSpan(at_ + 1));
      errorAt(both, DiagId::ForeignOperator, {std::string(text()) + std::string(text())})
          .help("write `x += 1`");
      at_ += 2;
      return lhs;
    }
    // `a < b < c` would compare a truth value with a number.
    if (precedence == Precedence::Comparison && compared)
      error(DiagId::ChainedComparison).help("join two comparisons with `and`: `a < b and b < c`");
    compared = precedence == Precedence::Comparison;
    acceptForeignOperator(TokenKind::Amp, TokenKind::Amp, "and") ||
        acceptForeignOperator(TokenKind::Pipe, TokenKind::Pipe, "or");
    TokenIndex main = at_;
    advance();
    // The right side takes only tighter operators, so all binary operators are left-associative.
    NodeId rhs = parseBinary(tighter(precedence));
    lhs = make(NodeKind::BinaryExpr, first, main, {lhs, rhs});
  }
}

NodeId Parser::parsePrefix(Precedence least) {
  bool isNot = at(TokenKind::Not);
  if (!isNot && !at(TokenKind::Minus) && !at(TokenKind::Tilde))
    return parsePower();
  TokenIndex first = at_;
  Nesting nesting(*this);
  if (nesting.tooDeep())
    return make(NodeKind::Error, first, {});
  advance();
  // `not a == b` negates the comparison; behind a tighter operator it takes only what that would.
  NodeId operand = isNot ? parseBinary(std::max(least, Precedence::Not)) : parsePrefix(least);
  return make(NodeKind::UnaryExpr, first, {operand});
}

NodeId Parser::parsePower() {
  TokenIndex first = at_;
  NodeId base = parsePostfix();
  if (!at(TokenKind::StarStar) || !continues())
    return base;
  TokenIndex main = at_;
  Nesting nesting(*this);
  if (nesting.tooDeep())
    return make(NodeKind::Error, first, {base});
  advance();
  // The exponent may have a sign and be a power itself, so `**` is right-associative.
  NodeId exponent = parsePrefix(Precedence::Product);
  return make(NodeKind::BinaryExpr, first, main, {base, exponent});
}

NodeId Parser::parsePostfix() {
  TokenIndex first = at_;
  NodeId expr = parsePrimary();
  // A call or an index belongs to the expression only on the same line.
  while (at_ > first && continues()) {
    if (at(TokenKind::LParen)) {
      expr = parseCall(expr, first);
    } else if (at(TokenKind::LBracket)) {
      expr = parseIndex(expr, first);
    } else if (at(TokenKind::Dot)) {
      TokenIndex main = at_;
      advance();
      NodeId name = parseName("a member");
      expr = make(NodeKind::MemberExpr, first, main, {expr, name});
    } else {
      break;
    }
  }
  return expr;
}

NodeId Parser::parsePrimary() {
  TokenIndex first = at_;
  switch (kind()) {
  case TokenKind::Identifier:
    return leaf(NodeKind::NameExpr);
  case TokenKind::IntLiteral:
    return leaf(NodeKind::IntLiteral);
  case TokenKind::SizeLiteral:
    return leaf(NodeKind::SizeLiteral);
  case TokenKind::FloatLiteral:
  case TokenKind::Inf:
  case TokenKind::Nan:
    return leaf(NodeKind::FloatLiteral);
  case TokenKind::True:
  case TokenKind::False:
    return leaf(NodeKind::BoolLiteral);
  case TokenKind::StringLiteral:
    return leaf(NodeKind::StringLiteral);
  case TokenKind::If:
    return parseIf();
  case TokenKind::LParen:
    return parseParen();
  case TokenKind::LBracket: {
    // The elements of a list may be ranges.
    size_t start = mark();
    bracketed(TokenKind::RBracket, [&] { return parseExpr(); });
    return finish(NodeKind::ListExpr, first, start);
  }
  case TokenKind::Dot: {
    advance();
    NodeId name = parseName("a member");
    return make(NodeKind::DotName, first, {name});
  }
  case TokenKind::Invalid: {
    // The lexer has reported; what follows is probably the operand.
    markError();
    while (at(TokenKind::Invalid) && continues())
      advance();
    NodeId operand = at_ > first && continues() ? parsePostfix() : missing();
    return make(NodeKind::Error, first, {operand});
  }
  default:
    return parseWordPrimary();
  }
}

NodeId Parser::parseWordPrimary() {
  if (isElementType(kind()))
    return parseElementExpr();
  if (at(TokenKind::Where) && kind(1) == TokenKind::LParen && touchesNext()) {
    error(DiagId::ForeignWord, {"where", "select"})
        .fix(FixId::ForeignName, "write `select`", {{tree_.tokenSpan(at_), "select"}});
    return leaf(NodeKind::Error);
  }
  error(DiagId::ExpectedExpression, {found()});
  // A reserved word in the middle of a line was meant as a name.
  if (isKeyword(kind()) && !token().newlineBefore && !at(TokenKind::Else) && !at(TokenKind::Where))
    return leaf(NodeKind::Error);
  return missing();
}

NodeId Parser::parseElementExpr() {
  TokenIndex first = at_;
  NodeId element = leaf(NodeKind::ElementType);
  if (!at(TokenKind::LBracket) || !continues())
    return element;
  NodeId shape = parseShape();
  return make(NodeKind::ArrayType, first, {element, shape, kNoNode, kNoNode, kNoNode});
}

NodeId Parser::parseParen() {
  TokenIndex first = at_;
  size_t start = mark();
  bool trailingComma = false;
  // A trailing comma makes a tuple of one element.
  bracketed(TokenKind::RParen, [&] {
    NodeId element = parseCondition();
    trailingComma = at(TokenKind::Comma);
    return element;
  });
  bool single = mark() - start == 1 && !trailingComma;
  return finish(single ? NodeKind::ParenExpr : NodeKind::TupleExpr, first, start);
}

NodeId Parser::parseCall(NodeId callee, TokenIndex first) {
  TokenIndex main = at_;
  size_t start = mark();
  push(callee);
  bool named = false;
  bracketed(TokenKind::RParen, [&] {
    TokenIndex argFirst = at_;
    NodeId arg = parseArg();
    bool hasName = tree_.child(arg, 0) != kNoNode;
    // A positional argument behind a named one would have no clear place.
    if (named && !hasName && at_ > argFirst && !tree_.is(arg, NodeKind::Error))
      errorAt(tree_.span(arg), DiagId::PositionalAfterNamed)
          .help("name this argument too, or put it first");
    named |= hasName;
    return arg;
  });
  return finish(NodeKind::CallExpr, first, main, start);
}

NodeId Parser::parseArg() {
  TokenIndex first = at_;
  NodeId name = kNoNode;
  bool word = at(TokenKind::Identifier) || isKeyword(kind()) || isElementType(kind());
  // Reserved words may be names of arguments, since instructions use some.
  if (word && kind(1) == TokenKind::Colon) {
    // Instructions have an argument of that name.
    name = at(TokenKind::Atomic) ? leaf(NodeKind::Name) : parseName("a parameter");
    advance();
  }
  // `name = value` is how other languages write it.
  if (word && kind(1) == TokenKind::Equal) {
    name = parseName("a parameter");
    error(DiagId::AssignmentAsValue)
        .fix(FixId::ArgumentColon, "write `:` between the name of an argument and its value",
             {{tree_.tokenSpan(at_), ":"}});
    advance();
  }
  // `inout` is a word only in front of a name.
  bool isInout = atWord("inout") && kind(1) == TokenKind::Identifier && !newlineAt(1);
  if (isInout)
    advance();
  NodeId value = parseCondition();
  NodeId arg = make(NodeKind::Arg, first, {name, value});
  if (isInout)
    flag(arg, NodeFlag::Inout);
  return arg;
}

NodeId Parser::parseIndex(NodeId base, TokenIndex first) {
  TokenIndex main = at_;
  size_t start = mark();
  push(base);
  bracketed(TokenKind::RBracket, [&] { return parseIndexItem(); });
  return finish(NodeKind::IndexExpr, first, main, start);
}

NodeId Parser::parseIndexItem() {
  TokenIndex first = at_;
  acceptForeignOperator(TokenKind::DotDot, TokenKind::Dot, ".."); // `...` is one of them too many
  // `..` alone stands for all axes that are not named.
  if (at(TokenKind::DotDot) || (at_ > first && at(TokenKind::Dot)))
    return leaf(NodeKind::RestIndex);
  if (at(TokenKind::New))
    return leaf(NodeKind::NewIndex);
  auto partEnds = [&] {
    return at(TokenKind::Colon) || at(TokenKind::Comma) || at(TokenKind::RBracket);
  };
  // Each part of a slice may be missing.
  NodeId begin = at(TokenKind::Colon) ? kNoNode : parseExpr();
  if (!at(TokenKind::Colon))
    return begin;
  TokenIndex main = at_;
  advance();
  NodeId stop = partEnds() ? kNoNode : parseExpr();
  NodeId step = kNoNode;
  if (accept(TokenKind::Colon) && !partEnds())
    step = parseExpr();
  return make(NodeKind::SliceIndex, first, main, {begin, stop, step});
}

} // namespace ptl

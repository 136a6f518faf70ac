#include "frontend/parse/parse_expr.h"

#include "frontend/parse/parse_name.h"
#include "frontend/parse/parse_stmt.h"
#include "frontend/parse/parse_type.h"

namespace ptl {

static NodeId parsePrefix(Parser &p, Precedence least);
static NodeId parsePower(Parser &p);
static NodeId parsePrimary(Parser &p);
static NodeId parseWordPrimary(Parser &p);
static NodeId parseParen(Parser &p);
static NodeId parseCall(Parser &p, NodeId callee, TokenIndex first);
static NodeId parseArg(Parser &p);
static NodeId parseIndex(Parser &p, NodeId base, TokenIndex first);
static NodeId parseIndexItem(Parser &p);
static NodeId parseElementExpr(Parser &p);

NodeId parseExpr(Parser &p) {
  TokenIndex first = p.position;
  // Each level of nesting is counted, since the parser is recursive.
  Parser::Nesting nesting(p);
  if (nesting.tooDeep())
    return p.make(NodeKind::Error, first, {});
  NodeId start = parseBinary(p, Precedence::Or);
  if (!p.at(TokenKind::DotDot) || !p.continues())
    return start;
  TokenIndex main = p.position;
  p.advance();
  NodeId stop = parseBinary(p, Precedence::Or);
  NodeId step = kNoNode;
  if (p.continues() && p.acceptWord("step"))
    step = parseBinary(p, Precedence::Or);
  return p.make(NodeKind::RangeExpr, first, main, {start, stop, step});
}

static Precedence binaryPrecedence(Parser &p) {
  if (!p.continues())
    return Precedence::None;
  // `&&` and `||` lex as two operators that touch.
  // The language has `and` and `or`; the doubled signs are read as these after an error.
  bool doubled = p.kind(1) == p.kind() && p.touchesNext();
  if (doubled && p.at(TokenKind::Amp))
    return Precedence::And;
  if (doubled && p.at(TokenKind::Pipe))
    return Precedence::Or;
  Precedence precedence = precedenceOf(p.kind());
  // Powers bind tighter than prefix operators, and are read by `parsePower`.
  return precedence > Precedence::Product ? Precedence::None : precedence;
}

bool acceptForeignOperator(Parser &p, TokenKind left, TokenKind right, const char *word) {
  if (!p.at(left) || p.kind(1) != right || !p.touchesNext())
    return false;
  Span both = join(p.tree.tokenSpan(p.position), p.tree.tokenSpan(p.position + 1));
  std::string shown(p.tree.fileText().substr(both.begin, both.end - both.begin));
  p.errorAt(both, DiagId::ForeignOperator, {shown})
      .fix(FixId::ForeignOperator, "write `" + std::string(word) + "`", {{both, word}});
  p.advance();
  return true;
}

// This is precedence climbing: operands of an operator are all that bind tighter.
NodeId parseBinary(Parser &p, Precedence least) {
  TokenIndex first = p.position;
  NodeId lhs = parsePrefix(p, least);
  bool compared = false;
  while (true) {
    Precedence precedence = binaryPrecedence(p);
    if (precedence == Precedence::None || precedence < least)
      return lhs;
    // `x++` at the end of a statement has no operand behind it.
    bool ends =
        p.newlineAt(2) || p.kind(2) == TokenKind::Semicolon || p.kind(2) == TokenKind::RBrace;
    if (precedence == Precedence::Sum && ends && p.kind(1) == p.kind() && p.touchesNext()) {
      Span both = join(p.tree.tokenSpan(p.position), p.tree.tokenSpan(p.position + 1));
      p.errorAt(both, DiagId::ForeignOperator, {std::string(p.text()) + std::string(p.text())})
          .help("write `x += 1`");
      p.position += 2;
      return lhs;
    }
    // `a < b < c` would compare a truth value with a number.
    if (precedence == Precedence::Comparison && compared)
      p.error(DiagId::ChainedComparison).help("join two comparisons with `and`: `a < b and b < c`");
    compared = precedence == Precedence::Comparison;
    acceptForeignOperator(p, TokenKind::Amp, TokenKind::Amp, "and") ||
        acceptForeignOperator(p, TokenKind::Pipe, TokenKind::Pipe, "or");
    TokenIndex main = p.position;
    p.advance();
    // The right side takes only tighter operators, so all binary operators are left-associative.
    NodeId rhs = parseBinary(p, tighter(precedence));
    lhs = p.make(NodeKind::BinaryExpr, first, main, {lhs, rhs});
  }
}

static NodeId parsePrefix(Parser &p, Precedence least) {
  bool isNot = p.at(TokenKind::Not);
  if (!isNot && !p.at(TokenKind::Minus) && !p.at(TokenKind::Tilde))
    return parsePower(p);
  TokenIndex first = p.position;
  Parser::Nesting nesting(p);
  if (nesting.tooDeep())
    return p.make(NodeKind::Error, first, {});
  p.advance();
  // `not a == b` negates the comparison; behind a tighter operator it takes only what that would.
  NodeId operand = isNot ? parseBinary(p, std::max(least, Precedence::Not)) : parsePrefix(p, least);
  return p.make(NodeKind::UnaryExpr, first, {operand});
}

static NodeId parsePower(Parser &p) {
  TokenIndex first = p.position;
  NodeId base = parsePostfix(p);
  if (!p.at(TokenKind::StarStar) || !p.continues())
    return base;
  TokenIndex main = p.position;
  Parser::Nesting nesting(p);
  if (nesting.tooDeep())
    return p.make(NodeKind::Error, first, {base});
  p.advance();
  // The exponent may have a sign and be a power itself, so `**` is right-associative.
  NodeId exponent = parsePrefix(p, Precedence::Product);
  return p.make(NodeKind::BinaryExpr, first, main, {base, exponent});
}

/// `std::exp(x)` is how C++ names what a module has. In an index `a::b` is a slice.
static bool acceptForeignPath(Parser &p) {
  bool inIndex = !p.closers.empty() && p.closers.back() == TokenKind::RBracket;
  return !inIndex && p.kind(2) == TokenKind::Identifier &&
         acceptForeignOperator(p, TokenKind::Colon, TokenKind::Colon, ".");
}

NodeId parsePostfix(Parser &p) {
  TokenIndex first = p.position;
  NodeId expr = parsePrimary(p);
  // A call or an index belongs to the expression only on the same line.
  while (p.position > first && p.continues()) {
    if (p.at(TokenKind::LParen)) {
      expr = parseCall(p, expr, first);
    } else if (p.at(TokenKind::LBracket)) {
      expr = parseIndex(p, expr, first);
    } else if (p.at(TokenKind::Dot) || acceptForeignPath(p)) {
      TokenIndex main = p.position;
      p.advance();
      NodeId name = parseName(p, "a member");
      expr = p.make(NodeKind::MemberExpr, first, main, {expr, name});
    } else {
      break;
    }
  }
  return expr;
}

static NodeId parsePrimary(Parser &p) {
  TokenIndex first = p.position;
  switch (p.kind()) {
  case TokenKind::Identifier:
    return p.leaf(NodeKind::NameExpr);
  case TokenKind::IntLiteral:
    return p.leaf(NodeKind::IntLiteral);
  case TokenKind::SizeLiteral:
    return p.leaf(NodeKind::SizeLiteral);
  case TokenKind::FloatLiteral:
  case TokenKind::Inf:
  case TokenKind::Nan:
    return p.leaf(NodeKind::FloatLiteral);
  case TokenKind::True:
  case TokenKind::False:
    return p.leaf(NodeKind::BoolLiteral);
  case TokenKind::StringLiteral:
    return p.leaf(NodeKind::StringLiteral);
  case TokenKind::If:
    return parseIf(p);
  case TokenKind::LParen:
    return parseParen(p);
  case TokenKind::LBracket: {
    // The elements of a list may be ranges.
    size_t start = p.mark();
    p.bracketed(TokenKind::RBracket, [&] { return parseExpr(p); });
    return p.finish(NodeKind::ListExpr, first, start);
  }
  case TokenKind::Dot: {
    p.advance();
    NodeId name = parseName(p, "a member");
    return p.make(NodeKind::DotName, first, {name});
  }
  case TokenKind::Invalid: {
    // The lexer has reported; what follows is probably the operand.
    p.markError();
    while (p.at(TokenKind::Invalid) && p.continues())
      p.advance();
    NodeId operand = p.position > first && p.continues() ? parsePostfix(p) : p.missing();
    return p.make(NodeKind::Error, first, {operand});
  }
  default:
    return parseWordPrimary(p);
  }
}

static NodeId parseWordPrimary(Parser &p) {
  if (isElementType(p.kind()))
    return parseElementExpr(p);
  if (p.at(TokenKind::Where) && p.kind(1) == TokenKind::LParen && p.touchesNext()) {
    p.error(DiagId::ForeignWord, {"where", "select"})
        .fix(FixId::ForeignName, "write `select`", {{p.tree.tokenSpan(p.position), "select"}});
    return p.leaf(NodeKind::Error);
  }
  p.error(DiagId::ExpectedExpression, {p.found()});
  // A reserved word in the middle of a line was meant as a name.
  if (isKeyword(p.kind()) && !p.token().newlineBefore && !p.at(TokenKind::Else) &&
      !p.at(TokenKind::Where))
    return p.leaf(NodeKind::Error);
  return p.missing();
}

static NodeId parseElementExpr(Parser &p) {
  TokenIndex first = p.position;
  NodeId element = p.leaf(NodeKind::ElementType);
  if (!p.at(TokenKind::LBracket) || !p.continues())
    return element;
  NodeId shape = parseShape(p);
  return p.make(NodeKind::ArrayType, first, {element, shape, kNoNode, kNoNode, kNoNode});
}

static NodeId parseParen(Parser &p) {
  TokenIndex first = p.position;
  size_t start = p.mark();
  bool trailingComma = false;
  // A trailing comma makes a tuple of one element.
  p.bracketed(TokenKind::RParen, [&] {
    NodeId element = parseCondition(p);
    trailingComma = p.at(TokenKind::Comma);
    return element;
  });
  bool single = p.mark() - start == 1 && !trailingComma;
  return p.finish(single ? NodeKind::ParenExpr : NodeKind::TupleExpr, first, start);
}

static NodeId parseCall(Parser &p, NodeId callee, TokenIndex first) {
  TokenIndex main = p.position;
  size_t start = p.mark();
  p.push(callee);
  bool named = false;
  p.bracketed(TokenKind::RParen, [&] {
    TokenIndex argFirst = p.position;
    NodeId arg = parseArg(p);
    bool hasName = p.tree.child(arg, 0) != kNoNode;
    // A positional argument behind a named one would have no clear place.
    if (named && !hasName && p.position > argFirst && !p.tree.is(arg, NodeKind::Error))
      p.errorAt(p.tree.span(arg), DiagId::PositionalAfterNamed)
          .help("name this argument too, or put it first");
    named |= hasName;
    return arg;
  });
  return p.finish(NodeKind::CallExpr, first, main, start);
}

static NodeId parseArg(Parser &p) {
  TokenIndex first = p.position;
  NodeId name = kNoNode;
  bool word = p.at(TokenKind::Identifier) || isKeyword(p.kind()) || isElementType(p.kind());
  // Reserved words may be names of arguments, since instructions use some.
  if (word && p.kind(1) == TokenKind::Colon) {
    // Instructions have an argument of that name.
    name = p.at(TokenKind::Atomic) ? p.leaf(NodeKind::Name) : parseName(p, "a parameter");
    p.advance();
  }
  // `name = value` is how other languages write it.
  if (word && p.kind(1) == TokenKind::Equal) {
    name = parseName(p, "a parameter");
    p.error(DiagId::AssignmentAsValue)
        .fix(FixId::ArgumentColon, "write `:` between the name of an argument and its value",
             {{p.tree.tokenSpan(p.position), ":"}});
    p.advance();
  }
  // `inout` is a word only in front of a name.
  bool isInout = p.atWord("inout") && p.kind(1) == TokenKind::Identifier && !p.newlineAt(1);
  if (isInout)
    p.advance();
  NodeId value = parseCondition(p);
  NodeId arg = p.make(NodeKind::Arg, first, {name, value});
  if (isInout)
    p.flag(arg, NodeFlag::Inout);
  return arg;
}

static NodeId parseIndex(Parser &p, NodeId base, TokenIndex first) {
  TokenIndex main = p.position;
  size_t start = p.mark();
  p.push(base);
  p.bracketed(TokenKind::RBracket, [&] { return parseIndexItem(p); });
  return p.finish(NodeKind::IndexExpr, first, main, start);
}

static NodeId parseIndexItem(Parser &p) {
  TokenIndex first = p.position;
  acceptForeignOperator(p, TokenKind::DotDot, TokenKind::Dot,
                        ".."); // `...` is one of them too many
  // `..` alone stands for all axes that are not named.
  if (p.at(TokenKind::DotDot) || (p.position > first && p.at(TokenKind::Dot)))
    return p.leaf(NodeKind::RestIndex);
  if (p.at(TokenKind::New))
    return p.leaf(NodeKind::NewIndex);
  auto partEnds = [&] {
    return p.at(TokenKind::Colon) || p.at(TokenKind::Comma) || p.at(TokenKind::RBracket);
  };
  // Each part of a slice may be missing.
  NodeId begin = p.at(TokenKind::Colon) ? kNoNode : parseExpr(p);
  if (!p.at(TokenKind::Colon))
    return begin;
  TokenIndex main = p.position;
  p.advance();
  NodeId stop = partEnds() ? kNoNode : parseExpr(p);
  NodeId step = kNoNode;
  if (p.accept(TokenKind::Colon) && !partEnds())
    step = parseExpr(p);
  return p.make(NodeKind::SliceIndex, first, main, {begin, stop, step});
}

} // namespace ptl

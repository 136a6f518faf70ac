#include "frontend/parse/parse_header.h"

#include "frontend/parse/parse_expr.h"
#include "frontend/parse/parse_name.h"
#include "frontend/parse/parse_stmt.h"
#include "frontend/parse/parse_type.h"

namespace ptl {

static NodeId parseGenericParam(Parser &p);
static NodeId parseParam(Parser &p);
static NodeId parseResult(Parser &p);
static NodeId parseMesh(Parser &p);
static NodeId parseTuneParam(Parser &p);

NodeId parseGenerics(Parser &p) {
  if (!p.at(TokenKind::LBracket))
    return kNoNode;
  TokenIndex first = p.position;
  size_t start = p.mark();
  p.bracketed(TokenKind::RBracket, [&] { return parseGenericParam(p); });
  return p.finish(NodeKind::GenericParams, first, start);
}

static NodeId parseGenericParam(Parser &p) {
  TokenIndex first = p.position;
  bool isStatic = p.accept(TokenKind::Static);
  // The list ends or goes on behind leading axes, which are taken for a name.
  if (p.at(TokenKind::DotDot)) {
    p.errorExpected("a dimension or element type")
        .help("leading axes are not declared: they are `..` in each shape that has them");
    p.advance();
    if (!p.at(TokenKind::Identifier))
      return p.missing();
  }
  NodeId name = parseName(p, "a dimension or element type");
  NodeId param = kNoNode;
  if (!p.accept(TokenKind::Colon)) {
    param = p.make(NodeKind::DimParam, first, {name});
  } else {
    // A single word is a constraint of an element type; anything longer is the domain of a
    // dimension, as in `N: 1..64`.
    bool word = p.at(TokenKind::Identifier) &&
                (p.kind(1) == TokenKind::Comma || p.kind(1) == TokenKind::RBracket);
    if (word) {
      NodeId kindName = p.leaf(NodeKind::Name);
      param = p.make(NodeKind::TypeParam, first, {name, kindName});
    } else {
      NodeId domain = parseExpr(p);
      param = p.make(NodeKind::SampledDim, first, {name, domain});
    }
  }
  if (isStatic)
    p.flag(param, NodeFlag::Static);
  return param;
}

NodeId parseParams(Parser &p) {
  TokenIndex first = p.position;
  if (!p.at(TokenKind::LParen)) {
    p.errorExpected("`(`");
    return p.missing();
  }
  size_t start = p.mark();
  p.bracketed(TokenKind::RParen, [&] { return parseParam(p); });
  return p.finish(NodeKind::ParamList, first, start);
}

static NodeId parseParam(Parser &p) {
  TokenIndex first = p.position;
  bool isInout = p.atWord("inout") && p.kind(1) == TokenKind::Identifier;
  if (isInout) {
    p.error(DiagId::InoutBeforeName).help("write `name: inout type`");
    p.advance();
  }
  NodeId name = parseName(p, "a parameter");
  NodeId type = kNoNode;
  if (p.expect(TokenKind::Colon)) {
    // `inout` is no keyword, and a type of that name may have a shape.
    bool marked = p.atWord("inout") && p.kind(1) != TokenKind::LBracket;
    if (marked)
      p.advance();
    isInout |= marked;
    type = parseType(p);
  } else {
    type = p.missing();
  }
  NodeId value = p.accept(TokenKind::Equal) ? parseExpr(p) : kNoNode;
  NodeId param = p.make(NodeKind::Param, first, {name, type, value});
  if (isInout)
    p.flag(param, NodeFlag::Inout);
  return param;
}

NodeId parseResults(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  size_t start = p.mark();
  if (p.at(TokenKind::LParen)) {
    p.bracketed(TokenKind::RParen, [&] { return parseResult(p); });
  } else if (p.at(TokenKind::Identifier) && p.kind(1) == TokenKind::Colon) {
    p.errorExpected("`(`").help("put named results in parentheses: `-> (y: f32[N])`");
    p.push(parseResult(p));
  } else {
    TokenIndex typeFirst = p.position;
    NodeId type = parseType(p);
    p.push(p.make(NodeKind::Result, typeFirst, {kNoNode, type, kNoNode}));
  }
  return p.finish(NodeKind::ResultList, first, start);
}

static NodeId parseResult(Parser &p) {
  TokenIndex first = p.position;
  NodeId name = kNoNode;
  if (p.kind(1) == TokenKind::Colon) {
    name = parseName(p, "a result");
    p.accept(TokenKind::Colon);
  }
  NodeId type = parseType(p);
  NodeId value = p.accept(TokenKind::Equal) ? parseExpr(p) : kNoNode;
  return p.make(NodeKind::Result, first, {name, type, value});
}

NodeId parseOnClause(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  NodeId core = parseName(p, "a kind of core");
  NodeId targets = kNoNode;
  if (p.accept(TokenKind::For)) {
    TokenIndex listFirst = p.position;
    size_t start = p.mark();
    p.commaList([&] { return parseName(p, "a target"); });
    targets = p.finish(NodeKind::NameList, listFirst, start);
  }
  return p.make(NodeKind::OnClause, first, {core, targets});
}

NodeId parseAtClause(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  NodeId level = parseName(p, "a level of the machine");
  NodeId role = p.acceptWord("as") ? parseName(p, "a role") : kNoNode;
  NodeId mesh = p.atWord("mesh") ? parseMesh(p) : kNoNode;
  return p.make(NodeKind::AtClause, first, {level, role, mesh});
}

static NodeId parseMesh(Parser &p) {
  TokenIndex first = p.position;
  size_t start = p.mark();
  p.advance();
  p.push(parseName(p, "a level of the machine"));
  p.expectWord("as");
  p.commaList([&] {
    TokenIndex axisFirst = p.position;
    NodeId name = parseName(p, "an axis of the mesh");
    NodeId count = p.accept(TokenKind::Colon) ? parseBinary(p, Precedence::Or) : kNoNode;
    return p.make(NodeKind::MeshAxis, axisFirst, {name, count});
  });
  return p.finish(NodeKind::MeshClause, first, start);
}

/// A word and the list behind it, as one node.
static NodeId parseListClause(Parser &p, NodeKind kind, NodeId (*parseOne)(Parser &)) {
  TokenIndex first = p.position;
  p.advance();
  size_t start = p.mark();
  p.commaList([&] { return parseOne(p); });
  return p.finish(kind, first, start);
}

NodeId parseWhere(Parser &p) { return parseListClause(p, NodeKind::WhereClause, parseCondition); }

NodeId parseTune(Parser &p) { return parseListClause(p, NodeKind::TuneClause, parseTuneParam); }

static NodeId parseTuneParam(Parser &p) {
  TokenIndex first = p.position;
  NodeId name = parseName(p, "a tunable");
  NodeId domain = kNoNode;
  if (p.accept(TokenKind::Colon))
    domain = isElementType(p.kind()) ? parseType(p) : parseExpr(p);
  NodeId value = p.expect(TokenKind::Equal) ? parseExpr(p) : p.missing();
  return p.make(NodeKind::TuneParam, first, {name, domain, value});
}

NodeId parseSources(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  size_t start = p.mark();
  p.commaList([&] {
    TokenIndex sourceFirst = p.position;
    NodeId target = parseName(p, "a target");
    NodeId symbol = parseText(p);
    return p.make(NodeKind::ExternSource, sourceFirst, {target, symbol});
  });
  return p.finish(NodeKind::ExternSources, first, start);
}

} // namespace ptl

// What stands between the name of a declaration and its body.
#include "frontend/parse/parser.h"

namespace ptl {

NodeId Parser::parseGenerics() {
  if (!at(TokenKind::LBracket))
    return kNoNode;
  TokenIndex first = at_;
  size_t start = mark();
  bracketed(TokenKind::RBracket, [&] { return parseGenericParam(); });
  return finish(NodeKind::GenericParams, first, start);
}

NodeId Parser::parseGenericParam() {
  TokenIndex first = at_;
  bool isStatic = accept(TokenKind::Static);
  NodeId name = parseName("a dimension or element type");
  NodeId param = kNoNode;
  if (!accept(TokenKind::Colon)) {
    param = make(NodeKind::DimParam, first, {name});
  } else {
    bool word = at(TokenKind::Identifier) &&
                (kind(1) == TokenKind::Comma || kind(1) == TokenKind::RBracket);
    if (word) {
      NodeId kindName = leaf(NodeKind::Name);
      param = make(NodeKind::TypeParam, first, {name, kindName});
    } else {
      NodeId domain = parseExpr();
      param = make(NodeKind::SampledDim, first, {name, domain});
    }
  }
  if (isStatic)
    flag(param, NodeFlag::Static);
  return param;
}

NodeId Parser::parseParams() {
  TokenIndex first = at_;
  if (!at(TokenKind::LParen)) {
    errorExpected("`(`");
    return missing();
  }
  size_t start = mark();
  bracketed(TokenKind::RParen, [&] { return parseParam(); });
  return finish(NodeKind::ParamList, first, start);
}

NodeId Parser::parseParam() {
  TokenIndex first = at_;
  bool isInout = atWord("inout") && kind(1) == TokenKind::Identifier;
  if (isInout) {
    error(DiagId::InoutBeforeName).help("write `name: inout type`");
    advance();
  }
  NodeId name = parseName("a parameter");
  NodeId type = kNoNode;
  if (expect(TokenKind::Colon)) {
    bool marked = atWord("inout") && kind(1) != TokenKind::LBracket;
    if (marked)
      advance();
    isInout |= marked;
    type = parseType();
  } else {
    type = missing();
  }
  NodeId value = accept(TokenKind::Equal) ? parseExpr() : kNoNode;
  NodeId param = make(NodeKind::Param, first, {name, type, value});
  if (isInout)
    flag(param, NodeFlag::Inout);
  return param;
}

NodeId Parser::parseResults() {
  TokenIndex first = at_;
  advance();
  size_t start = mark();
  if (at(TokenKind::LParen)) {
    bracketed(TokenKind::RParen, [&] { return parseResult(); });
  } else if (at(TokenKind::Identifier) && kind(1) == TokenKind::Colon) {
    errorExpected("`(`").help("named results stand in parentheses: `-> (y: f32[N])`");
    push(parseResult());
  } else {
    TokenIndex typeFirst = at_;
    NodeId type = parseType();
    push(make(NodeKind::Result, typeFirst, {kNoNode, type, kNoNode}));
  }
  return finish(NodeKind::ResultList, first, start);
}

NodeId Parser::parseResult() {
  TokenIndex first = at_;
  NodeId name = kNoNode;
  if (kind(1) == TokenKind::Colon) {
    name = parseName("a result");
    accept(TokenKind::Colon);
  }
  NodeId type = parseType();
  NodeId value = accept(TokenKind::Equal) ? parseExpr() : kNoNode;
  return make(NodeKind::Result, first, {name, type, value});
}

NodeId Parser::parseOnClause() {
  TokenIndex first = at_;
  advance();
  NodeId core = parseName("a kind of core");
  NodeId targets = kNoNode;
  if (accept(TokenKind::For)) {
    TokenIndex listFirst = at_;
    size_t start = mark();
    commaList([&] { return parseName("a target"); });
    targets = finish(NodeKind::NameList, listFirst, start);
  }
  return make(NodeKind::OnClause, first, {core, targets});
}

NodeId Parser::parseAtClause() {
  TokenIndex first = at_;
  advance();
  NodeId level = parseName("a level of the machine");
  NodeId role = acceptWord("as") ? parseName("a role") : kNoNode;
  NodeId mesh = atWord("mesh") ? parseMesh() : kNoNode;
  return make(NodeKind::AtClause, first, {level, role, mesh});
}

NodeId Parser::parseMesh() {
  TokenIndex first = at_;
  size_t start = mark();
  advance();
  push(parseName("a level of the machine"));
  expectWord("as");
  commaList([&] {
    TokenIndex axisFirst = at_;
    NodeId name = parseName("an axis of the mesh");
    NodeId count = accept(TokenKind::Colon) ? parseBinary(Precedence::Or) : kNoNode;
    return make(NodeKind::MeshAxis, axisFirst, {name, count});
  });
  return finish(NodeKind::MeshClause, first, start);
}

NodeId Parser::parseWhere() {
  TokenIndex first = at_;
  advance();
  size_t start = mark();
  commaList([&] { return parseCondition(); });
  return finish(NodeKind::WhereClause, first, start);
}

NodeId Parser::parseTune() {
  TokenIndex first = at_;
  advance();
  size_t start = mark();
  commaList([&] { return parseTuneParam(); });
  return finish(NodeKind::TuneClause, first, start);
}

NodeId Parser::parseTuneParam() {
  TokenIndex first = at_;
  NodeId name = parseName("a tunable");
  NodeId domain = kNoNode;
  if (accept(TokenKind::Colon))
    domain = isElementType(kind()) ? parseType() : parseExpr();
  NodeId value = expect(TokenKind::Equal) ? parseExpr() : missing();
  return make(NodeKind::TuneParam, first, {name, domain, value});
}

NodeId Parser::parseSources() {
  TokenIndex first = at_;
  advance();
  size_t start = mark();
  commaList([&] {
    TokenIndex sourceFirst = at_;
    NodeId target = parseName("a target");
    NodeId symbol = parseText();
    return make(NodeKind::ExternSource, sourceFirst, {target, symbol});
  });
  return finish(NodeKind::ExternSources, first, start);
}

} // namespace ptl

// Files and declarations.
#include "frontend/parse/parser.h"

namespace ptl {
namespace {

constexpr uint8_t bit(NodeFlag flag) { return static_cast<uint8_t>(flag); }

/// Names of the header slots of a callable, for messages; empty where a slot is no clause.
constexpr const char *kClauseNames[] = {"", "", "", "->", "on", "where", "tune", "from", ""};

/// Words for declarations in other languages.
struct ForeignWord {
  std::string_view word;
  TokenKind kind;
};
constexpr ForeignWord kForeignWords[] = {
    {"def", TokenKind::Fn},       {"func", TokenKind::Fn},       {"function", TokenKind::Fn},
    {"class", TokenKind::Struct}, {"record", TokenKind::Struct}, {"typedef", TokenKind::Type},
    {"use", TokenKind::Import},   {"from", TokenKind::Import},   {"include", TokenKind::Import},
};

} // namespace

NodeId Parser::parseModule() {
  size_t start = mark();
  while (!at(TokenKind::EndOfFile))
    // Semicolons between declarations are allowed, as between statements.
    if (!accept(TokenKind::Semicolon))
      parseItem();
  at_ = lastToken();
  NodeId module = finish(NodeKind::Module, 0, start);
  return module;
}

void Parser::parseItem() {
  TokenIndex first = itemStart_ = at_;
  // Each item may report errors at its first token again.
  lastError_ = ~TokenIndex(0);
  NodeId item = parseDeclaration();
  if (tree_.is(item, NodeKind::Error) || !atStatementEnd() || at(TokenKind::RBrace)) {
    // What stands behind a declaration on the same line does not belong to it.
    if (at_ != first && !atStatementEnd())
      error(DiagId::ExpectedStatementEnd, {found()});
    // At least one token is taken, so that the file comes to an end.
    if (at_ == first || at(TokenKind::RBrace)) {
      if (at(TokenKind::RBrace))
        error(DiagId::UnmatchedCloser, {std::string(text())});
      advance();
    }
    // Recovery goes to the next declaration.
    while (!at(TokenKind::EndOfFile) && !atDeclaration() &&
           !(at(TokenKind::Const) && token().newlineBefore))
      advance();
    item = make(NodeKind::Error, first, {item});
  }
  push(item);
  reportTooHigh();
  warnOperandComments(first);
}

NodeId Parser::parseDeclaration() {
  TokenIndex first = at_;
  uint8_t flags = 0;
  // Modifiers may come in any order.
  for (;; advance()) {
    if (at(TokenKind::Pub))
      flags |= bit(NodeFlag::Pub);
    else if (at(TokenKind::Manual))
      flags |= bit(NodeFlag::Manual);
    else if (at(TokenKind::Extern))
      flags |= bit(NodeFlag::Extern);
    else
      break;
  }
  for (const ForeignWord &foreign : kForeignWords) {
    // A foreign word is one only in front of a name, since it may be a name itself.
    if (!atWord(foreign.word) || kind(1) != TokenKind::Identifier)
      continue;
    std::string right(spelling(foreign.kind));
    error(DiagId::ForeignWord, {std::string(foreign.word), right})
        .fix(foreign.kind == TokenKind::Fn ? FixId::ForeignFn : FixId::ForeignDeclaration,
             "write `" + right + "`", {{tree_.tokenSpan(at_), right}});
    if (foreign.kind == TokenKind::Fn)
      // A function is read to its end; of other declarations the body would not fit.
      return parseCallable(NodeKind::FnDecl, flags);
    return missing();
  }
  TokenKind what = kind();
  checkModifiers(flags, first, what);
  NodeId id = kNoNode;
  switch (what) {
  case TokenKind::Import:
    id = parseImport();
    break;
  case TokenKind::Fn:
    id = parseCallable(NodeKind::FnDecl, flags);
    break;
  case TokenKind::Kernel:
    id = parseCallable(NodeKind::KernelDecl, flags);
    break;
  case TokenKind::Program:
    id = parseCallable(NodeKind::ProgramDecl, flags);
    break;
  case TokenKind::Schedule:
    id = parseSchedule();
    break;
  case TokenKind::Test:
    id = parseNamedBlock(NodeKind::TestDecl);
    break;
  case TokenKind::Bench:
    id = parseNamedBlock(NodeKind::BenchDecl);
    break;
  case TokenKind::Property:
    id = parseProperty();
    break;
  case TokenKind::Const:
    id = parseConst();
    break;
  case TokenKind::Type:
    id = parseTypeAlias();
    break;
  case TokenKind::Struct:
    id = parseStruct();
    break;
  case TokenKind::RBrace:
    return missing();
  default:
    auto report = error(DiagId::ExpectedDeclaration, {found()});
    if (at(TokenKind::At))
      report.help("nothing decorates a declaration: a kernel is declared "
                  "`kernel name[N](x: f32[N]) -> (y: f32[N])`");
    return missing();
  }
  tree_.setFirstToken(id, first);
  tree_.setFlags(id, flags);
  return id;
}

void Parser::checkModifiers(uint8_t flags, TokenIndex first, TokenKind what) {
  // These can be used from another file.
  bool exportable = what == TokenKind::Fn || what == TokenKind::Kernel ||
                    what == TokenKind::Program || what == TokenKind::Const ||
                    what == TokenKind::Type || what == TokenKind::Struct;
  const char *wrong = nullptr;
  if ((flags & bit(NodeFlag::Pub)) && !exportable)
    wrong = "pub";
  if ((flags & bit(NodeFlag::Manual)) && what != TokenKind::Kernel)
    wrong = "manual";
  if ((flags & bit(NodeFlag::Extern)) && what != TokenKind::Kernel)
    wrong = "extern";
  bool named = isKeyword(what) && what != TokenKind::Let && what != TokenKind::Var;
  if (wrong && named)
    errorAt(tree_.tokenSpan(first), DiagId::MisplacedModifier,
            {wrong, std::string(describe(what))});
}

NodeId Parser::parseImport() {
  TokenIndex first = at_;
  advance();
  NodeId path =
      at(TokenKind::StringLiteral) ? parseText() : parsePath("a module or a file in quotes");
  NodeId names = kNoNode;
  if (continues() && accept(TokenKind::Colon)) {
    TokenIndex listFirst = at_;
    size_t start = mark();
    commaList([&] { return parseName("a name to import"); });
    names = finish(NodeKind::NameList, listFirst, start);
  }
  // `import x as y` is read over, since modules have no other names.
  if (atWord("as") && continues()) {
    error(DiagId::ExpectedStatementEnd, {found()})
        .help("a module is called by the last word of its path: `import std.nn` binds `nn`");
    advance();
    if (at(TokenKind::Identifier) && continues())
      advance();
  }
  return make(NodeKind::ImportDecl, first, {path, names});
}

NodeId Parser::parseCallable(NodeKind node, uint8_t flags) {
  TokenIndex main = at_;
  advance();
  NodeId slots[9];
  std::fill(std::begin(slots), std::end(slots), kNoNode);
  slots[0] = parseName("a name");
  slots[1] = parseGenerics();
  slots[2] = parseParams();
  parseHeaderClauses(slots);
  slots[8] = parseBody(flags, main);
  Node made{.kind = node, .firstToken = main, .endToken = at_, .mainToken = main};
  return tree_.add(made, slots);
}

void Parser::parseHeaderClauses(NodeId (&slots)[9]) {
  unsigned last = 0;
  while (true) {
    bool arrow =
        at(TokenKind::Arrow) || acceptForeignOperator(TokenKind::Equal, TokenKind::Greater, "->");
    unsigned slot = arrow                               ? 3
                    : at(TokenKind::On) || atWord("at") ? 4
                    : at(TokenKind::Where)              ? 5
                    : atWord("tune")                    ? 6
                    : atWord("from")                    ? 7
                                                        : 0;
    if (slot == 0)
      return;
    if (slots[slot] != kNoNode)
      error(DiagId::DuplicateClause, {std::string(text())});
    else if (slot < last)
      error(DiagId::HeaderOrder, {kClauseNames[last], std::string(text())})
          .help("the order is results, `on` or `at`, `where`, `tune`");
    last = std::max(last, slot);
    NodeId clause = slot == 3   ? parseResults()
                    : slot == 4 ? (at(TokenKind::On) ? parseOnClause() : parseAtClause())
                    : slot == 5 ? parseWhere()
                    : slot == 6 ? parseTune()
                                : parseSources();
    if (slots[slot] == kNoNode)
      slots[slot] = clause;
  }
}

NodeId Parser::parseBody(uint8_t flags, TokenIndex main) {
  bool isExtern = flags & bit(NodeFlag::Extern);
  if (at(TokenKind::LBrace)) {
    if (isExtern)
      error(DiagId::UnexpectedBody);
    NodeId body = parseBlock();
    return isExtern ? kNoNode : body;
  }
  if (isExtern)
    return kNoNode;
  if (at(TokenKind::EndOfFile) || atDeclaration()) {
    error(DiagId::MissingBody, {std::string(tree_.tokenText(main))});
    return missing();
  }
  return parseBlock();
}

NodeId Parser::parseNamedBlock(NodeKind node) {
  TokenIndex first = at_;
  advance();
  NodeId label = parseText();
  NodeId body = parseBlock();
  return make(node, first, {label, body});
}

NodeId Parser::parseProperty() {
  TokenIndex first = at_;
  advance();
  NodeId label = parseText();
  NodeId generics = parseGenerics();
  NodeId where = at(TokenKind::Where) ? parseWhere() : kNoNode;
  NodeId body = parseBlock();
  return make(NodeKind::PropertyDecl, first, {label, generics, where, body});
}

NodeId Parser::parseConst() {
  TokenIndex first = at_;
  advance();
  NodeId name = parseName("a name");
  NodeId type = accept(TokenKind::Colon) ? parseType() : kNoNode;
  NodeId value = kNoNode;
  if (accept(TokenKind::Equal)) {
    value = parseExpr();
  } else {
    error(DiagId::MissingValue, {"const"});
    value = missing();
  }
  return make(NodeKind::ConstDecl, first, {name, type, value});
}

NodeId Parser::parseTypeAlias() {
  TokenIndex first = at_;
  advance();
  NodeId name = parseName("a name");
  NodeId generics = parseGenerics();
  NodeId type = expect(TokenKind::Equal) ? parseType() : missing();
  return make(NodeKind::TypeDecl, first, {name, generics, type});
}

NodeId Parser::parseStruct() {
  TokenIndex first = at_;
  advance();
  size_t start = mark();
  push(parseName("a name"));
  push(parseGenerics());
  TokenIndex open = at_;
  if (!expect(TokenKind::LBrace))
    return finish(NodeKind::StructDecl, first, start);
  Brackets inside(*this, true);
  while (!accept(TokenKind::RBrace)) {
    if (accept(TokenKind::Semicolon) || accept(TokenKind::Comma))
      continue;
    if (at(TokenKind::EndOfFile) || atDeclaration()) {
      expectCloser(TokenKind::RBrace, open);
      break;
    }
    push(parseField());
  }
  return finish(NodeKind::StructDecl, first, start);
}

NodeId Parser::parseField() {
  TokenIndex first = itemStart_ = at_;
  NodeId name = parseName("a field");
  NodeId type = expect(TokenKind::Colon) ? parseType() : missing();
  NodeId field = make(NodeKind::Field, first, {name, type});
  if (at_ != first && (atStatementEnd() || at(TokenKind::Comma)))
    return field;
  if (at_ == first)
    skipBalanced();
  else
    error(DiagId::ExpectedStatementEnd, {found()});
  return skipIntoError(field, first);
}

} // namespace ptl

#include "frontend/parse/parse_decl.h"

#include "frontend/parse/operand_comment.h"
#include "frontend/parse/parse_expr.h"
#include "frontend/parse/parse_header.h"
#include "frontend/parse/parse_name.h"
#include "frontend/parse/parse_schedule.h"
#include "frontend/parse/parse_stmt.h"
#include "frontend/parse/parse_type.h"

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

static void checkModifiers(Parser &p, uint8_t flags, TokenIndex first, TokenKind what);
static NodeId parseImport(Parser &p);
static NodeId parseCallable(Parser &p, NodeKind node, uint8_t flags);
static void parseHeaderClauses(Parser &p, NodeId (&slots)[9]);
static NodeId parseBody(Parser &p, uint8_t flags, TokenIndex main);
static NodeId parseNamedBlock(Parser &p, NodeKind node);
static NodeId parseProperty(Parser &p);
static NodeId parseTypeAlias(Parser &p);
static NodeId parseStruct(Parser &p);
static NodeId parseField(Parser &p);

/// Reports the nodes that are nested too deeply for readers that recurse over the tree.
static void reportTooHigh(Parser &p) {
  const std::vector<NodeId> &high = p.tree.tooHigh();
  if (p.reportedTooHigh == high.size())
    return;
  p.errorAt(p.tree.span(high[p.reportedTooHigh]), DiagId::NestingTooDeep,
            {std::to_string(kMaxTreeHeight)})
      .help("cut the expression apart with `let`");
  for (; p.reportedTooHigh < high.size(); ++p.reportedTooHigh)
    p.tree.addErrorToken(p.tree.node(high[p.reportedTooHigh]).firstToken);
}

NodeId parseModule(Parser &p) {
  size_t start = p.mark();
  while (!p.at(TokenKind::EndOfFile))
    // Semicolons between declarations are allowed, as between statements.
    if (!p.accept(TokenKind::Semicolon))
      parseItem(p);
  p.position = p.lastToken();
  NodeId module = p.finish(NodeKind::Module, 0, start);
  return module;
}

void parseItem(Parser &p) {
  TokenIndex first = p.itemStart = p.position;
  // Each item may report errors at its first token again.
  p.lastError = ~TokenIndex(0);
  NodeId item = parseDeclaration(p);
  if (p.tree.is(item, NodeKind::Error) || !p.atStatementEnd() || p.at(TokenKind::RBrace)) {
    // What stands behind a declaration on the same line does not belong to it.
    if (p.position != first && !p.atStatementEnd())
      p.error(DiagId::ExpectedStatementEnd, {p.found()});
    // At least one token is taken, so that the file comes to an end.
    if (p.position == first || p.at(TokenKind::RBrace)) {
      if (p.at(TokenKind::RBrace))
        p.error(DiagId::UnmatchedCloser, {std::string(p.text())});
      p.advance();
    }
    // Recovery goes to the next declaration.
    while (!p.at(TokenKind::EndOfFile) && !p.atDeclaration() &&
           !(p.at(TokenKind::Const) && p.token().newlineBefore))
      p.advance();
    item = p.make(NodeKind::Error, first, {item});
  }
  p.push(item);
  reportTooHigh(p);
  warnOperandComments(p, first);
}

NodeId parseDeclaration(Parser &p) {
  TokenIndex first = p.position;
  uint8_t flags = 0;
  // Modifiers may come in any order.
  for (;; p.advance()) {
    if (p.at(TokenKind::Pub))
      flags |= bit(NodeFlag::Pub);
    else if (p.at(TokenKind::Manual))
      flags |= bit(NodeFlag::Manual);
    else if (p.at(TokenKind::Extern))
      flags |= bit(NodeFlag::Extern);
    else
      break;
  }
  for (const ForeignWord &foreign : kForeignWords) {
    // A foreign word is one only in front of a name, since it may be a name itself.
    if (!p.atWord(foreign.word) || p.kind(1) != TokenKind::Identifier)
      continue;
    std::string right(spelling(foreign.kind));
    p.error(DiagId::ForeignWord, {std::string(foreign.word), right})
        .fix(foreign.kind == TokenKind::Fn ? FixId::ForeignFn : FixId::ForeignDeclaration,
             "write `" + right + "`", {{p.tree.tokenSpan(p.position), right}});
    if (foreign.kind == TokenKind::Fn)
      // A function is read to its end; of other declarations the body would not fit.
      return parseCallable(p, NodeKind::FnDecl, flags);
    return p.missing();
  }
  TokenKind what = p.kind();
  checkModifiers(p, flags, first, what);
  NodeId id = kNoNode;
  switch (what) {
  case TokenKind::Import:
    id = parseImport(p);
    break;
  case TokenKind::Fn:
    id = parseCallable(p, NodeKind::FnDecl, flags);
    break;
  case TokenKind::Kernel:
    id = parseCallable(p, NodeKind::KernelDecl, flags);
    break;
  case TokenKind::Program:
    id = parseCallable(p, NodeKind::ProgramDecl, flags);
    break;
  case TokenKind::Schedule:
    id = parseSchedule(p);
    break;
  case TokenKind::Test:
    id = parseNamedBlock(p, NodeKind::TestDecl);
    break;
  case TokenKind::Bench:
    id = parseNamedBlock(p, NodeKind::BenchDecl);
    break;
  case TokenKind::Property:
    id = parseProperty(p);
    break;
  case TokenKind::Const:
    id = parseConst(p);
    break;
  case TokenKind::Type:
    id = parseTypeAlias(p);
    break;
  case TokenKind::Struct:
    id = parseStruct(p);
    break;
  case TokenKind::RBrace:
    return p.missing();
  default:
    p.error(DiagId::ExpectedDeclaration, {p.found()});
    return p.missing();
  }
  p.tree.setFirstToken(id, first);
  p.tree.setFlags(id, flags);
  return id;
}

static void checkModifiers(Parser &p, uint8_t flags, TokenIndex first, TokenKind what) {
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
    p.errorAt(p.tree.tokenSpan(first), DiagId::MisplacedModifier,
              {wrong, std::string(describe(what))});
}

static NodeId parseImport(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  NodeId path =
      p.at(TokenKind::StringLiteral) ? parseText(p) : parsePath(p, "a module or a file in quotes");
  NodeId names = kNoNode;
  if (p.continues() && p.accept(TokenKind::Colon)) {
    TokenIndex listFirst = p.position;
    size_t start = p.mark();
    p.commaList([&] { return parseName(p, "a name to import"); });
    names = p.finish(NodeKind::NameList, listFirst, start);
  }
  // `import x as y` is read over, since modules have no other names.
  if (p.atWord("as") && p.continues()) {
    p.error(DiagId::ExpectedStatementEnd, {p.found()})
        .help("a module is named by the last word of its path: `import std.nn` binds `nn`; what "
              "NumPy and Triton compute is built in, and needs no import");
    p.advance();
    if (p.at(TokenKind::Identifier) && p.continues())
      p.advance();
  }
  return p.make(NodeKind::ImportDecl, first, {path, names});
}

static NodeId parseCallable(Parser &p, NodeKind node, uint8_t flags) {
  TokenIndex main = p.position;
  p.advance();
  NodeId slots[9];
  std::fill(std::begin(slots), std::end(slots), kNoNode);
  slots[0] = parseName(p, "a name");
  slots[1] = parseGenerics(p);
  slots[2] = parseParams(p);
  parseHeaderClauses(p, slots);
  slots[8] = parseBody(p, flags, main);
  Node made{.kind = node, .firstToken = main, .endToken = p.position, .mainToken = main};
  return p.tree.add(made, slots);
}

static void parseHeaderClauses(Parser &p, NodeId (&slots)[9]) {
  unsigned last = 0;
  while (true) {
    bool arrow = p.at(TokenKind::Arrow) ||
                 acceptForeignOperator(p, TokenKind::Equal, TokenKind::Greater, "->");
    unsigned slot = arrow                                   ? 3
                    : p.at(TokenKind::On) || p.atWord("at") ? 4
                    : p.at(TokenKind::Where)                ? 5
                    : p.atWord("tune")                      ? 6
                    : p.atWord("from")                      ? 7
                                                            : 0;
    if (slot == 0)
      return;
    // Clauses in a wrong order are reported and still taken, so that the check of the body knows
    // them.
    if (slots[slot] != kNoNode)
      p.error(DiagId::DuplicateClause, {std::string(p.text())});
    else if (slot < last)
      p.error(DiagId::HeaderOrder, {kClauseNames[last], std::string(p.text())})
          .help("the order is results, `on` or `at`, `where`, `tune`");
    last = std::max(last, slot);
    NodeId clause = slot == 3   ? parseResults(p)
                    : slot == 4 ? (p.at(TokenKind::On) ? parseOnClause(p) : parseAtClause(p))
                    : slot == 5 ? parseWhere(p)
                    : slot == 6 ? parseTune(p)
                                : parseSources(p);
    if (slots[slot] == kNoNode)
      slots[slot] = clause;
  }
}

static NodeId parseBody(Parser &p, uint8_t flags, TokenIndex main) {
  bool isExtern = flags & bit(NodeFlag::Extern);
  if (p.at(TokenKind::LBrace)) {
    if (isExtern)
      p.error(DiagId::UnexpectedBody);
    NodeId body = parseBlock(p);
    return isExtern ? kNoNode : body;
  }
  if (isExtern)
    return kNoNode;
  // A signature that ends with its line lacks its body, or a clause that the next line begins with;
  // what is indented there is a body without braces.
  bool endsHere = p.token().newlineBefore && indentationOf(p, p.position) == 0;
  if (p.at(TokenKind::EndOfFile) || p.atDeclaration() || endsHere) {
    p.error(DiagId::MissingBody, {std::string(p.tree.tokenText(main))});
    return p.missing();
  }
  return parseBlock(p);
}

static NodeId parseNamedBlock(Parser &p, NodeKind node) {
  TokenIndex first = p.position;
  p.advance();
  NodeId label = parseText(p);
  NodeId body = parseBlock(p);
  return p.make(node, first, {label, body});
}

static NodeId parseProperty(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  NodeId label = parseText(p);
  NodeId generics = parseGenerics(p);
  NodeId where = p.at(TokenKind::Where) ? parseWhere(p) : kNoNode;
  NodeId body = parseBlock(p);
  return p.make(NodeKind::PropertyDecl, first, {label, generics, where, body});
}

NodeId parseConst(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  NodeId name = parseName(p, "a name");
  NodeId type = p.accept(TokenKind::Colon) ? parseType(p) : kNoNode;
  NodeId value = kNoNode;
  if (p.accept(TokenKind::Equal)) {
    value = parseExpr(p);
  } else {
    p.error(DiagId::MissingValue, {"const"});
    value = p.missing();
  }
  return p.make(NodeKind::ConstDecl, first, {name, type, value});
}

static NodeId parseTypeAlias(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  NodeId name = parseName(p, "a name");
  NodeId generics = parseGenerics(p);
  NodeId type = p.expect(TokenKind::Equal) ? parseType(p) : p.missing();
  return p.make(NodeKind::TypeDecl, first, {name, generics, type});
}

static NodeId parseStruct(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  size_t start = p.mark();
  p.push(parseName(p, "a name"));
  p.push(parseGenerics(p));
  TokenIndex open = p.position;
  if (!p.expect(TokenKind::LBrace))
    return p.finish(NodeKind::StructDecl, first, start);
  Parser::Brackets inside(p, true);
  while (!p.accept(TokenKind::RBrace)) {
    if (p.accept(TokenKind::Semicolon) || p.accept(TokenKind::Comma))
      continue;
    if (p.at(TokenKind::EndOfFile) || p.atDeclaration()) {
      p.expectCloser(TokenKind::RBrace, open);
      break;
    }
    p.push(parseField(p));
  }
  return p.finish(NodeKind::StructDecl, first, start);
}

static NodeId parseField(Parser &p) {
  TokenIndex first = p.itemStart = p.position;
  NodeId name = parseName(p, "a field");
  NodeId type = p.expect(TokenKind::Colon) ? parseType(p) : p.missing();
  NodeId field = p.make(NodeKind::Field, first, {name, type});
  if (p.position != first && (p.atStatementEnd() || p.at(TokenKind::Comma)))
    return field;
  if (p.position != first)
    p.error(DiagId::ExpectedStatementEnd, {p.found()});
  return p.skipIntoError(field, first);
}

} // namespace ptl

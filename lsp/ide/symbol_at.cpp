// Finds the symbol at a byte of a file: a name, an operator or a word, with the result of the
// check.

#include "lsp/ide/symbol_at.h"

#include <algorithm>

namespace ptl::ide {
namespace {

/// Adds what the check of a chunk says about a symbol that was found in it.
struct CheckReader {
  const CheckedProgram &program;
  const Tree &tree;
  Symbol &symbol;

  const Expr *exprOf(NodeId node) const {
    auto found = program.exprOfNode.find(node);
    return found == program.exprOfNode.end() ? nullptr : found->second;
  }
  Local *localOf(NodeId node) const {
    auto found = program.localOfNode.find(node);
    return found == program.localOfNode.end() ? nullptr : found->second;
  }
  void read(bool isOwn);
  void readExpr(NodeId node);
  void readDeclaration();
};

} // namespace

void CheckReader::readExpr(NodeId node) {
  NodeId parent = tree.parent(node);
  if (tree.is(parent, NodeKind::MemberExpr) && tree.child(parent, 1) == node) {
    node = parent;
    parent = tree.parent(parent);
  }
  bool isCallee = tree.is(parent, NodeKind::CallExpr) && tree.child(parent, 0) == node;
  symbol.expr = exprOf(isCallee ? parent : node);
  if (const Expr *expr = symbol.expr) {
    if (expr->kind == ExprKind::LocalRef)
      symbol.local = cast<LocalRefExpr>(expr)->local;
    if (expr->kind == ExprKind::Call)
      symbol.callable = cast<CallExpr>(expr)->callee;
    if (expr->kind == ExprKind::StructMake)
      symbol.structDecl = cast<StructMakeExpr>(expr)->decl;
    if (expr->kind == ExprKind::Op && symbol.type == SymbolType::BuiltIn)
      if (const OpRecord *op = cast<OpExpr>(expr)->op)
        if (op->name == symbol.name ||
            std::find(op->aliases.begin(), op->aliases.end(), symbol.name) != op->aliases.end())
          symbol.op = op;
  }
}

void CheckReader::readDeclaration() {
  if (program.modules.empty())
    return;
  for (const CallableDecl *callable : program.modules[0]->callables)
    if (callable->syntax == symbol.declNode)
      symbol.callable = callable;
  for (const StructDecl *decl : program.modules[0]->structs)
    if (decl->syntax == symbol.declNode)
      symbol.structDecl = decl;
}

void CheckReader::read(bool isOwn) {
  readExpr(symbol.node);
  if (isOwn && isLocal(symbol.type) && !symbol.local)
    symbol.local = localOf(symbol.nameNode);
  if (isOwn && (isCallable(symbol.type) || symbol.type == SymbolType::Struct))
    readDeclaration();
  if (symbol.expr)
    symbol.valueType = symbol.expr->type;
  if (symbol.local && symbol.local->type && (!symbol.valueType || symbol.valueType->isError()))
    symbol.valueType = symbol.local->type;
}

static void addCheck(Workspace &workspace, File &file, Symbol &symbol) {
  workspace.check(file, symbol.place);
  const Place &place = file.document.places()[symbol.place];
  symbol.check = place.check;
  bool isOwn = symbol.chunk && symbol.chunk->id() == place.chunk->id();
  CheckReader{*symbol.check->program, *place.chunk->tree, symbol}.read(isOwn);
}

/// The operator that a token is; nothing if it is none.
static std::optional<Symbol> operatorAt(const Tree &tree, TokenIndex token) {
  NodeId node = tree.nodeAt(tree.token(token).begin);
  while (node != kNoNode && tree.node(node).mainToken != token && node != tree.root())
    node = tree.parent(node);
  std::string_view text = tree.tokenText(token);
  size_t operands = 2;
  switch (tree.kind(node)) {
  case NodeKind::UnaryExpr:
    operands = 1;
    break;
  case NodeKind::BinaryExpr:
    break;
  case NodeKind::AssignStmt:
  case NodeKind::AtomicStmt:
    // `x += y` is explained as `+`.
    if (text.size() > 1 && text.ends_with('='))
      text.remove_suffix(1);
    break;
  default:
    return std::nullopt;
  }
  const OpRecord *op = findOp(text, operands);
  if (!op)
    return std::nullopt;
  Symbol symbol;
  symbol.type = SymbolType::BuiltIn;
  symbol.name = text;
  symbol.op = op;
  symbol.node = node;
  return symbol;
}

static std::optional<Symbol> tokenSymbol(const Tree &tree, TokenIndex token) {
  TokenKind kind = tree.tokenKind(token);
  if (auto found = operatorAt(tree, token))
    return found;
  bool isWord = isKeyword(kind) || kind == TokenKind::Identifier;
  if (!isWord && !isElementType(kind))
    return std::nullopt;
  Symbol symbol;
  symbol.type = isWord ? SymbolType::Keyword : SymbolType::ElementType;
  symbol.name = tree.tokenText(token);
  symbol.node = tree.nodeAt(tree.token(token).begin);
  if (!isWord && !findOps(symbol.name).empty())
    symbol.op = findOps(symbol.name).front();
  return symbol;
}

/// The meaning of a name in text that could not be parsed: a local that is visible there, otherwise
/// a declaration of any kind.
static std::optional<Symbol> unparsedName(Workspace &workspace, File &file, const Place &place,
                                          TokenIndex token) {
  const Tree &tree = *place.chunk->tree;
  std::string_view name = tree.tokenText(token);
  uint32_t begin = tree.token(token).begin;
  NodeId node = tree.nodeAt(begin);
  if (tree.tokenKind(token) != TokenKind::Identifier || !tree.is(node, NodeKind::Error))
    return std::nullopt;
  std::optional<Symbol> symbol;
  for (NodeId local : localsAt(*place.chunk, begin))
    if (!symbol && tree.text(local) == name)
      symbol = declaredAt(workspace, tree.span(local));
  for (DeclSpace space :
       {DeclSpace::Callable, DeclSpace::Struct, DeclSpace::Alias, DeclSpace::Const})
    if (!symbol)
      symbol = findDeclared(workspace, file, space, name);
  if (symbol)
    symbol->node = node;
  return symbol;
}

std::optional<Symbol> symbolAt(Workspace &workspace, File &file, uint32_t offset) {
  size_t index = file.document.placeAt(std::min(offset, file.document.size()));
  const Place &place = file.document.places()[index];
  const Tree &tree = *place.chunk->tree;
  uint32_t own = std::min(offset - place.begin, place.chunk->size());
  std::optional<Symbol> symbol;
  if (const NameUse *use = namesOf(*place.chunk).at(own)) {
    symbol = resolve(workspace, file, index, *use);
  } else {
    // A word that ends here counts where nothing begins.
    TokenIndex token = tree.tokenAt(own);
    for (TokenIndex each : {token, token > 0 ? token - 1 : token}) {
      const Token &found = tree.token(each);
      if (symbol || found.begin > own || own > found.end)
        continue;
      symbol = unparsedName(workspace, file, place, each);
      if (!symbol)
        symbol = tokenSymbol(tree, each);
      if (symbol)
        symbol->range = {place.begin + found.begin, place.begin + found.end};
    }
    if (symbol)
      symbol->place = index;
  }
  if (symbol)
    addCheck(workspace, file, *symbol);
  return symbol;
}

} // namespace ptl::ide

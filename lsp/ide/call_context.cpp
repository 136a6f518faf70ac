#include "lsp/ide/call_context.h"

#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl::ide {

std::optional<TokenIndex> tokenBefore(const Tree &tree, uint32_t offset) {
  const auto &tokens = tree.tokens();
  auto next = std::partition_point(tokens.begin(), tokens.end(), [&](const Token &token) {
    return token.end <= offset && token.kind != TokenKind::EndOfFile;
  });
  if (next == tokens.begin())
    return std::nullopt;
  return static_cast<TokenIndex>(next - tokens.begin() - 1);
}

int depthOf(TokenKind kind) {
  switch (kind) {
  case TokenKind::LParen:
  case TokenKind::LBracket:
  case TokenKind::LBrace:
    return 1;
  case TokenKind::RParen:
  case TokenKind::RBracket:
  case TokenKind::RBrace:
    return -1;
  default:
    return 0;
  }
}

/// Whether a token ends the search for an opening bracket: it begins a new statement or
/// declaration.
static bool endsSearch(const Token &token) {
  if (!token.newlineBefore)
    return false;
  return (isKeyword(token.kind) && token.kind < TokenKind::Where) ||
         token.kind == TokenKind::LBrace;
}

/// The bracket that is open before token `from` (itself included).
static std::optional<TokenIndex> openBefore(const Tree &tree, TokenIndex from) {
  int depth = 0;
  for (TokenIndex i = from + 1; i-- > 0;) {
    int change = depthOf(tree.tokenKind(i));
    depth += change;
    if (depth > 0)
      return i;
    if (depth == 0 && endsSearch(tree.token(i)))
      return std::nullopt;
  }
  return std::nullopt;
}

static bool canBeCalled(const Tree &tree, TokenIndex open) {
  if (open == 0)
    return false;
  TokenKind before = tree.tokenKind(open - 1);
  bool isWord = before == TokenKind::Identifier || isElementType(before);
  if (!isWord || tree.token(open).newlineBefore)
    return false;
  // Not the parameters of a declaration.
  if (open >= 2) {
    TokenKind word = tree.tokenKind(open - 2);
    if (word == TokenKind::Fn || word == TokenKind::Kernel || word == TokenKind::Program)
      return false;
  }
  return true;
}

std::optional<CallContext> callAround(const Tree &tree, uint32_t offset) {
  auto last = tokenBefore(tree, offset);
  if (!last)
    return std::nullopt;
  // A word that is being written belongs to the argument.
  auto open = openBefore(tree, *last);
  while (open && tree.tokenKind(*open) == TokenKind::LBracket && *open > 0)
    open = openBefore(tree, *open - 1);
  if (!open || tree.tokenKind(*open) != TokenKind::LParen || !canBeCalled(tree, *open))
    return std::nullopt;
  CallContext call;
  call.open = *open;
  int depth = 0;
  bool isPast = false, isNamed = false;
  TokenIndex start = *open + 1; // of the argument that is read
  for (TokenIndex i = *open + 1; i < tree.tokens().size(); ++i) {
    const Token &token = tree.token(i);
    if (!isPast && i > *last) {
      isPast = true;
      call.atStart = start >= *last;
    }
    int change = depthOf(token.kind);
    if ((depth == 0 && change < 0) || token.kind == TokenKind::EndOfFile || endsSearch(token))
      break;
    depth += change;
    if (depth == 0 && token.kind == TokenKind::Colon && i == start + 1 &&
        tree.tokenKind(start) == TokenKind::Identifier) {
      call.named.emplace_back(tree.tokenText(start));
      isNamed = true;
      if (!isPast)
        call.name = call.named.back();
    }
    if (depth != 0 || token.kind != TokenKind::Comma)
      continue;
    if (!isPast) {
      ++call.argument;
      call.positional += !isNamed;
      call.name.clear();
    }
    isNamed = false;
    start = i + 1;
  }
  return call;
}

Callee calleeOf(Workspace &workspace, File &file, size_t index, const CallContext &call) {
  const Place &place = file.document.places()[index];
  const Tree &tree = *place.chunk->tree;
  Callee callee;
  callee.name = tree.tokenText(call.open - 1);
  if (isElementType(tree.tokenKind(call.open - 1))) {
    auto ops = findOps(callee.name);
    callee.ops.assign(ops.begin(), ops.end());
    return callee;
  }
  if (const NameUse *use = namesOf(*place.chunk).at(tree.token(call.open - 1).begin))
    callee.symbol = resolve(workspace, file, index, *use);
  if (!callee.symbol) {
    callee.symbol = findDeclared(workspace, file, DeclSpace::Callable, callee.name);
    if (!callee.symbol)
      callee.symbol = findDeclared(workspace, file, DeclSpace::Struct, callee.name);
  }
  bool isDeclaredCallee =
      callee.symbol && callee.symbol->chunk &&
      (isCallable(callee.symbol->type) || callee.symbol->type == SymbolType::Struct);
  if (isDeclaredCallee)
    return callee;
  // Values are never called, so what is no declaration can only be a built-in.
  callee.symbol.reset();
  auto ops = findOps(callee.name);
  callee.ops.assign(ops.begin(), ops.end());
  return callee;
}

} // namespace ptl::ide

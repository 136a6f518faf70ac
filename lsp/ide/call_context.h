// Finds the call that is being typed at a place. It uses only tokens, so it works on incomplete
// text.
#pragma once

#include "lsp/ide/symbol.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl::ide {

struct CallContext {
  TokenIndex open = 0;            ///< its `(`
  size_t argument = 0;            ///< commas before the place
  size_t positional = 0;          ///< unnamed arguments before this one
  std::vector<std::string> named; ///< names of all named arguments
  std::string name;               ///< of this argument; empty: not named so far
  bool atStart = false;           ///< nothing of this argument precedes the place
};

/// The innermost call around a byte of a chunk, if no bracket of another kind is between them.
std::optional<CallContext> callAround(const Tree &tree, uint32_t offset);

/// The meaning of a callee: a declaration, or the records of a built-in.
struct Callee {
  std::optional<Symbol> symbol;
  std::vector<const OpRecord *> ops;
  std::string name;
};
/// The callee of a call; all members are empty if it is unknown.
Callee calleeOf(Workspace &workspace, File &file, size_t place, const CallContext &call);

/// 1 for an opening bracket, -1 for a closing one, 0 for other tokens.
int depthOf(TokenKind kind);

/// The token before a byte: the last that ends at or before it.
std::optional<TokenIndex> tokenBefore(const Tree &tree, uint32_t offset);

} // namespace ptl::ide

// The lossless syntax tree of one file: flat arrays, ids instead of pointers, no null nodes where
// the grammar requires one. `node_kinds.def` documents every kind and its slots; `typed_nodes.h`
// has typed views.
#pragma once

#include "frontend/base/span.h"
#include "frontend/lex/token.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

/// One entry per row of `node_kinds.def`.
enum class NodeKind : uint8_t {
#define SLOT(I, NAME)
#define OPT(I, NAME)
#define LIST(I, NAME)
#define NODE(KIND, SLOTS) KIND,
#include "frontend/syntax/node_kinds.def"
};

/// Bits of `Node::flags`.
enum class NodeFlag : uint8_t { Pub = 1, Manual = 2, Extern = 4, Static = 8, Inout = 16 };

using NodeId = uint32_t;
/// An absent optional child.
inline constexpr NodeId kNoNode = ~NodeId(0);

struct Node {
  NodeKind kind = NodeKind::Error;
  uint8_t flags = 0;
  TokenIndex firstToken = 0;
  TokenIndex endToken = 0; ///< one past the last; equals `firstToken` for a node without text
  TokenIndex mainToken =
      0; ///< operator or keyword of the node; `firstToken` if the table names none
  uint32_t firstChild = 0; ///< index into the array of children
  uint32_t childCount = 0; ///< counts absent optional children too
  NodeId parent = kNoNode;
};

/// The maximal height of a tree, so that its readers may be recursive.
inline constexpr uint32_t kMaxTreeHeight = 512;

/// Owns nodes and tokens; refers to the text of its `SourceFile`, which must outlive it.
class Tree {
public:
  Tree(FileId file, std::string_view text, TokenList tokens);

  FileId file() const { return file_; }
  /// The whole text of the file.
  std::string_view fileText() const { return text_; }
  /// The `Module` node.
  NodeId root() const { return static_cast<NodeId>(nodes_.size() - 1); }
  size_t nodeCount() const { return nodes_.size(); }

  const Node &node(NodeId id) const { return nodes_[id]; }
  NodeKind kind(NodeId id) const { return nodes_[id].kind; }
  bool is(NodeId id, NodeKind kind) const { return id != kNoNode && nodes_[id].kind == kind; }
  bool has(NodeId id, NodeFlag flag) const { return nodes_[id].flags & static_cast<uint8_t>(flag); }
  NodeId parent(NodeId id) const { return nodes_[id].parent; }
  /// All children in order of the slots; absent ones are `kNoNode`.
  std::span<const NodeId> children(NodeId id) const {
    return {children_.data() + nodes_[id].firstChild, nodes_[id].childCount};
  }
  NodeId child(NodeId id, uint32_t slot) const {
    return slot < nodes_[id].childCount ? children_[nodes_[id].firstChild + slot] : kNoNode;
  }

  const std::vector<Token> &tokens() const { return tokens_.tokens; }
  const std::vector<Trivia> &trivia() const { return tokens_.trivia; }
  const Token &token(TokenIndex index) const { return tokens_.tokens[index]; }
  TokenKind tokenKind(TokenIndex index) const { return tokens_.tokens[index].kind; }
  std::string_view tokenText(TokenIndex index) const;
  Span tokenSpan(TokenIndex index) const;
  /// Trivia before a token.
  std::span<const Trivia> triviaBefore(TokenIndex index) const;
  /// Kind, text and span of a node's main token.
  TokenKind mainKind(NodeId id) const { return tokenKind(nodes_[id].mainToken); }
  std::string_view mainText(NodeId id) const { return tokenText(nodes_[id].mainToken); }
  Span mainSpan(NodeId id) const { return tokenSpan(nodes_[id].mainToken); }

  /// From the first to the last token, without trivia around. Empty nodes lie after the token
  /// before them.
  Span span(NodeId id) const;
  /// The text of `span(id)`; of a `Name` the word itself, of a missing one the empty string.
  std::string_view text(NodeId id) const;
  /// The `///` lines directly before a declaration, without slashes, joined by line ends.
  std::string docComment(NodeId id) const;

  /// The token that covers or follows `offset`.
  TokenIndex tokenAt(uint32_t offset) const;
  /// The innermost node whose span covers `offset` (or ends there); the root if none does.
  NodeId nodeAt(uint32_t offset) const;

  /// Tokens at which, or directly after which, the parser found an error, in ascending order; each
  /// lies inside the erroneous statement or item. Empty for a file without syntax errors (errors of
  /// the lexer are marked by `Token::malformed`).
  const std::vector<TokenIndex> &errorTokens() const { return errorTokens_; }

  // Building, bottom-up: children exist before their parent, the root comes last.

  /// Adds a node, which becomes the parent of `children`. A node that would exceed `kMaxTreeHeight`
  /// becomes an `Error` node without children, and is listed in `tooHigh`.
  NodeId add(Node node, std::span<const NodeId> children);
  void setFlags(NodeId id, uint8_t flags) { nodes_[id].flags |= flags; }
  void setFirstToken(NodeId id, TokenIndex token) { nodes_[id].firstToken = token; }
  const std::vector<NodeId> &tooHigh() const { return tooHigh_; }
  /// Records an error, in sorted order.
  void addErrorToken(TokenIndex token);
  /// Removes the tokens from `end` on, and appends `EndOfFile` at `size`, after the trivia in front
  /// of it. For a tree of the first part of a text; no node may extend beyond `end`.
  void cutAt(TokenIndex end, uint32_t size);
  /// Frees memory that was reserved for building; nothing may be added afterwards.
  void shrink();
  /// Makes the tree refer to a copy of the same text at another address.
  void moveTo(std::string_view text) { text_ = text; }

private:
  FileId file_;
  std::string_view text_;
  TokenList tokens_;
  std::vector<Node> nodes_;
  std::vector<uint16_t> heights_;
  std::vector<NodeId> children_;
  std::vector<TokenIndex> errorTokens_;
  std::vector<NodeId> tooHigh_;
};

} // namespace ptl

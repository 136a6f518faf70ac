// The state of the parser, and what the whole grammar shares: lookahead, errors, recovery,
// construction of nodes. Only for use inside `frontend/parse`. The grammar is a set of functions
// that read and change this state: recursive descent, with precedence climbing for operators. Each
// `parse_*.h` has those of one part. Functions named `parseX` always return a node, and expect the
// parser at the first token of the form.
#pragma once

#include "frontend/lex/operator.h"
#include "frontend/parse/parse.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace ptl {

inline constexpr unsigned kMaxNesting = 256;

/// The state while a text is parsed.
struct Parser {
  Parser(FileId file, std::string_view text, TokenList tokens, DiagnosticSink &sink)
      : tree(file, text, std::move(tokens)), sink(sink) {}

  // Lookahead, and consuming tokens.
  TokenKind kind(uint32_t ahead = 0) const { return tree.tokenKind(look(ahead)); }
  const Token &token() const { return tree.token(look(0)); }
  std::string_view text(uint32_t ahead = 0) const { return tree.tokenText(look(ahead)); }
  /// The token `ahead` of the current one. The furthest position is recorded: the parse of a
  /// declaration depends on no token behind it.
  TokenIndex look(uint32_t ahead) const {
    TokenIndex index = std::min<TokenIndex>(position + ahead, lastToken());
    furthest = std::max(furthest, index);
    return index;
  }
  TokenIndex lastToken() const { return static_cast<TokenIndex>(tree.tokens().size() - 1); }
  bool at(TokenKind k) const { return kind() == k; }
  /// Whether the token is this contextual keyword.
  bool atWord(std::string_view word, uint32_t ahead = 0) const {
    return kind(ahead) == TokenKind::Identifier && text(ahead) == word;
  }
  bool newlineAt(uint32_t ahead) const { return tree.token(look(ahead)).newlineBefore; }
  /// Whether there is no space between this token and the next.
  bool touchesNext() const {
    return position < lastToken() && tree.token(look(1)).begin == token().end;
  }
  /// Whether the token continues the expression or type before it: a bracket is open, or it is on
  /// the same line.
  bool continues() const { return bracketDepth > 0 || !token().newlineBefore; }
  bool atStatementEnd() const;
  /// Whether the token is a keyword that begins a declaration, and is the first on its line.
  bool atDeclaration() const;
  bool atStatementWord() const;
  /// Whether the token cannot occur in any bracket: recovery inside brackets stops here.
  bool atBarrier() const;
  void advance() {
    if (position < lastToken())
      ++position;
  }
  bool accept(TokenKind k);
  bool acceptWord(std::string_view word);
  /// Consumes a token, or reports that it is missing.
  bool expect(TokenKind k);
  bool expectWord(std::string_view word);
  /// Consumes the closer of the bracket opened at `open`; other tokens before it are skipped if it
  /// can be found.
  void expectCloser(TokenKind closer, TokenIndex open);

  // Errors and recovery.
  /// The location of an error about the current token: the end of the previous line if the token is
  /// the first on its line.
  Span errorSpan() const;
  std::string found() const;
  /// Reports an error at the current token: at most one per token, and none where the lexer has
  /// reported one.
  DiagnosticBuilder error(DiagId id, std::vector<std::string> args = {});
  /// Marks the current item as erroneous. An error after its last token belongs to it, not to the
  /// next item.
  void markError() { tree.addErrorToken(std::max(position > 0 ? position - 1 : 0, itemStart)); }
  DiagnosticBuilder errorAt(Span span, DiagId id, std::vector<std::string> args = {});
  DiagnosticBuilder errorExpected(std::string what) {
    return error(DiagId::ExpectedToken, {std::move(what), found()});
  }
  /// Skips one token, or a bracket with its contents.
  void skipBalanced();
  void skipStatement();
  /// Wraps the nodes since `first` and the rest of the statement into an `Error` node of at least
  /// one token.
  NodeId skipIntoError(NodeId understood, TokenIndex first);
  /// Inside a bracket: skips to the next comma or the closer; false if neither is near.
  bool recoverInList(TokenKind closer);

  // Construction of nodes.
  size_t mark() const { return scratch.size(); }
  void push(NodeId id) { scratch.push_back(id); }
  /// A node over the tokens from `first` up to here; its children are those pushed since `mark`.
  NodeId finish(NodeKind kind, TokenIndex first, TokenIndex main, size_t mark);
  NodeId finish(NodeKind kind, TokenIndex first, size_t mark) {
    return finish(kind, first, first, mark);
  }
  NodeId make(NodeKind kind, TokenIndex first, TokenIndex main,
              std::initializer_list<NodeId> children);
  NodeId make(NodeKind kind, TokenIndex first, std::initializer_list<NodeId> children) {
    return make(kind, first, first, children);
  }
  NodeId leaf(NodeKind kind);
  NodeId missing();
  void flag(NodeId id, NodeFlag f) { tree.setFlags(id, static_cast<uint8_t>(f)); }

  /// Counts the nesting; `tooDeep()` reports the limit and skips the contents.
  struct Nesting {
    Parser &parser;
    explicit Nesting(Parser &p) : parser(p) { ++parser.nesting; }
    ~Nesting() { --parser.nesting; }
    bool tooDeep();
  };
  /// Inside `(` or `[` line ends are ignored; inside `{` they end statements again.
  struct Brackets {
    Parser &parser;
    unsigned saved;
    Brackets(Parser &p, bool braces) : parser(p), saved(p.bracketDepth) {
      p.bracketDepth = braces ? 0 : p.bracketDepth + 1;
    }
    ~Brackets() { parser.bracketDepth = saved; }
  };
  /// Parses items between brackets, separated by commas, and pushes them; starts at the opener.
  template <typename Item> void bracketed(TokenKind closer, Item item);
  /// Parses items separated by commas, until one is not followed by a comma.
  template <typename Item> void commaList(Item item);

  Tree tree;
  DiagnosticSink &sink;
  TokenIndex position = 0;
  unsigned bracketDepth = 0;
  unsigned nesting = 0;
  size_t errors = 0;
  TokenIndex lastError = ~TokenIndex(0);
  mutable TokenIndex furthest = 0; ///< of all tokens that were looked at
  size_t reportedTooHigh = 0;      ///< of `Tree::tooHigh`
  TokenIndex itemStart = 0;        ///< where the innermost statement, declaration or item begins
  Diagnostic ignored;
  std::vector<NodeId> scratch;
  std::vector<TokenKind> closers; ///< of the open brackets
};

template <typename Item> void Parser::bracketed(TokenKind closer, Item item) {
  TokenIndex open = position;
  advance();
  Brackets inside(*this, false);
  closers.push_back(closer);
  while (!at(closer) && !atBarrier()) {
    TokenIndex before = position;
    push(item());
    if (accept(TokenKind::Comma))
      continue;
    if (at(closer))
      break;
    errorExpected("`,` or " + std::string(describe(closer)))
        .label(tree.tokenSpan(open), "opened here");
    if (!recoverInList(closer) || position == before) {
      // The missing closer is the same mistake.
      lastError = position;
      break;
    }
  }
  closers.pop_back();
  expectCloser(closer, open);
}

template <typename Item> void Parser::commaList(Item item) {
  do
    push(item());
  while (accept(TokenKind::Comma) && !atBarrier());
}

} // namespace ptl

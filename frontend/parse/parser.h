// The working state of the parser; inside `frontend/parse` only. Each `parse_*.cpp` holds the
// methods of one part of the grammar: recursive descent, operators by precedence. Methods named
// `parseX` return a node always; `x` at the start of a form is the token they expect to stand on.
#pragma once

#include "frontend/lex/operator.h"
#include "frontend/parse/parse.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace ptl {

inline constexpr unsigned kMaxNesting = 256;

class Parser {
public:
  Parser(FileId file, std::string_view text, TokenList tokens, DiagnosticSink &sink)
      : tree_(file, text, std::move(tokens)), sink_(sink) {}
  Tree run();
  /// Parses whole lines from the start of the text until a declaration ends with its line.
  ParsedChunk runChunk();

private:
  // cursor.cpp: looking ahead and taking tokens.
  TokenKind kind(uint32_t ahead = 0) const { return tree_.tokenKind(look(ahead)); }
  const Token &token() const { return tree_.token(look(0)); }
  std::string_view text(uint32_t ahead = 0) const { return tree_.tokenText(look(ahead)); }
  /// The token `ahead` of the present one, which is noted: what a declaration becomes depends on no
  /// token behind the furthest that was looked at.
  TokenIndex look(uint32_t ahead) const {
    TokenIndex index = std::min<TokenIndex>(at_ + ahead, lastToken());
    furthest_ = std::max(furthest_, index);
    return index;
  }
  TokenIndex lastToken() const { return static_cast<TokenIndex>(tree_.tokens().size() - 1); }
  bool at(TokenKind k) const { return kind() == k; }
  /// On a contextual word.
  bool atWord(std::string_view word, uint32_t ahead = 0) const {
    return kind(ahead) == TokenKind::Identifier && text(ahead) == word;
  }
  bool newlineAt(uint32_t ahead) const { return tree_.token(look(ahead)).newlineBefore; }
  /// No space between this token and the next.
  bool touchesNext() const {
    return at_ < lastToken() && tree_.token(look(1)).begin == token().end;
  }
  /// The token belongs to the expression or type before it: a bracket is open, or it is on the same
  /// line.
  bool continues() const { return bracketDepth_ > 0 || !token().newlineBefore; }
  bool atStatementEnd() const;
  /// On a word that begins a declaration, first on its line.
  bool atDeclaration() const;
  bool atStatementWord() const;
  /// On something that no bracket can contain: recovery inside brackets stops here.
  bool atBarrier() const;
  void advance() {
    if (at_ < lastToken())
      ++at_;
  }
  bool accept(TokenKind k);
  bool acceptWord(std::string_view word);
  /// Takes a token or reports that it is missing.
  bool expect(TokenKind k);
  bool expectWord(std::string_view word);
  /// Takes the closer of the bracket opened at `open`, skipping to it if it can be found.
  void expectCloser(TokenKind closer, TokenIndex open);

  // cursor.cpp: errors and recovery.
  /// Where an error about the current token is shown: the end of the line before if the token
  /// begins one.
  Span errorSpan() const;
  std::string found() const;
  /// Reports at the current token; one error per token, none where the lexer has reported.
  DiagnosticBuilder error(DiagId id, std::vector<std::string> args = {});
  /// Marks the item as wrong. Behind its last token an error belongs to it, not to the next item.
  void markError() { tree_.addErrorToken(std::max(at_ > 0 ? at_ - 1 : 0, itemStart_)); }
  DiagnosticBuilder errorAt(Span span, DiagId id, std::vector<std::string> args = {});
  DiagnosticBuilder errorExpected(std::string what) {
    return error(DiagId::ExpectedToken, {std::move(what), found()});
  }
  /// Skips one token, or a bracket with its contents.
  void skipBalanced();
  void skipStatement();
  /// Wraps what was understood and the rest of the statement into an `Error` node.
  NodeId skipIntoError(NodeId understood, TokenIndex first);
  /// Inside a bracket: goes on to the next comma or the closer; false if neither is near.
  bool recoverInList(TokenKind closer);

  // cursor.cpp: building.
  size_t mark() const { return scratch_.size(); }
  void push(NodeId id) { scratch_.push_back(id); }
  /// A node over the tokens from `first` to here whose children were pushed since `mark`.
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
  void flag(NodeId id, NodeFlag f) { tree_.setFlags(id, static_cast<uint8_t>(f)); }

  /// Counts nesting; `tooDeep()` has reported and skipped the contents.
  struct Nesting {
    Parser &parser;
    explicit Nesting(Parser &p) : parser(p) { ++parser.nesting_; }
    ~Nesting() { --parser.nesting_; }
    bool tooDeep();
  };
  /// Inside `(` or `[` line ends mean nothing; inside `{` they end statements again.
  struct Brackets {
    Parser &parser;
    unsigned saved;
    Brackets(Parser &p, bool braces) : parser(p), saved(p.bracketDepth_) {
      p.bracketDepth_ = braces ? 0 : p.bracketDepth_ + 1;
    }
    ~Brackets() { parser.bracketDepth_ = saved; }
  };
  /// Items between brackets, separated by commas, pushed; stands on the opener.
  template <typename Item> void bracketed(TokenKind closer, Item item);
  /// Items separated by commas until one is not followed by a comma.
  template <typename Item> void commaList(Item item);

  // parse_decl.cpp
  NodeId parseModule();
  void parseItem();
  NodeId parseDeclaration();
  void checkModifiers(uint8_t flags, TokenIndex first, TokenKind what);
  NodeId parseImport();
  NodeId parseCallable(NodeKind kind, uint8_t flags);
  void parseHeaderClauses(NodeId (&slots)[9]);
  NodeId parseBody(uint8_t flags, TokenIndex main);
  NodeId parseNamedBlock(NodeKind kind);
  NodeId parseProperty();
  NodeId parseConst();
  NodeId parseTypeAlias();
  NodeId parseStruct();
  NodeId parseField();
  // parse_header.cpp
  NodeId parseGenerics();
  NodeId parseGenericParam();
  NodeId parseParams();
  NodeId parseParam();
  NodeId parseResults();
  NodeId parseResult();
  NodeId parseOnClause();
  NodeId parseAtClause();
  NodeId parseMesh();
  NodeId parseWhere();
  NodeId parseTune();
  NodeId parseTuneParam();
  NodeId parseSources();
  // parse_schedule.cpp
  NodeId parseSchedule();
  void parseScheduleItems(TokenIndex open);
  NodeId parseScheduleItem();
  NodeId parseScheduleBlock();
  NodeId parseTileItem();
  NodeId parseLabelList(NodeKind kind);
  NodeId parseL0Item();
  bool labelFollowsComma() const;
  // parse_name.cpp
  NodeId parseName(const char *what);
  NodeId parsePath(const char *what);
  NodeId parseText();
  NodeId parsePattern();
  // parse_type.cpp
  NodeId parseType();
  NodeId parseShape();
  NodeId parseShapeItem();
  NodeId parsePlace();
  bool atDistribution() const;
  NodeId parseDistribution();
  NodeId parseCutItem();
  NodeId parseOwedItem();
  NodeId parsePartItem();
  bool atLayout() const;
  // parse_stmt.cpp
  NodeId parseBlock();
  void parseStatements(TokenIndex open);
  NodeId parseNestedDeclaration();
  NodeId parseStatement();
  NodeId parseBinding(NodeKind kind);
  NodeId parseLoop(NodeKind kind);
  NodeId parseCheckpoint();
  NodeId parseLoopBinding();
  NodeId parseWhile();
  NodeId parseIf();
  NodeId parseStatic();
  NodeId parseReturn();
  NodeId parseAssert();
  NodeId parsePrint();
  NodeId parseAtomic();
  NodeId parseExpressionStatement();
  NodeId parseStrayOperator();
  NodeId parseCondition();
  // parse_block_level.cpp
  NodeId parseTask();
  NodeId parsePipe();
  NodeId parseOn();
  NodeId parseBuffer();
  NodeId parseEvent();
  NodeId parseCount();
  // parse_expr.cpp
  NodeId parseExpr();
  NodeId parseBinary(Precedence least);
  NodeId parsePrefix(Precedence least);
  NodeId parsePower();
  NodeId parsePostfix();
  NodeId parsePrimary();
  NodeId parseWordPrimary();
  NodeId parseParen();
  NodeId parseCall(NodeId callee, TokenIndex first);
  NodeId parseArg();
  NodeId parseIndex(NodeId base, TokenIndex first);
  NodeId parseIndexItem();
  NodeId parseElementExpr();
  /// The precedence of the operator at the current token. `None` for a power, which is parsed with
  /// its base.
  Precedence binaryPrecedence();
  /// Reports two touching tokens that are one operator in other languages (`&&`), and takes the
  /// first; `word` is the spelling of this language (`and`).
  bool acceptForeignOperator(TokenKind left, TokenKind right, const char *word);

  /// Warns of comments behind operands from `first` to here that read like an operand: `h // 2`
  /// is a division in other languages.
  void warnOperandComments(TokenIndex first);
  void reportTooHigh();

  Tree tree_;
  DiagnosticSink &sink_;
  TokenIndex at_ = 0;
  unsigned bracketDepth_ = 0;
  unsigned nesting_ = 0;
  size_t errors_ = 0;
  TokenIndex lastError_ = ~TokenIndex(0);
  mutable TokenIndex furthest_ = 0; ///< of all tokens that were looked at
  size_t reportedTooHigh_ = 0;      ///< of `Tree::tooHigh`
  TokenIndex itemStart_ = 0;        ///< where the innermost statement, declaration or item begins
  Diagnostic ignored_;
  std::vector<NodeId> scratch_;
  std::vector<TokenKind> closers_; ///< of the open brackets
};

template <typename Item> void Parser::bracketed(TokenKind closer, Item item) {
  TokenIndex open = at_;
  advance();
  Brackets inside(*this, false);
  closers_.push_back(closer);
  while (!at(closer) && !atBarrier()) {
    TokenIndex before = at_;
    push(item());
    if (accept(TokenKind::Comma))
      continue;
    if (at(closer))
      break;
    errorExpected("`,` or " + std::string(describe(closer)))
        .label(tree_.tokenSpan(open), "opened here");
    if (!recoverInList(closer) || at_ == before) {
      // The missing closer is the same mistake.
      lastError_ = at_;
      break;
    }
  }
  closers_.pop_back();
  expectCloser(closer, open);
}

template <typename Item> void Parser::commaList(Item item) {
  do
    push(item());
  while (accept(TokenKind::Comma) && !atBarrier());
}

} // namespace ptl

#include "lsp/ide/completion_context.h"

#include "frontend/syntax/typed_nodes.h"
#include "lsp/ide/call_context.h"

#include <algorithm>

namespace ptl::ide {
namespace {

using Kind = TokenKind;

bool isWord(Kind kind) {
  return kind == Kind::Identifier || isKeyword(kind) || isElementType(kind);
}

bool isDeclarationWord(Kind kind) { return kind >= Kind::Import && kind <= Kind::Struct; }
bool isCallableWord(Kind kind) {
  return kind == Kind::Fn || kind == Kind::Kernel || kind == Kind::Program;
}

/// Finds out where a place is.
class Reader {
public:
  Reader(const Chunk &chunk, uint32_t offset) : tree_(*chunk.tree), offset_(offset) {}

  CompletionContext read();

private:
  Kind kind(TokenIndex i) const { return tree_.tokenKind(i); }
  bool is(TokenIndex i, std::string_view text) const { return tree_.tokenText(i) == text; }
  bool inComment() const;
  void findWord();
  void findBrackets();
  bool startsLine() const;
  void findBinding();
  TokenIndex statementStart() const;
  std::optional<TokenIndex> headBefore(TokenIndex brace) const;
  bool isParamList(TokenIndex paren) const;
  bool isGenerics(TokenIndex bracket) const;
  Site site();
  Site inBrace(TokenIndex brace);
  Site inBlock();
  Site inSchedule();
  Site inImport(TokenIndex start);
  Site inParens(TokenIndex paren);
  Site inGenerics();
  Site inHeader(TokenIndex head);
  Site scheduleHead(TokenIndex head);
  Site afterDot();
  std::optional<Site> afterAt();
  Site expression() const;

  const Tree &tree_;
  uint32_t offset_;
  TokenIndex next_ = 0;          ///< the first token that does not stand before the place
  std::vector<TokenIndex> open_; ///< brackets around the place, innermost first
  CompletionContext found_;
};

bool Reader::inComment() const {
  for (const Trivia &trivia : tree_.triviaBefore(next_)) {
    bool isLine = trivia.kind == TriviaKind::LineComment || trivia.kind == TriviaKind::DocComment;
    // At its end a line comment goes on; a block comment is closed there.
    if (isLine && trivia.begin < offset_ && offset_ <= trivia.end)
      return true;
    if (trivia.kind == TriviaKind::BlockComment && trivia.begin < offset_ && offset_ < trivia.end)
      return true;
  }
  return false;
}

void Reader::findWord() {
  const auto &tokens = tree_.tokens();
  // This is the first token that does not end before the place.
  auto at = std::partition_point(tokens.begin(), tokens.end(), [&](const Token &token) {
    return token.end < offset_ && token.kind != Kind::EndOfFile;
  });
  next_ = static_cast<TokenIndex>(at - tokens.begin());
  // Punctuation directly before the place has been written already.
  if (at->end == offset_ && !isWord(at->kind) && at->kind != Kind::EndOfFile && at->begin < offset_)
    ++next_, ++at;
  found_.begin = found_.end = offset_;
  // A word that touches the place is the one that is being completed.
  if (isWord(at->kind) && at->begin < offset_ && offset_ <= at->end) {
    found_.begin = at->begin;
    found_.end = at->end;
    found_.prefix = tree_.fileText().substr(at->begin, offset_ - at->begin);
    found_.isFollowedByParen = next_ + 1 < tokens.size() && kind(next_ + 1) == Kind::LParen;
  } else {
    found_.isFollowedByParen = at->kind == Kind::LParen && at->begin == offset_;
  }
  if (next_ > 0)
    found_.before = next_ - 1;
}

void Reader::findBrackets() {
  int depth = 0;
  for (TokenIndex i = next_; i-- > 0;) {
    // A closing bracket is skipped together with its opening one; what stays open encloses the
    // place.
    depth += depthOf(kind(i));
    if (depth <= 0)
      continue;
    open_.push_back(i);
    depth = 0;
  }
}

/// Whether the word begins a statement: a line end before it, or what separates statements.
bool Reader::startsLine() const {
  if (!found_.before)
    return true;
  Kind before = kind(*found_.before);
  if (before == Kind::LBrace || before == Kind::RBrace || before == Kind::Semicolon)
    return true;
  // A line end begins a statement only if what stands before it can end one.
  std::string_view between = tree_.fileText().substr(
      tree_.token(*found_.before).end, found_.begin - tree_.token(*found_.before).end);
  return between.find('\n') != between.npos && canEndStatement(before);
}

/// The `let` or `var` whose value is being written.
void Reader::findBinding() {
  // The last keyword before the place is tried; if its statement has ended, there is no binding.
  for (TokenIndex i = next_; i-- > 0;) {
    if (kind(i) != Kind::Let && kind(i) != Kind::Var && kind(i) != Kind::Const)
      continue;
    int depth = 0;
    for (TokenIndex t = i + 1; t < next_; ++t) {
      depth += depthOf(kind(t));
      bool isNext = tree_.token(t).newlineBefore && canEndStatement(kind(t - 1));
      if (depth < 0 || (depth == 0 && (isNext || kind(t) == Kind::Semicolon)))
        return;
    }
    found_.binding = i + 1;
    return;
  }
}

/// The first token of the statement or item of the place.
TokenIndex Reader::statementStart() const {
  // Only tokens within the innermost bracket belong to the statement.
  TokenIndex inner = open_.empty() ? 0 : open_.front() + 1;
  int depth = 0;
  for (TokenIndex i = next_; i-- > inner;) {
    depth -= depthOf(kind(i));
    if (depth > 0)
      continue;
    bool afterEnd = i > 0 && canEndStatement(kind(i - 1)) && tree_.token(i).newlineBefore;
    if (kind(i) == Kind::Semicolon)
      return i + 1;
    if (afterEnd)
      return i;
  }
  return inner;
}

/// The keyword whose body a brace begins: of a declaration or statement.
std::optional<TokenIndex> Reader::headBefore(TokenIndex brace) const {
  int depth = 0;
  for (TokenIndex i = brace; i-- > 0;) {
    Kind each = kind(i);
    depth -= depthOf(each);
    // The brace stands within other brackets, so it belongs to no declaration.
    if (depth < 0)
      return std::nullopt;
    // Another body ends before this brace begins.
    if (depth == 0 && each == Kind::RBrace)
      return std::nullopt;
    // `for` and `on` also occur within headers; as a statement they begin a line.
    if (depth == 0 && ((isKeyword(each) && each < Kind::Where && each != Kind::Static &&
                        each != Kind::On && each != Kind::For) ||
                       ((each == Kind::For || each == Kind::On) && tree_.token(i).newlineBefore)))
      return i;
  }
  return std::nullopt;
}

bool Reader::isParamList(TokenIndex paren) const {
  if (paren == 0)
    return false;
  TokenIndex name = paren - 1;
  // Generic parameters may stand between the name and the list.
  if (kind(name) == Kind::RBracket) {
    int depth = 0;
    for (; name > 0; --name) {
      depth -= depthOf(kind(name));
      if (depth == 0)
        break;
    }
    if (name == 0)
      return false;
    --name;
  }
  return name > 0 && isCallableWord(kind(name - 1));
}

bool Reader::isGenerics(TokenIndex bracket) const {
  if (bracket < 2)
    return false;
  Kind word = kind(bracket - 2);
  bool isDecl = isCallableWord(word) || word == Kind::Struct || word == Kind::Type;
  return isDecl && isWord(kind(bracket - 1));
}

Site Reader::afterDot() {
  TokenIndex dot = *found_.before;
  if (dot == 0)
    return Site::Tag;
  Kind before = kind(dot - 1);
  // A dot behind something that is no value begins a tag.
  bool isValue = isWord(before) ? before == Kind::Identifier
                                : before == Kind::RParen || before == Kind::RBracket;
  if (!isValue || tree_.token(dot).newlineBefore)
    return Site::Tag;
  found_.target = dot - 1;
  // In an `event` statement a dot leads to a pipe of a core.
  return kind(statementStart()) == Kind::Event ? Site::Unit : Site::Member;
}

std::optional<Site> Reader::afterAt() {
  auto isPlace = [&](TokenIndex at) {
    NodeId node = tree_.nodeAt(tree_.token(at).begin);
    for (; node != kNoNode; node = tree_.parent(node))
      if (tree_.is(node, NodeKind::Place) && tree_.node(node).firstToken == at)
        return true;
    return false;
  };
  TokenIndex before = *found_.before;
  if (kind(before) == Kind::At)
    // `@` is also the operator for products; the syntax tree knows which.
    return isPlace(before) ? Site::Place : expression();
  if (before > 0 && kind(before - 1) == Kind::At && !startsLine() && isPlace(before - 1))
    return Site::Layout;
  return std::nullopt;
}

/// Behind a value comes an operator, else a value.
Site Reader::expression() const {
  Kind before = kind(*found_.before);
  bool isEnd = canEndStatement(before) && !isKeyword(before) && before != Kind::LBrace;
  bool isKeywordValue = before >= Kind::True && before <= Kind::Nan;
  // These words are no keywords everywhere, so the lexer has them as names; a value follows.
  constexpr std::string_view leads[] = {"in",   "step", "pipeline", "unroll", "depth",
                                        "when", "by",   "every",    "keep"};
  bool isLead = before == Kind::Identifier &&
                std::find(std::begin(leads), std::end(leads), tree_.tokenText(*found_.before)) !=
                    std::end(leads);
  return (isEnd || isKeywordValue) && !isLead && before != Kind::Semicolon ? Site::Operator
                                                                           : Site::Expression;
}

Site Reader::inImport(TokenIndex start) {
  if (*found_.before == start)
    return Site::ImportPath;
  Kind before = kind(*found_.before);
  if (before == Kind::Dot)
    return Site::ImportPath;
  return before == Kind::Colon || before == Kind::Comma ? Site::ImportName : Site::Nothing;
}

Site Reader::inGenerics() {
  return kind(*found_.before) == Kind::Colon ? Site::Constraint : Site::Nothing;
}

Site Reader::inParens(TokenIndex paren) {
  Kind before = kind(*found_.before);
  if (isParamList(paren)) {
    if (before == Kind::Colon || is(*found_.before, "inout"))
      return Site::Type;
    return before == Kind::Equal ? Site::Expression : Site::Nothing;
  }
  TokenIndex outer = paren > 0 ? paren - 1 : 0;
  // A parenthesis behind an arrow lists the results.
  if (kind(outer) == Kind::Arrow) // named results
    return before == Kind::Colon || before == Kind::LParen || before == Kind::Comma ? Site::Type
           : before == Kind::Equal ? Site::Expression
                                   : Site::Nothing;
  // A parenthesis behind `let` holds new names.
  if (kind(outer) == Kind::Let || kind(outer) == Kind::Var)
    return Site::Nothing;
  Site value = expression();
  bool isStart = before == Kind::LParen || before == Kind::Comma;
  return value == Site::Expression && isStart && callAround(tree_, offset_) ? Site::Argument
                                                                            : value;
}

Site Reader::inBlock() {
  if (startsLine())
    return Site::Statement;
  TokenIndex start = statementStart();
  Kind before = kind(*found_.before), first = kind(start);
  // A place follows `atomic`, not a new name.
  if (is(start, "atomic") && *found_.before == start)
    return Site::Expression;
  switch (first) {
  case Kind::Let:
  case Kind::Var:
  case Kind::Const:
  case Kind::PipeWord:
  case Kind::Buffer: {
    // A new name is being written.
    if (*found_.before == start)
      return Site::Nothing;
    if (before == Kind::Colon)
      return Site::Type;
    break;
  }
  case Kind::Event:
    return before == Kind::Colon || before == Kind::Arrow ? Site::Unit : Site::Nothing;
  case Kind::Task:
    return Site::Nothing;
  case Kind::On:
    return *found_.before == start ? Site::Core : Site::Nothing;
  case Kind::Static:
    if (*found_.before == start)
      return Site::Statement;
    [[fallthrough]];
  case Kind::For:
  case Kind::Parallel: {
    // These are names of new variables or labels.
    if (before == Kind::For || before == Kind::Parallel || is(*found_.before, "as"))
      return Site::Nothing;
    Site value = expression();
    bool hasDomain = false;
    int depth = 0;
    for (TokenIndex i = start; i < next_; ++i) {
      depth += depthOf(kind(i));
      // Each variable of a loop has a domain of its own, so a comma starts a new one.
      hasDomain = kind(i) == Kind::Comma && depth == 0 ? false : hasDomain || is(i, "in");
    }
    if (!hasDomain)
      return Site::Nothing;
    // Behind a domain come words such as `pipeline`.
    return value == Site::Operator ? Site::LoopWord : value;
  }
  default:
    break;
  }
  return expression();
}

Site Reader::inSchedule() {
  Kind before = kind(*found_.before);
  std::string_view text = tree_.tokenText(*found_.before);
  if (before == Kind::Equal || text == "by")
    return Site::Expression;
  return Site::ScheduleItem;
}

Site Reader::inBrace(TokenIndex brace) {
  // `label {` inside of a schedule has no keyword: the brace around decides.
  auto head = headBefore(brace);
  for (size_t i = 1; !head && i < open_.size(); ++i)
    if (kind(open_[i]) == Kind::LBrace)
      head = headBefore(open_[i]);
  if (head)
    found_.head = *head;
  Kind word = head ? kind(*head) : Kind::EndOfFile;
  if (word == Kind::Schedule)
    return inSchedule();
  // A struct has fields: a new name, then a type.
  if (word == Kind::Struct)
    return kind(*found_.before) == Kind::Colon ? Site::Type : Site::Nothing;
  return inBlock();
}

Site Reader::scheduleHead(TokenIndex head) {
  Kind before = kind(*found_.before);
  if (*found_.before == head)
    return Site::ScheduleTarget;
  if (before == Kind::On)
    return Site::Machine;
  bool hasCondition = false;
  for (TokenIndex i = head; i < next_; ++i)
    hasCondition |= is(i, "when");
  return hasCondition ? expression() : Site::ScheduleWord;
}

/// The head of a declaration outside of brackets.
Site Reader::inHeader(TokenIndex head) {
  Kind before = kind(*found_.before), word = kind(head);
  if (word == Kind::Schedule)
    return scheduleHead(head);
  if (word == Kind::Type)
    return before == Kind::Equal ? Site::Type : Site::Nothing;
  if (word == Kind::Const)
    return before == Kind::Colon    ? Site::Type
           : *found_.before == head ? Site::Nothing
                                    : expression();
  if (!isCallableWord(word) || *found_.before == head)
    return Site::Nothing;
  if (before == Kind::Arrow)
    return Site::Type;
  // The last clause says what may follow.
  std::string_view clause;
  int depth = 0;
  for (TokenIndex i = head + 1; i < next_; ++i) {
    depth += depthOf(kind(i));
    std::string_view text = tree_.tokenText(i);
    for (std::string_view each : {"where", "tune", "on", "at", "from", "->"})
      // Words of a clause within brackets belong to expressions.
      if (depth == 0 && text == each)
        clause = each;
  }
  bool isStart = tree_.tokenText(*found_.before) == clause;
  if (clause == "where") {
    Site value = expression();
    // Behind a complete condition on a new line the next clause may follow.
    return value == Site::Operator && startsLine() ? Site::Header : value;
  }
  if (clause == "tune")
    return before == Kind::Equal || before == Kind::Colon ? Site::Expression
           : isStart || before == Kind::Comma             ? Site::Nothing
                                                          : Site::Header;
  if (clause == "on") {
    if (isStart)
      return Site::Core;
    return before == Kind::For || before == Kind::Comma ? Site::Machine : Site::Header;
  }
  if (clause == "at")
    return isStart ? Site::Level : Site::Header;
  if (clause == "from")
    return isStart || before == Kind::Comma ? Site::Machine : Site::Nothing;
  return Site::Header;
}

Site Reader::site() {
  const Token &at = tree_.token(next_);
  // Within a string only the file of an import is completed.
  if (at.kind == Kind::StringLiteral && at.begin < offset_ && offset_ < at.end) {
    bool isImport = next_ > 0 && kind(next_ - 1) == Kind::Import;
    return isImport ? Site::ImportFile : Site::Nothing;
  }
  if (!found_.before)
    return Site::Declaration;
  TokenIndex start = statementStart();
  if (open_.empty() && kind(start) == Kind::Import && !startsLine())
    return inImport(start);
  Kind before = kind(*found_.before);
  if (before == Kind::Dot)
    return afterDot();
  // A word that touches a number is a suffix of it.
  if (before == Kind::IntLiteral && tree_.token(*found_.before).end == found_.begin)
    return Site::Nothing; // a suffix
  if (auto place = afterAt())
    return *place;
  if (before == Kind::Pub || before == Kind::Manual || before == Kind::Extern)
    return Site::DeclarationWord;
  if (!open_.empty()) {
    TokenIndex open = open_.front();
    if (kind(open) == Kind::LBrace)
      return inBrace(open);
    if (kind(open) == Kind::LParen)
      return inParens(open);
    if (isGenerics(open))
      return inGenerics();
    return before == Kind::LBracket || before == Kind::Colon ? Site::Expression : expression();
  }
  // The last declaration that begins before the place, if it has no body yet.
  for (TokenIndex i = next_; i-- > 0;) {
    // A body that has ended belongs to an earlier declaration.
    if (kind(i) == Kind::RBrace)
      break;
    if (!isDeclarationWord(kind(i)) || kind(i) == Kind::Pub)
      continue;
    found_.head = i;
    // These declarations have no body: they end with their line.
    bool isWhole = kind(i) == Kind::Const || kind(i) == Kind::Type || kind(i) == Kind::Import;
    if (isWhole && startsLine())
      break;
    return inHeader(i);
  }
  return startsLine() ? Site::Declaration : Site::Nothing;
}

CompletionContext Reader::read() {
  findWord();
  if (inComment())
    return found_;
  findBrackets();
  found_.site = site();
  // A new statement is the value of no binding.
  if (!startsLine())
    findBinding();
  return found_;
}

} // namespace

CompletionContext completionContext(const Chunk &chunk, uint32_t offset) {
  return Reader(chunk, offset).read();
}

} // namespace ptl::ide

#include "frontend/reduce/smaller.h"

#include "frontend/parse/parse.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

namespace ptl {

namespace {

/// A text that does not parse and has no more tokens than this is also shortened by tokens.
constexpr size_t kMostSingleTokens = 400;

struct Piece {
  size_t begin, end;
};

/// Collects the rewrites of one text from its syntax tree.
class Smaller {
public:
  explicit Smaller(std::string_view text)
      : file_(sources_.add("program.ptl", std::string(text))),
        tree_(parse(sources_.file(file_), sink_)), text_(tree_.fileText()) {}
  std::vector<Rewrite> forms();

private:
  Piece pieceOf(NodeId id) const {
    Span span = tree_.span(id);
    return {span.begin, span.end};
  }
  std::string_view textOf(NodeId id) const {
    return id == kNoNode ? std::string_view() : tree_.text(id);
  }
  void replace(Piece piece, std::string_view by);
  void dropSome(const std::vector<Piece> &pieces);
  void dropComments();
  void dropLines();
  void dropTokens();
  void dropNodes(std::span<const NodeId> nodes);
  void dropFromList(NodeId id);
  void dropResult(NodeId list, NodeId result);
  void openStatement(NodeId id);
  void dropModifiers(NodeId id);
  void dropParts(NodeId id);
  void simplify(NodeId id);
  void shortenNumbers();
  bool isOperand(NodeId id) const;
  bool isExpression(NodeId id) const;
  std::string_view insideOf(NodeId block) const;

  SourceManager sources_;
  DiagnosticSink sink_;
  FileId file_;
  Tree tree_;
  std::string_view text_;
  std::multimap<std::string_view, std::string> lets_; ///< the values of `let`s by name
  std::vector<Rewrite> found_;
};

void Smaller::replace(Piece piece, std::string_view by) {
  if (piece.begin < piece.end && text_.substr(piece.begin, piece.end - piece.begin) != by)
    found_.push_back({{piece.begin, piece.end, std::string(by)}});
}

/// Leaves out a run of neighbours: half of them, then a quarter, down to single ones.
void Smaller::dropSome(const std::vector<Piece> &pieces) {
  for (size_t length = pieces.size(); length > 0; length /= 2)
    for (size_t at = 0; at + length <= pieces.size(); at += length)
      replace({pieces[at].begin, pieces[at + length - 1].end}, "");
}

void Smaller::dropComments() {
  Rewrite all;
  for (const Trivia &trivia : tree_.trivia())
    if (trivia.kind != TriviaKind::Whitespace && trivia.kind != TriviaKind::Newline)
      all.push_back({trivia.begin, trivia.end, ""});
  if (!all.empty())
    found_.push_back(std::move(all));
}

void Smaller::dropLines() {
  std::vector<Piece> lines;
  for (size_t begin = 0; begin < text_.size();) {
    size_t end = std::min(text_.find('\n', begin), text_.size() - 1) + 1;
    lines.push_back({begin, end});
    begin = end;
  }
  dropSome(lines);
}

void Smaller::dropTokens() {
  std::vector<Piece> tokens;
  for (const Token &token : tree_.tokens())
    if (token.begin < token.end)
      tokens.push_back({token.begin, token.end});
  if (tokens.size() <= kMostSingleTokens)
    dropSome(tokens);
}

void Smaller::dropNodes(std::span<const NodeId> nodes) {
  std::vector<Piece> pieces;
  for (NodeId node : nodes)
    if (node != kNoNode)
      pieces.push_back(pieceOf(node));
  dropSome(pieces);
}

std::string_view Smaller::insideOf(NodeId block) const {
  std::string_view text = textOf(block);
  return text.size() >= 2 && text.front() == '{' ? text.substr(1, text.size() - 2) : text;
}

/// An element of a list together with a comma.
void Smaller::dropFromList(NodeId id) {
  Piece piece = pieceOf(id);
  size_t after = text_.find_first_not_of(" \n", piece.end);
  if (after != text_.npos && text_[after] == ',') {
    piece.end = after + 1;
  } else {
    size_t before = piece.begin ? text_.find_last_not_of(" \n", piece.begin - 1) : text_.npos;
    if (before != text_.npos && text_[before] == ',')
      piece.begin = before;
  }
  replace(piece, "");
}

/// A result and the statements that write it.
void Smaller::dropResult(NodeId list, NodeId result) {
  std::string name(textOf(ResultView(tree_, result).name()));
  if (name.empty() || tree_.children(list).size() < 2)
    return;
  Rewrite gone;
  for (NodeId id = 0; id < tree_.nodeCount(); ++id) {
    if (!tree_.is(id, NodeKind::AssignStmt) && !tree_.is(id, NodeKind::AtomicStmt))
      continue;
    // Both kinds of statements have the target in the same place.
    std::string_view target = textOf(AssignStmtView(tree_, id).target());
    if (target == name || target.starts_with(name + "["))
      gone.push_back({pieceOf(id).begin, pieceOf(id).end, ""});
  }
  Piece own = pieceOf(result);
  size_t after = text_.find_first_not_of(" \n", own.end);
  if (after != text_.npos && text_[after] == ',')
    own.end = after + 1;
  else if (size_t comma = text_.find_last_of(',', own.begin); comma != text_.npos)
    own.begin = comma;
  gone.push_back({own.begin, own.end, ""});
  std::ranges::sort(gone, {}, &Edit::begin);
  found_.push_back(std::move(gone));
}

/// The body of a statement in its place.
void Smaller::openStatement(NodeId id) {
  switch (tree_.kind(id)) {
  case NodeKind::ForStmt:
  case NodeKind::ParallelStmt:
    return replace(pieceOf(id), insideOf(LoopView(tree_, id).body()));
  case NodeKind::WhileStmt:
    return replace(pieceOf(id), insideOf(WhileStmtView(tree_, id).body()));
  case NodeKind::TaskStmt:
    return replace(pieceOf(id), insideOf(TaskStmtView(tree_, id).body()));
  case NodeKind::OnStmt:
    return replace(pieceOf(id), insideOf(OnStmtView(tree_, id).body()));
  case NodeKind::If: {
    IfView branch(tree_, id);
    replace(pieceOf(id), insideOf(branch.then()));
    if (NodeId other = branch.otherwise(); other != kNoNode) {
      replace(pieceOf(id), insideOf(other));
      replace({pieceOf(branch.then()).end, pieceOf(other).end}, "");
    }
    return;
  }
  default:
    return;
  }
}

/// `pipeline 2`, `unroll`: a word and what stands behind it.
void Smaller::dropModifiers(NodeId id) {
  if (!tree_.is(id, NodeKind::ForStmt) && !tree_.is(id, NodeKind::ParallelStmt))
    return;
  LoopView loop(tree_, id);
  Piece head{pieceOf(loop.bindings()).end, pieceOf(loop.body()).begin};
  if (text_.find_first_not_of(' ', head.begin) < head.end)
    replace(head, " ");
}

bool Smaller::isExpression(NodeId id) const {
  switch (tree_.kind(id)) {
  case NodeKind::CallExpr:
  case NodeKind::IndexExpr:
  case NodeKind::UnaryExpr:
  case NodeKind::BinaryExpr:
  case NodeKind::ParenExpr:
  case NodeKind::NameExpr:
  case NodeKind::MemberExpr:
    return true;
  default:
    return false;
  }
}

bool Smaller::isOperand(NodeId id) const {
  return isExpression(id) || tree_.is(id, NodeKind::IntLiteral) ||
         tree_.is(id, NodeKind::FloatLiteral) || tree_.is(id, NodeKind::If);
}

void Smaller::dropParts(NodeId id) {
  switch (tree_.kind(id)) {
  case NodeKind::Block:
    return dropNodes(tree_.children(id));
  case NodeKind::Param:
  case NodeKind::DimParam:
  case NodeKind::LoopBinding:
    return dropFromList(id);
  case NodeKind::WhereClause:
  case NodeKind::TuneClause:
    for (NodeId element : tree_.children(id))
      dropFromList(element);
    return replace({text_.find_last_not_of(" \n", pieceOf(id).begin - 1) + 1, pieceOf(id).end}, "");
  case NodeKind::ResultList:
    for (NodeId result : tree_.children(id))
      dropResult(id, result);
    return;
  default:
    return;
  }
}

void Smaller::simplify(NodeId id) {
  if (tree_.is(id, NodeKind::ParenExpr))
    return replace(pieceOf(id), textOf(ParenExprView(tree_, id).inner()));
  for (NodeId child : tree_.children(id)) {
    if (child == kNoNode)
      continue;
    NodeId operand = tree_.is(child, NodeKind::Arg) ? ArgView(tree_, child).value() : child;
    if (operand != kNoNode && isOperand(operand))
      replace(pieceOf(id), textOf(operand));
  }
  if (tree_.is(id, NodeKind::CallExpr))
    for (NodeId child : tree_.children(id))
      if (tree_.is(child, NodeKind::Arg))
        dropFromList(child);
  if (!tree_.is(id, NodeKind::NameExpr)) {
    for (const char *literal : {"1.0", "2.0", "0.0", "1", "0", "true"})
      replace(pieceOf(id), literal);
    return;
  }
  // The value of a `let` in place of its name.
  for (auto [at, end] = lets_.equal_range(textOf(id)); at != end; ++at)
    replace(pieceOf(id), at->second);
}

/// A whole number everywhere, and at one place, by a smaller one.
void Smaller::shortenNumbers() {
  std::map<std::string_view, std::vector<Piece>> places;
  for (NodeId id = 0; id < tree_.nodeCount(); ++id)
    if (tree_.is(id, NodeKind::IntLiteral))
      places[textOf(id)].push_back(pieceOf(id));
  for (const auto &[number, pieces] : places) {
    long long value = std::atoll(std::string(number).c_str());
    for (long long next : {1LL, 2LL, 4LL, 8LL, 16LL, value / 2, value - 1}) {
      if (next >= value || next < 0)
        continue;
      Rewrite all;
      for (Piece piece : pieces)
        all.push_back({piece.begin, piece.end, std::to_string(next)});
      if (pieces.size() > 1)
        found_.push_back(std::move(all));
      for (Piece piece : pieces)
        replace(piece, std::to_string(next));
    }
  }
}

std::vector<Rewrite> Smaller::forms() {
  for (NodeId id = 0; id < tree_.nodeCount(); ++id)
    if (tree_.is(id, NodeKind::LetStmt)) {
      LetStmtView let(tree_, id);
      lets_.emplace(textOf(let.pattern()), "(" + std::string(textOf(let.value())) + ")");
    }
  dropNodes(tree_.children(tree_.root()));
  dropComments();
  // The root is the last node: outer ones come first.
  for (auto id = static_cast<NodeId>(tree_.nodeCount()); id-- > 0;) {
    openStatement(id);
    dropModifiers(id);
    dropParts(id);
  }
  for (auto id = static_cast<NodeId>(tree_.nodeCount()); id-- > 0;)
    if (isExpression(id))
      simplify(id);
  shortenNumbers();
  dropLines();
  if (sink_.hasErrors())
    dropTokens();
  return std::move(found_);
}

} // namespace

std::string rewritten(std::string_view text, const Rewrite &edits) {
  std::string made;
  size_t from = 0;
  for (const Edit &edit : edits) {
    made += text.substr(from, edit.begin - from);
    made += edit.by;
    from = edit.end;
  }
  return made += text.substr(from);
}

std::vector<Rewrite> smallerForms(std::string_view text) { return Smaller(text).forms(); }

} // namespace ptl

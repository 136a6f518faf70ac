#include "tests/differential/soak/shrink.h"

#include "frontend/parse/parse.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace ptl::differential {

namespace {

/// Candidates from the syntax tree of a text: each is the text with one place written anew.
class Smaller {
public:
  explicit Smaller(const std::string &text) {
    FileId file = sources_.add("program.ptl", text);
    text_ = text;
    tree_.emplace(parse(sources_.file(file), sink_));
  }
  std::vector<std::string> candidates();

private:
  struct Piece {
    size_t begin, end;
  };
  Piece pieceOf(NodeId id) const {
    Span span = tree_->span(id);
    return {span.begin, span.end};
  }
  std::string textOf(NodeId id) const {
    return id == kNoNode ? std::string() : std::string(tree_->text(id));
  }
  void replace(Piece piece, const std::string &by, bool isFirst = false);
  void dropStatements(NodeId block);
  void dropFromList(NodeId id);
  void dropResult(NodeId list, NodeId result);
  void openStatement(NodeId id);
  void dropModifiers(NodeId id);
  void simplify(NodeId id);
  void shortenNumbers();
  bool isOperand(NodeId id) const;
  bool isExpression(NodeId id) const;
  std::string insideOf(NodeId block) const;

  SourceManager sources_;
  DiagnosticSink sink_;
  std::string text_;
  std::optional<Tree> tree_;
  std::vector<std::string> found_;
  std::set<std::string> known_;
};

void Smaller::replace(Piece piece, const std::string &by, bool) {
  std::string made = text_.substr(0, piece.begin) + by + text_.substr(piece.end);
  if (made != text_ && known_.insert(made).second)
    found_.push_back(std::move(made));
}

std::string Smaller::insideOf(NodeId block) const {
  std::string text = textOf(block);
  if (text.size() >= 2 && text.front() == '{')
    text = text.substr(1, text.size() - 2);
  return text;
}

void Smaller::dropStatements(NodeId block) {
  auto statements = tree_->children(block);
  for (size_t length = statements.size(); length > 0; length /= 2)
    for (size_t at = 0; at + length <= statements.size(); at += length)
      replace({pieceOf(statements[at]).begin, pieceOf(statements[at + length - 1]).end}, "");
}

/// An element of a list together with a comma.
void Smaller::dropFromList(NodeId id) {
  Piece piece = pieceOf(id);
  size_t after = text_.find_first_not_of(" \n", piece.end);
  if (after != text_.npos && text_[after] == ',') {
    piece.end = after + 1;
  } else {
    size_t before = text_.find_last_not_of(" \n", piece.begin - 1);
    if (before != text_.npos && text_[before] == ',')
      piece.begin = before;
  }
  replace(piece, "");
}

/// A result and the statements that write it.
void Smaller::dropResult(NodeId list, NodeId result) {
  std::string name = textOf(tree_->child(result, 0));
  if (name.empty())
    return;
  std::vector<Piece> gone;
  for (NodeId id = 0; id < tree_->nodeCount(); ++id) {
    if (!tree_->is(id, NodeKind::AssignStmt) && !tree_->is(id, NodeKind::AtomicStmt))
      continue;
    std::string target = textOf(tree_->child(id, 0));
    if (target == name || target.starts_with(name + "["))
      gone.push_back(pieceOf(id));
  }
  auto results = tree_->children(list);
  if (results.size() < 2)
    return;
  Piece own = pieceOf(result);
  size_t after = text_.find_first_not_of(" \n", own.end);
  if (after != text_.npos && text_[after] == ',')
    own.end = after + 1;
  else
    own.begin = text_.find_last_of(',', own.begin);
  gone.push_back(own);
  std::sort(gone.begin(), gone.end(), [](Piece a, Piece b) { return a.begin > b.begin; });
  std::string made = text_;
  for (Piece piece : gone)
    made.erase(piece.begin, piece.end - piece.begin);
  if (known_.insert(made).second)
    found_.push_back(std::move(made));
}

void Smaller::openStatement(NodeId id) {
  if (tree_->is(id, NodeKind::ForStmt))
    replace(pieceOf(id), insideOf(tree_->child(id, 4)));
  else if (tree_->is(id, NodeKind::WhileStmt))
    replace(pieceOf(id), insideOf(tree_->child(id, 1)));
  else if (tree_->is(id, NodeKind::TaskStmt))
    replace(pieceOf(id), insideOf(tree_->child(id, 1)));
  else if (tree_->is(id, NodeKind::If)) {
    replace(pieceOf(id), insideOf(tree_->child(id, 1)));
    if (NodeId other = tree_->child(id, 2); other != kNoNode) {
      replace(pieceOf(id), insideOf(other));
      replace({pieceOf(tree_->child(id, 1)).end, pieceOf(other).end}, "");
    }
  }
}

/// `pipeline 2`, `unroll`: a word and what stands behind it.
void Smaller::dropModifiers(NodeId id) {
  if (!tree_->is(id, NodeKind::ForStmt))
    return;
  Piece head{pieceOf(tree_->child(id, 0)).end, pieceOf(tree_->child(id, 4)).begin};
  if (text_.find_first_not_of(' ', head.begin) < head.end)
    replace(head, " ");
}

bool Smaller::isExpression(NodeId id) const {
  switch (tree_->kind(id)) {
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
  return isExpression(id) || tree_->is(id, NodeKind::IntLiteral) ||
         tree_->is(id, NodeKind::FloatLiteral) || tree_->is(id, NodeKind::If);
}

void Smaller::simplify(NodeId id) {
  if (tree_->is(id, NodeKind::ParenExpr))
    return replace(pieceOf(id), textOf(tree_->child(id, 0)));
  for (NodeId child : tree_->children(id)) {
    if (child == kNoNode)
      continue;
    NodeId operand = tree_->is(child, NodeKind::Arg) ? tree_->child(child, 1) : child;
    if (operand != kNoNode && isOperand(operand))
      replace(pieceOf(id), textOf(operand));
  }
  if (tree_->is(id, NodeKind::CallExpr))
    for (NodeId child : tree_->children(id))
      if (child != kNoNode && tree_->is(child, NodeKind::Arg))
        dropFromList(child);
  if (!tree_->is(id, NodeKind::NameExpr)) {
    for (const char *literal : {"1.0", "2.0", "0.0", "1", "0", "true"})
      replace(pieceOf(id), literal);
    return;
  }
  // The value of a `let` in place of its name.
  for (NodeId other = 0; other < tree_->nodeCount(); ++other)
    if (tree_->is(other, NodeKind::LetStmt) && textOf(tree_->child(other, 0)) == textOf(id))
      replace(pieceOf(id), "(" + textOf(tree_->child(other, 2)) + ")");
}

void Smaller::shortenNumbers() {
  std::set<std::string> numbers;
  for (NodeId id = 0; id < tree_->nodeCount(); ++id)
    if (tree_->is(id, NodeKind::IntLiteral))
      numbers.insert(textOf(id));
  for (const std::string &number : numbers) {
    long long value = std::atoll(number.c_str());
    for (long long next : {1LL, 2LL, 4LL, 8LL, 16LL, value / 2, value - 1}) {
      if (next >= value || next < 0)
        continue;
      std::string made;
      size_t from = 0;
      for (NodeId id = 0; id < tree_->nodeCount(); ++id) {
        // Nodes come in the order of their ends, literals in that of the text.
        if (!tree_->is(id, NodeKind::IntLiteral) || textOf(id) != number)
          continue;
        Piece piece = pieceOf(id);
        made += text_.substr(from, piece.begin - from) + std::to_string(next);
        from = piece.end;
        replace(piece, std::to_string(next));
      }
      made += text_.substr(from);
      if (known_.insert(made).second)
        found_.push_back(std::move(made));
    }
  }
}

std::vector<std::string> Smaller::candidates() {
  auto items = tree_->children(tree_->root());
  for (size_t i = items.size(); i-- > 0 && items.size() > 1;)
    replace(pieceOf(items[i]), "");
  // The root is the last node: outer ones first.
  for (NodeId id = static_cast<NodeId>(tree_->nodeCount()); id-- > 0;) {
    if (tree_->is(id, NodeKind::Block))
      dropStatements(id);
    openStatement(id);
    dropModifiers(id);
    if (tree_->is(id, NodeKind::Param) || tree_->is(id, NodeKind::DimParam))
      dropFromList(id);
    if (tree_->is(id, NodeKind::WhereClause))
      for (NodeId condition : tree_->children(id)) // what is never empty stays so
        if (textOf(condition).find(">=") == std::string::npos)
          dropFromList(condition);
    if (tree_->is(id, NodeKind::ResultList))
      for (NodeId result : tree_->children(id))
        dropResult(id, result);
  }
  for (NodeId id = static_cast<NodeId>(tree_->nodeCount()); id-- > 0;)
    if (isExpression(id))
      simplify(id);
  shortenNumbers();
  return std::move(found_);
}

/// Of the lengths of a call, one smaller.
std::vector<Case> shorter(const Case &program) {
  std::vector<Case> made;
  for (const auto &[name, value] : program.extents)
    for (int64_t next : {int64_t(1), int64_t(2), int64_t(8), int64_t(16), value / 2, value - 1})
      if (next > 0 && next < value) {
        made.push_back(program);
        made.back().extents[name] = next;
      }
  return made;
}

} // namespace

std::vector<std::string> smallerTexts(const std::string &text) {
  return Smaller(text).candidates();
}

std::string causeOf(const Observation &seen) {
  std::string text(kindName(seen.kind));
  text += seen.executor.starts_with("cpu") ? " cpu: "
          : seen.executor.starts_with("a") ? " chip: "
                                           : " " + seen.executor + ": ";
  if (seen.kind == Kind::Wrong || seen.kind == Kind::Hang)
    return text;
  for (size_t i = 0; i < seen.text.size();) {
    if (!std::isalnum(static_cast<unsigned char>(seen.text[i])) && seen.text[i] != '_') {
      text += seen.text[i++];
      continue;
    }
    size_t end = i;
    bool hasDigit = false;
    for (; end < seen.text.size() &&
           (std::isalnum(static_cast<unsigned char>(seen.text[end])) || seen.text[end] == '_');
         ++end)
      hasDigit |= std::isdigit(static_cast<unsigned char>(seen.text[end])) != 0;
    text += hasDigit ? "#" : seen.text.substr(i, end - i);
    i = end;
  }
  return text.substr(0, 160);
}

static const Observation *sameIn(const Outcome &outcome, const Observation &shown) {
  for (const Observation &seen : outcome.seen)
    if (seen.kind == shown.kind && seen.executor == shown.executor &&
        causeOf(seen) == causeOf(shown))
      return &seen;
  return nullptr;
}

Case shrink(Pool &pool, Case program, const Observation &shown, int budget) {
  program.extents = shown.extents;
  program.seed = shown.seed;
  std::vector<std::string> executors = {shown.executor};
  if (!sameIn(pool.all({program}, executors).front(), shown))
    return program;
  size_t at = 0;
  budget *= 10;
  for (bool again = true; again && budget > 0;) {
    again = false;
    std::vector<Case> next = shorter(program);
    for (std::string &text : smallerTexts(program.text))
      next.push_back({std::move(text), program.extents, program.seed});
    size_t tried = 0;
    if (at >= next.size())
      at = 0;
    while (tried < next.size() && budget > 0 && !again) {
      std::vector<Case> batch;
      std::vector<size_t> numbers;
      for (int i = 0; i < 2 * pool.jobs() && tried < next.size(); ++i, ++tried) {
        numbers.push_back(at);
        batch.push_back(next[at]);
        at = (at + 1) % next.size();
      }
      std::vector<Outcome> outcomes = pool.all(batch, executors);
      // A candidate that is no valid program costs next to nothing.
      for (const Outcome &outcome : outcomes)
        budget -= !outcome.seen.empty() && outcome.seen.front().kind == Kind::Invalid ? 1 : 10;
      for (size_t i = 0; i < batch.size() && !again; ++i)
        if (sameIn(outcomes[i], shown)) {
          program = batch[i];
          at = numbers[i];
          again = true;
        }
    }
  }
  return program;
}

} // namespace ptl::differential

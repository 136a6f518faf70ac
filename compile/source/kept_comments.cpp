#include "compile/source/kept_comments.h"

#include "compile/entry/reach.h"
#include "frontend/syntax/tree.h"
#include "ir/dialect/source_range.h"

#include <algorithm>
#include <map>

namespace ptl {

namespace {

struct Comment {
  std::string text;
  NodeId statement = kNoNode; ///< at which it stands; the declaration if at none
  bool isBehind = false;      ///< it stands behind code on its line
  bool isBelow = false;       ///< it stands at the end of a block, below the statement
};

/// The comments of one declaration, in order.
class CommentReader {
public:
  CommentReader(const Tree &tree, NodeId decl) : tree_(tree), decl_(decl) {}
  std::vector<Comment> read();

private:
  bool isStatement(NodeId node) const {
    return node != decl_ && tree_.is(tree_.parent(node), NodeKind::Block);
  }
  NodeId statementOf(TokenIndex token) const;
  NodeId statementFrom(TokenIndex token) const;
  NodeId lastOfBlock(TokenIndex brace) const;

  const Tree &tree_;
  NodeId decl_;
};

/// The innermost statement that a token belongs to.
NodeId CommentReader::statementOf(TokenIndex token) const {
  NodeId node = tree_.nodeAt(tree_.token(token).begin);
  while (node != decl_ && node != tree_.root() && !isStatement(node))
    node = tree_.parent(node);
  return isStatement(node) ? node : decl_;
}

/// The outermost statement that begins with a token; `kNoNode` if none does.
NodeId CommentReader::statementFrom(TokenIndex token) const {
  NodeId found = kNoNode;
  for (NodeId node = tree_.nodeAt(tree_.token(token).begin);
       node != decl_ && node != tree_.root() && tree_.node(node).firstToken == token;
       node = tree_.parent(node))
    found = isStatement(node) ? node : found;
  return found;
}

/// The last statement of the block that a brace ends.
NodeId CommentReader::lastOfBlock(TokenIndex brace) const {
  NodeId node = tree_.nodeAt(tree_.token(brace).begin);
  while (node != decl_ && node != tree_.root() && !tree_.is(node, NodeKind::Block))
    node = tree_.parent(node);
  bool ends = tree_.is(node, NodeKind::Block) && tree_.node(node).endToken == brace + 1;
  return ends && !tree_.children(node).empty() ? tree_.children(node).back() : kNoNode;
}

std::vector<Comment> CommentReader::read() {
  std::vector<Comment> comments;
  const Node &decl = tree_.node(decl_);
  for (TokenIndex token = decl.firstToken + 1; token < decl.endToken; ++token) {
    bool onNewLine = false;
    for (const Trivia &trivia : tree_.triviaBefore(token)) {
      onNewLine |= trivia.kind == TriviaKind::Newline;
      if (trivia.kind == TriviaKind::Newline || trivia.kind == TriviaKind::Whitespace)
        continue;
      Comment comment;
      comment.text = tree_.fileText().substr(trivia.begin, trivia.end - trivia.begin);
      while (!comment.text.empty() && std::isspace(static_cast<unsigned char>(comment.text.back())))
        comment.text.pop_back();
      comment.isBehind = !onNewLine;
      NodeId next = statementFrom(token);
      if (!onNewLine)
        comment.statement = statementOf(token - 1);
      else if (next != kNoNode)
        comment.statement = next;
      else if (NodeId last = lastOfBlock(token); last != kNoNode) {
        comment.statement = last;
        comment.isBelow = true;
      } else
        comment.statement = statementOf(token);
      comments.push_back(std::move(comment));
    }
  }
  return comments;
}

/// Finds the lines of statements, and collects what goes there.
class CommentWriter {
public:
  CommentWriter(source::OriginLines &text, const std::string &name);
  void add(const Tree &tree, NodeId decl, const Comment &comment);
  void finish();

private:
  enum class Match : uint8_t { No, Called, Own };
  Match match(size_t line, Span statement) const;
  std::optional<size_t> lineFrom(Span statement) const;
  size_t lineFor(const Tree &tree, NodeId decl, NodeId statement) const;
  size_t endOf(size_t line, Span statement) const;

  source::OriginLines &text_;
  std::vector<std::vector<std::vector<Span>>> spans_; ///< by line and part, innermost first
  size_t entryLine_ = 0; ///< where the entry's own declaration begins, behind its kernels
  std::map<size_t, std::vector<std::string>> above_;
  std::map<size_t, std::string> behind_;
};

CommentWriter::CommentWriter(source::OriginLines &text, const std::string &name) : text_(text) {
  for (size_t line = 0; line < text.lines.size(); ++line) {
    std::vector<std::vector<Span>> &spans = spans_.emplace_back();
    for (mlir::Location location : text.lines[line].all)
      spans.push_back(ir::rangesOf(location));
    const std::string &own = text.lines[line].text;
    for (const char *word : {"kernel ", "program "})
      if (size_t at = own.find(word + name);
          at != own.npos && own.find('(') != own.npos &&
          own.find_first_of("[(") == at + std::string_view(word).size() + name.size())
        entryLine_ = line;
  }
}

/// Whether a line declares something at the top of a manual kernel or orders pipes, so that it does
/// not correspond to a statement.
static bool isPreparation(const std::string &line) {
  for (const char *word :
       {"buffer ", "event ", "pipe ", "initialize_pipe(", "signal(", "wait(", "barrier("})
    if (line.starts_with(word))
      return true;
  return false;
}

/// Whether a line has something of a statement: what it says itself, or what it calls. Of a call
/// the line that calls counts before those that were called.
CommentWriter::Match CommentWriter::match(size_t line, Span statement) const {
  Match best = Match::No;
  for (const std::vector<Span> &part : spans_[line])
    for (size_t i = 0; i < part.size(); ++i)
      if (part[i].file == statement.file && statement.begin <= part[i].begin &&
          part[i].end <= statement.end)
        best = std::max(best, i == 0 || line >= entryLine_ ? Match::Own : Match::Called);
  return best;
}

/// The first line with something of a statement.
std::optional<size_t> CommentWriter::lineFrom(Span statement) const {
  std::optional<size_t> found, other;
  for (size_t line = 0; line < spans_.size() && !found; ++line) {
    Match how = match(line, statement);
    if (how == Match::No)
      continue;
    if (how == Match::Own && !isPreparation(text_.lines[line].text))
      found = line;
    else if (!other)
      other = line;
  }
  return found ? found : other;
}

/// Behind the last line of a statement that begins at a line, with the ends of its blocks.
size_t CommentWriter::endOf(size_t line, Span statement) const {
  size_t end = line + 1;
  int depth = 0;
  for (size_t each = line; each < spans_.size(); ++each) {
    const std::string &text = text_.lines[each].text;
    depth -= text.starts_with("}");
    if (depth < 0)
      break;
    depth += text.ends_with("{");
    if (depth == 0 && (each == line || match(each, statement) == Match::Own || text == "}"))
      end = each + 1;
    else if (depth == 0)
      break;
  }
  return end;
}

/// The line of the statement, otherwise that of the next statement, otherwise that of the statement
/// around it.
size_t CommentWriter::lineFor(const Tree &tree, NodeId decl, NodeId statement) const {
  for (NodeId node = statement; node != decl && node != tree.root(); node = tree.parent(node)) {
    NodeId block = tree.parent(node);
    if (!tree.is(block, NodeKind::Block))
      continue;
    std::span<const NodeId> all = tree.children(block);
    for (auto each = std::find(all.begin(), all.end(), node); each != all.end(); ++each)
      if (std::optional<size_t> line = lineFrom(tree.span(*each)))
        return *line;
  }
  if (std::optional<size_t> line = lineFrom(tree.span(decl)))
    return *line;
  // No line came from it, so its comment goes before the first line of any body.
  for (size_t line = 0; line < spans_.size(); ++line)
    if (!spans_[line].empty())
      return line;
  return spans_.size();
}

void CommentWriter::add(const Tree &tree, NodeId decl, const Comment &comment) {
  std::optional<size_t> own = lineFrom(tree.span(comment.statement));
  size_t line = own ? *own : lineFor(tree, decl, comment.statement);
  bool isOneLine = comment.text.find('\n') == std::string::npos;
  bool mayStandBehind = own && isOneLine && comment.statement != decl && !behind_.count(line) &&
                        !text_.lines[line].text.ends_with("{") &&
                        text_.lines[line].text.find("//") == std::string::npos;
  if (comment.isBehind && mayStandBehind)
    behind_[line] = comment.text;
  else if (comment.isBelow && own)
    above_[endOf(line, tree.span(comment.statement))].push_back(comment.text);
  else
    above_[line].push_back(comment.text);
}

void CommentWriter::finish() {
  source::OriginLines result;
  auto addAbove = [&](size_t line) {
    if (auto found = above_.find(line); found != above_.end())
      for (const std::string &text : found->second)
        for (size_t begin = 0; begin <= text.size();) {
          // Each line of a long comment becomes a line of its own, as the formatter and the list of origins expect.
          size_t end = std::min(text.find('\n', begin), text.size());
          result.lines.push_back({text.substr(begin, end - begin), std::nullopt, {}});
          begin = end + 1;
        }
  };
  for (size_t line = 0; line < text_.lines.size(); ++line) {
    addAbove(line);
    source::OriginLine own = std::move(text_.lines[line]);
    if (auto found = behind_.find(line); found != behind_.end())
      own.text += "  " + found->second;
    result.lines.push_back(std::move(own));
  }
  addAbove(text_.lines.size());
  text_ = std::move(result);
}

} // namespace

void keepComments(const CheckedProgram &program, const CallableDecl &entry, const std::string &name,
                  source::OriginLines &text) {
  CommentWriter writer(text, name);
  for (const CallableDecl *decl : reachableFrom(entry))
    for (const auto &module : program.modules) {
      bool isHere = module->file == decl->span.file && entry.span.file == decl->span.file;
      if (!isHere || decl->syntax == kNoNode)
        continue;
      for (const Comment &comment : CommentReader(*module->tree, decl->syntax).read())
        writer.add(*module->tree, decl->syntax, comment);
    }
  writer.finish();
}

} // namespace ptl

#include "lsp/worker/narrow.h"

#include "frontend/lex/literal.h"
#include "frontend/parse/parse.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ptl::worker {

namespace {

/// A declaration that is called or calls.
struct Item {
  NodeId node = kNoNode;
  std::string name;
  bool isBlock = false; ///< test, property, bench
  bool isNeeded = false;
};

class Narrower {
public:
  explicit Narrower(const Tree &tree) : tree_(tree) {
    for (NodeId node : tree.children(tree.root()))
      add(node);
  }

  void need(const std::string &entry, std::optional<uint32_t> offset);
  void blank(std::string &text) const;

private:
  void add(NodeId node);
  template <typename Visit> void forEachWord(const Item &item, Visit visit) const;
  void spread();

  const Tree &tree_;
  std::vector<Item> items_;
  std::unordered_multimap<std::string_view, size_t> named_;
  std::vector<size_t> waiting_; ///< needed, but not looked into yet
};

void Narrower::add(NodeId node) {
  Item item{node, "", false, false};
  switch (tree_.kind(node)) {
  case NodeKind::FnDecl:
  case NodeKind::KernelDecl:
  case NodeKind::ProgramDecl:
    item.name = std::string(tree_.text(tree_.child(node, 0)));
    break;
  case NodeKind::TestDecl:
  case NodeKind::PropertyDecl:
  case NodeKind::BenchDecl:
    item.isBlock = true;
    item.name = stringLiteralValue(tree_.mainText(tree_.child(node, 0)));
    break;
  default:
    return;
  }
  items_.push_back(std::move(item));
}

template <typename Visit> void Narrower::forEachWord(const Item &item, Visit visit) const {
  const Node &node = tree_.node(item.node);
  for (TokenIndex token = node.firstToken; token < node.endToken; ++token)
    if (tree_.tokenKind(token) == TokenKind::Identifier)
      visit(tree_.tokenText(token));
}

/// Everything that needed declarations name is needed.
void Narrower::spread() {
  while (!waiting_.empty()) {
    size_t number = waiting_.back();
    waiting_.pop_back();
    forEachWord(items_[number], [&](std::string_view word) {
      auto [begin, end] = named_.equal_range(word);
      for (auto each = begin; each != end; ++each)
        if (!std::exchange(items_[each->second].isNeeded, true))
          waiting_.push_back(each->second);
    });
  }
}

void Narrower::need(const std::string &entry, std::optional<uint32_t> offset) {
  std::unordered_set<std::string_view> wanted;
  for (size_t i = 0; i < items_.size(); ++i) {
    Item &item = items_[i];
    if (!item.isBlock)
      named_.emplace(item.name, i);
    Span span = tree_.span(item.node);
    bool holds = offset && span.begin <= *offset && *offset <= span.end;
    if (entry.empty() ? !holds : item.name != entry)
      continue;
    item.isNeeded = true;
    waiting_.push_back(i);
    if (!item.isBlock)
      wanted.insert(item.name);
  }
  spread();
  // Who calls the wanted says for which values; whoever stands elsewhere does not matter.
  for (size_t i = 0; i < items_.size(); ++i)
    if (!items_[i].isNeeded)
      forEachWord(items_[i], [&](std::string_view word) {
        if (wanted.contains(word) && !std::exchange(items_[i].isNeeded, true))
          waiting_.push_back(i);
      });
  spread();
}

void Narrower::blank(std::string &text) const {
  auto clear = [&](uint32_t begin, uint32_t end) {
    for (uint32_t at = begin; at < end; ++at)
      if (text[at] != '\n' && text[at] != '\r')
        text[at] = ' ';
  };
  for (const Item &item : items_) {
    if (item.isNeeded)
      continue;
    // What is said about a declaration goes with it.
    for (const Trivia &trivia : tree_.triviaBefore(tree_.node(item.node).firstToken))
      if (trivia.kind == TriviaKind::DocComment)
        clear(trivia.begin, trivia.end);
    Span span = tree_.span(item.node);
    clear(span.begin, span.end);
  }
}

} // namespace

std::string narrowed(const std::string &path, std::string text, const std::string &entry,
                     std::optional<uint32_t> offset) {
  SourceFile file(0, path, text);
  DiagnosticSink sink;
  Tree tree = parse(file, sink);
  Narrower narrower(tree);
  narrower.need(entry, offset);
  narrower.blank(text);
  return text;
}

} // namespace ptl::worker

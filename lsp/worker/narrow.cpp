#include "lsp/worker/narrow.h"

#include "frontend/base/changed_part.h"
#include "frontend/lex/literal.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ptl::worker {

namespace {

/// A declaration of a chunk that can call or be called.
struct Item {
  std::string name;
  bool isBlock = false;                ///< test, property, bench
  ide::Range span;                     ///< in the chunk
  std::vector<ide::Range> blanks;      ///< the declaration and its documentation
  std::vector<std::string_view> words; ///< the names in it, sorted
};

std::optional<Item> itemOf(const Tree &tree, NodeId node) {
  Item item;
  switch (tree.kind(node)) {
  case NodeKind::FnDecl:
  case NodeKind::KernelDecl:
  case NodeKind::ProgramDecl:
    item.name = std::string(tree.text(tree.child(node, 0)));
    break;
  case NodeKind::TestDecl:
  case NodeKind::PropertyDecl:
  case NodeKind::BenchDecl:
    item.isBlock = true;
    item.name = stringLiteralValue(tree.mainText(tree.child(node, 0)));
    break;
  default:
    return std::nullopt;
  }
  Span span = tree.span(node);
  item.span = {span.begin, span.end};
  item.blanks.push_back(item.span);
  // Its documentation is blanked with it; otherwise it would become that of the next declaration.
  const Node &whole = tree.node(node);
  for (const Trivia &trivia : tree.triviaBefore(whole.firstToken))
    if (trivia.kind == TriviaKind::DocComment)
      item.blanks.push_back({trivia.begin, trivia.end});
  // Every identifier counts as a use, whether or not it refers to a callable: too much may be kept,
  // but nothing that is needed is lost.
  for (TokenIndex token = whole.firstToken; token < whole.endToken; ++token)
    if (tree.tokenKind(token) == TokenKind::Identifier)
      item.words.push_back(tree.tokenText(token));
  std::sort(item.words.begin(), item.words.end());
  item.words.erase(std::unique(item.words.begin(), item.words.end()), item.words.end());
  return item;
}

const std::vector<Item> &itemsOf(const ide::Chunk &chunk) {
  return chunk.memo.get<std::vector<Item>>([&] {
    std::vector<Item> items;
    for (NodeId node : chunk.tree->children(chunk.tree->root()))
      if (std::optional<Item> item = itemOf(*chunk.tree, node))
        items.push_back(std::move(*item));
    return items;
  });
}

/// The items of a document, and whether they are needed.
class Reach {
public:
  explicit Reach(const ide::Document &document) {
    for (const ide::Place &place : document.places())
      for (const Item &item : itemsOf(*place.chunk))
        items_.push_back({&item, place.begin, false});
  }

  void need(const std::string &entry, std::optional<uint32_t> offset);
  void blank(std::string &text) const;

private:
  struct Placed {
    const Item *item;
    uint32_t begin; ///< of its chunk
    bool isNeeded;
  };
  void add(size_t number) {
    if (!std::exchange(items_[number].isNeeded, true))
      waiting_.push_back(number);
  }
  void spread();

  std::vector<Placed> items_;
  std::unordered_multimap<std::string_view, size_t> named_;
  std::vector<size_t> waiting_; ///< needed, but their words have not been followed
};

/// Everything that a needed declaration names is needed (a transitive closure by a work list).
void Reach::spread() {
  while (!waiting_.empty()) {
    size_t number = waiting_.back();
    waiting_.pop_back();
    for (std::string_view word : items_[number].item->words) {
      auto [begin, end] = named_.equal_range(word);
      for (auto each = begin; each != end; ++each)
        add(each->second);
    }
  }
}

void Reach::need(const std::string &entry, std::optional<uint32_t> offset) {
  std::unordered_set<std::string_view> wanted;
  for (size_t i = 0; i < items_.size(); ++i) {
    const auto &[item, begin, isNeeded] = items_[i];
    // Tests and benches cannot be called, so no word refers to them.
    if (!item->isBlock)
      named_.emplace(item->name, i);
    bool holds = offset && begin + item->span.begin <= *offset && *offset <= begin + item->span.end;
    if (entry.empty() ? !holds : item->name != entry)
      continue;
    if (!item->isBlock)
      wanted.insert(item->name);
    add(i);
  }
  spread();
  // Callers of the wanted declaration are needed, because their calls give the values for which it
  // is compiled. Other uses of its callees are not.
  for (size_t i = 0; i < items_.size(); ++i) {
    const std::vector<std::string_view> &words = items_[i].item->words;
    bool names = std::any_of(wanted.begin(), wanted.end(), [&](std::string_view word) {
      return std::binary_search(words.begin(), words.end(), word);
    });
    if (names)
      add(i);
  }
  spread();
}

void Reach::blank(std::string &text) const {
  for (const Placed &placed : items_) {
    if (placed.isNeeded)
      continue;
    for (ide::Range range : placed.item->blanks)
      for (uint32_t at = placed.begin + range.begin; at < placed.begin + range.end; ++at)
        // Line ends stay, and every other byte becomes one blank, so that offsets, lines and
        // columns of the rest do not change.
        if (text[at] != '\n' && text[at] != '\r')
          text[at] = ' ';
  }
}

} // namespace

const ide::Document &Narrower::documentOf(const std::string &path, const std::string &text) {
  constexpr size_t most = 8;
  // A worker serves few files at a time; dropping all of them when a ninth comes is simpler than
  // tracking their use, and costs one parse each.
  if (seen_.size() >= most && !seen_.contains(path))
    seen_.clear();
  auto found = seen_.find(path);
  if (found == seen_.end())
    found = seen_.emplace(path, Seen{"", ide::Document(path, [this] { return nextId_++; })}).first;
  std::string &before = found->second.text;
  if (ChangedPart part = changedPart(before, text); !part.isEmpty()) {
    ide::Range range{static_cast<uint32_t>(part.begin), static_cast<uint32_t>(part.oldEnd)};
    found->second.document.replace(
        range, std::string_view(text).substr(part.begin, part.newEnd - part.begin));
    before = text;
  }
  return found->second.document;
}

std::string Narrower::narrowed(const std::string &path, std::string text, const std::string &entry,
                               std::optional<uint32_t> offset) {
  Reach reach(documentOf(path, text));
  reach.need(entry, offset);
  reach.blank(text);
  return text;
}

} // namespace ptl::worker

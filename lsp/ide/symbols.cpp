#include "lsp/ide/symbols.h"

#include "frontend/syntax/typed_nodes.h"

#include <algorithm>
#include <cctype>

namespace ptl::ide {

// ---- One chunk ----------------------------------------------------------------------------------

namespace {

struct OutlineMaker {
  const Chunk &chunk;
  const Tree &tree;
  std::vector<OutlineItem> items;

  void add(OutlineKind kind, NodeId node, NodeId name, std::string detail, bool isNested);
  void declaration(NodeId node);
  void callable(OutlineKind kind, NodeId node);
  void nested(NodeId node);
  LineByte position(uint32_t offset) const;
  std::string header(NodeId node, NodeId from, NodeId body) const;
};

} // namespace

LineByte OutlineMaker::position(uint32_t offset) const { return lineByteOf(chunk.file, offset); }

void OutlineMaker::add(OutlineKind kind, NodeId node, NodeId name, std::string detail,
                       bool isNested) {
  Span whole = tree.span(node), own = tree.span(name);
  OutlineItem item;
  item.kind = kind;
  item.isNested = isNested;
  item.name = tree.text(name);
  item.detail = std::move(detail);
  item.whole = {whole.begin, whole.end};
  item.selection = {own.begin, own.end};
  item.begin = position(whole.begin);
  item.end = position(whole.end);
  item.selectionBegin = position(own.begin);
  item.selectionEnd = position(own.end);
  if (!item.name.empty())
    items.push_back(std::move(item));
}

/// The text between the name and the body on one line.
std::string OutlineMaker::header(NodeId node, NodeId from, NodeId body) const {
  uint32_t begin = tree.span(from).end;
  uint32_t end = body == kNoNode ? tree.span(node).end : tree.span(body).begin;
  std::string text;
  for (char c : chunk.file.text().substr(begin, std::max(begin, end) - begin)) {
    bool isSpace = std::isspace(static_cast<unsigned char>(c));
    if (!isSpace)
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  while (text.ends_with(' '))
    text.pop_back();
  constexpr size_t longest = 160;
  if (text.size() > longest) {
    while (text.size() > longest || (text.back() & 0xC0) == 0x80)
      text.pop_back();
    text += "…";
  }
  return text;
}

void OutlineMaker::nested(NodeId node) {
  if (node == kNoNode)
    return;
  switch (tree.kind(node)) {
  case NodeKind::LetStmt:
  case NodeKind::VarStmt: {
    NodeId pattern = tree.child(node, 0), type = tree.child(node, 1);
    bool isVar = tree.is(node, NodeKind::VarStmt);
    if (tree.text(pattern) != "_")
      add(isVar ? OutlineKind::Var : OutlineKind::Let, node, pattern,
          type == kNoNode ? "" : std::string(tree.text(type)), true);
    return;
  }
  case NodeKind::TaskStmt:
    add(OutlineKind::Task, node, tree.child(node, 0), "", true);
    return nested(tree.child(node, 1));
  case NodeKind::Block:
  case NodeKind::ForStmt:
  case NodeKind::ParallelStmt:
  case NodeKind::WhileStmt:
  case NodeKind::OnStmt:
  case NodeKind::If:
    for (NodeId child : tree.children(node))
      nested(child);
    return;
  default:
    return;
  }
}

void OutlineMaker::callable(OutlineKind kind, NodeId node) {
  CallableView view(tree, node);
  // The parts behind the types are left out: they say how it is done, not what it is.
  NodeId next = kNoNode;
  for (NodeId part : {view.clause(), view.where(), view.tune(), view.sources(), view.body()})
    if (part != kNoNode && (next == kNoNode || tree.span(part).begin < tree.span(next).begin))
      next = part;
  std::string detail = header(node, view.name(), next);
  add(kind, node, view.name(), std::move(detail), false);
  nested(view.body());
}

void OutlineMaker::declaration(NodeId node) {
  NodeId name = tree.child(node, 0);
  switch (tree.kind(node)) {
  case NodeKind::FnDecl:
    return callable(OutlineKind::Fn, node);
  case NodeKind::KernelDecl:
    return callable(OutlineKind::Kernel, node);
  case NodeKind::ProgramDecl:
    return callable(OutlineKind::Program, node);
  case NodeKind::StructDecl: {
    NodeId generics = StructDeclView(tree, node).generics();
    add(OutlineKind::Struct, node, name,
        generics == kNoNode ? "" : std::string(tree.text(generics)), false);
    for (NodeId field : StructDeclView(tree, node).fields())
      if (tree.is(field, NodeKind::Field))
        add(OutlineKind::Field, field, tree.child(field, 0),
            std::string(tree.text(tree.child(field, 1))), true);
    return;
  }
  case NodeKind::TypeDecl:
    return add(OutlineKind::Alias, node, name, header(node, name, kNoNode), false);
  case NodeKind::ConstDecl:
    return add(OutlineKind::Const, node, name, header(node, name, kNoNode), false);
  case NodeKind::ScheduleDecl: {
    NodeId target = ScheduleDeclView(tree, node).target();
    return add(OutlineKind::Schedule, node, name,
               target == kNoNode ? "" : "on " + std::string(tree.text(target)), false);
  }
  case NodeKind::TestDecl:
  case NodeKind::BenchDecl:
  case NodeKind::PropertyDecl:
    return add(OutlineKind::Test, node, name, std::string(tree.mainText(node)), false);
  default:
    return;
  }
}

const std::vector<OutlineItem> &outlineOf(const Chunk &chunk) {
  struct Outline {
    std::vector<OutlineItem> items;
  };
  return chunk.memo
      .get<Outline>([&] {
        OutlineMaker maker{chunk, *chunk.tree, {}};
        for (NodeId item : chunk.tree->children(chunk.tree->root()))
          maker.declaration(item);
        return Outline{std::move(maker.items)};
      })
      .items;
}

// ---- All files ----------------------------------------------------------------------------------

static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

int fuzzyScore(std::string_view query, std::string_view name) {
  int score = 0;
  size_t at = 0;
  bool isRun = true; // letters follow each other
  for (char wanted : query) {
    size_t from = at;
    while (at < name.size() && lower(name[at]) != lower(wanted))
      ++at;
    if (at == name.size())
      return -1;
    isRun = isRun && at == from;
    bool isWordStart = at == 0 || name[at - 1] == '_' ||
                       (name[at] >= 'A' && name[at] <= 'Z' && lower(name[at - 1]) == name[at - 1]);
    score += isRun ? 12 : at == from ? 6 : 1;
    score += isWordStart ? 8 : 0;
    score += name[at] == wanted ? 1 : 0;
    ++at;
  }
  score += query.size() == name.size() ? 20 : 0;
  return std::max(0, score * 8 - static_cast<int>(std::min<size_t>(name.size(), 64)));
}

std::vector<FoundSymbol> workspaceSymbols(Workspace &workspace, std::string_view query,
                                          size_t limit, std::span<const std::string> paths) {
  for (const std::string &path : paths)
    workspace.load(path);
  std::vector<FoundSymbol> found;
  for (const auto &[path, file] : workspace.files())
    for (const Place &place : file->document.places()) {
      const OutlineItem *outer = nullptr;
      for (const OutlineItem &item : outlineOf(*place.chunk)) {
        if (!item.isNested)
          outer = &item;
        // Locals are not looked for from outside.
        bool isLocal = item.isNested && item.kind != OutlineKind::Field;
        int score = isLocal ? -1 : fuzzyScore(query, item.name);
        if (score < 0)
          continue;
        Range range{place.begin + item.selection.begin, place.begin + item.selection.end};
        found.push_back({&item,
                         {file.get(), range},
                         file.get(),
                         item.isNested && outer ? outer->name : file->index.name,
                         score});
      }
    }
  auto isBetter = [](const FoundSymbol &a, const FoundSymbol &b) {
    if (a.score != b.score)
      return a.score > b.score;
    return a.item->name != b.item->name ? a.item->name < b.item->name
                                        : a.file->path() < b.file->path();
  };
  size_t count = std::min(limit, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<ptrdiff_t>(count), found.end(),
                    isBetter);
  found.resize(count);
  return found;
}

} // namespace ptl::ide

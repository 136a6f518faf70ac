#include "lsp/ide/lenses.h"

#include "frontend/lex/literal.h"
#include "frontend/syntax/typed_nodes.h"

namespace ptl::ide {

const LensInfo &lensInfo(LensKind kind) {
  static constexpr LensInfo infos[] = {
#define LENS(NAME, COMMAND, TITLE) {COMMAND, TITLE},
#include "lsp/ide/lens_kinds.def"
#undef LENS
  };
  return infos[static_cast<size_t>(kind)];
}

/// The machines that the header of a kernel names behind `for`.
static std::vector<std::string> targetsOf(const Tree &tree, NodeId item) {
  std::vector<std::string> targets;
  NodeId clause = CallableView(tree, item).clause();
  if (clause == kNoNode || !tree.is(clause, NodeKind::OnClause))
    return targets;
  if (NodeId names = OnClauseView(tree, clause).targets(); names != kNoNode)
    for (NodeId name : tree.children(names))
      targets.emplace_back(tree.text(name));
  return targets;
}

/// A name that is still being typed would be cut off where its quotation mark will be.
static bool isClosedString(const Tree &tree, NodeId name) {
  return tree.is(name, NodeKind::StringLiteral) && tree.mainText(name).size() > 1 &&
         tree.mainText(name).ends_with('"');
}

/// What is read most comes first: narrow editors cut a row of lenses off.
static void addOfCallable(const Tree &tree, NodeId item, Range range, std::vector<Lens> &all) {
  CallableView callable(tree, item);
  std::string name(tree.text(callable.name()));
  bool hasBody = callable.body() != kNoNode;
  bool isEntry = hasBody && !tree.is(item, NodeKind::FnDecl);
  auto add = [&](LensKind kind) { all.push_back({kind, range, name, {}}); };
  if (isEntry) {
    all.push_back({LensKind::Chip, range, name, targetsOf(tree, item)});
    if (callable.generics() != kNoNode)
      add(LensKind::Sizes);
  }
  if (hasBody)
    add(LensKind::ShowPreview);
  if (isEntry) {
    add(LensKind::Timeline);
    add(LensKind::Graph);
  }
  add(LensKind::References);
}

static void addOf(const Tree &tree, NodeId item, std::vector<Lens> &all) {
  NodeId name = tree.children(item).empty() ? kNoNode : tree.child(item, 0);
  if (name == kNoNode || tree.text(name).empty())
    return;
  Range range{tree.span(name).begin, tree.span(name).end};
  switch (tree.kind(item)) {
  case NodeKind::TestDecl:
  case NodeKind::PropertyDecl:
  case NodeKind::BenchDecl:
    if (isClosedString(tree, name))
      all.push_back({tree.is(item, NodeKind::BenchDecl) ? LensKind::RunBench : LensKind::RunTest,
                     range,
                     stringLiteralValue(tree.mainText(name)),
                     {}});
    return;
  case NodeKind::FnDecl:
  case NodeKind::KernelDecl:
  case NodeKind::ProgramDecl:
    addOfCallable(tree, item, range, all);
    return;
  default:
    return;
  }
}

const std::vector<Lens> &lenses(const Chunk &chunk) {
  return chunk.memo.get<std::vector<Lens>>([&] {
    std::vector<Lens> all;
    for (NodeId item : chunk.tree->children(chunk.tree->root()))
      addOf(*chunk.tree, item, all);
    return all;
  });
}

} // namespace ptl::ide

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

static void addOf(const Tree &tree, NodeId item, std::vector<Lens> &all) {
  NodeId name = tree.children(item).empty() ? kNoNode : tree.child(item, 0);
  if (name == kNoNode || tree.text(name).empty())
    return;
  Range range{tree.span(name).begin, tree.span(name).end};
  auto add = [&](LensKind kind, std::string text) {
    all.push_back({kind, range, std::move(text), {}});
  };
  switch (tree.kind(item)) {
  case NodeKind::TestDecl:
  case NodeKind::PropertyDecl:
  case NodeKind::BenchDecl:
    if (tree.is(name, NodeKind::StringLiteral))
      add(tree.is(item, NodeKind::BenchDecl) ? LensKind::RunBench : LensKind::RunTest,
          stringLiteralValue(tree.mainText(name)));
    return;
  case NodeKind::FnDecl:
  case NodeKind::KernelDecl:
  case NodeKind::ProgramDecl:
    add(LensKind::References, std::string(tree.text(name)));
    if (CallableView(tree, item).body() == kNoNode)
      return;
    add(LensKind::ShowPreview, std::string(tree.text(name)));
    if (!tree.is(item, NodeKind::FnDecl)) {
      all.push_back({LensKind::Chip, range, std::string(tree.text(name)), targetsOf(tree, item)});
      if (CallableView(tree, item).generics() != kNoNode)
        add(LensKind::Sizes, std::string(tree.text(name)));
    }
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

#include "compile/chip/chip_fixes.h"

#include "common/read_number.h"
#include "compile/source_spans.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

/// The node of that kind around a place; kNoNode if there is none.
static NodeId enclosing(const Tree &tree, uint32_t offset, NodeKind kind) {
  NodeId node = tree.nodeAt(offset);
  while (node != kNoNode && !tree.is(node, kind))
    node = tree.parent(node);
  return node;
}

/// Replaces a number that stands there as such.
static std::vector<TextEdit> numberEdit(const CheckedModule &module, NodeId node, int64_t value) {
  if (!module.tree->is(node, NodeKind::IntLiteral))
    return {};
  Span span = module.tree->span(node);
  return {{{module.file, span.begin, span.end}, std::to_string(value)}};
}

/// The `NAME = value` of a schedule.
static NodeId assignmentIn(const Tree &tree, const ScheduleDecl &schedule, std::string_view name) {
  NodeId decl = enclosing(tree, schedule.span.begin, NodeKind::ScheduleDecl);
  if (decl == kNoNode)
    return kNoNode;
  for (NodeId item : tree.children(decl))
    if (tree.is(item, NodeKind::ScheduleAssign) && tree.text(tree.child(item, 0)) == name)
      return tree.child(item, 1);
  return kNoNode;
}

std::vector<TextEdit> tunableEdits(const CheckedProgram &program, const ir::EntryBinding &binding,
                                   const Tunable &tunable, int64_t value) {
  const std::string &name = tunable.local->name;
  // A value that the caller gives overrules the source, so an edit would change nothing.
  if (binding.tunables.contains(name))
    return {};
  std::vector<std::pair<const CheckedModule *, const ScheduleDecl *>> says;
  for (const auto &module : program.modules)
    for (const ScheduleDecl *schedule : module->schedules) {
      bool applies = schedule->target == binding.decl &&
                     (schedule->machine.empty() || schedule->machine == binding.machine);
      if (applies && std::any_of(schedule->tunables.begin(), schedule->tunables.end(),
                                 [&](const auto &each) { return each.first == tunable.local; }))
        says.emplace_back(module.get(), schedule);
    }
  // Which of several schedules is to be edited is the author's decision.
  if (says.size() > 1)
    return {};
  if (!says.empty()) {
    auto [module, schedule] = says.front();
    return numberEdit(*module, assignmentIn(*module->tree, *schedule, name), value);
  }
  const CheckedModule &module = *binding.decl->module;
  NodeId node = enclosing(*module.tree, tunable.local->span.begin, NodeKind::TuneParam);
  return node == kNoNode ? std::vector<TextEdit>()
                         : numberEdit(module, TuneParamView(*module.tree, node).value(), value);
}

std::vector<TileNumber> tileNumbers(const CheckedProgram &program, const CallableDecl &decl) {
  std::vector<TileNumber> numbers;
  if (decl.module != program.modules.front().get())
    return numbers;
  const Tree &tree = *decl.module->tree;
  auto visit = [&](auto &self, NodeId node) -> void {
    for (NodeId child : tree.children(node))
      if (child != kNoNode)
        self(self, child);
    if (!tree.is(node, NodeKind::CallExpr))
      return;
    std::span<const NodeId> slots = tree.children(node);
    if (slots.size() != 3 || tree.text(slots[0]) != "tiles" || !tree.is(slots[2], NodeKind::Arg))
      return;
    NodeId last = tree.children(slots[2]).back();
    std::optional<int64_t> value = integerIn(tree.text(last));
    bool isPlain = tree.is(last, NodeKind::IntLiteral) && value;
    Span whole = tree.span(node), number = tree.span(last);
    if (isPlain)
      numbers.push_back({{decl.module->file, number.begin, number.end},
                         *value,
                         std::string(tree.text(node).substr(0, number.begin - whole.begin))});
  };
  visit(visit, decl.syntax);
  std::sort(numbers.begin(), numbers.end(),
            [](const TileNumber &a, const TileNumber &b) { return a.span.begin < b.span.begin; });
  return numbers;
}

/// The number of the innermost `pipeline` loop around a place, if it is larger; kNoNode else.
static NodeId pipelineAround(const Tree &tree, uint32_t offset) {
  for (NodeId node = tree.nodeAt(offset); node != kNoNode; node = tree.parent(node))
    if ((tree.is(node, NodeKind::ForStmt) || tree.is(node, NodeKind::ParallelStmt)) &&
        LoopView(tree, node).pipeline() != kNoNode)
      return LoopView(tree, node).pipeline();
  return kNoNode;
}

std::vector<TextEdit> pipelineEdits(const CheckedProgram &program, const SourceManager &sources,
                                    const Overflow &overflow) {
  std::vector<TextEdit> edits;
  for (const LedgerBuffer &buffer : overflow.live) {
    if (buffer.kind != LedgerBuffer::Kind::Slots || buffer.count <= overflow.pipeline)
      continue;
    Span span = spanAt(sources, buffer.place);
    auto module = std::find_if(program.modules.begin(), program.modules.end(),
                               [&](const auto &each) { return each->file == span.file; });
    if (span.file == kNoFile || module == program.modules.end())
      return {};
    NodeId depth = pipelineAround(*(*module)->tree, span.begin);
    std::vector<TextEdit> edit = numberEdit(**module, depth, overflow.pipeline);
    // Where the source has another number than there are buffers, something else has decided that.
    if (edit.empty() || sources.text(edit.front().span) != std::to_string(buffer.count))
      return {};
    bool isKnown = std::any_of(edits.begin(), edits.end(), [&](const TextEdit &each) {
      return each.span == edit.front().span;
    });
    if (!isKnown)
      edits.push_back(std::move(edit.front()));
  }
  return edits;
}

} // namespace ptl

// The numbers in a source that decide tile sizes and pipeline depths.
#include "compile/tune/source_numbers.h"

#include "common/read_number.h"
#include "compile/chip/chip_fixes.h"
#include "compile/entry/reach.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

/// Common tile sizes; larger ones fit no chip.
static constexpr int64_t kTileSizes[] = {16, 32, 64, 96, 128, 192, 256, 512, 1024};

static void setValues(SourceNumber &number, std::vector<int64_t> values, int64_t present) {
  // The present value is always among those that are tried.
  values.push_back(present);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  number.start =
      static_cast<size_t>(std::lower_bound(values.begin(), values.end(), present) - values.begin());
  number.values = std::move(values);
}

static std::vector<int64_t> tileSizes() { return {std::begin(kTileSizes), std::end(kTileSizes)}; }

/// The tile sizes that are written in the text of a declaration.
static void addTiles(std::vector<SourceNumber> &numbers, const CostQuestion &question,
                     const CallableDecl &decl) {
  for (const TileNumber &tile : tileNumbers(question.program, decl)) {
    SourceNumber number;
    setValues(number, tileSizes(), tile.value);
    number.span = number.nameSpan = tile.span;
    number.name = tile.before + "..)";
    number.isWritten = true;
    number.edits = [tile](int64_t value) {
      return std::vector<TextEdit>{{tile.span, std::to_string(value)}};
    };
    number.text = [tile](int64_t value) {
      return "`" + tile.before + std::to_string(value) + ")`";
    };
    numbers.push_back(std::move(number));
  }
}

int64_t presentValue(const CheckedProgram &program, const std::string &machine,
                     const CallableDecl &decl, const Tunable &tunable) {
  // A schedule for this machine takes precedence over one for all machines.
  for (const std::string &name : {machine, std::string()})
    for (const auto &module : program.modules)
      for (const ScheduleDecl *schedule : module->schedules)
        if (schedule->target == &decl && schedule->machine == name && !schedule->when)
          for (const auto &[local, value] : schedule->tunables)
            if (local == tunable.local)
              return value;
  return tunable.defaultValue;
}

static void addTunables(std::vector<SourceNumber> &numbers, const CostQuestion &question,
                        const CallableDecl &decl) {
  ir::EntryBinding binding = question.bound.binding;
  if (binding.decl != &decl)
    binding.tunables.clear(); // They belong to the entry.
  binding.decl = &decl;
  binding.machine = question.machine.name;
  for (const Tunable &tunable : decl.tunables) {
    SourceNumber number;
    int64_t present = presentValue(question.program, question.machine.name, decl, tunable);
    setValues(number, tunable.domain.empty() ? tileSizes() : tunable.domain, present);
    std::vector<TextEdit> edits = tunableEdits(question.program, binding, tunable, present);
    // A truth value is no size, and a value that another file sets is not changed.
    if (tunable.isBool || edits.empty() ||
        edits.front().span.file != question.program.modules.front()->file)
      continue;
    Span span = edits.front().span;
    number.span = span;
    number.edits = [span](int64_t value) {
      return std::vector<TextEdit>{{span, std::to_string(value)}};
    };
    number.name = tunable.local->name;
    number.nameSpan = tunable.local->span;
    number.text = [name = tunable.local->name](int64_t value) {
      return "`" + name + " = " + std::to_string(value) + "`";
    };
    numbers.push_back(std::move(number));
  }
}

/// The pipeline depth of one loop as a number to search; nullopt if the text does not give it here.
static std::optional<SourceNumber> depthOf(const CostQuestion &question, const Tree &tree,
                                           NodeId loop) {
  LoopView view(tree, loop);
  Span body = tree.span(view.body());
  Span span{body.file, body.begin, body.begin};
  int64_t present = 1;
  NodeId depth = view.pipeline();
  if (depth != kNoNode) {
    span = tree.span(depth);
    std::optional<int64_t> number = integerIn(tree.text(depth));
    // A depth that is a name has its value elsewhere.
    if (!number)
      return std::nullopt;
    present = *number;
  } else if (view.unroll() != kNoNode) {
    return std::nullopt; // the parser wants `pipeline` before it
  }
  SourceNumber number;
  setValues(number, {std::begin(kDepths), std::end(kDepths)}, present);
  number.span = tree.span(loop);
  number.isDepth = true;
  number.edits = [span, isNew = depth == kNoNode](int64_t value) {
    std::string digits = std::to_string(value);
    return std::vector<TextEdit>{{span, isNew ? "pipeline " + digits + " " : digits}};
  };
  uint32_t line = question.sources.file(span.file).lineColumn(tree.span(loop).begin).line;
  number.text = [line](int64_t value) {
    return "`pipeline " + std::to_string(value) + "` on the loop at line " + std::to_string(line);
  };
  return number;
}

static void addDepths(std::vector<SourceNumber> &numbers, const CostQuestion &question,
                      const CallableDecl &decl) {
  const Tree &tree = *decl.module->tree;
  auto visit = [&](auto &self, NodeId node) -> void {
    if (node == kNoNode)
      return;
    for (NodeId child : tree.children(node))
      self(self, child);
    if (tree.is(node, NodeKind::ForStmt) && !tree.has(node, NodeFlag::Static))
      if (std::optional<SourceNumber> number = depthOf(question, tree, node))
        numbers.push_back(std::move(*number));
  };
  visit(visit, decl.syntax);
}

std::vector<SourceNumber> sourceNumbers(const CostQuestion &question) {
  std::vector<SourceNumber> numbers;
  for (const CallableDecl *decl : reachableFrom(*question.bound.binding.decl)) {
    bool isOwn = decl->module == question.program.modules.front().get();
    if (!isOwn || decl->isBlockLevel || decl->kind != DeclKind::Kernel)
      continue;
    addTiles(numbers, question, *decl);
    addTunables(numbers, question, *decl);
    addDepths(numbers, question, *decl);
  }
  return numbers;
}

} // namespace ptl

#include "compile/graph/make_graph.h"

#include "compile/chip/lower_to_chip.h"
#include "compile/cost/processor_cost.h"

namespace ptl {

static std::optional<ProgramGraph> chipGraph(const GraphQuestion &question,
                                             const BuiltEntry &built) {
  const CompileContext &context = question.context;
  const Machine &chip = *context.options().chip;
  GraphRecorder recorder(context.sources(), built.binding, chip.name);
  ChipResult lowered =
      lowerToChip(context, built, [&](const std::string &phase, mlir::ModuleOp made) {
        recorder.onPhase(phase, made);
      });
  if (!lowered.program)
    return std::nullopt;
  std::optional<Cost> cost;
  if (question.costs && question.costs->known())
    cost = costOf({context.program(), context.sources(), question.entry, chip, *question.costs,
                   question.sizes, /*hints=*/false},
                  *lowered.program);
  return recorder.graph(cost ? &*cost : nullptr);
}

static std::optional<ProgramGraph> processorGraph(const GraphQuestion &question, BuiltEntry built) {
  const CompileContext &context = question.context;
  GraphRecorder recorder(context.sources(), built.binding, "cpu");
  TileOptions how;
  how.onPhase = [&](const std::string &phase, mlir::ModuleOp made) {
    recorder.onPhase(phase, made);
  };
  if (!tileModule(context, std::move(built.tensor), how))
    return std::nullopt;
  CompilerOptions options = context.options();
  options.onStep = nullptr; // no stage of this entry
  Cost cost = processorCost(
      {context.program(), context.sources(), question.entry, std::move(options), question.sizes},
      hostPeaks());
  return recorder.graph(&cost);
}

std::optional<ProgramGraph> makeGraph(const GraphQuestion &question) {
  ir::EntryBinding binding = question.entry.binding;
  binding.checked = !question.context.options().unchecked;
  std::optional<BuiltEntry> built = buildEntry(question.context, binding, question.symbol);
  if (!built)
    return std::nullopt;
  return question.context.options().chip ? chipGraph(question, *built)
                                         : processorGraph(question, std::move(*built));
}

} // namespace ptl

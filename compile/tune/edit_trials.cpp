#include "compile/tune/edit_trials.h"
#include "compile/tune/give_the_same.h"

#include "compile/chip/feasibility.h"
#include "compile/tune/source_moves.h"
#include "compile/tune/source_numbers.h"
#include "compile/tune/tune_entry.h"
#include "frontend/base/fixes.h"
#include "frontend/sema/check.h"

#include <algorithm>

namespace ptl {

EditTrials::EditTrials(const CostQuestion &question, const CompilerOptions &options,
                       const AdviceLimits &limits)
    : question_(question), options_(options), limits_(limits),
      root_(question.program.modules.front()->file) {
  // A trial reports nothing to anyone, so everything that serves reports is switched off.
  options_.triesHelps = false;
  options_.reportsParts = false;
  options_.keepsStages = false;
  options_.ranges = false;
  options_.keepFault = nullptr;
  options_.onStep = nullptr;
  options_.dumpFolder.clear();
  present_ = checked({});
}

bool EditTrials::isOver() { return tries_ >= limits_.mostTries || isStopped(); }

bool EditTrials::isStopped() const {
  double used = static_cast<double>(std::clock() - begin_) / CLOCKS_PER_SEC;
  return (limits_.seconds && used >= *limits_.seconds) || (limits_.isOver && limits_.isOver());
}

std::string EditTrials::edited(const std::vector<TextEdit> &edits) const {
  return applyFixes(question_.sources.file(root_).text(), root_,
                    {Fix(FixId::SmallerTile, "", edits)})
      .text;
}

/// Whether a `where` over tunables excludes the values that a declaration has. A condition that
/// cannot be evaluated here excludes nothing.
static bool isExcluded(const CheckedProgram &program, const CallableDecl &decl,
                       const ir::EntryBinding &binding, const std::string &machine) {
  auto valueOf = [&](const Tunable &tunable) {
    auto given = binding.tunables.find(tunable.local->name);
    // Only the entry's own tunables have bound values; a callee takes those of its schedule.
    bool isGiven = binding.decl->name == decl.name && given != binding.tunables.end();
    return isGiven ? given->second : presentValue(program, machine, decl, tunable);
  };
  LocalLookup locals = [&](const Local &local) -> std::optional<int64_t> {
    for (const Tunable &tunable : decl.tunables)
      if (tunable.local == &local)
        return valueOf(tunable);
    return std::nullopt;
  };
  return excludingWhere(decl, locals) != nullptr;
}

/// The changed source, or null if it has more diagnostics than the present one.
std::shared_ptr<TrialSource> EditTrials::checked(const std::vector<TextEdit> &edits) {
  auto trial = std::make_shared<TrialSource>();
  FileId root = trial->sources.add(question_.sources.file(root_).path(), edited(edits));
  DiagnosticSink quiet;
  trial->program = checkFile(trial->sources, root, *options_.recheck, quiet);
  const CallableDecl &now = *question_.bound.binding.decl;
  for (const CallableDecl *decl : trial->program->modules.front()->callables)
    if (decl->kind == now.kind && decl->name == now.name)
      trial->decl = decl;
  // The first call checks the unchanged text, whose own diagnostics are not the fault of a change.
  if (!present_)
    presentReports_ = quiet.all().size();
  bool isWell = trial->decl && !trial->decl->hasErrors && quiet.all().size() <= presentReports_;
  for (const CallableDecl *decl : trial->program->modules.front()->callables)
    isWell = isWell &&
             !isExcluded(*trial->program, *decl, question_.bound.binding, question_.machine.name);
  return isWell ? trial : nullptr;
}

std::optional<EditTrial> EditTrials::run(const std::vector<TextEdit> &edits) {
  ++tries_;
  std::shared_ptr<TrialSource> source = checked(edits);
  // A client with another question does not wait for the whole trial.
  if (!source || isStopped())
    return std::nullopt;
  BoundEntry bound = question_.bound;
  bound.binding.decl = source->decl;
  DiagnosticSink quiet;
  CompilerOptions options = options_;
  CompileContext context(*source->program, source->sources, std::move(options), quiet);
  ChipResult lowered = lowerEntry(context, bound);
  if (!lowered.program || isStopped())
    return std::nullopt;
  Cost cost = costOf({*source->program, source->sources, bound, question_.machine, question_.costs,
                      question_.sizes},
                     *lowered.program);
  if (!cost.unknown.empty())
    return std::nullopt;
  return EditTrial{cost.us, cost.groups, std::move(source)};
}

const EditTrial *EditTrials::tried(const std::vector<TextEdit> &edits) {
  // Different edits may give the same text, which is tried once.
  std::string text = edited(edits);
  auto found = known_.find(text);
  if (found == known_.end()) {
    if (isOver())
      return nullptr;
    found = known_.emplace(std::move(text), run(edits)).first;
  }
  return found->second ? &*found->second : nullptr;
}

bool EditTrials::computesTheSame(const std::vector<TextEdit> &edits) {
  std::shared_ptr<TrialSource> changed = checked(edits);
  return changed && present_ && !isStopped() &&
         giveTheSame(*present_, *changed, question_.bound.binding).value_or(false);
}

} // namespace ptl

// `ptlc check --target a3`: beside what is wrong with the program, what keeps it from the chip, and
// with `--cost` what it costs there. Without a target: what the prover says of manual kernels.
#include "codegen/cpu/program_storage.h"
#include "compile/chip/feasibility.h"
#include "compile/cost/cost.h"
#include "compile/cost/cost_views.h"
#include "compile/cost/processor_cost.h"
#include "compile/tune/advice.h"
#include "driver/check.h"
#include "driver/ir/checkpoints.h"
#include "driver/ir/command_options.h"
#include "driver/ir/commands.h"
#include "driver/ir/prove_manual.h"
#include "driver/ir/time_on_levels.h"

#include <algorithm>
#include <cstdio>

namespace ptl {

/// The targets of `--target a2,a3`; what is none is reported.
static std::vector<Target> targetsOf(Session &session) {
  std::vector<Target> targets;
  std::string_view names = session.options().value(OptionId::Target);
  for (size_t begin = 0; begin <= names.size();) {
    size_t end = std::min(names.find(',', begin), names.size());
    if (std::optional<Target> target = findTarget(session, names.substr(begin, end - begin)))
      targets.push_back(std::move(*target));
    begin = end + 1;
  }
  return targets;
}

/// Collects the answers to `--cost`.
namespace {
class Costs {
public:
  Costs(Session &session, const CheckedProgram &program, const Target &target,
        const CompilerOptions &how)
      : session_(session), program_(program), target_(target), how_(how) {
    if (session.options().has(OptionId::Cost) && target.isChip())
      costs_ = findCosts(target.machine->name, session.machines()->ownFiles());
  }

  void operator()(const BoundEntry &entry, const ChipProgram &lowered) {
    // The costs were not asked for, or the machine's file has none.
    if (!costs_ || !costs_->known())
      return;
    CostQuestion question{program_,      session_.sources(),
                          entry,         *target_.machine,
                          *costs_,       sizesFor(*entry.binding.decl),
                          /*hints=*/true};
    Cost &cost = found.emplace_back(costOf(question, lowered));
    // Each change is compiled and simulated, so the search has a limit of time.
    AdviceLimits limits;
    limits.seconds = session_.options().number(OptionId::Budget).value_or(10);
    advise(cost, question, how_, limits);
  }

  /// On this processor it is the least time.
  void operator()(const BoundEntry &entry, mlir::ModuleOp blocks) {
    Cost &cost = found.emplace_back(
        processorCost({program_, session_.sources(), entry,
                       compilerOptions(session_.options(), target_), sizesFor(*entry.binding.decl)},
                      hostPeaks()));
    if (std::optional<ir::ProgramStorage> storage = cpu::storageOf(blocks))
      cost.storage = std::move(*storage);
    else
      cost.storageUnknown = "the memory of its intermediate arrays is not known";
  }

  std::vector<Cost> found;

private:
  ExampleSizes sizesFor(const CallableDecl &decl) const {
    return exampleSizes(session_.options(), decl);
  }

  Session &session_;
  const CheckedProgram &program_;
  const Target &target_;
  const CompilerOptions &how_;
  std::optional<MachineCosts> costs_;
};
} // namespace

static void print(Session &session, const std::vector<Cost> &costs) {
  const SourceManager &sources = session.sources();
  std::string text;
  if (session.options().has(OptionId::Json))
    text = costDocument(costs, sources);
  else
    for (const Cost &cost : costs)
      text += costText(cost, sources);
  auto least =
      std::find_if(costs.begin(), costs.end(), [](const Cost &each) { return each.isLeast; });
  if (!session.options().has(OptionId::Json) && least != costs.end())
    text += least->machineText + "\n";
  std::fputs(text.c_str(), stdout);
}

/// On a machine of many chips: the programs whose arrays lie over them.
static bool costOnLevels(Session &session, const CheckedProgram &program, const Target &target,
                         const MachineLevels &levels) {
  bool isWell = true;
  for (const CallableDecl *decl : program.modules[0]->callables) {
    if (decl->kind != DeclKind::Program || decl->hasErrors ||
        !isPlaced(*decl->module->tree, decl->syntax))
      continue;
    LevelsQuestion question{
        program, *decl, target, levels, exampleSizes(session.options(), *decl), std::nullopt};
    question.assumesSizes = true;
    std::unique_ptr<TimedOnLevels> timed = timeOnLevels(session, question);
    isWell &= timed != nullptr;
    if (!timed)
      continue;
    auto *text = session.options().has(OptionId::Json) ? levelsJson : levelsText;
    std::fputs(text(*timed, session.sources()).c_str(), stdout);
  }
  return isWell;
}

ExitCode runCheckForChips(const Options &options) {
  bool isWell = true;
  ExitCode code = runCheck(options, [&](Session &session, const CheckedProgram &program) {
    if (options.has(OptionId::Checkpoint) && !session.failed())
      checkCheckpoint(session, program, std::string(options.value(OptionId::Checkpoint)));
    bool isForMachine = options.has(OptionId::Target) || options.has(OptionId::Machine);
    // Manual kernels are proved even where no target is given, since they are written for chips.
    if (!isForMachine && !session.failed())
      isWell &= proveManual(session, program, wantedOf(options));
    if (!isForMachine && !options.has(OptionId::Cost))
      return;
    std::vector<Cost> costs;
    bool hasLevels = false;
    for (const Target &target : targetsOf(session)) {
      MachineLevels levels = target.machine
                                 ? findLevels(target.machine->name, session.machines()->ownFiles())
                                 : MachineLevels();
      hasLevels |= levels.known();
      if (levels.known() && options.has(OptionId::Cost) && !session.failed())
        costOnLevels(session, program, target, levels);
      // Kernels there are those of the chip, whose costs are asked for under its own name.
      if (levels.known() && (options.has(OptionId::Cost) || target.machine->cores.empty()))
        continue;
      CompilerOptions how = compilerOptions(options, target);
      how.reportsParts = true;
      how.recheck = std::make_shared<CheckOptions>(session.checkOptions());
      Costs own(session, program, target, how);
      if (target.isChip())
        isWell &= checkForChip(program, session.sources(), how, wantedOf(options), session.sink(),
                               std::ref(own));
      else if (options.has(OptionId::Cost))
        isWell &= checkForCpu(program, session.sources(), how, wantedOf(options), session.sink(),
                              std::ref(own));
      costs.insert(costs.end(), own.found.begin(), own.found.end());
    }
    // What lies over levels has been printed.
    if (options.has(OptionId::Cost) && !(hasLevels && costs.empty()))
      print(session, costs);
  });
  return isWell ? code : ExitCode::Internal;
}

} // namespace ptl

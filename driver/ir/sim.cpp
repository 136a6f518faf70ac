// `ptlc sim`: how long a program takes on a chip, and why.
#include "common/read_number.h"
#include "compile/call/simulation.h"
#include "compile/simulate/simulate_module.h"

#include "compile/call/arguments.h"
#include "compile/cost/cost.h"
#include "compile/cost/cost_views.h"
#include "driver/defines.h"
#include "driver/ir/command_options.h"
#include "driver/ir/commands.h"
#include "driver/ir/run_parts.h"
#include "driver/ir/time_on_levels.h"
#include "driver/ir/variants.h"
#include "driver/target.h"
#include "runtime/sim/time/report.h"
#include "runtime/sim/time/write_chrome.h"

#include <charconv>
#include <cstdio>

namespace ptl {

namespace {

namespace sim = rt::sim;

/// All of the largest machine that came with the compiler.
constexpr uint32_t kMostSimulatedParts = 8192;

/// The chip to simulate, by default `a3`; nothing after reporting an error.
std::optional<Target> targetOf(Session &session) {
  std::string_view name = session.options().value(OptionId::Target);
  // A machine of the user's own is meant where no other is named.
  bool unsaid = name.empty() && session.machines()->ownFiles().empty();
  std::optional<Target> target = findTarget(session, unsaid ? "a3" : name);
  if (!target || target->isChip())
    return target;
  session.sink().report(DiagId::TargetCannotRun, kNoSpan,
                        {target->name, "only chips are simulated in time"});
  return std::nullopt;
}

/// Writes what was asked for beside the report.
bool writeViews(Session &session, const sim::Report &report) {
  const Options &options = session.options();
  struct View {
    OptionId option;
    std::string (*write)(const sim::Report &);
  };
  constexpr View views[] = {{OptionId::Trace, sim::writeChromeTrace},
                            {OptionId::Lanes, sim::writeLanes},
                            {OptionId::Page, sim::writeSwimlane}};
  for (const View &view : views) {
    std::string path(options.value(view.option));
    if (!path.empty() && !session.write(path, view.write(report)))
      return false;
  }
  return true;
}

/// Writes and prints what the command line asks for.
void present(Session &session, const sim::Report &report) {
  const Options &options = session.options();
  if (!writeViews(session, report))
    return;
  auto *text = options.has(OptionId::Json)     ? sim::writeSummary
               : options.has(OptionId::Report) ? sim::writePage
                                               : sim::writeShort;
  std::fputs(text(report).c_str(), stdout);
}

ExitCode printEstimate(Session &session, Simulation &simulation, const CheckedProgram &program,
                       const CallableDecl &decl, const Machine &machine,
                       const MachineCosts &costs) {
  auto estimate = session.timed("simulate", [&] { return simulation.estimate(); });
  if (!estimate) {
    if (simulation.hadInternalError())
      return ExitCode::Internal;
    if (simulation.failure())
      reportStop(session, simulation.failure());
    return simulation.failure() ? ExitCode::ProgramStopped : ExitCode::SourceErrors;
  }
  Cost cost;
  cost.entry = decl.name;
  cost.target = machine.name;
  for (const auto &[name, value] : simulation.inputs().dims)
    cost.sizes.push_back({name, value, "asked for"});
  for (const auto &[name, value] : simulation.options().examples)
    cost.sizes.push_back({name, value, "asked for"});
  cost.elements = simulation.inputs().elements;
  cost.decisions = simulation.decisions();
  ir::EntryBinding binding;
  binding.decl = &decl;
  binding.tunables = simulation.options().tunables;
  binding.machine = machine.name;
  reportCost(cost, *estimate, program, binding, machine, costs, simulation.argumentBytes());
  const SourceManager &sources = session.sources();
  std::string text = session.options().has(OptionId::Json) ? costDocument({cost}, sources)
                                                           : costText(cost, sources);
  std::fputs(text.c_str(), stdout);
  return ExitCode::Fine;
}

/// A kernel of the block level from a `.pto` file, on all core groups. Its arrays are as large as
/// they have to be.
ExitCode simulateModule(Session &session, const Machine &machine, const MachineCosts &costs) {
  const Options &options = session.options();
  std::vector<std::string> words(options.positional().begin() + 1, options.positional().end());
  std::string path = options.positional().front();
  std::optional<FileId> file = session.load(path);
  if (!file)
    return ExitCode::SourceErrors;
  sim::Report report;
  std::string error = simulateBlockModule(session.sources().file(*file).text(), path,
                                          std::string(options.value(OptionId::Entry)), words,
                                          {machine, costs, options.has(OptionId::Warm)}, report);
  if (!error.empty()) {
    session.sink().report(DiagId::ProgramStopped, kNoSpan, {error});
    return ExitCode::SourceErrors;
  }
  present(session, report);
  return ExitCode::Fine;
}

/// A program whose arrays lie over the chips of a machine.
ExitCode simulateOnLevels(Session &session, const Target &target, const MachineLevels &levels) {
  const Options &options = session.options();
  auto [program, decl] = checkEntry(session);
  if (!decl)
    return ExitCode::SourceErrors;
  LevelsQuestion question{*program,
                          *decl,
                          target,
                          levels,
                          exampleSizes(options, *decl),
                          shapeGiven(session, kMostSimulatedParts)};
  question.keepsCarried =
      options.has(OptionId::Trace) || options.has(OptionId::Lanes) || options.has(OptionId::Page);
  for (const std::string &word : callWords(options, *decl)) {
    size_t equals = word.find('=');
    std::optional<int64_t> value;
    if (equals != word.npos)
      value = integerIn(std::string_view(word).substr(equals + 1));
    if (!value) {
      const char *entryHelp = equals == word.npos ? "; choose the program with `--entry NAME`" : "";
      session.sink().report(
          DiagId::BadRunArgument, kNoSpan,
          {word, std::string("on a machine of many chips the only arguments are sizes: `B=1024`") +
                     entryHelp});
      return ExitCode::Usage;
    }
    question.sizes[word.substr(0, equals)] = *value;
  }
  if (session.failed())
    return ExitCode::Usage;
  std::unique_ptr<TimedOnLevels> timed = timeOnLevels(session, question);
  if (!timed)
    return ExitCode::SourceErrors;
  const SourceManager &sources = session.sources();
  constexpr std::pair<OptionId, std::string (*)(const TimedOnLevels &, const SourceManager &)>
      views[] = {{OptionId::Trace, levelsTrace},
                 {OptionId::Lanes, levelsLanes},
                 {OptionId::Page, levelsPage}};
  for (const auto &[option, write] : views)
    if (std::string path(options.value(option));
        !path.empty() && !session.write(path, write(*timed, sources)))
      return ExitCode::SourceErrors;
  auto *text = options.has(OptionId::Json) ? levelsJson : levelsText;
  std::fputs(text(*timed, sources).c_str(), stdout);
  return ExitCode::Fine;
}

} // namespace

ExitCode runSim(const Options &options) {
  Session session(options);
  std::optional<Target> target = targetOf(session);
  if (!target)
    return session.finish(ExitCode::Missing);
  MachineLevels levels = findLevels(target->machine->name, session.machines()->ownFiles());
  if (levels.known())
    return session.finish(simulateOnLevels(session, *target, levels));
  if (options.has(OptionId::Shape)) {
    session.sink().report(
        DiagId::TargetCannotRun, kNoSpan,
        {target->name,
         "it is a single chip; `--shape` is for machines of many chips, such as `cloudmatrix384`"});
    return session.finish(ExitCode::Usage);
  }
  std::optional<MachineCosts> costs =
      findCosts(target->machine->name, session.machines()->ownFiles());
  if (!costs || !costs->known()) {
    session.sink().report(
        DiagId::TargetCannotRun, kNoSpan,
        {target->name, "its machine file has no costs, so times cannot be predicted"});
    return session.finish(ExitCode::Missing);
  }
  if (options.positional().front().ends_with(".pto"))
    return session.finish(simulateModule(session, *target->machine, *costs));
  auto [program, decl] = checkEntry(session);
  if (!decl)
    return session.finish();
  Simulation simulation(*program, session.sources(), compilerOptions(options, *target), *costs,
                        session.sink(), *decl);
  std::vector<std::string> words = callWords(options, *decl);
  SimulationOptions how{.values = options.has(OptionId::Values),
                        .warm = options.has(OptionId::Warm),
                        .convert = options.has(OptionId::Convert),
                        .seed = static_cast<uint64_t>(options.number(OptionId::Seed).value_or(0)),
                        .tunables = tunablesGiven(session, *decl),
                        .examples = examplesGiven(options, *decl)};
  if (session.failed() || !simulation.bind(words, how))
    return session.finish();
  if (options.has(OptionId::Estimate))
    return session.finish(
        printEstimate(session, simulation, *program, *decl, *target->machine, *costs));
  sim::Report report;
  bool ok = session.timed("simulate", [&] { return simulation.run(report); });
  if (!ok && simulation.hadInternalError())
    return session.finish(ExitCode::Internal);
  if (!ok) {
    if (simulation.failure())
      reportStop(session, simulation.failure());
    return session.finish(session.failed() && !simulation.failure() ? ExitCode::SourceErrors
                                                                    : ExitCode::ProgramStopped);
  }
  // Explaining runs the simulation again with changes, which the short report does not need.
  if (options.has(OptionId::Report) || options.has(OptionId::Page))
    simulation.explain(report);
  present(session, report);
  return session.finish();
}

} // namespace ptl

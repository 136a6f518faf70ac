#include "driver/ir/time_on_levels.h"

#include "codegen/parts/chunk_schedule.h"
#include "codegen/parts/fabric_of.h"
#include "compile/call/simulation.h"
#include "driver/ir/command_options.h"
#include "driver/ir/run_parts.h"

#include <algorithm>
#include <map>

namespace ptl {

namespace {

/// Estimates what one chip computes.
class ChipSeconds {
public:
  ChipSeconds(Session &session, const Target &target, std::string file)
      : session_(session), target_(target), file_(std::move(file)) {
    costs_ = findCosts(target.machine->name, session.machines()->ownFiles());
    if (!costs_ || !costs_->known()) {
      costs_.reset();
      why = target.name + " has no costs of kernels";
    }
  }

  /// What is asked again, when the program is simulated with and without chunks, is known.
  double operator()(const std::string &source) {
    auto [known, isNew] = known_.try_emplace(source, 0);
    if (isNew && costs_)
      known->second = estimated(source);
    return known->second;
  }

  std::string why; ///< of the first that has no time

private:
  double estimated(const std::string &source) {
    SourceManager sources;
    DiagnosticSink sink;
    // What the program's own file imports lies beside it.
    FileId root = sources.add(file_, source);
    std::unique_ptr<CheckedProgram> program =
        checkFile(sources, root, session_.checkOptions(), sink);
    if (!program || sink.hasErrors() || program->modules[0]->callables.empty())
      return fails(sink);
    CompilerOptions options = compilerOptions(session_.options(), target_);
    const CallableDecl &part = *program->modules[0]->callables.back();
    Simulation simulation(*program, sources, options, *costs_, sink, part);
    if (!simulation.bind(scalarsOf(part), {}))
      return fails(sink);
    std::optional<rt::sim::Estimate> estimate = simulation.estimate();
    return estimate ? estimate->microseconds() * 1e-6 : fails(sink);
  }

  /// Values of scalars that are no floats. What parts compute between movements has all of its lengths
  /// and positions as numbers and no control flow, so these are data like any other and no time
  /// depends on them; a caller of `sim` must give them because in whole programs they may be counts.
  static std::vector<std::string> scalarsOf(const CallableDecl &part) {
    std::vector<std::string> given;
    for (const Local *param : part.params)
      if (param->type->isScalar() && !isFloat(param->type->elem.kind))
        given.push_back(param->name + (param->type->elem.kind == ElemKind::Bool ? "=true" : "=1"));
    return given;
  }

  double fails(const DiagnosticSink &sink) {
    if (!why.empty())
      return 0;
    why = "a stretch cannot be estimated";
    for (const Diagnostic &each : sink.all())
      if (each.severity == Severity::Error) {
        why += ": " + std::string(diagInfo(each.id).code) + " " + each.message;
        break;
      }
    return 0;
  }

  Session &session_;
  const Target &target_;
  std::string file_; ///< of the program
  std::optional<MachineCosts> costs_;
  std::map<std::string, double> known_;
};

/// Simulates the program as a whole once more for each movement that goes by chunks, for what these gain. Chunks that no schedule asked for
/// stay only where they gain something.
void compareChunks(const parts::TimeQuestion &asked, TimedOnLevels &timed) {
  std::string why;
  auto compare = [&]() {
    std::vector<ValueId> useless;
    for (parts::MoveTime &move : timed.time.moves) {
      if (move.chunks < 2)
        continue;
      PlacedProgram whole = timed.placed;
      whole.values[move.value].chunks = 1;
      std::optional<parts::PartsTime> other = parts::timeOfParts(asked.about(whole), why);
      if (other)
        move.gain = other->seconds - timed.time.seconds;
      if (other && move.gain <= 0 && timed.placed.values[move.value].chunks == 0)
        useless.push_back(move.value);
    }
    return useless;
  };
  std::vector<ValueId> useless = compare();
  if (useless.empty())
    return;
  for (ValueId move : useless)
    timed.placed.values[move].chunks = 1;
  if (std::optional<parts::PartsTime> time = parts::timeOfParts(asked, why)) {
    timed.time = std::move(*time);
    compare();
  }
}

} // namespace

/// Fills in the sizes; the name of one that is missing.
static std::string takeSizes(const LevelsQuestion &question, TimedOnLevels &timed,
                             std::map<SymbolId, int64_t> &values) {
  std::string missing;
  auto take = [&](const std::string &name, SymbolId symbol) {
    auto given = question.sizes.find(name);
    bool isGiven = given != question.sizes.end();
    if (!isGiven && !question.assumesSizes)
      missing += (missing.empty() ? "" : ", ") + name + "=…";
    if (!isGiven)
      timed.assumed.push_back(name);
    int64_t value = isGiven ? given->second : parts::kAssumedSize;
    values[symbol] = value;
    timed.sizes.push_back({name, value});
  };
  std::map<std::string, int64_t> counts;
  missing = parts::giveCounts(question.decl, *timed.grid, counts);
  for (const DimParam &dim : question.decl.dims)
    if (dim.isCount())
      values[dim.symbol] = counts[dim.name];
    else
      take(dim.name, dim.symbol);
  for (const Local *param : question.decl.params)
    if (param->symbol && param->type->isInt())
      take(param->name, *param->symbol);
  return missing;
}

std::unique_ptr<TimedOnLevels> timeOnLevels(Session &session, const LevelsQuestion &question) {
  auto timed = std::make_unique<TimedOnLevels>();
  timed->entry = question.decl.name;
  timed->machine = question.target.name;
  auto fails = [&](const std::string &why) {
    session.sink().report(DiagId::TargetCannotRun, question.decl.nameSpan,
                          {question.target.name, why});
    return nullptr;
  };
  std::string why;
  std::optional<PlacedProgram> placed = placedProgram(question.program, question.decl, why);
  if (!placed)
    return fails(why);
  std::optional<OnShape> on = layOut(
      question.program, question.decl,
      question.shape ? *question.shape : parts::wholeShape(placed->levels, question.levels), why);
  if (!on)
    return fails(why);
  timed->placed = std::move(on->placed);
  timed->counts = on->counts;
  timed->grid = std::make_unique<parts::Grid>(timed->placed.levels, timed->counts);
  timed->fabric = parts::fabricOf(question.levels);
  timed->chips = parts::chipsOf(timed->placed.levels, *timed->grid, timed->fabric, why);
  std::map<SymbolId, int64_t> values;
  if (why.empty())
    if (std::string missing = takeSizes(question, *timed, values); !missing.empty())
      why = "its time depends on sizes: give " + missing;
  if (!why.empty())
    return fails(why);
  parts::applySchedule(
      question.program, question.target.machine->name,
      [&](SymbolId symbol) {
        auto found = values.find(symbol);
        return found == values.end() ? std::nullopt : std::optional(found->second);
      },
      timed->placed);
  ChipSeconds seconds(session, question.target,
                      session.sources().file(question.decl.nameSpan.file).path());
  parts::TimeQuestion asked{timed->placed,
                            *timed->grid,
                            [&](SymbolId symbol) -> std::optional<int64_t> {
                              auto found = values.find(symbol);
                              return found == values.end() ? std::nullopt
                                                           : std::optional(found->second);
                            },
                            timed->fabric,
                            timed->chips,
                            std::ref(seconds),
                            question.keepsCarried,
                            session.options().number(OptionId::FoundPages).value_or(0),
                            session.options().number(OptionId::Rounds)};
  std::optional<parts::PartsTime> time =
      session.timed("simulate", [&] { return parts::timeOfParts(asked, why); });
  if (!time)
    return fails(why);
  timed->time = std::move(*time);
  compareChunks(asked, *timed);
  timed->notComputed = timed->time.stretches.empty() ? "" : seconds.why;
  return timed;
}

} // namespace ptl

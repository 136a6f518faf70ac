#include "compile/cost/cost.h"
#include "runtime/sim/time/gains.h"
#include "runtime/sim/time/hints.h"

#include "compile/chip/feasibility.h"
#include "compile/cost/statements.h"
#include "compile/entry/manifest.h"
#include "compile/entry/reach.h"
#include "compile/source_spans.h"
#include "frontend/base/printed.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>

namespace ptl {

namespace sim = rt::sim;

/// A limit for the scalar units: loops that never end must not hang the caller.
static constexpr uint64_t kMostSteps = 200'000'000;

// ---- By statement -------------------------------------------------------------------------------

namespace {

/// The cost of each instruction of a kernel.
struct SiteCost {
  sim::Cycles path = 0, busy = 0;
  uint64_t count = 0;
};

} // namespace

static std::vector<SiteCost> costsOfSites(const sim::Estimate &estimate) {
  const sim::Timeline &t = estimate.timeline;
  std::vector<SiteCost> costs(t.sites.size());
  for (size_t i = 0; i < t.sites.size(); ++i)
    if (t.sites[i].isWork())
      costs[i] = {0, t.totals[i].busy, t.totals[i].count};
  for (const sim::PathPiece &piece : estimate.analysis.path)
    // The start of a kernel is the host's time, not that of a statement.
    if (piece.record != sim::kNoRecord && piece.kind != sim::PathPiece::Kind::Launch)
      costs[t.records[piece.record].site].path += piece.length();
  return costs;
}

static void reportStatements(Cost &cost, const sim::Estimate &estimate, const CallableDecl &entry,
                             const std::function<Formula(const Stmt &)> &rounds) {
  const sim::Timeline &t = estimate.timeline;
  std::vector<SiteCost> costs = costsOfSites(estimate);
  for (const CallableDecl *decl : reachableFrom(entry))
    forEachStatement(*decl, [&](const StatementPlace &place) {
      StatementCost statement{place.span, std::string(place.kind)};
      statement.isLeaf = place.isLeaf;
      sim::Cycles path = 0, busy = 0;
      uint64_t count = 0;
      for (size_t i = 0; i < t.sites.size(); ++i)
        if (isWithin(t.sites[i].location.spans, place.span)) {
          path += costs[i].path;
          busy += costs[i].busy;
          count += costs[i].count;
        }
      // Statements of other kernels, and those that became no instruction, have no cost.
      if (path <= 0 && count == 0)
        return;
      statement.us = t.microseconds(path);
      statement.busyUs = t.microseconds(busy);
      statement.count = count;
      if (place.stmt && decl == &entry) // others have the sizes of their calls
        statement.rounds = rounds(*place.stmt);
      cost.statements.push_back(std::move(statement));
    });
}

const StatementCost *Cost::dominantStatement() const {
  const StatementCost *best = nullptr;
  for (const StatementCost &each : statements)
    if (each.isLeaf && (!best || each.us > best->us))
      best = &each;
  return best;
}

const StatementCost *Cost::dominantLoop() const {
  double work = us;
  for (const auto &[part, partUs] : path)
    // No loop can take less of these.
    work -= part == "launch" || part == "orchestrator" || part == "dispatch" ? partUs : 0;
  const StatementCost *best = nullptr; // loops come before what is in them
  for (const StatementCost &each : statements)
    if (each.kind == "loop" && each.us >= work / 2)
      best = &each;
  return best;
}

// ---- The whole ----------------------------------------------------------------------------------

/// All work spread evenly over all cores; every byte of the arguments between the cores and L2
/// once, and from the memory as much of it as was not in L2. What is written stays in L2.
static Roofline rooflineOf(const sim::Estimate &estimate, const Machine &machine,
                           const MachineCosts &costs, int64_t bytes) {
  const sim::Timeline &t = estimate.timeline;
  sim::Cycles busy[kNumPipes] = {};
  for (size_t i = 0; i < t.sites.size(); ++i)
    if (t.sites[i].isWork())
      busy[static_cast<size_t>(t.sites[i].pipe)] += t.totals[i].busy;
  Roofline roof;
  auto consider = [&](sim::Cycles cycles, const char *by) {
    if (double us = t.microseconds(cycles); us > roof.us)
      roof = {us, by};
  };
  for (auto [pipe, kind, by] : {std::tuple{Pipe::M, "aic", "cube"}, {Pipe::V, "aiv", "vector"}})
    if (const MachineCore *cores = machine.core(kind); cores && cores->count)
      consider(busy[static_cast<size_t>(pipe)] / static_cast<double>(cores->count), by);
  auto rate = [&](int64_t moved, double bytesPerCycle, const char *by) {
    if (bytesPerCycle > 0)
      consider(static_cast<double>(std::min(bytes, moved)) / bytesPerCycle, by);
  };
  rate(t.bytes, costs.memory.l2Rate, "L2");
  rate(t.missed, costs.memory.memoryRate, "memory");
  return roof;
}

/// Microseconds of a round of a source loop, of the slowest core.
static double paceOf(const sim::Timeline &timeline, Span loop) {
  sim::Cycles longest = 0;
  for (const auto &[site, cycles] : timeline.paces)
    if (const std::vector<Span> &spans = timeline.sites[site].location.spans;
        !spans.empty() && spans.front().file == loop.file && spans.front().begin == loop.begin)
      longest = std::max(longest, cycles);
  return timeline.microseconds(longest);
}

/// The loops of a kernel that is started once.
static std::string formulaOf(const Cost &cost, const sim::Timeline &timeline,
                             const CallableDecl &entry) {
  // A program that starts several kernels is no single nest of loops.
  if (entry.kind != DeclKind::Kernel || timeline.launches.size() != 1)
    return "";
  std::vector<TimedLoop> loops;
  for (const StatementCost &each : cost.statements)
    if (each.kind == "loop")
      loops.push_back(
          {each.span, each.us, loops.empty(), each.rounds, paceOf(timeline, each.span)});
  return timeFormula(cost.us, loops, timeline.launches.front().blocks);
}

void reportCost(Cost &cost, const sim::Estimate &estimate, const CheckedProgram &program,
                const ir::EntryBinding &binding, const Machine &machine, const MachineCosts &costs,
                int64_t bytes) {
  const sim::Timeline &t = estimate.timeline;
  cost.exact = estimate.exact;
  cost.us = estimate.microseconds();
  cost.bound = sim::describeBound(estimate.analysis);
  cost.pipes = estimate.analysis.pipes;
  cost.groups = estimate.analysis.groupsAtWork;
  cost.groupsOfChip = estimate.groupsOfChip;
  cost.storageUse = estimate.analysis.tasks.storage;
  cost.roofline = rooflineOf(estimate, machine, costs, bytes);
  for (const sim::LaunchSpan &launch : t.launches)
    if (!launch.kernel.empty())
      cost.launches.emplace_back(launch.kernel, t.microseconds(launch.end - launch.start));
  for (const auto &[part, cycles] : estimate.analysis.pathByPart)
    cost.path.emplace_back(part, t.microseconds(cycles));
  DimLookup values = valuesOf(program, binding, cost.sizes);
  reportStatements(cost, estimate, *binding.decl,
                   [&](const Stmt &stmt) { return roundsOf(stmt, *program.dims, values); });
  cost.formula = formulaOf(cost, t, *binding.decl);
}

/// Tells statements that are done in parts so.
static void reportParts(Cost &cost, const SourceManager &sources,
                        const std::vector<StatementParts> &parts) {
  for (const StatementParts &each : parts) {
    Span at = spanAt(sources, each.place);
    StatementCost *own = nullptr; // inner statements come after what they are in
    for (StatementCost &statement : cost.statements)
      if (statement.isLeaf && isWithin({at}, statement.span))
        own = &statement;
    if (own && (!own->parts || own->parts->parts < each.parts))
      own->parts = each;
  }
}

/// The cost of the same call with the value of a tunable with which nothing is done in parts, if
/// there is one.
static std::optional<Cost> costWithoutParts(const CostQuestion &question,
                                            const ChipProgram &program) {
  if (!program.avoid)
    return std::nullopt;
  const RoomHelp &avoid = *program.avoid;
  BoundEntry bound = question.bound;
  if (avoid.tunable)
    bound.binding.tunables[avoid.tunable->local->name] = avoid.value;
  else
    bound.binding.decl = avoid.trial->decl;
  const CheckedProgram &checked = avoid.trial ? *avoid.trial->program : question.program;
  const SourceManager &sources = avoid.trial ? avoid.trial->sources : question.sources;
  CompilerOptions options;
  options.chip = question.machine;
  // The other form is looked at by itself, or this would recur.
  options.triesHelps = false;
  DiagnosticSink quiet;
  CompileContext context(checked, sources, std::move(options), quiet);
  ChipResult other = lowerEntry(context, bound);
  if (!other.program)
    return std::nullopt;
  Cost cost = costOf({checked, sources, bound, question.machine, question.costs, question.sizes},
                     *other.program);
  return cost.unknown.empty() ? std::optional(std::move(cost)) : std::nullopt;
}

/// Adds a hint with the time that would be saved without parts, at the statement that has most of
/// them.
static void hintAtParts(Cost &cost, const CostQuestion &question, const ChipProgram &program) {
  std::optional<Cost> other = costWithoutParts(question, program);
  if (!other || other->us >= cost.us)
    return;
  CostHint hint{"`" + program.avoid->text + "` needs no parts: " + printed("%.2f us", other->us)};
  int64_t most = 0;
  for (const StatementCost &each : cost.statements)
    if (each.parts && each.parts->parts > most) {
      most = each.parts->parts;
      hint.span = each.span;
    }
  hint.gain = 1 - other->us / cost.us;
  // Hints are in the order of their gains.
  auto later = std::find_if(cost.hints.begin(), cost.hints.end(),
                            [&](const CostHint &each) { return each.gain < hint.gain; });
  cost.hints.insert(later, std::move(hint));
}

static Span spanOf(const sim::SourceLocation &location) {
  return location.spans.empty() ? kNoSpan : location.spans.front();
}

static void addGains(sim::Report &report, const sim::Estimate &estimate, const sim::RunInTime &run,
                     bool forHints) {
  sim::addGains(
      report.timeline, report.analysis,
      [&](const sim::WhatIf &what) { return sim::estimateAgain(run, estimate, what); }, forHints);
}

static sim::Report reportOf(const sim::Estimate &estimate) {
  sim::Report report;
  report.groupsOfChip = estimate.groupsOfChip;
  report.timeline = estimate.timeline;
  report.analysis = estimate.analysis;
  return report;
}

namespace {

/// One call that can be run as often as is wanted.
class CallInTime {
public:
  CallInTime(const CostQuestion &question, const ChipProgram &program);

  const std::optional<ExampleCall> &call() const { return call_; }
  bool isReady() const { return runner_ != nullptr; }
  bool operator()(sim::TimeOptions how, sim::Timeline &timeline);
  /// Runs the call with values, on random data, where it stopped because a kernel's way through its
  /// code depends on what it computes, as that of a merge does. Nothing if that is not so, if the
  /// arguments are large, or if the data do not suit.
  std::optional<sim::Estimate> onDrawnData();
  std::string problem;
  std::vector<AssumedDecision> decisions; ///< of all runs

private:
  const CostQuestion &question_;
  rt::Entry entry_;
  bool lacksValues_ = false, isDrawn_ = false;
  std::optional<ExampleCall> call_;
  std::unique_ptr<ChipRunner> runner_;
};

} // namespace

CallInTime::CallInTime(const CostQuestion &question, const ChipProgram &program)
    : question_(question) {
  // Arguments are made from the manifest, as a caller of the library would make them.
  std::string manifest =
      emitManifest(question.program, question.sources, {{question.bound.binding.decl, {}}}, false);
  rt::Manifest described = rt::parseManifest(manifest, problem).value_or(rt::Manifest{});
  if (described.entries.empty()) {
    problem = "it cannot be called from outside";
    return;
  }
  entry_ = described.entries.front();
  call_ = exampleCall(question.program, question.bound, entry_, question.sizes, problem);
  if (call_)
    runner_ = ChipRunner::create(copyOf(program), question.machine, problem);
}

bool CallInTime::operator()(sim::TimeOptions how, sim::Timeline &timeline) {
  if (how.maxSteps == 0)
    how.maxSteps = kMostSteps;
  how.values = isDrawn_;
  sim::Timer timer(question_.machine, question_.costs, std::move(how));
  ChipRun chip;
  chip.timer = &timer;
  // Only times are wanted, so no data is computed unless it decides.
  chip.values = isDrawn_;
  chip.decisions = isDrawn_ ? nullptr : &decisions;
  rt::Failure failure = call_->run(*runner_, chip);
  lacksValues_ = failure.lacksValues;
  timeline = timer.take();
  problem = failure.message;
  if (failure.line > 0 && !problem.starts_with(failure.file)) // kernels tell it themselves
    problem = failure.file + ":" + std::to_string(failure.line) + ": " + problem;
  return !failure;
}

std::optional<sim::Estimate> CallInTime::onDrawnData() {
  // Values of more take longer than a person waits for a prediction.
  constexpr int64_t most = int64_t(1) << 22;
  if (!lacksValues_ || !call_->examples.empty() || call_->bytes > most)
    return std::nullopt;
  std::string before = problem;
  isDrawn_ = call_->draw(entry_);
  // What is left out of an estimate is not computed, and what it would have made might decide.
  sim::Estimate whole;
  whole.exact = true;
  if (isDrawn_ && (*this)({}, whole.timeline)) {
    decisions.clear();
    whole.groupsOfChip = sim::groupsOfChip(whole.timeline);
    whole.analysis = sim::analyse(whole.timeline, whole.groupsOfChip);
    return whole;
  }
  isDrawn_ = false;
  problem = before;
  return std::nullopt;
}

Cost costOf(const CostQuestion &question, const ChipProgram &program) {
  const CallableDecl &decl = *question.bound.binding.decl;
  Cost cost;
  cost.entry = decl.name;
  cost.target = question.machine.name;
  // This needs no call, so it is told even where no time is known.
  cost.storage = ir::storageOf(*program.program.host.get().getOps<mlir::func::FuncOp>().begin());
  CallInTime call(question, program);
  if (call.call()) {
    cost.sizes = call.call()->sizes;
    cost.elements = call.call()->elements;
  }
  std::optional<sim::Estimate> estimate;
  if (call.isReady())
    estimate = sim::estimate(std::ref(call), question.timeAlone ? sim::EstimateFor::TimeAlone
                                                                : sim::EstimateFor::Everything);
  bool isDrawn = false;
  if (call.isReady() && !estimate && (estimate = call.onDrawnData())) {
    isDrawn = true;
    cost.elements = call.call()->elements;
  }
  if (!estimate) {
    cost.unknown = call.problem;
    return cost;
  }
  cost.decisions = call.decisions;
  cost.operations = estimate->operations;
  cost.us = estimate->microseconds();
  cost.exact = estimate->exact;
  if (question.timeAlone)
    return cost;
  reportCost(cost, *estimate, question.program, question.bound.binding, question.machine,
             question.costs, call.call()->bytes);
  reportParts(cost, question.sources, program.statements);
  // Each hint is a run of its own, which has to compute values, too.
  if (!question.hints || isDrawn)
    return cost;
  sim::Report report = reportOf(*estimate);
  addGains(report, *estimate, std::ref(call), /*forHints=*/true);
  for (const sim::Hint &hint : sim::hintsOf(report))
    cost.hints.push_back({hint.text, spanOf(hint.location), hint.gain});
  hintAtParts(cost, question, program);
  return cost;
}

std::optional<double> simulatedTime(const CostQuestion &question, const ChipProgram &program,
                                    uint64_t mostOperations) {
  CallInTime call(question, program);
  sim::Timeline whole;
  sim::TimeOptions how;
  how.limitTo(mostOperations);
  if (!call.isReady() || !call(how, whole))
    return std::nullopt;
  return whole.end / whole.clockMhz;
}

std::optional<sim::Report> timelineOf(const CostQuestion &question, const ChipProgram &program,
                                      uint64_t mostOperations, bool &isPart, std::string &problem) {
  CallInTime call(question, program);
  std::optional<sim::Estimate> estimate;
  if (call.isReady())
    estimate = sim::estimate(std::ref(call));
  if (!estimate) {
    problem = call.problem;
    return std::nullopt;
  }
  sim::Report report = reportOf(*estimate);
  if (question.hints)
    addGains(report, *estimate, std::ref(call), /*forHints=*/false);
  isPart = !estimate->exact;
  sim::Timeline whole;
  sim::TimeOptions how;
  // An estimate has only sampled the loops; a timeline to look at wants all of them, if they are
  // not too many.
  how.limitTo(mostOperations);
  if (isPart && call(how, whole)) {
    isPart = false;
    report.timeline = std::move(whole);
    std::vector<sim::Gain> gains = std::move(report.analysis.gains);
    report.analysis = sim::analyse(report.timeline, report.groupsOfChip);
    for (sim::Gain &gain : gains) // groups of gaps are others now
      if (gain.gap == sim::kNoRecord) {
        gain.end *= report.timeline.end / estimate->timeline.end;
        report.analysis.gains.push_back(std::move(gain));
      }
  }
  report.isPart = isPart;
  report.entry = question.bound.binding.decl->name;
  report.machine = question.machine.name;
  for (const ExampleSize &size : call.call()->sizes) {
    report.dims.emplace_back(size.name, size.value);
    if (size.isAssumed())
      report.assumedDims.push_back(size.name);
  }
  for (const AssumedElements &each : call.call()->elements)
    report.elements.emplace_back(each.name, each.text);
  for (const AssumedDecision &each : call.decisions)
    report.decisions.emplace_back(each.place, each.text);
  return report;
}

} // namespace ptl

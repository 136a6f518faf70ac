#include "compile/call/simulation.h"
#include "runtime/sim/time/gains.h"

#include "compile/call/call_views.h"

namespace ptl {

namespace sim = rt::sim;

Simulation::Simulation(const CheckedProgram &program, const SourceManager &sources,
                       CompilerOptions options, MachineCosts costs, DiagnosticSink &sink,
                       const CallableDecl &decl)
    : sink_(sink), decl_(decl), machine_(*options.chip), costs_(std::move(costs)),
      executor_(program, sources, std::move(options), sink) {}

bool Simulation::bind(const std::vector<std::string> &words, const SimulationOptions &options) {
  options_ = options;
  words_ = words;
  std::vector<RunArgumentError> errors =
      resolveRunArguments(decl_, executor_.describe(decl_), words, options.seed, options.convert,
                          inputs_, options.values ? RunNeeds::Values : RunNeeds::Times);
  for (const RunArgumentError &error : errors)
    sink_.report(DiagId::BadRunArgument, kNoSpan, {error.name, error.reason});
  return errors.empty();
}

/// Whether the run stopped where data decide that nobody gave. Then they are drawn, so that a run with
/// values has what it needs; their decisions are those of the elements, and none is assumed. Who has given
/// examples of some is told which ones are missing: drawn data would not keep to them.
bool Simulation::drawMissing() {
  constexpr int64_t most = int64_t(1) << 30; // bytes
  if (options_.values || !options_.examples.empty() || !failure_.lacksValues ||
      argumentBytes() > most)
    return false;
  RunInputs drawn;
  if (!resolveRunArguments(decl_, executor_.describe(decl_), words_, options_.seed,
                           options_.convert, drawn, RunNeeds::Drawn)
           .empty())
    return false;
  inputs_ = std::move(drawn);
  options_.values = true;
  assumes_ = false;
  decisions_.clear();
  failure_ = {};
  return true;
}

bool Simulation::once(sim::TimeOptions how, sim::Timeline &timeline) {
  how.warm = options_.warm;
  sim::Timer timer(machine_, costs_, std::move(how));
  executor_.simulation = {};
  executor_.simulation.timer = &timer;
  executor_.simulation.values = options_.values;
  executor_.simulation.examples = options_.examples;
  executor_.simulation.assumedScalars = inputs_.assumedScalars;
  executor_.simulation.decisions = assumes_ ? &decisions_ : nullptr;
  CallViews views(inputs_);
  for (size_t i = 0; i < inputs_.arrays.size(); ++i)
    if (inputs_.hasValues[i])
      executor_.simulation.known.push_back(views.views()[i].data);
  CallResult result = executor_.call(decl_, views.arguments(), options_.tunables);
  timeline = timer.take();
  failure_ = result.failure;
  return result.compiled && !failure_;
}

bool Simulation::run(sim::Report &report) {
  sim::TimeOptions how;
  how.values = options_.values;
  assumes_ = !options_.values;
  if (!once(how, report.timeline)) {
    if (!drawMissing())
      return false;
    how.values = true;
    if (!once(how, report.timeline))
      return false;
  }
  report.entry = decl_.name;
  report.machine = machine_.name;
  for (const auto &[name, value] : inputs_.dims)
    report.dims.push_back({name, value});
  if (!options_.values)
    report.dims.insert(report.dims.end(), options_.examples.begin(), options_.examples.end());
  for (const AssumedElements &each : inputs_.elements)
    report.elements.emplace_back(each.name, each.text);
  for (const AssumedDecision &each : decisions_)
    report.decisions.emplace_back(each.place, each.text);
  report.groupsOfChip = sim::groupsOfChip(report.timeline);
  report.analysis = sim::analyse(report.timeline, report.groupsOfChip);
  return true;
}

void Simulation::explain(sim::Report &report) {
  bool values = options_.values;
  assumes_ = !values; // a run with values goes as the data says
  // Times do not depend on values, and what is left out may not be in order then; but data may
  // decide what is run.
  sim::TimeOptions bare;
  bare.record = false;
  sim::Timeline timeline;
  options_.values = false;
  bool decides = !once(bare, timeline);
  options_.values = values && decides;
  bool known = true;
  sim::addGains(report.timeline, report.analysis, [&](const sim::WhatIf &what) {
    bool isUnordered = !what.without.empty() || !what.unordered.empty();
    if (decides && (isUnordered || !values))
      return report.timeline.end;
    sim::TimeOptions how;
    how.values = options_.values;
    how.record = false;
    how.whatIf = what;
    known = known && once(how, timeline);
    return known ? timeline.end : report.timeline.end;
  });
  options_.values = values;
  failure_ = {};
}

std::optional<sim::Estimate> Simulation::estimate() {
  assumes_ = true;
  std::optional<sim::Estimate> estimate =
      sim::estimate([&](sim::TimeOptions how, sim::Timeline &timeline) {
        return once(std::move(how), timeline);
      });
  if (estimate || !drawMissing())
    return estimate;
  // What is left out of an estimate is not computed, and what it would have made might decide.
  sim::Estimate whole;
  whole.exact = true;
  sim::TimeOptions how;
  how.values = true;
  if (!once(how, whole.timeline))
    return std::nullopt;
  whole.groupsOfChip = sim::groupsOfChip(whole.timeline);
  whole.analysis = sim::analyse(whole.timeline, whole.groupsOfChip);
  return whole;
}

int64_t Simulation::argumentBytes() const {
  int64_t bytes = 0;
  for (const rt::OwnedArray &array : inputs_.arrays)
    bytes += array.bytes();
  return bytes;
}

} // namespace ptl

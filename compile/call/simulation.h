// Runs one entry of a program with its arguments on a simulated chip with its timing, any number of
// times.
#pragma once

#include "compile/call/arguments.h"
#include "compile/call/compiled_executor.h"
#include "machines/costs.h"
#include "runtime/sim/time/estimate.h"

namespace ptl {

struct SimulationOptions {
  bool values = false; ///< compute values as well
  bool warm = false;   ///< arguments are in the second-level cache at the start
  bool convert = false;
  uint64_t seed = 0;
  std::map<std::string, int64_t> tunables; ///< given by the caller
  std::map<std::string, int64_t> examples; ///< see `ChipRun`
};

class Simulation {
public:
  /// `options.chip` is the machine.
  Simulation(const CheckedProgram &program, const SourceManager &sources, CompilerOptions options,
             MachineCosts costs, DiagnosticSink &sink, const CallableDecl &decl);

  /// Takes `name=value` words; false after reporting what is wrong with them.
  bool bind(const std::vector<std::string> &words, const SimulationOptions &options);
  /// Runs once and analyses the times. If data matter that were not given, they are drawn at
  /// random, and values are computed. Returns false after an error: it is in `failure()`, or has
  /// been reported.
  bool run(rt::sim::Report &report);
  /// Runs once for each kind of cost with that cost set to zero, and fills in the possible gains.
  void explain(rt::sim::Report &report);
  /// Estimates the time without simulating everything, unless data matter. Returns nothing after an
  /// error.
  std::optional<rt::sim::Estimate> estimate();

  /// The bytes of the arrays that are arguments.
  int64_t argumentBytes() const;
  const RunInputs &inputs() const { return inputs_; }
  const SimulationOptions &options() const { return options_; }

  /// The decisions that were assumed because they depend on data that the caller did not give.
  const std::vector<AssumedDecision> &decisions() const { return decisions_; }
  const rt::Failure &failure() const { return failure_; }
  /// Whether the error was the compiler's own; it has been reported.
  bool hadInternalError() const { return executor_.hadInternalError(); }

private:
  bool drawMissing();
  bool once(rt::sim::TimeOptions how, rt::sim::Timeline &timeline);

  DiagnosticSink &sink_;
  const CallableDecl &decl_;
  Machine machine_;
  MachineCosts costs_;
  CompiledExecutor executor_;
  SimulationOptions options_;
  std::vector<std::string> words_;
  RunInputs inputs_;
  bool assumes_ = false; ///< decisions by data that were not given are assumed
  std::vector<AssumedDecision> decisions_;
  rt::Failure failure_;
};

} // namespace ptl

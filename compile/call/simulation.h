// Runs one entry of a program with its arguments on a simulated chip in time, any number of times.
#pragma once

#include "compile/call/arguments.h"
#include "compile/call/compiled_executor.h"
#include "machines/costs.h"
#include "runtime/sim/time/estimate.h"

namespace ptl {

struct SimulationOptions {
  bool values = false; ///< compute as well
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
  /// Runs once and analyses. Where data decide that nobody gave, they are drawn, and values are computed.
  /// False after an error: `failure()`, or the sink has it.
  bool run(rt::sim::Report &report);
  /// Runs once for each kind of cost with that cost set to zero, and fills in what would be gained.
  void explain(rt::sim::Report &report);
  /// Estimates the time without running everything, unless data decide. Returns nothing after an error.
  std::optional<rt::sim::Estimate> estimate();

  /// The bytes of the arrays that are passed.
  int64_t argumentBytes() const;
  const RunInputs &inputs() const { return inputs_; }
  const SimulationOptions &options() const { return options_; }

  /// The decisions that were assumed where they depend on data that the caller did not give.
  const std::vector<AssumedDecision> &decisions() const { return decisions_; }
  const rt::Failure &failure() const { return failure_; }
  /// Whether that was the compiler's own fault; the sink has it.
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
  bool assumes_ = false; ///< what data decides that nobody gave
  std::vector<AssumedDecision> decisions_;
  rt::Failure failure_;
};

} // namespace ptl

// Predicts the times of forms of an entry on a chip. Forms that compile to the same code are
// simulated once.
#pragma once

#include "compile/compiler_options.h"
#include "compile/cost/cost.h"
#include "compile/tune/search.h"

#include <map>

namespace ptl {

/// Why something cannot be compiled: the message of the first error.
std::string firstError(const DiagnosticSink &sink);

/// One form of an entry for a chip.
struct PredictedForm {
  const CheckedProgram &program;
  const SourceManager &sources;
  const BoundEntry &bound;
  const CompilerOptions &options; ///< have a chip
  const MachineCosts &costs;
  const ExampleSizes &sizes;
};

class EntryPredictor {
public:
  /// Compiles a form and estimates its time. For a form that the compiler refuses, the outcome has
  /// a reason instead.
  TuneOutcome predict(const PredictedForm &form);

  /// The time in a full simulation; nothing if that would take more than a few seconds.
  std::optional<double> simulate(const PredictedForm &form);

  /// Why no time is known for any of the forms that run on the chip; empty as soon as one has a
  /// time.
  const std::string &unknown() const { return unknown_; }
  /// Records that a form has a time, as an earlier search found.
  void noteTime() {
    hasTime_ = true;
    unknown_.clear();
  }
  /// The sizes, and what was assumed, for the last time that was estimated.
  Cost &lastCost() { return lastCost_; }
  const Cost &lastCost() const { return lastCost_; }

private:
  struct Known {
    TuneOutcome outcome;
    uint64_t operations = 0; ///< of a simulation of everything
    bool isExact = false;    ///< the estimate was one
  };
  const Known &estimated(const PredictedForm &form, const ChipProgram &program);

  std::map<std::string, Known> codes_; ///< by the hash of the code
  std::string unknown_;
  size_t numUnknown_ = 0;
  bool hasTime_ = false;
  Cost lastCost_;
};

} // namespace ptl

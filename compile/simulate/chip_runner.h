// Runs a program of the block level on the simulated chip: the host code here, its kernels by the
// simulator.
#pragma once

#include "compile/chip/chip_program.h"
#include "runtime/library.h"
#include "runtime/sim/run.h"
#include "runtime/sim/time/timer.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ptl {

/// A decision of the host code that depends on data that the caller did not give, so it was
/// assumed.
struct AssumedDecision {
  std::string place; ///< `FILE:LINE` in the program
  std::string text;  ///< `the loop runs once`
  bool operator==(const AssumedDecision &) const = default;
};

/// The settings of a run on the simulated chip.
struct ChipRun {
  rt::sim::Options options;
  int64_t groups = 0;              ///< core groups; 0: all that the chip has for a kernel
  rt::sim::Timer *timer = nullptr; ///< computes times; null: only values are computed
  bool values = true;              ///< false: only times are computed
  std::vector<const void *> known; ///< the data of arrays that have values even then
  /// Values for integers that depend on data that the caller did not give, by the names of their
  /// `let`s.
  std::map<std::string, int64_t> examples;
  /// For runs that only compute times: by number, whether the caller did not give the scalar.
  /// Kernels see the value 1 for these.
  std::vector<bool> assumedScalars;
  /// For runs that only compute times: records the decisions that depend on missing data. Branches
  /// are assumed taken, and `while` loops run once, or end where their condition first depends on
  /// data. With null such a program stops.
  std::vector<AssumedDecision> *decisions = nullptr;
};

class ChipRunner {
public:
  /// Returns null, with the reason in `error`, for kernels that the simulator cannot run.
  static std::unique_ptr<ChipRunner> create(ChipProgram program, const Machine &machine,
                                            std::string &error);

  /// Runs the program. `arrays` are the array parameters, then the outputs, row-major. `scalars`
  /// and `lengths` (dimensions in order, those of `..` first) are in the order of the entry's
  /// declaration.
  rt::Failure run(const std::vector<const PtlArray *> &arrays,
                  const std::vector<PtlScalar> &scalars, const std::vector<int64_t> &lengths,
                  const ChipRun &how);
  const std::vector<rt::sim::Kernel> &kernels() const { return kernels_; }

private:
  ChipRunner(ChipProgram program, const Machine &machine)
      : program_(std::move(program)), machine_(machine) {}

  ChipProgram program_;
  Machine machine_;
  std::vector<rt::sim::Kernel> kernels_;
  std::set<std::string> ownKernels_; ///< names of kernels that the compiler generated
};

} // namespace ptl

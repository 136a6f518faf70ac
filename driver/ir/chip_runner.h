// Runs a program of the block level on the simulated chip: the host code here, its kernels by the
// simulator.
#pragma once

#include "driver/ir/chip.h"
#include "runtime/library.h"
#include "runtime/sim/run.h"

#include <memory>
#include <string>
#include <vector>

namespace ptl {

class ChipRunner {
public:
  /// Nothing, and the reason in `error`, for kernels that the simulator does not know.
  static std::unique_ptr<ChipRunner> create(ChipProgram program, const Machine &machine,
                                            std::string &error);

  /// `arrays`: the array parameters, then the outputs, row-major. `scalars` and `lengths`
  /// (dimensions in order, those of `..` first) as the entry declares them.
  rt::Failure run(const std::vector<const PtlArray *> &arrays,
                  const std::vector<PtlScalar> &scalars, const std::vector<int64_t> &lengths,
                  const rt::sim::Options &options, int64_t groups);

private:
  ChipRunner(ChipProgram program, const Machine &machine)
      : program_(std::move(program)), machine_(machine) {}

  ChipProgram program_;
  Machine machine_;
  std::vector<rt::sim::Kernel> kernels_;
};

} // namespace ptl

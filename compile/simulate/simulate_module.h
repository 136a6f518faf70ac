// Simulates kernels written at block level on a chip, with their timing.
#pragma once

#include "machines/costs.h"
#include "machines/machine.h"
#include "runtime/sim/time/report.h"

#include <string>
#include <string_view>
#include <vector>

namespace ptl {

struct BlockSimulation {
  const Machine &machine;
  const MachineCosts &costs;
  bool warm = false;
};
/// Times the kernel of that name (empty: the only one) of a block-level module on all core groups
/// of the machine. `words` give its scalars by name. Returns an error message, or an empty string.
std::string simulateBlockModule(std::string_view text, const std::string &path,
                                const std::string &kernel, const std::vector<std::string> &words,
                                const BlockSimulation &how, rt::sim::Report &report);

} // namespace ptl

// The lines that kernels print on the simulated chip.
#pragma once

#include "runtime/sim/run.h"

#include <map>
#include <string>

namespace ptl {

/// Puts the lines of each core together from their parts, and writes them to standard output as
/// soon as they are complete. A value whose rows are divided among vector cores is printed by each
/// of them, as the part that it has.
class KernelLines {
public:
  void add(const rt::sim::Printed &printed);

private:
  /// the beginnings of lines, by block and core
  std::map<std::pair<int64_t, int32_t>, std::string> begun_;
};

} // namespace ptl

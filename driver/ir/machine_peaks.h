// What this machine can do at most, measured: what a benchmark's numbers are a share of.
#pragma once

#include "codegen/cpu/native.h"

namespace ptl {

/// Per second, of all threads of the runtime's pool together; 0: could not be measured.
struct MachinePeaks {
  double bytes = 0;       ///< read and written by a copy between arrays larger than most caches
  double flops = 0;       ///< `f32` multiply-adds that stay in registers; each counts twice
  double doubleFlops = 0; ///< likewise of `f64`
};

/// Takes some tens of milliseconds, once per process and use.
MachinePeaks measurePeaks(const cpu::Processor &processor);

} // namespace ptl

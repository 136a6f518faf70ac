// Measures the peak rates of this machine, with which benchmarks compare their numbers.
#pragma once

#include "codegen/cpu/native.h"

namespace ptl {

/// Rates per second, of all threads of the runtime's pool together; 0 if one could not be measured.
struct MachinePeaks {
  double bytes = 0;       ///< read and written by a copy between arrays larger than most caches
  double flops = 0;       ///< `f32` multiply-adds that stay in registers; each counts twice
  double doubleFlops = 0; ///< likewise of `f64`
};

/// Measures the rates, which takes some tens of milliseconds each time.
MachinePeaks measurePeaks(const cpu::Processor &processor);

} // namespace ptl

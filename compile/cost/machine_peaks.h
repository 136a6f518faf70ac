// Measures the peak rates of this machine. Benchmarks relate their results to them, and the lower
// bounds of times on this processor are computed from them.
#pragma once

#include "codegen/cpu/native.h"

#include <string>

namespace ptl {

/// Rates per second, of all threads of the runtime's pool together; 0 if one could not be measured.
struct MachinePeaks {
  double bytes = 0;      ///< read and written by a copy between arrays that exceed most caches
  double readBytes = 0;  ///< read from an array of that size
  double cacheBytes = 0; ///< like `bytes`, between arrays that fit the last-level cache
  double cacheReadBytes = 0;
  double flops = 0;       ///< `f32` multiply-adds that stay in registers; each counts twice
  double doubleFlops = 0; ///< likewise of `f64`
  double bf16Flops = 0;   ///< likewise of `bf16`, where the processor multiplies it; else of `f32`
  double halfFlops = 0;   ///< likewise of `f16`
  double pairFlops = 0;   ///< likewise of pairs of `i16`
  double byteFlops = 0;   ///< likewise of bytes: four at a time, or widened to `i16`
  int64_t cacheSize = 0;  ///< bytes of the last-level cache; 0: not known
};

/// Measures the rates, which takes some hundred milliseconds each time.
MachinePeaks measurePeaks(const cpu::Processor &processor);

/// The rates of the processor that this process runs on; measured at the first call.
const MachinePeaks &hostPeaks();

/// `this machine: 18.2 GB/s of memory, …`; empty if they could not be measured.
std::string peaksText(const MachinePeaks &peaks);

} // namespace ptl

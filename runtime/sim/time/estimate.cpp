#include "runtime/sim/time/report.h"

#include <algorithm>

namespace ptl::rt::sim {

Estimate extrapolate(const Timeline &some, Timeline longer, int64_t few, int64_t more) {
  Estimate result;
  result.clockMhz = longer.clockMhz;
  result.cycles = longer.end;
  size_t launches = std::min(some.launches.size(), longer.launches.size());
  for (size_t i = 0; i < launches; ++i) {
    const LaunchSpan &a = some.launches[i], &b = longer.launches[i];
    Cycles round = ((b.end - b.begun) - (a.end - a.begun)) / static_cast<double>(more - few);
    result.cycles += std::max(0.0, round) * static_cast<double>(b.skipped);
  }
  Analysis analysis = analyse(longer, 0);
  result.bound = describeBound(analysis);
  result.part = std::move(longer);
  return result;
}

} // namespace ptl::rt::sim

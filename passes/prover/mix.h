// The hash function of the prover.
#pragma once

#include "passes/prover/tiles.h"

namespace ptl::prove {

inline uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9E3779B97F4A7C15ull + (a << 6) + (a >> 2))) * 0xD6E8FEB86659FD93ull;
  return x ^ (x >> 32);
}

uint64_t hashOf(const GlobalBox &box);

} // namespace ptl::prove

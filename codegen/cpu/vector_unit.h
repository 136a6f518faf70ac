// What the vector registers of a processor are and can do, as far as the lowering chooses code by it.
#pragma once

#include <cstdint>

namespace ptl::cpu {

/// Lines of the caches of all processors that have stores past them.
inline constexpr int64_t kLineBytes = 64;

struct VectorUnit {
  int bytes = 16; ///< width of the widest registers
  /// x * 2^n in one instruction, for any n, rounded once (`vscalef` of AVX-512).
  bool scalesByPowers = false;
  /// f32 += pairs of bf16 products (`vdpbf16ps` of AVX-512 BF16).
  bool bf16Pairs = false;
  /// i32 += pairs of i16 products (`vpdpwssd` of AVX-512 VNNI).
  bool i16Pairs = false;
  /// Registers so wide are multiplied as pairs of i16 whose sums are i32 (`pmaddwd`); 0: none are.
  int i16PairBytes = 0;

  bool operator==(const VectorUnit &) const = default;
};

} // namespace ptl::cpu

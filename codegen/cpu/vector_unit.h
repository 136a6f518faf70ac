// What the vector registers of a processor are and can do, as far as the lowering chooses code by it.
#pragma once

#include <cstdint>

namespace ptl::cpu {

/// Lines of the caches of all processors that have stores past them.
inline constexpr int64_t kLineBytes = 64;

/// Registers of matrices, 16 rows of 64 bytes, and what they multiply onto matrices of 32 bits (AMX).
struct MatrixUnit {
  bool bytes = false; ///< four bytes a time, each with or without a sign (`tdpbssd` and its like)
  bool bf16 = false;  ///< pairs (`tdpbf16ps`)
  bool f16 = false;   ///< likewise (`tdpfp16ps`)
  /// Functions stand for the instructions, so that their use can be tested where there are none: `ptl_emulated_NAME` for the intrinsic
  /// `llvm.x86.NAME`, with its operands.
  bool isEmulated = false;

  bool operator==(const MatrixUnit &) const = default;
};

struct VectorUnit {
  int bytes = 16; ///< width of the widest registers
  /// x * 2^n in one instruction, for any n, rounded once (`vscalef` of AVX-512).
  bool scalesByPowers = false;
  /// f32 += pairs of bf16 products (`vdpbf16ps` of AVX-512 BF16).
  bool bf16Pairs = false;
  /// Of registers so wide, i32 += four products of a u8 and an i8 (`vpdpbusd` of VNNI); 0: of none.
  int byteDotBytes = 0;
  /// Of registers so wide, i32 += pairs of i16 products (`vpdpwssd` of VNNI); 0: of none.
  int i16DotBytes = 0;
  /// Registers so wide are multiplied as pairs of i16 whose sums are i32 (`pmaddwd`); 0: none are.
  int i16PairBytes = 0;
  MatrixUnit matrices;

  bool operator==(const VectorUnit &) const = default;
};

} // namespace ptl::cpu

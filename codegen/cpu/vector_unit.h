// The vector registers of a processor and those of its instructions by which the lowering chooses
// code.
#pragma once

#include <cstdint>

namespace ptl::cpu {

/// The size of a cache line of every processor that has streamed stores.
inline constexpr int64_t kLineBytes = 64;

/// Matrix registers of 16 rows of 64 bytes (AMX), and the element types that can be multiplied into
/// sums of 32 bits.
struct MatrixUnit {
  bool bytes = false; ///< four bytes at a time, each signed or unsigned (`tdpbssd` and the like)
  bool bf16 = false;  ///< pairs (`tdpbf16ps`)
  bool f16 = false;   ///< likewise (`tdpfp16ps`)
  /// Calls of functions replace the instructions, so that their use can be tested on processors
  /// that lack them: `ptl_emulated_NAME` for the intrinsic `llvm.x86.NAME`, with its operands.
  bool isEmulated = false;

  bool operator==(const MatrixUnit &) const = default;
};

struct VectorUnit {
  int bytes = 16; ///< width of the widest registers
  /// x * 2^n in one instruction, for any n, rounded once (`vscalef` of AVX-512).
  bool scalesByPowers = false;
  /// f32 += pairs of bf16 products (`vdpbf16ps` of AVX-512 BF16).
  bool bf16Pairs = false;
  /// The widest registers in bytes for which there is: i32 += four products of a u8 and an i8
  /// (`vpdpbusd` of VNNI); 0 if there are none.
  int byteDotBytes = 0;
  /// The widest registers in bytes for which there is: i32 += two products of i16 (`vpdpwssd` of
  /// VNNI); 0 if there are none.
  int i16DotBytes = 0;
  /// The widest registers in bytes that can be multiplied as pairs of i16 whose sums are i32
  /// (`pmaddwd`); 0 if there are none.
  int i16PairBytes = 0;
  /// A gather takes less time than as many loads of one element do.
  bool gathersFast = false;
  MatrixUnit matrices;

  bool operator==(const VectorUnit &) const = default;
};

} // namespace ptl::cpu

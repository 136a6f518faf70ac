// Numbers in programs by which the compiler multiplies its work. Larger numbers are errors, so that
// the time and memory of a compilation are bounded by the length of the source (docs/language.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ptl {

/// The iterations of a loop in flight: each holds copies of its tiles.
inline constexpr int64_t kMostPipelineDepth = 64;
/// The copies of a loop's body that `unroll` makes.
inline constexpr int64_t kMostUnroll = 1024;
/// The statements and expressions that may be created in addition to those of the source, by
/// expanding static loops and calls.
inline constexpr size_t kMostWrittenOut = 200'000;

} // namespace ptl

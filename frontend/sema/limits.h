// Counts that programs say and the compiler multiplies by. What goes beyond is an error, so that
// compiling takes a time and a memory that the length of the source decides (docs/language.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ptl {

/// Iterations of a loop in flight: each holds copies of its tiles.
inline constexpr int64_t kMostPipelineDepth = 64;
/// Copies of a loop's body by `unroll`.
inline constexpr int64_t kMostUnroll = 1024;
/// Statements and expressions that may be built beyond those of the source, by writing out static
/// loops and calls.
inline constexpr size_t kMostWrittenOut = 200'000;

} // namespace ptl

// Conversions of `f16` that LLVM calls on processors without instructions for them.
#pragma once

#include "runtime/include/ptl.h"

// For processors of x86-64 before F16C (x86-64-v3 has it). The compiler defines the names and
// semantics; its own library has these functions, too, but with hidden visibility, so that neither
// JIT code nor compiled libraries would find them.
#if defined(__x86_64__)
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the compiler calls them by these names
PTL_API float __extendhfsf2(_Float16 value);
/// These two round to nearest, ties to even; NaNs stay NaNs.
PTL_API _Float16 __truncsfhf2(float value);
PTL_API _Float16 __truncdfhf2(double value);
// NOLINTEND(bugprone-reserved-identifier)
}
#endif

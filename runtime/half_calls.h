// Conversions of `f16` that LLVM calls where a processor has no instructions for them.
#pragma once

#include "runtime/include/ptl.h"

// Processors of x86-64 before F16C (x86-64-v3 has it). The names and what they mean are the compiler's; its own library has them,
// too, but hides them, so that neither code in memory nor compiled libraries would find them.
#if defined(__x86_64__)
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the compiler calls them by these names
PTL_API float __extendhfsf2(_Float16 value);
/// These two round to the nearest, and to the even one of two; NaNs stay NaNs.
PTL_API _Float16 __truncsfhf2(float value);
PTL_API _Float16 __truncdfhf2(double value);
// NOLINTEND(bugprone-reserved-identifier)
}
#endif

// Tests the claim `where associative` of a `fn` on special and random values.
#pragma once

#include "codegen/reference/test_runner.h"

namespace ptl::reference {

/// The failures for the smallest values found for which `f(f(a, b), c)` differs from `f(a, f(b,
/// c))` by more than rounding; empty if none were found. Generic element types are tried as `f32`,
/// or as `i32` if only integers are accepted.
std::vector<TestFailure> tryAssociativity(const CheckedProgram &program,
                                          const SourceManager &sources, const CallableDecl &decl,
                                          uint64_t seed, Observer *observer = nullptr);

} // namespace ptl::reference

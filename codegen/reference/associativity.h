// Tries what `where associative` says of a `fn`: on values drawn from those that matter and at
// random.
#pragma once

#include "codegen/reference/test_runner.h"

namespace ptl::reference {

/// The failures of the smallest values found for which `f(f(a, b), c)` is not `f(a, f(b, c))`,
/// apart from rounding; empty: none was found. Generic element types are tried as `f32`, or `i32`
/// where only integers are taken.
std::vector<TestFailure> tryAssociativity(const CheckedProgram &program,
                                          const SourceManager &sources, const CallableDecl &decl,
                                          uint64_t seed);

} // namespace ptl::reference

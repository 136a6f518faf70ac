// Compares the results of two executors, with tolerance for rounding.
#pragma once

#include "codegen/reference/value.h"

#include <string>

namespace ptl::reference {

/// How close results have to be.
struct Agreement {
  /// The shortest float type that took part in the computation; it determines the tolerance. Errors
  /// may be relative to a tenth of the largest magnitude of the result.
  ElemKind shortest = ElemKind::F64;
  double scale = 0;        ///< a magnitude that errors may be relative to in any case
  bool hasRounded = false; ///< floats may have been rounded to short integers: these differ by one
};

/// The first place where `actual` differs from `expected`, as `element [1, 2] is 3, not 4`; empty
/// if there is none.
std::string firstDifference(const RefArray &expected, const RefArray &actual,
                            const Agreement &agreement);

} // namespace ptl::reference

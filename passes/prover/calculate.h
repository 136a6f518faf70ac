// Calculates with known numbers.
#pragma once

#include "passes/prover/trace.h"

namespace ptl::prove {

Scalar calculate(const Step &step, const Scalar *a, const Scalar *b, const Scalar *c);

} // namespace ptl::prove

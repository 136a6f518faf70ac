// The scalar unit's arithmetic: that of ir/ops/evaluate_arith.h, on the simulator's scalars.
#pragma once

#include "runtime/sim/program.h"

#include <string>

namespace ptl::rt::sim {

/// Evaluates a `Compute` step for its operands `values`. If there is no value (a division by zero),
/// returns false, with the reason in `error`.
bool evaluate(const Step &step, const Scalar *values, Scalar &result, std::string &error);

/// Converts an element in memory to a scalar, and back; rounds and wraps.
Scalar loadScalar(const uint8_t *memory, ElemKind kind);
void storeScalar(uint8_t *memory, ElemKind kind, Scalar value);

} // namespace ptl::rt::sim

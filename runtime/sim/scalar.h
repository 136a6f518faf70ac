// The scalar unit's arithmetic: that of ir/ops/evaluate_arith.h on the simulator's scalars.
#pragma once

#include "runtime/sim/program.h"

#include <string>

namespace ptl::rt::sim {

/// The value of a `Compute` step. `values` are its operands. Says in `error` what has no value (a
/// division by zero) and returns false.
bool evaluate(const Step &step, const Scalar *values, Scalar &result, std::string &error);

/// An element in memory as a scalar, and back; rounds and wraps.
Scalar loadScalar(const uint8_t *memory, ElemKind kind);
void storeScalar(uint8_t *memory, ElemKind kind, Scalar value);

} // namespace ptl::rt::sim

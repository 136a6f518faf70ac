// Arithmetic of scalars: what MLIR's own operations mean, stated and computed once for whoever runs
// or counts code: the simulator's scalar unit, the host that runs programs of chips, and what
// counts the work of an entry. The prover has arithmetic of its own on purpose: it judges the code
// independently. The rows, and how they are spelled in C++ and in PTL, stand in arith_ops.def.
//
// Scalars are held as `Scalar` says: floats in `f`, all others in `i`, sign-extended, unsigned types
// and truth values zero-extended. A position (`index`) is an integer of 64 bits.
//
// Integers. What is added, subtracted, multiplied, negated or shifted wraps to the width of the
// result. Whether operands count as signed is up to the operation, not to their type: `divui`,
// `remui`, `ceildivui`, `minui`, `maxui`, `shrui`, `extui`, `index_castui` and `uitofp` see the bits
// of the first operand's type zero-extended. `divsi` truncates towards zero, `floordivsi` rounds
// down and `ceildivsi` up; the smallest number divided by -1 wraps to itself, and its remainder is
// 0. A division by zero has no value. A count below 0, or of at least the width, shifts
// everything out: 0, or -1 by `shrsi` of a negative number. `extsi` of a truth value is 0 or -1.
//
// Floats. Sums, products, quotients and functions are computed in double precision and rounded to
// the type of the result once, to nearest, ties to even; `remf` has the sign of its first operand.
// `maximumf` and `minimumf` are NaN if an operand is; `maxnumf` and `minnumf` then are the other one.
// Of zeros of both signs the two former give the second operand.
//
// Conversions. Integers to floats round to nearest once. Floats to integers truncate and saturate at
// the ends of the result's type, which `fptoui` takes without sign, and NaN gives 0. `bitcast` keeps the bits. Comparisons give 0 or 1 by
// the predicate's number in MLIR; `ult` and its like see bits zero-extended.
#pragma once

#include "frontend/base/elem_convert.h"
#include "ir/ops/arith_op.h"

#include <optional>
#include <span>

namespace ptl {

/// An operation with the types that it is used with.
struct ArithUse {
  ArithOp op{};
  ElemKind type = ElemKind::I64;        ///< of the result
  ElemKind operandType = ElemKind::I64; ///< of the first operand
  uint8_t predicate = 0;                ///< of comparisons, as in MLIR
};

/// Its value, of as many operands as it takes; none for a division by zero.
std::optional<Scalar> evaluate(const ArithUse &use, std::span<const Scalar> operands);

} // namespace ptl

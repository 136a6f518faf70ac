// Arithmetic of scalars: the semantics of MLIR's own operations, defined and computed in one place
// for everything that runs or counts code: the simulator's scalar unit, the host that runs programs
// of chips, and the count of an entry's work. The prover deliberately has an arithmetic of its own,
// because it checks the code independently. The rows, with their spellings in C++ and in PTL, are
// in arith_ops.def.
//
// Scalars are represented as in `Scalar`: floats in `f`, all others in `i`, sign-extended;
// unsigned types and booleans zero-extended. A position (`index`) is an integer of 64 bits.
//
// Integers. Sums, differences, products, negations and shifts wrap to the width of the result.
// Whether operands count as signed depends on the operation, not on their type: `divui`, `remui`,
// `ceildivui`, `minui`, `maxui`, `shrui`, `extui`, `index_castui` and `uitofp` use the bits of the
// first operand's type, zero-extended. `divsi` truncates towards zero, `floordivsi` rounds down and
// `ceildivsi` up; the smallest integer divided by -1 wraps to itself, with the remainder 0. A
// division by zero has no value. A shift count below 0, or of at least the width, shifts everything
// out: 0, or -1 for `shrsi` of a negative number. `extsi` of a boolean is 0 or -1.
//
// Floats. Sums, products, quotients and functions are computed in double precision and rounded
// once to the type of the result, to nearest, ties to even; `remf` has the sign of its first
// operand. `maximumf` and `minimumf` are NaN if an operand is; `maxnumf` and `minnumf` are then the
// other operand. For zeros of both signs the two former give the second operand.
//
// Conversions. Integers are rounded once to the nearest float. Floats are truncated to integers
// and saturate at the ends of the result's type (for `fptoui` the unsigned one), and NaN gives 0.
// `bitcast` keeps the bits. Comparisons give 0 or 1, by MLIR's number of the predicate; `ult` and
// the like compare zero-extended bits.
#pragma once

#include "frontend/base/elem_convert.h"
#include "ir/ops/arith_op.h"

#include <optional>
#include <span>

namespace ptl {

/// An operation with the types of one use.
struct ArithUse {
  ArithOp op{};
  ElemKind type = ElemKind::I64;        ///< of the result
  ElemKind operandType = ElemKind::I64; ///< of the first operand
  uint8_t predicate = 0;                ///< of comparisons, as in MLIR
};

/// The value of the operation for its operands; nothing for a division by zero.
std::optional<Scalar> evaluate(const ArithUse &use, std::span<const Scalar> operands);

} // namespace ptl

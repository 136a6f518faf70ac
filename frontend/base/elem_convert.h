// Values of every element type on the host: rounding, conversion, and their storage format. The
// code favours evident correctness over speed: all rounding goes through one exact routine.
#pragma once

#include "frontend/base/elem_type.h"
#include "frontend/base/round_mode.h"

namespace ptl {

/// A scalar of any element type. Floats are held in `f`, exactly; all others in `i`: signed types,
/// `int` and `bool` as their value, unsigned types zero-extended (`u64` as its bit pattern).
struct Scalar {
  double f = 0;
  int64_t i = 0;

  static Scalar real(double value) { return {value, 0}; }
  static Scalar integer(int64_t value) { return {0, value}; }
  static Scalar boolean(bool value) { return {0, value ? 1 : 0}; }
};

/// The bits of `value` rounded to the float type `kind`. Beyond the range the 16-bit and larger
/// types follow IEEE 754 (infinity, or the largest number where the mode points inward); 8-bit
/// floats saturate. Infinity stays where the type has it, and NaN stays NaN.
uint64_t encodeFloat(double value, ElemKind kind, RoundMode mode = RoundMode::Even);
/// The value of such bits; exact.
double decodeFloat(uint64_t bits, ElemKind kind);
/// `value` rounded to what `kind` can hold.
double roundFloat(double value, ElemKind kind, RoundMode mode = RoundMode::Even);
/// The conversion to a float type: like `roundFloat`, but 8-bit floats saturate for infinity, too.
double convertFloat(double value, ElemKind to, RoundMode mode = RoundMode::Even);
/// The whole number that `value` is rounded to.
double roundedToWhole(double value, RoundMode mode);

/// `value` modulo the width of the integer type `kind` (any two's complement pattern in, a
/// `Scalar::i` out).
int64_t wrapInteger(uint64_t value, ElemKind kind);
/// The smallest and the largest value, as `Scalar::i`.
int64_t smallestInteger(ElemKind kind);
int64_t largestInteger(ElemKind kind);

/// Rounds floats to `kind` and wraps integers; every operation applies this to its result.
Scalar roundScalar(Scalar value, ElemKind kind);

/// The conversion `to(x, round: mode, saturate: saturate)`. Float to integer saturates whatever
/// `saturate` says, and NaN gives 0; integer to integer wraps unless `saturate`; to `bool` is "not
/// zero". Rounds once.
Scalar convertScalar(Scalar value, ElemKind from, ElemKind to, RoundMode mode = RoundMode::Even,
                     bool saturate = false);
/// The same bits as another type of equal width.
Scalar bitcastScalar(Scalar value, ElemKind from, ElemKind to);

/// Reads and writes one element in memory (`elemBytes(kind)` bytes, host byte order, no alignment
/// needed).
Scalar loadElem(const void *memory, ElemKind kind);
void storeElem(void *memory, ElemKind kind, Scalar value);

} // namespace ptl

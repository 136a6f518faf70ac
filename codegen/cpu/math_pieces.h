// What several elementary functions are made of: polynomials, powers of two, and the exponential and
// the logarithm in double precision, by which functions of `f32` have their last bit.
#pragma once

#include "codegen/cpu/emit.h"

#include <array>
#include <limits>

namespace ptl::cpu {

inline constexpr double Infinity = std::numeric_limits<double>::infinity();
inline constexpr double Log2E = 1.44269504088896340735992468100189214;
inline constexpr double Ln2 = 0.693147180559945309417232121458176568;
// ln 2 in two parts; the first has 15 bits, so that its product with an exponent is exact.
inline constexpr double Ln2High = 0.693359375;
inline constexpr double Ln2Low = Ln2 - Ln2High;

/// Whether `x` is an `f64` or a vector of them.
inline bool isF64(mlir::Value x) { return scalarOf(x.getType()).isF64(); }

/// The polynomial with the coefficients `c`, constant term first, at `x`, by fused steps.
mlir::Value polynomial(const Emit &e, mlir::Value x, llvm::ArrayRef<double> c);

/// x + x^2 * P(x), `c` the coefficients of P, constant term first, and `x2` the square of x.
mlir::Value tailInPairs(const Emit &e, mlir::Value x, mlir::Value x2, llvm::ArrayRef<double> c);

/// An arithmetic shift to the right.
mlir::Value shiftSigned(const Emit &e, mlir::Value x, int64_t amount);

/// x = rounded + rest with |rest| <= 1/2, `bits` the integer value of `rounded` (i32 or i64 as wide
/// as x). Valid for |x| < 2^22 in `f32` and 2^51 in `f64`; other x (NaN too) give unspecified
/// numbers, never undefined behaviour.
struct Rounded {
  mlir::Value value, bits;
};

/// Rounds x * scale to a whole number.
Rounded roundToInteger(const Emit &e, mlir::Value x, double scale);

/// 2^exponent, as a float of the width of the integer `exponent`, whose result must be normal.
mlir::Value powerOfTwo(const Emit &e, mlir::Value exponent);

/// `x` between `low` and `high`, with NaN passing through.
mlir::Value clamp(const Emit &e, mlir::Value x, double low, double high);

/// 2^x for an `f64` with |x| < 1000, relative error below 2^-36.
mlir::Value exp2Wide(const Emit &e, mlir::Value x);

/// log(x) * scale for a normal, positive and finite `f64`, relative error below 2^-40.
mlir::Value logWide(const Emit &e, mlir::Value x, double scale);

/// Returns `result`, the value of a logarithm by a formula, where the formula holds, and otherwise
/// what the logarithm is at `zeroAt`, below that, at infinity and NaN.
mlir::Value logEdges(const Emit &e, mlir::Value x, mlir::Value result, double zeroAt = 0.0);

/// A number of twice the precision of its type, as a sum of two.
struct TwoParts {
  mlir::Value high, low;
};
/// x + y exactly, where |x| is not less than |y|, or x is 0.
TwoParts sumInParts(const Emit &e, mlir::Value x, mlir::Value y);
/// x * y exactly; of numbers in parts, but for what lies below the second part.
TwoParts productInParts(const Emit &e, mlir::Value x, mlir::Value y);
TwoParts productInParts(const Emit &e, TwoParts x, TwoParts y);

/// `result`, unless `rare` holds for a lane: then all lanes take the other way.
mlir::Value unlessAny(const Emit &e, mlir::Value rare, mlir::Value result,
                      llvm::function_ref<mlir::Value(const Emit &)> otherwise);

// --- tables in registers, for vectors of 16 floats

/// Whether the processor scales by powers of two and permutes lanes by a vector, and `x` is such a vector.
bool hasTables(const Emit &e, mlir::Value x);

/// One of 16 numbers for each lane, by the four lowest of its bits.
mlir::Value fromTable(const Emit &e, mlir::Type type, llvm::ArrayRef<float> table,
                      mlir::Value bits);

/// Adding 1.5 * 2^19 rounds to sixteenths.
inline constexpr double SixteenthShift = 786432.0;

/// 2^(j/16) as a float for each j, or what that lacks.
std::array<float, 16> powersOfTwo(bool rests);

/// value * 2^exponent, `exponent` a vector of 16 floats that are rounded down, by the instruction for it.
mlir::Value scaleAtOnce(const Emit &e, mlir::Value value, mlir::Value exponent);

/// The logarithm of `x` to the base 2^(1 / ofTwo), and log(1 + x), both within 2 ulp.
mlir::Value emitLogByTable(const Emit &e, mlir::Value x, double ofTwo);
mlir::Value emitLog1pByTable(const Emit &e, mlir::Value x);

} // namespace ptl::cpu

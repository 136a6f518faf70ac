// Numbers that host code computes, as sums: what can be said of lengths and positions without their values.
#pragma once

#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// `constant` and a multiple of each of some integers, no two of which are the same value and no multiple of which is 0.
struct Linear {
  int64_t constant = 0;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>, 2> terms;

  bool isConstant() const { return terms.empty(); }
  bool operator==(const Linear &other) const { return minus(other).isZero(); }
  bool isZero() const { return terms.empty() && constant == 0; }
  /// This and `times` the other one.
  Linear plus(const Linear &other, int64_t times = 1) const;
  Linear plus(int64_t number) const;
  Linear minus(const Linear &other) const { return plus(other, -1); }
  Linear times(int64_t factor) const { return Linear{}.plus(*this, factor); }
};

/// A scalar integer as a sum of what its arithmetic has no closer look at. The arithmetic is taken to be that of whole numbers: who asks makes
/// sure that nothing wraps.
Linear linearOf(mlir::Value number);

/// The number as an `index`, computed where the builder is.
mlir::Value valueOf(mlir::OpBuilder &builder, mlir::Location loc, const Linear &number);

/// Whether an integer is a length, which is at least 0: a dimension of the program, the length of an array, or a part of one, `N / 2`.
bool isLength(mlir::Value number);

/// Whether the number is at least 0 whatever its lengths are.
bool isNeverNegative(const Linear &number);

/// The number where lengths are large and other integers are small: how lengths mostly are.
int64_t usually(const Linear &number);

/// Whether numbers are all at least 0, computed where the builder is; null where there are none.
mlir::Value holds(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<Linear> needed);

} // namespace ptl::ir

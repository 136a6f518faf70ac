// Elementary functions as straight-line code on scalars and vectors. `f32` results are within 2
// units in the last place (ulp) over the whole range, including subnormal numbers, infinities and
// NaN. `f64` is within 3 ulp where there is code for it (math_double.h), and else calls the C library
// for each lane.
#pragma once

#include "codegen/cpu/emit.h"

namespace ptl::cpu {

mlir::Value emitExp(const Emit &e, mlir::Value x);
/// Like `emitExp`, for x that is not above 0, or NaN. It takes fewer steps, since only tiny results
/// need scaling in two steps.
mlir::Value emitExpUpTo1(const Emit &e, mlir::Value x);
/// exp(x) / 2, which is finite a little beyond where exp(x) is, for x from -100 on, or NaN.
mlir::Value emitHalfExp(const Emit &e, mlir::Value x);
mlir::Value emitExp2(const Emit &e, mlir::Value x);
mlir::Value emitExpm1(const Emit &e, mlir::Value x);
mlir::Value emitLog(const Emit &e, mlir::Value x);
mlir::Value emitLog2(const Emit &e, mlir::Value x);
mlir::Value emitLog10(const Emit &e, mlir::Value x);
mlir::Value emitLog1p(const Emit &e, mlir::Value x);
mlir::Value emitTanh(const Emit &e, mlir::Value x);
mlir::Value emitErf(const Emit &e, mlir::Value x);
mlir::Value emitErfc(const Emit &e, mlir::Value x);
mlir::Value emitSigmoid(const Emit &e, mlir::Value x);
mlir::Value emitSin(const Emit &e, mlir::Value x);
mlir::Value emitCos(const Emit &e, mlir::Value x);
mlir::Value emitTan(const Emit &e, mlir::Value x);
mlir::Value emitRsqrt(const Emit &e, mlir::Value x);
mlir::Value emitPow(const Emit &e, mlir::Value x, mlir::Value y);

/// What is left of x after subtracting whole multiples of y, with the sign of x: exact.
mlir::Value emitFmod(const Emit &e, mlir::Value x, mlir::Value y);

/// Calls the C library's function of this name (`erfc`, `log10` …) for each lane: for functions that
/// are rarely performance-critical.
mlir::Value emitLibm(const Emit &e, llvm::StringRef name, mlir::ValueRange operands);

} // namespace ptl::cpu

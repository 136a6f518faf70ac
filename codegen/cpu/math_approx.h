// Elementary functions as straight-line code on scalars and vectors. `f32` results are within 2
// units in the last place over the whole range, subnormal numbers, infinities and NaN included.
// `f64` calls the C library per lane.
#pragma once

#include "codegen/cpu/emit.h"

namespace ptl::cpu {

mlir::Value emitExp(const Emit &e, mlir::Value x);
/// The same for x that is not above 0, or NaN: fewer steps, since only small results need two.
mlir::Value emitExpUpTo1(const Emit &e, mlir::Value x);
mlir::Value emitExp2(const Emit &e, mlir::Value x);
mlir::Value emitExpm1(const Emit &e, mlir::Value x);
mlir::Value emitLog(const Emit &e, mlir::Value x);
mlir::Value emitLog2(const Emit &e, mlir::Value x);
mlir::Value emitLog10(const Emit &e, mlir::Value x);
mlir::Value emitLog1p(const Emit &e, mlir::Value x);
mlir::Value emitTanh(const Emit &e, mlir::Value x);
mlir::Value emitErf(const Emit &e, mlir::Value x);
mlir::Value emitSigmoid(const Emit &e, mlir::Value x);
mlir::Value emitSin(const Emit &e, mlir::Value x);
mlir::Value emitCos(const Emit &e, mlir::Value x);
mlir::Value emitTan(const Emit &e, mlir::Value x);
mlir::Value emitRsqrt(const Emit &e, mlir::Value x);
mlir::Value emitPow(const Emit &e, mlir::Value x, mlir::Value y);

/// Calls the C library's function of this name (`atan`, `cbrt` …) for each lane. It is for
/// functions that are rarely hot.
mlir::Value emitLibm(const Emit &e, llvm::StringRef name, mlir::ValueRange operands);

} // namespace ptl::cpu

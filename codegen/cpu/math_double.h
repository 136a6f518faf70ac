// Elementary functions of `f64` as straight-line code, within 3 units in the last place over the
// whole range; only sines, cosines and tangents of huge arguments call the C library.
#pragma once

#include "codegen/cpu/emit.h"

namespace ptl::cpu {

mlir::Value emitExpF64(const Emit &e, mlir::Value x);
/// exp(x) / 2, which is finite a little beyond where exp(x) is.
mlir::Value emitHalfExpF64(const Emit &e, mlir::Value x);
mlir::Value emitExp2F64(const Emit &e, mlir::Value x);
mlir::Value emitExpm1F64(const Emit &e, mlir::Value x);
mlir::Value emitLogF64(const Emit &e, mlir::Value x);
mlir::Value emitLog2F64(const Emit &e, mlir::Value x);
mlir::Value emitLog10F64(const Emit &e, mlir::Value x);
mlir::Value emitLog1pF64(const Emit &e, mlir::Value x);
/// |x|^y for any y that is a number; where |x| is 0 or infinite, too.
mlir::Value emitPowF64(const Emit &e, mlir::Value magnitude, mlir::Value y);
/// The sine of `x` plus `quarterTurns` times pi/2, for |x| < 2^25.
mlir::Value emitSineF64(const Emit &e, mlir::Value x, int64_t quarterTurns);
/// The tangent, for |x| < 2^25.
mlir::Value emitTangentF64(const Emit &e, mlir::Value x);
mlir::Value emitErfF64(const Emit &e, mlir::Value x);
mlir::Value emitErfcF64(const Emit &e, mlir::Value x);

} // namespace ptl::cpu

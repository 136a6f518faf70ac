// Inverse trigonometric and hyperbolic functions, and hyperbolic ones, as straight-line code on
// scalars and vectors of `f32` and `f64`, within 2 units in the last place of `f32` and 3 of `f64`.
#pragma once

#include "codegen/cpu/emit.h"

namespace ptl::cpu {

mlir::Value emitAsin(const Emit &e, mlir::Value x);
mlir::Value emitAcos(const Emit &e, mlir::Value x);
mlir::Value emitAtan(const Emit &e, mlir::Value x);
/// The angle of the point (x, y), with the signs of zeros as in C.
mlir::Value emitAtan2(const Emit &e, mlir::Value y, mlir::Value x);
mlir::Value emitSinh(const Emit &e, mlir::Value x);
mlir::Value emitCosh(const Emit &e, mlir::Value x);
mlir::Value emitAsinh(const Emit &e, mlir::Value x);
mlir::Value emitAcosh(const Emit &e, mlir::Value x);
mlir::Value emitAtanh(const Emit &e, mlir::Value x);

} // namespace ptl::cpu

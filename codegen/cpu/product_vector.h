// Products of a matrix and a vector.
#pragma once

#include "codegen/cpu/product_plan.h"

namespace ptl::cpu {

/// (c, cStep, m, rowStride, x, count, depth, fresh): c[i * cStep] = or += sum over k of m[i * rowStride + k] * x[k], for i below
/// `count`: rows times a vector, all read once. `matrix` and `vector` are logical element types.
mlir::func::FuncOp dotsFunction(const Emit &e, const ProductPlan &p, mlir::Type matrix,
                                mlir::Type vector);
/// (c, m, rowStride, x, xStep, count, depth, fresh): c[j] = or += sum over k of x[k * xStep] * m[k * rowStride + j], for j below
/// `count`: a vector times rows.
mlir::func::FuncOp combinationFunction(const Emit &e, const ProductPlan &p, mlir::Type matrix,
                                       mlir::Type vector);

} // namespace ptl::cpu

// Builds built-ins on scalars whose records are about arrays.
#ifndef PTL_IR_BUILD_SCALAR_FORMS_H
#define PTL_IR_BUILD_SCALAR_FORMS_H

#include "ir/ops/op_table.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace ptl::ir {

/// A built-in as the builder has read it, before its operation is made.
struct BuiltinParts {
  OpId op;
  mlir::Location loc;
  llvm::ArrayRef<mlir::Value> operands; ///< values first, then the lengths of the result
  llvm::StringRef equation;             ///< of `einsum`
  mlir::Type result;
};

/// A record whose signature says `T[?]` takes a scalar as an array without axes: `reshape(s, [1])`,
/// `broadcast(s, [M, N])`, `reshape(x[0:1], [])`, `einsum(",i->i", s, x)`. Operations on arrays
/// have an array on both sides, so that no pass and no target has to know this case: what only
/// shapes a scalar is the scalar or a `full`, what shapes an array to a scalar takes its element,
/// and a scalar in an `einsum` multiplies the sum of the rest. Nothing is returned where the
/// built-in needs no such form.
std::optional<mlir::Value> buildScalarForm(mlir::OpBuilder &b, const BuiltinParts &parts);

} // namespace ptl::ir

#endif

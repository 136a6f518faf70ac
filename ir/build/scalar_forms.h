// Builds built-ins on scalars whose records take arrays.
#ifndef PTL_IR_BUILD_SCALAR_FORMS_H
#define PTL_IR_BUILD_SCALAR_FORMS_H

#include "ir/ops/op_table.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace ptl::ir {

/// A built-in with its arguments evaluated, before its operation is created.
struct BuiltinParts {
  OpId op;
  mlir::Location loc;
  llvm::ArrayRef<mlir::Value> operands; ///< values first, then the lengths of the result
  llvm::StringRef equation;             ///< of `einsum`
  mlir::Type result;
};

/// A record whose signature has `T[?]` accepts a scalar as an array without axes: `reshape(s,
/// [1])`, `broadcast(s, [M, N])`, `reshape(x[0:1], [])`, `einsum(",i->i", s, x)`. Operations on
/// arrays have arrays on both sides, so that no pass and no target has to handle this case:
/// reshaping a scalar gives the scalar or a `full`, reshaping an array to a scalar reads its
/// element, and a scalar in an `einsum` multiplies the sum of the rest. Returns nothing if the
/// built-in needs no such form.
std::optional<mlir::Value> buildScalarForm(mlir::OpBuilder &b, const BuiltinParts &parts);

} // namespace ptl::ir

#endif

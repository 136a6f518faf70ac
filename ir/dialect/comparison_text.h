// The spelling of comparisons, which is the same in C++ and in the language.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ptl::ir {

/// `<` and the like; signedness is a matter of the types, or of `isUnsigned`.
llvm::StringRef comparisonText(mlir::arith::CmpIPredicate predicate);
bool isUnsigned(mlir::arith::CmpIPredicate predicate);
/// `<` and the like, regardless of the result for NaN. A test for NaN compares a number with
/// itself.
llvm::StringRef comparisonText(mlir::arith::CmpFPredicate predicate);

} // namespace ptl::ir

// How comparisons are written: in C++ as in the language.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ptl::ir {

/// `<`; whether numbers have a sign is said by their types, or by `isUnsigned`.
llvm::StringRef comparisonText(mlir::arith::CmpIPredicate predicate);
bool isUnsigned(mlir::arith::CmpIPredicate predicate);
/// `<`; what NaN compares as is not said. Whether a number is NaN is asked of it and itself.
llvm::StringRef comparisonText(mlir::arith::CmpFPredicate predicate);

} // namespace ptl::ir

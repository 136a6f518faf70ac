// Folds with a function of the program: calls of `scan` and `reduce`, and the functions as declarations.
#pragma once

#include "codegen/source/body_code.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::source {

/// Declares the functions with which an entry folds, alike ones once, and names them. Returns the declarations.
std::string declareFolds(mlir::func::FuncOp function, const std::string &entry,
                         Unwritable unwritable);
/// The names that these declarations have.
llvm::SmallVector<std::string> foldNames(mlir::func::FuncOp function);

/// Whether an operation is a fold of several arrays, whose value is a tuple.
bool givesTuple(mlir::Operation *op);
/// A fold as a call of `scan` or `reduce`. To be called when its function has a name.
std::string foldText(BodyCode &code, mlir::Operation *fold);
/// Prints a fold of several arrays as a `let` of a tuple.
void printTupleFold(BodyCode &code, mlir::Operation *fold);

} // namespace ptl::source

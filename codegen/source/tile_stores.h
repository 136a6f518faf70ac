// Stores, and arrays with a box replaced.
#pragma once

#include "codegen/source/body_code.h"
#include "ir/dialect/ptl_dialect.h"

namespace ptl::source {

/// Prints a store as an assignment, or as `atomic` where it combines with what is there.
void printStore(BodyCode &code, ir::StoreOp store);

/// What is stored: a literal takes its type from the array.
Expression storedText(BodyCode &code, ir::StoreOp store, mlir::Value stored);

/// Prints an array with a box replaced as a `var` that is assigned there; one that nothing else uses
/// is changed in place.
void printInsert(BodyCode &code, ir::InsertOp insert);

} // namespace ptl::source

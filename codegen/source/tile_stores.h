// Stores, and arrays of which a box is replaced.
#pragma once

#include "codegen/source/body_code.h"
#include "ir/dialect/ptl_dialect.h"

namespace ptl::source {

/// Prints a store as an assignment, or as `atomic` if it combines with the stored elements.
void printStore(BodyCode &code, ir::StoreOp store);

/// The stored value: a literal takes its type from the array.
Expression storedText(BodyCode &code, ir::StoreOp store, mlir::Value stored);

/// Prints an array of which a box is replaced as a `var` to whose box the new value is assigned; an
/// array without another use is modified in place.
void printInsert(BodyCode &code, ir::InsertOp insert);

} // namespace ptl::source

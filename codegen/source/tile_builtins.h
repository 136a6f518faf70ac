// Calls of built-ins and uses of operators, by the records of the operations.
#pragma once

#include "codegen/source/body_code.h"
#include "ir/ops/op_table.h"

namespace ptl::source {

/// The operation of a record as a call, or as an infix or prefix operator. Arguments that equal
/// their defaults are omitted.
Expression builtinText(BodyCode &code, mlir::Operation *op, const OpRecord &record);

} // namespace ptl::source

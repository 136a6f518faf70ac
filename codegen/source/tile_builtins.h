// Calls of built-ins and their operators, by the records of the operations.
#pragma once

#include "codegen/source/body_code.h"
#include "ir/ops/op_table.h"

namespace ptl::source {

/// The operation of a record as a call, infix or prefix where it is an operator. Arguments that have
/// their defaults are left out.
Expression builtinText(BodyCode &code, mlir::Operation *op, const OpRecord &record);

} // namespace ptl::source

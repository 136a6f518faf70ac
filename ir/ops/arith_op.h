// MLIR's operations on scalars by name: the rows of arith_ops.def. evaluate_arith.h defines their
// semantics.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ptl {

/// One per row of arith_ops.def: `ArithOp::AddI`.
enum class ArithOp : uint8_t {
#define ARITH(NAME, OPERATION, OPERANDS, RULE, CPP, BINDS, PTL) NAME,
#include "ir/ops/arith_ops.def"
};

/// The operation with that name in IR, `arith.addi`; nothing if there is no such row.
std::optional<ArithOp> findArithOp(std::string_view operation);
unsigned operandCount(ArithOp op);

} // namespace ptl

// The block level of the checked tree as text. Only for use inside `frontend/sema/dump`.
#pragma once

#include "frontend/sema/dump/dump_expr.h"

namespace ptl {

/// A call of an instruction or of another operation of the block level.
std::string blockCall(const ExprDumper &dumper, const BlockExpr &expr);

/// The declaration of a buffer, an event or a pipe.
std::string blockObject(const ExprDumper &dumper, const Local &local);

} // namespace ptl

// The warning about `h // G`: a trailing comment that reads like the second operand of a division.
#pragma once

#include "frontend/parse/parser.h"

namespace ptl {

/// Warns of comments behind operands, from the token `first` to the present one, that read like an operand.
void warnOperandComments(Parser &p, TokenIndex first);

} // namespace ptl

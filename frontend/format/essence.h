// What formatting preserves of a text. Only for use inside `frontend/format` and for its fuzzer.
#pragma once

#include "frontend/lex/lexer.h"

#include <string>
#include <string_view>

namespace ptl {

/// The parts of a text that formatting preserves: all tokens but `;` and trailing commas, then all
/// comments, without white space.
std::string essence(std::string_view text, const TokenList &list);

} // namespace ptl

// Reads expressions from JSON.
#pragma once

#include "runtime/expr.h"

namespace ptl::rt {

/// Parses the JSON form described in docs/manifest.md. nullopt, with `problem` set, if it is
/// invalid.
std::optional<Expr> parseExpr(const nlohmann::json &json, const ExprNames &names,
                              std::string &problem);

} // namespace ptl::rt

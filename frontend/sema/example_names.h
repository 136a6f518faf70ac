// The names for which times of a declaration may be told by example: what data decides while it
// runs.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <string>
#include <string_view>
#include <vector>

namespace ptl {

/// Whether a local of a declaration is one integer.
bool holdsInteger(const Local &local);

/// The `let`s of a declaration that hold an integer: where data decides what they are, times may be
/// told for examples of them.
std::vector<std::string> exampleNames(const CallableDecl &decl);

bool isExampleName(const CallableDecl &decl, std::string_view name);

} // namespace ptl

// The names whose values depend on data: times of a declaration can be estimated only for example
// values of them.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <string>
#include <string_view>
#include <vector>

namespace ptl {

/// Whether a local of a declaration is one integer.
bool holdsInteger(const Local &local);

/// The `let`s of a declaration that hold an integer: where its value depends on data, times can be
/// estimated for example values.
std::vector<std::string> exampleNames(const CallableDecl &decl);

bool isExampleName(const CallableDecl &decl, std::string_view name);

} // namespace ptl

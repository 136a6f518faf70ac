// The names whose values depend on data: the time of a declaration can be estimated only for
// example values of them.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <string>
#include <string_view>
#include <vector>

namespace ptl {

/// Whether a local of a declaration holds a single integer.
bool holdsInteger(const Local &local);

/// The `let`s of a declaration that hold an integer. If such a value depends on data, the time is
/// estimated for an example value.
std::vector<std::string> exampleNames(const CallableDecl &decl);

bool isExampleName(const CallableDecl &decl, std::string_view name);

} // namespace ptl

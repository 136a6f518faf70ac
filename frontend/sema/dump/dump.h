// The checked tree as text: types, conversions, bound dimensions and checks that the source leaves
// out.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <string>

namespace ptl {

/// The root file, one statement per line. Stable: goldens compare it.
std::string dumpChecked(const CheckedProgram &program);
/// One declaration; `lines`, when given, gets the place in the source of each line.
std::string dumpCallable(const CheckedProgram &program, const CallableDecl &decl,
                         std::vector<Span> *lines = nullptr);
std::string dumpExpr(const CheckedProgram &program, const Expr *expr);

} // namespace ptl

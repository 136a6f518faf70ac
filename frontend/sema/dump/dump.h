// Prints the checked tree as text: types, conversions, bound dimensions and checks that are
// implicit in the source.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <string>

namespace ptl {

/// The root file, one statement per line. The format is stable, because goldens compare it.
std::string dumpChecked(const CheckedProgram &program);
/// One declaration; `lines`, if not null, gets the source location of each line.
std::string dumpCallable(const CheckedProgram &program, const CallableDecl &decl,
                         std::vector<Span> *lines = nullptr);
std::string dumpExpr(const CheckedProgram &program, const Expr *expr);

} // namespace ptl

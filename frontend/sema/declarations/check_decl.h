// The check of a callable, in steps: name, signature, conditions, body. Each step runs over all
// declarations before the next begins, since declarations may refer to each other in any order.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Creates the declaration and binds its name; its signature and body follow once all declarations
/// have names.
void beginDecl(DeclState &decl, ProgramState &state, CheckedModule &module, const Tree &tree,
               NodeId node);
void checkDeclSignature(DeclState &decl);
/// Checks the parts of a signature that are expressions: defaults, `where`, initial values.
/// Precondition: all signatures have been checked.
void checkDeclConditions(DeclState &decl);
void checkDeclBody(DeclState &decl);

/// Records a call for the recursion check; must be called for every resolved call of a
/// `CallableDecl`.
void noteCall(Context &ctx, const CallableDecl *callee, Span span);
/// Reports recursive declarations, once per cycle.
void checkRecursion(ProgramState &state);

} // namespace ptl

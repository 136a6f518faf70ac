// The check of a callable, in steps: name, signature, conditions, body. Every step follows when the
// one before is done for all declarations, since each may name any other.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Makes the declaration and names it; its signature and body follow when all declarations are
/// named.
void beginDecl(DeclState &decl, ProgramState &state, CheckedModule &module, const Tree &tree,
               NodeId node);
void checkDeclSignature(DeclState &decl);
/// The parts of a signature that are expressions: defaults, `where`, initial values. Needs all
/// signatures.
void checkDeclConditions(DeclState &decl);
void checkDeclBody(DeclState &decl);

/// Notes a call for the recursion check; every resolved call to a `CallableDecl` does.
void noteCall(Context &ctx, const CallableDecl *callee, Span span);
/// Reports declarations that call themselves, once per cycle.
void checkRecursion(ProgramState &state);

} // namespace ptl

// What a file declares: names first, then constants, aliases and structs, which need each other in any
// order.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Declares what a file contains; its imports are declared already.
void declareModule(ProgramState &state, CheckedModule &module);
/// Make and name one declaration; it is completed later.
DeclState *makeCallable(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node);
StructDecl *makeStruct(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node);
TypeAliasDecl *makeAlias(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node);
ConstDecl *makeConst(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node);

/// Evaluates constants, aliases and structs of a file.
void completeModule(ProgramState &state, CheckedModule &module);
/// Header and fields of a struct, in one step.
void completeStruct(ProgramState &state, CheckedModule &module, const Tree &tree, StructDecl &decl);
/// Evaluates a `const` that is not yet; false when it has no value (reported).
bool completeConst(ProgramState &state, const ConstDecl &decl);
/// Resolves an alias that is not yet; false when it is in error (reported).
bool completeAlias(ProgramState &state, const TypeAliasDecl &alias);

/// Warns of imports that nothing used.
void warnUnusedImports(ProgramState &state, CheckedModule &module);

} // namespace ptl

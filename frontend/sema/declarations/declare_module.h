// Declares the contents of a file: names first, then constants, aliases and structs, which may
// depend on each other in any order.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Declares the contents of a file; its imports must have been declared.
void declareModule(ProgramState &state, CheckedModule &module);
/// These create one declaration and bind its name; it is completed later.
DeclState *makeCallable(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node);
StructDecl *makeStruct(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node);
TypeAliasDecl *makeAlias(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node);
ConstDecl *makeConst(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node);

/// Evaluates constants, aliases and structs of a file.
void completeModule(ProgramState &state, CheckedModule &module);
/// Completes the header and fields of a struct.
void completeStruct(ProgramState &state, CheckedModule &module, const Tree &tree, StructDecl &decl);
/// Evaluates a `const` unless it has been evaluated; false if it has no value, which is reported.
bool completeConst(ProgramState &state, const ConstDecl &decl);
/// Resolves an alias unless it has been resolved; false if it has an error, which is reported.
bool completeAlias(ProgramState &state, const TypeAliasDecl &alias);

/// Warns of unused imports.
void warnUnusedImports(ProgramState &state, CheckedModule &module);

} // namespace ptl

// What the checks of declarations share among each other. Other parts of the checker use context.h.
#pragma once

#include "frontend/sema/context.h"
#include "frontend/sema/declarations/check_module.h"

#include <functional>

namespace ptl {

std::string_view declKindName(DeclKind kind);

// check_header.cpp: the parts of a header, in this order. Nodes may be absent.
void checkGenerics(Context &ctx, NodeId node, std::vector<TypeParam *> &typeParams,
                   std::vector<DimParam> &dims);
void checkTunables(Context &ctx, NodeId node);
void checkParams(Context &ctx, NodeId node);
void checkResults(Context &ctx, NodeId node);
void checkClause(Context &ctx, NodeId node);

/// The parts of a signature that are expressions: defaults, `where`, initial values. Needs all
/// signatures.
void checkDeclConditions(DeclState &decl);
/// Reports declarations that call themselves, once per cycle.
void checkRecursion(ProgramState &state);

// declare_module.cpp, check_schedule.cpp
/// Declares what a file contains; its imports are declared already.
void declareModule(ProgramState &state, CheckedModule &module);
/// Make and name one declaration; it is completed later.
DeclState *makeCallable(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node);
StructDecl *makeStruct(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node);
TypeAliasDecl *makeAlias(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node);
ConstDecl *makeConst(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node);
/// Header and fields of a struct, in one step.
void completeStruct(ProgramState &state, CheckedModule &module, const Tree &tree, StructDecl &decl);
/// Evaluates constants, aliases and structs.
void completeModule(ProgramState &state, CheckedModule &module);
/// Evaluates a `const` that is not yet; false when it has no value (reported).
bool completeConst(ProgramState &state, const ConstDecl &decl);
/// The value of a `const` declaration or statement; nothing when it has none (reported).
std::optional<ConstValue> checkConstValue(Context &ctx, NodeId node);
/// The element type a constant has by itself.
Elem elemOfConst(const ConstValue &value);
void checkSchedules(ProgramState &state, CheckedModule &module);
/// Warns of imports that nothing used.
void warnUnusedImports(ProgramState &state, CheckedModule &module);

// on_demand.cpp: the declarations of a file, complete enough to be used; null where there is none.
CallableDecl *findCallable(ProgramState &state, ModuleScope &scope, std::string_view name);
StructDecl *findStruct(ProgramState &state, ModuleScope &scope, std::string_view name);
TypeAliasDecl *findAlias(ProgramState &state, ModuleScope &scope, std::string_view name);
ConstDecl *findConst(ProgramState &state, ModuleScope &scope, std::string_view name);
/// The names that imports bind, in no order.
std::vector<std::string> importedModules(ProgramState &state, const ModuleScope &scope);
std::vector<std::string> importedNames(ProgramState &state, const ModuleScope &scope);
/// What a name was imported as; marks it used.
const CheckedModule *findImportedModule(ProgramState &state, ModuleScope &scope,
                                        std::string_view name);
const CheckedModule *findImportedName(ProgramState &state, ModuleScope &scope,
                                      std::string_view name);
/// The labels of a callable's body, which is checked if it is not yet.
const std::vector<LabelInfo> &labelsOf(ProgramState &state, const CallableDecl &decl);

// check.cpp: what is done with the diagnostics of all phases.
void markSyntaxErrors(ProgramState &state);
/// `lineOf` gives a line for a span.
void removeConsequences(ProgramState &state, const std::function<uint32_t(Span)> &lineOf);
void removeRepeated(ProgramState &state);

// imports.cpp
/// Loads a file and, first, all it imports. The first module of the program is the root.
void loadModules(ProgramState &state, FileId root);

/// Calls `visit` for an expression and all expressions in it.
void forEachExpr(const Expr *expr, const std::function<void(const Expr *)> &visit);

} // namespace ptl

// What the checks of declarations share among each other. Other parts of the checker use context.h.
#pragma once

#include "frontend/sema/context.h"

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

// imports.cpp
/// Loads a file and, first, all it imports. The first module of the program is the root.
void loadModules(ProgramState &state, FileId root);

/// Calls `visit` for an expression and all expressions in it.
void forEachExpr(const Expr *expr, const std::function<void(const Expr *)> &visit);

} // namespace ptl

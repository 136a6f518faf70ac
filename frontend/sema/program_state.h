// The state that the checks of all declarations of a program share. See context.h.
#pragma once

#include "frontend/sema/check.h"
#include "frontend/sema/const_value.h"
#include "frontend/sema/scope.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace ptl {

struct Context;

/// The state of one declaration between the pass over signatures and the pass over bodies.
struct DeclState {
  CallableDecl *decl = nullptr;
  bool hasSyntaxErrors = false;
  std::unique_ptr<Context> context;
  bool signatureDone = false;
  bool bodyDone = false;
  uint64_t labels = 0;         ///< `DeclSite::labels`, after the body has been checked
  bool lastHasDefault = false; ///< of the parameters that have been checked
  std::vector<std::pair<const CallableDecl *, Span>>
      calls; ///< of the body, in order, for the recursion check
};

/// The progress of resolving a `type` or `const`, which happens on first use.
struct LazyState {
  CheckedModule *module = nullptr;
  const Tree *tree = nullptr;
  NodeId syntax = kNoNode;
  bool isDone = false;
  bool isActive = false;
  bool hasErrors = false;
};

struct OnDemand;

/// What the checks of all declarations share.
struct ProgramState {
  ProgramState(SourceManager &sources, const CheckOptions &options, DiagnosticSink &sink,
               CheckedProgram &program);
  ~ProgramState();

  SourceManager &sources;
  const CheckOptions &options;
  DiagnosticSink &sink;
  CheckedProgram &program;
  DimContext &dims;
  std::unordered_map<const CheckedModule *, std::unique_ptr<ModuleScope>> scopes;
  std::vector<CheckedModule *> order; ///< imported modules before their importers
  std::vector<std::unique_ptr<DeclState>> decls;
  std::unordered_map<const CallableDecl *, DeclState *> stateOf;
  std::unordered_map<const ConstDecl *, ConstValue> constValues;
  std::unordered_map<const TypeAliasDecl *, LazyState> aliasStates;
  std::unordered_map<const ConstDecl *, LazyState> constStates;
  std::vector<const Type *> scalarTypes; ///< by `ElemKind`, made on demand
  const Type *errorType = nullptr;
  const Type *voidType = nullptr;
  const Type *stringType = nullptr;
  OnDemand *onDemand = nullptr; ///< not null when only a part of a file is checked

  /// Whether diagnostics and notes for a tree are kept. They are dropped for declarations outside
  /// the part of a file that is being checked.
  bool isChecked(const Tree &tree) const;
  DiagnosticSink &sinkOf(const Tree &tree);
};

} // namespace ptl

// What the checker carries while it checks one declaration. The functions that work on it stand in
// the rooms of this folder (README.md). Nothing here is for other phases: they see check.h and
// checked_tree.h.
#pragma once

#include "frontend/dim/facts.h"
#include "frontend/sema/hoisted_values.h"
#include "frontend/sema/program_state.h"
#include "frontend/sema/type_string.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ptl {

struct BlockExpr;
struct OnStmt;

enum class LoopKind : uint8_t { For, StaticFor, While, Parallel };

/// An enclosing loop, innermost last in `Context::loops`.
struct LoopFrame {
  LoopKind kind = LoopKind::For;
  bool pipelined = false;
  Span span;
  size_t firstLocal = 0;               ///< locals of the declaration made before it stand outside
  bool jumps = false, returns = false; ///< what stands in it: `break` or `continue`, `return`
};

/// What a program has at its parts: all of it is matched when its body has been checked.
struct PartSections {
  std::vector<OnStmt *> sections;
  std::vector<Stmt *> pipes;
  std::vector<BlockExpr *> calls; ///< `push` and `pop`
};

/// The state of checking one declaration (or a `const`, `type`, `struct`, `schedule`).
struct Context {
  Context(ProgramState &state, CheckedModule &module, const Tree &tree);

  ProgramState &state;
  DiagnosticSink &sink;
  CheckedProgram &program;
  DimContext &dims;
  CheckedModule &module;
  const Tree &tree;
  ModuleScope &moduleScope;
  CallableDecl *decl = nullptr; ///< null outside callables
  DeclState *declState = nullptr;
  Scope scope;   ///< locals of the declaration
  FactSet facts; ///< copy and restore it round arms whose facts end with them
  std::vector<LoopFrame> loops;
  std::vector<const TypeParam *> typeParams; ///< visible as element types
  bool inTask = false;
  bool inWhere = false;        ///< `where`, `when`: data facts are legal calls
  bool tunablesAllowed = true; ///< false in parameter and result types
  bool prefixBinds = false;    ///< in parameter types: `..` becomes a part of the signature
  bool inStatic = false;       ///< under `static if` / `static for`
  size_t errorsBefore =
      0; ///< in the sink when the body began; unused names are no news after errors
  bool suppressUnused = false;               ///< in dead code after an error, in copies
  std::vector<SymbolId> staticSymbols;       ///< of `static` dimensions
  std::unordered_set<NodeId> reportedConsts; ///< constant expressions whose mistakes were reported
  std::unordered_map<const Local *, ConstValue> localConsts; ///< values of `const` statements
  std::unordered_map<uint32_t, Dim> capacityCache; ///< by id of the length, under `capacityFacts`
  FactSet capacityFacts;
  bool inSection = false;      ///< inside `on aic { … }`, `on chip 0 { … }`
  PartSections partSections;   ///< of a program
  std::string sectionCore;     ///< `aic`, in its section
  bool canHoist = false;       ///< in bodies: values that types speak of may become implicit `let`s
                               ///< before the statement
  std::vector<Stmt *> hoisted; ///< those of the statement being checked
  HoistedValues hoistedValues; ///< what they and those before hold
  std::unordered_map<const Local *, const Expr *> letValues; ///< what each `let` was bound to
  /// By the statement that `let old = fetch_add(inout y[i], v)` became, the `atomic` assignment
  /// that the analysis of flow sees in its place.
  std::unordered_map<const Stmt *, const AssignStmt *> fetches;
  bool hasCheckpoint = false; ///< a loop of the declaration has checkpoints
  bool hasFetch = false;      ///< in the `parallel` being checked
  /// The `parallel`s whose points run in order, because one reads what an earlier one has written
  /// (`fetch_add`).
  std::unordered_set<const Stmt *> orderedParallels;
  /// The types of index expressions with all axes as written, where an index array has several: the
  /// array is used as one of one axis, so `Expr::type` has one axis for them.
  std::unordered_map<const IndexExpr *, const Type *> writtenTypes;

  bool isKind(DeclKind kind) const { return decl && decl->kind == kind; }
  bool inFn() const { return isKind(DeclKind::Fn); }
  bool inKernel() const { return isKind(DeclKind::Kernel) || isKind(DeclKind::ManualKernel); }
  bool inProgram() const { return isKind(DeclKind::Program); }
  /// `test`, `property` and `bench` bodies.
  bool inTest() const {
    return isKind(DeclKind::Test) || isKind(DeclKind::Property) || isKind(DeclKind::Bench);
  }
  bool inParallel() const;

  Span span(NodeId node) const;
  std::string_view text(NodeId node) const;
  /// The text of a span in the tree of the declaration.
  std::string_view text(Span span) const;
};

/// Whether the declaration stands in the file, or the part of one, that was asked for; others get
/// no warnings.
bool isRootModule(const Context &ctx);

} // namespace ptl

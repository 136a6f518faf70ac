// The state of the checker while it checks one declaration. The functions that work on it are in
// the subfolders (README.md). Other phases must not use it: they include check.h and
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

/// `Parts`: a `parallel` over the parts of a level.
enum class LoopKind : uint8_t { For, StaticFor, While, Parallel, Parts };

/// An enclosing loop; the innermost is the last of `Context::loops`.
struct LoopFrame {
  LoopKind kind = LoopKind::For;
  bool pipelined = false;
  Span span;
  /// locals of the declaration with smaller numbers are outside
  size_t firstLocal = 0;
  bool jumps = false, returns = false; ///< whether it contains `break` or `continue`, or `return`
  std::string level = {};              ///< of a `parallel` over parts
  /// Whether its iterations are at the same time.
  bool isParallel() const { return kind == LoopKind::Parallel || kind == LoopKind::Parts; }
};

/// The calls of a program in its sections; they are matched after its body has been checked.
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
  FactSet facts; ///< to be saved and restored around branches whose facts are local
  std::vector<LoopFrame> loops;
  std::vector<const TypeParam *> typeParams; ///< visible as element types
  bool inTask = false;
  bool inWhere = false;        ///< in a `where` or `when`: predicates on data are legal calls
  bool tunablesAllowed = true; ///< false in parameter and result types
  bool prefixBinds = false;    ///< in parameter types: `..` becomes a part of the signature
  bool inStatic = false;       ///< under `static if` / `static for`
  size_t errorsBefore =
      /// errors in the sink when the body began; after further errors unused names are not reported
      0;
  bool suppressUnused = false;               ///< in dead code after an error, in copies
  std::vector<SymbolId> staticSymbols;       ///< of `static` dimensions
  std::unordered_set<NodeId> reportedConsts; ///< constant expressions whose errors were reported
  std::unordered_map<const Local *, ConstValue> localConsts; ///< values of `const` statements
  std::unordered_map<uint32_t, Dim> capacityCache; ///< by id of the length, under `capacityFacts`
  FactSet capacityFacts;
  /// by id: lengths of which it was reported that they have no bound
  std::unordered_set<uint32_t> reportedLengths;
  bool inSection = false;      ///< inside `on aic { … }`, `on chip 0 { … }`
  PartSections partSections;   ///< of a program
  StringMap<Dim> partCounts;   ///< of a program: how many parts the levels have that it counts
  std::string sectionCore;     ///< `aic`, in its section
  bool canHoist = false;       ///< in bodies: values that types speak of may become implicit `let`s
                               ///< < in front of the statement
  std::vector<Stmt *> hoisted; ///< implicit `let`s of the statement that is being checked
  HoistedValues hoistedValues; ///< the values of all implicit `let`s so far
  std::unordered_map<const Local *, const Expr *> letValues; ///< what each `let` was bound to
  /// Of the names in a tuple pattern: the value of the `let`, and which part of it the name is.
  std::unordered_map<const Local *, std::pair<const Expr *, size_t>> letParts;
  /// For the statement that `let old = fetch_add(inout y[i], v)` became: the `atomic` assignment
  /// that the flow analysis uses instead.
  std::unordered_map<const Stmt *, const AssignStmt *> fetches;
  bool hasCheckpoint = false; ///< a loop of the declaration has checkpoints
  bool runsInOrder = false;   ///< the points of the `parallel` that is being checked
  /// The `parallel`s whose points run in order, because a point reads what an earlier one has
  /// written (`fetch_add`).
  std::unordered_set<const Stmt *> orderedParallels;
  /// The types of index expressions with all axes as written, if an index array has several axes:
  /// it is treated as an array of one axis, so `Expr::type` has one axis for them.
  std::unordered_map<const IndexExpr *, const Type *> writtenTypes;

  bool isKind(DeclKind kind) const { return decl && decl->kind == kind; }
  bool inFn() const { return isKind(DeclKind::Fn); }
  bool inKernel() const { return isKind(DeclKind::Kernel) || isKind(DeclKind::ManualKernel); }
  bool inProgram() const { return isKind(DeclKind::Program); }
  /// Whether the body belongs to a `test`, `property` or `bench`.
  bool inTest() const {
    return isKind(DeclKind::Test) || isKind(DeclKind::Property) || isKind(DeclKind::Bench);
  }
  bool inParallel() const;

  Span span(NodeId node) const;
  std::string_view text(NodeId node) const;
  /// The text of a span in the tree of the declaration.
  std::string_view text(Span span) const;
};

/// Whether the declaration is in the file, or the part of one, that is being checked; others get no
/// warnings.
bool isRootModule(const Context &ctx);

} // namespace ptl

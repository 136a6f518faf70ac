// What the checker carries while it checks one declaration, and the functions its parts call from
// each other. Declarations and types: check_decl.cpp, resolve_type.cpp …; expressions and
// statements: check_expr.cpp, check_stmt.cpp …. Nothing here is for other phases: they see check.h
// and checked_tree.h.
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

enum class LoopKind : uint8_t { For, StaticFor, While, Parallel };

/// An enclosing loop, innermost last in `Context::loops`.
struct LoopFrame {
  LoopKind kind = LoopKind::For;
  bool pipelined = false;
  Span span;
  size_t firstLocal = 0;               ///< locals of the declaration made before it stand outside
  bool jumps = false, returns = false; ///< what stands in it: `break` or `continue`, `return`
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
  bool inSection = false;      ///< inside `on aic { … }`
  std::string sectionCore;     ///< `aic`, in its section
  bool canHoist = false;       ///< in bodies: values that types speak of may become implicit `let`s
                               ///< before the statement
  std::vector<Stmt *> hoisted; ///< those of the statement being checked
  HoistedValues hoistedValues; ///< what they and those before hold
  std::unordered_map<const Local *, const Expr *> letValues; ///< what each `let` was bound to
  /// `let old = fetch_add(inout y[i], v)` by what it became, as the `atomic` that it is besides.
  std::unordered_map<const Stmt *, const AssignStmt *> fetches;
  bool hasFetch = false; ///< in the `parallel` being checked
  /// Those whose points run in order: what one replaces another has left.
  std::unordered_set<const Stmt *> orderedParallels;
  /// What indices say where an index array has several axes: it is used as one of one axis, and the
  /// type of the expression has one axis for them.
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
  /// Of a span in the tree of the declaration.
  std::string_view text(Span span) const;
};

// ---- Types and their parts (resolve_type.cpp, context.cpp) --------------------------------------

const Type *errorType(Context &ctx);
const Type *voidType(Context &ctx);
const Type *stringType(Context &ctx);
const Type *intType(Context &ctx);
const Type *boolType(Context &ctx);
const Type *scalarType(Context &ctx, Elem elem);
inline const Type *scalarType(Context &ctx, ElemKind kind) { return scalarType(ctx, Elem{kind}); }
/// An array of inferred place and layout, dense.
const Type *arrayType(Context &ctx, Elem elem, std::vector<Extent> extents, bool prefix = false);
const Type *rangeType(Context &ctx, const RangeInfo *range);
const Type *tupleType(Context &ctx, std::vector<const Type *> elements);
/// The type with another place and layout.
const Type *withPlace(Context &ctx, const Type *type, Place place,
                      Layout layout = Layout::Inferred);
/// A copy to change before it is used.
Type *copyType(Context &ctx, const Type &type);

/// A written type. Reports what is wrong and gives the error type then, never null.
const Type *resolveType(Context &ctx, NodeId node);

/// A written annotation of `let`, `var`: `f16[i, k] @mat`, `_ @mat dn`.
struct TypeAnnotation {
  const Type *type = nullptr; ///< null for `_`; its place and layout are those written
  Place place = Place::Inferred;
  Layout layout = Layout::Inferred;
  Span span;
};
TypeAnnotation resolveAnnotation(Context &ctx, NodeId node);

/// `@mat dn`
void resolvePlace(Context &ctx, NodeId node, Place &place, Layout &layout);
/// `chip`, `host` …, `aic`, `aiv`, `a3`: report unknown ones.
void checkLevelName(Context &ctx, NodeId node);
void checkCoreName(Context &ctx, NodeId node);
void checkTargetName(Context &ctx, NodeId node);

/// The element type a name says (`f16`, `T`, `acc(T)`), nothing if it is none. Does not report.
std::optional<Elem> findElem(Context &ctx, std::string_view name);

/// The same of a syntax node; `acc(T)` too. Does not report.
std::optional<Elem> findElem(Context &ctx, NodeId node);
/// Whether an expression node (`f32`, `T[i, j]`, `Row[C]`, `nn.Mlp[D, F]`) names a type. Does not
/// report.
bool namesType(Context &ctx, NodeId node);
/// A type with its dimensions and element types replaced (aliases, struct fields, results of
/// calls).
const Type *substituteType(Context &ctx, const Type *type, const DimSubstitution &dims,
                           const std::vector<std::pair<const TypeParam *, Elem>> &elems = {});
/// Type of a field of a struct value of type `structType`.
const Type *fieldType(Context &ctx, const Type *structType, const StructField &field);

/// A dimension expression: constants, dimensions, tunables, `int` scalars, `r.len`, `+ - * / %`,
/// `cdiv min max`. Reports what is no dimension; unknown then.
Dim resolveDim(Context &ctx, NodeId node);
/// One entry of a shape: a dimension expression or a range local.
Extent resolveExtent(Context &ctx, NodeId node);
/// A shape argument `[i, 2*N, ..]` or the shape of an array type in expression position
/// (`zeros(f32[i, j])`).
struct ShapeArg {
  bool prefix = false;
  std::vector<Extent> extents;
  bool hasErrors = false;
};

/// The extent of a length, with the capacity that facts give it.
Extent makeExtent(Context &ctx, Dim length, const RangeInfo *range = nullptr);
/// Static bound of a length: over constants, tunables and `static` dimensions only. Unknown when
/// there is none.
Dim capacityOf(Context &ctx, Dim length);
/// Whether a dimension has a value when the kernel is compiled.
bool isStaticDim(Context &ctx, Dim dim);
/// Reports each extent of an on-chip array without capacity; true when all have one.
bool requireCapacity(Context &ctx, const Type *type, Span span, std::string_view what);

inline std::string toString(Context &ctx, const Type *type) { return toString(ctx.dims, *type); }

// ---- Constants (const_eval.cpp) -----------------------------------------------------------------

/// The exact value of an expression over literals and `const`s; nothing (and no report) when it is
/// no constant expression. Reports division by zero.
std::optional<ConstValue> evalConst(Context &ctx, NodeId node);
/// An integer constant where one is required (`pipeline 2`, `[64, 128]`, schedules); reports
/// otherwise.
std::optional<int64_t> requireConstInt(Context &ctx, NodeId node, std::string_view what);
/// Reports a count beyond its limit (limits.h).
void requireAtMost(Context &ctx, Span span, std::string_view what, int64_t value, int64_t most);

// ---- Names (scope.cpp, unknown_names.cpp) -------------------------------------------------------

/// Makes a local and binds its name in the innermost scope. Reports names that may not be shadowed.
/// Gives `int` scalars that never change (all kinds but `Var`, `Output`, `inout`) a symbol and
/// `dim`; a `Let` whose value is a dimension gets its `dim` from the caller instead (pass it).
Local *declareLocal(Context &ctx, LocalKind kind, std::string_view name, Span span,
                    const Type *type, NodeId syntax = kNoNode, Dim dim = {}, bool isInout = false);
/// Opens a scope for its own lifetime; warns of unused locals at its end.
class ScopeGuard {
public:
  explicit ScopeGuard(Context &ctx);
  ~ScopeGuard();
  ScopeGuard(const ScopeGuard &) = delete;

private:
  Context &ctx_;
};

/// Leaves the innermost scope, with warnings of unused locals.
void leaveScope(Context &ctx);

/// A value name: local, `const` or module. Marks it used. Does not report; everything null when
/// unknown.
ValueRef lookupValue(Context &ctx, std::string_view name);
/// A callable name: `fn`, `kernel`, `program`, or `struct` as constructor. Built-ins are looked up
/// after it.
CalleeRef lookupCallable(Context &ctx, std::string_view name);
/// `nn.silu`: member of a module, callable or value. Reports private ones and unknown ones.
CalleeRef lookupCallableIn(Context &ctx, const CheckedModule &module, std::string_view name,
                           Span span);
ValueRef lookupValueIn(Context &ctx, const CheckedModule &module, std::string_view name, Span span);
/// Reports an unknown name, with the nearest known spelling as a fix.
void reportUnknownValue(Context &ctx, std::string_view name, Span span);
void reportUnknownCallable(Context &ctx, std::string_view name, Span span);
/// `nn.silu` where `nn` is no name but a module of the library: reports that it is not imported;
/// likewise `np.exp`, with a module of another library. False if there is no such module.
bool reportUnknownModule(Context &ctx, std::string_view module, std::string_view member, Span span,
                         Span whole);
/// Nearest of the candidates by edit distance, empty if none is near.
std::string nearestName(std::string_view name, const std::vector<std::string> &candidates);
void reportUnknownType(Context &ctx, std::string_view name, Span span);
TypeRef lookupType(Context &ctx, std::string_view name);
TypeRef lookupTypeIn(Context &ctx, const CheckedModule &module, std::string_view name, Span span);
void reportNotInModule(Context &ctx, const CheckedModule &module, std::string_view name, Span span);
bool moduleHas(Context &ctx, const CheckedModule &module, std::string_view name);
bool moduleExports(Context &ctx, const CheckedModule &module, std::string_view name);
/// The names of one space that a file declares, in no order.
std::vector<std::string> declaredNames(ProgramState &state, const ModuleScope &scope,
                                       DeclSpace space);
/// "parameter", "`let`" … for messages.
std::string_view localKindName(LocalKind kind);
/// Whether the declaration stands in the file, or the part of one, that was asked for; others get
/// no warnings.
bool isRootModule(const Context &ctx);
/// A name schedules may use: a `let`, a `task`, a loop.
void declareLabel(Context &ctx, std::string_view name, LabelKind kind, Span span,
                  bool isParallel = false);

// ---- Declarations (check_decl.cpp, declare_module.cpp …) ------------------------

/// Makes the declaration and names it; its signature and body follow when all declarations are
/// named.
void beginDecl(DeclState &decl, ProgramState &state, CheckedModule &module, const Tree &tree,
               NodeId node);
void checkDeclSignature(DeclState &decl);
void checkDeclBody(DeclState &decl);
/// Resolves an alias that is not yet; false when it is in error (reported).
bool completeAlias(ProgramState &state, const TypeAliasDecl &alias);
/// Notes a call for the recursion check; every resolved call to a `CallableDecl` does.
void noteCall(Context &ctx, const CallableDecl *callee, Span span);
/// Adds what a condition says to the facts: comparisons of dimensions, joined by `and`. Others are
/// ignored.
void assumeCondition(Context &ctx, const Expr *condition);
/// Adds what `min`, `max` and `%` in the value of an `int` that is no dimension say of it.
void assumeBounds(Context &ctx, const Local *local, const Expr *value);

// ---- Expressions and statements (check_expr.cpp, check_stmt.cpp …) ------------------------------

/// Checks an expression; `expected` types literals and `_`. Never null.
Expr *checkExpr(Context &ctx, NodeId node, const Type *expected = nullptr);
/// A scalar `bool`.
Expr *checkCondition(Context &ctx, NodeId node);
/// A block in a scope of its own; `asValue`: its last expression is its value.
Block *checkBlock(Context &ctx, NodeId node, bool asValue, const Type *expected = nullptr);
Stmt *checkStmt(Context &ctx, NodeId node);
/// Converts a value to what a place of type `target` takes: literals, `int` to integers, equal
/// shapes. Reports a mismatch with `what` ("the initial value", "the default of `eps`").
Expr *convertTo(Context &ctx, Expr *value, const Type *target, std::string_view what);
/// Makes the `ConstExpr` of a constant for a type; reports what does not fit.
Expr *makeConst(Context &ctx, const ConstValue &value, const Type *type, NodeId node);
Expr *errorExpr(Context &ctx, NodeId node);

} // namespace ptl

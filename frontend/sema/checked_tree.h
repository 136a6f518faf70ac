// The checked tree: names resolved, types inferred, conversions explicit. Executors, IR construction and
// the editor read it. It is generic: dimensions, element types and `..` stay symbolic; whoever executes or
// builds binds them (`CallExpr` says how) and evaluates every `Dim` in its own environment.
//
// Symbols and values: an immutable scalar local of type `int` that occurs in a Dim has `Local::symbol`;
// whoever binds the local must bind the symbol to the same value. A range local has the symbols inside its
// `RangeInfo` (`start`, `length`, `count` where these are plain symbols).
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/base/round_mode.h"
#include "frontend/sema/op_table.h"
#include "frontend/sema/types.h"
#include "frontend/syntax/tree.h"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ptl {

struct Expr;
struct Stmt;
struct Block;
struct CallableDecl;
struct CheckedModule;

// ---- Names ---------------------------------------------------------------------------------------

enum class LocalKind : uint8_t {
  Param, Output, Let, Var, Loop, Tunable, Dimension, Const, ///< `Dimension` and `Tunable` have `symbol`
  Buffer, Event, Pipe,
};

struct Local {
  std::string name;
  LocalKind kind = LocalKind::Let;
  const Type *type = nullptr;
  bool isInout = false;                    ///< parameters only
  std::optional<SymbolId> symbol;          ///< see the header comment
  Dim dim;                                 ///< value as a dimension when it is one (`let h = D / 2`), else unknown
  Span span;                               ///< of the name
  uint32_t index = 0;                      ///< unique within the declaration, dense from 0: environments are vectors
};

struct DimParam {
  std::string name;
  SymbolId symbol;
  bool isStatic = false;
  Local *local = nullptr;
  Span span;
};

struct Tunable {
  Local *local = nullptr;
  bool isBool = false;
  std::vector<int64_t> domain;  ///< legal values in the order written; empty: not searched
  int64_t defaultValue = 0;     ///< 0/1 for bool
};

// ---- Expressions ---------------------------------------------------------------------------------

enum class ExprKind : uint8_t {
  Error, Const, LocalRef, Dim, Op, Convert, Call, Index, If, Range, Tiles, Field, Tuple, List,
  StructMake, Logical, String, EnumTag,
};

struct Expr {
  ExprKind kind = ExprKind::Error;
  const Type *type = nullptr; ///< never null; the error type when unknown
  Span span;
  NodeId syntax = kNoNode;
  Dim dim;                    ///< the value as a dimension, when it is one (scalar `int` only)
  virtual ~Expr() = default;
};

/// A literal or folded constant, already converted to `type`. Exact rational folding happens before.
struct ConstExpr : Expr {
  double floatValue = 0;  ///< for float types and `any` generics (`T`)
  int64_t intValue = 0;   ///< for integers (bit pattern for u64) and bool
};

struct LocalRefExpr : Expr { Local *local = nullptr; };

/// A dimension expression used as an `int` value; `Expr::dim` is the value.
struct DimExpr : Expr {};

/// A built-in applied to arguments; operators are built-ins too (`+` is `OpId::Add`). Operands broadcast as
/// language.md section 5 says; their element types already agree (explicit `ConvertExpr`s).
struct OpExpr : Expr {
  const OpRecord *op = nullptr;
  std::vector<Expr *> args;        ///< one per `op->params`; null where omitted, variadic, or said by the fields below
  std::vector<Expr *> rest;        ///< arguments of the variadic parameter
  std::vector<int64_t> axes;       ///< `axis:` values, counted from the end: -1 is the last axis; sorted. For
                                   ///< `transpose` the axis of the operand per axis of the result
  bool reducesAll = false;         ///< reduction without `axis:`
  std::vector<Dim> shape;          ///< shape argument of reshape, zeros, full, random, broadcast …; `k` of `topk`,
                                   ///< `E` of `one_hot`; for `pad` before of all axes, then after
  bool shapeHasPrefix = false;
  std::string equation;            ///< einsum
};

/// `f16(x)`, `i8(x, round: .even, saturate: true)`, and implicit `int` to integer conversions.
struct ConvertExpr : Expr {
  Expr *arg = nullptr;
  RoundMode round = RoundMode::Even;
  bool saturate = false;
  bool checkRange = false; ///< implicit `int` conversion whose range was not proved
};

struct CallArg {
  Local *param = nullptr; ///< of the callee
  Expr *value = nullptr;
  bool isInout = false;   ///< value is then an lvalue (LocalRef or Index)
};

/// A requirement of the callee in the caller's terms that was not proved: checked at run time.
struct RuntimeCheck {
  Expr *condition = nullptr;
  std::string text; ///< as written at the callee
  Span span;
};

struct CallExpr : Expr {
  const CallableDecl *callee = nullptr;
  std::vector<CallArg> args;               ///< in parameter order, defaults filled in
  std::vector<Dim> dimArgs;                ///< one per callee `dims`, in the caller's symbols
  std::vector<Elem> elemArgs;              ///< one per callee `typeParams`
  bool prefixHasPrefix = false;            ///< callee's `..` begins with the caller's `..`
  std::vector<Extent> prefixArgs;          ///< rest of what the callee's `..` stands for
  std::vector<std::pair<Local *, Expr *>> tunables; ///< set at the call
  std::vector<RuntimeCheck> checks;
};

enum class IndexItemKind : uint8_t { Position, Range, Full, Rest, NewAxis, Gather };

struct IndexItem {
  IndexItemKind kind = IndexItemKind::Full;
  Expr *value = nullptr;  ///< Position: scalar; Range: expression of range type; Gather: 1-D integer array
  RangeInfo *range = nullptr; ///< Range only (slices `a:b:s` too): start, length, step as Dims
  uint32_t restCount = 0; ///< Rest: number of known axes it covers (besides the prefix)
  bool restHasPrefix = false;
  bool needsCheck = true; ///< bounds not proved
  int64_t axis = 0;       ///< indexed axis of the base counted from the end (-1 last); meaningless for NewAxis
  Span span;
};

/// Indexing. One item per axis of the base plus `NewAxis`es; trailing axes not named are `Full`.
struct IndexExpr : Expr {
  Expr *base = nullptr;
  std::vector<IndexItem> items;
  Expr *outside = nullptr; ///< `load(x[…], outside: v)`
  bool isLoad = false;     ///< moves data from global memory into a kernel
};

struct IfExpr : Expr { Expr *condition = nullptr; Block *thenBlock = nullptr; Block *elseBlock = nullptr; };
/// `lo..hi step s`.
struct RangeExpr : Expr { Expr *lo = nullptr; Expr *hi = nullptr; Expr *step = nullptr; };
/// `tiles(lo..hi, T)`: only as iterated value; `tiles(N, T)` has `lo` = 0.
struct TilesExpr : Expr { Expr *lo = nullptr; Expr *hi = nullptr; Expr *size = nullptr; };
/// Range fields (`start end len size count`) and struct or tuple fields.
struct FieldExpr : Expr { Expr *base = nullptr; std::string field; uint32_t fieldIndex = 0; };
struct TupleExpr : Expr { std::vector<Expr *> elements; };
struct ListExpr : Expr { std::vector<Expr *> elements; };
struct StructMakeExpr : Expr { const StructDecl *decl = nullptr; std::vector<Expr *> fields; };
/// Short-circuit `and`/`or` on scalars. (On arrays they are `OpExpr`s.)
struct LogicalExpr : Expr { bool isAnd = true; Expr *lhs = nullptr; Expr *rhs = nullptr; };
struct StringExpr : Expr { std::string value; };
/// `.even` and the like where an op takes an enumerated argument.
struct EnumTagExpr : Expr { std::string tag; };

// ---- Statements ----------------------------------------------------------------------------------

enum class StmtKind : uint8_t {
  Error, Let, Assign, ExprStmt, For, Parallel, While, If, Break, Continue, Return, Assert, Task, Block, OnSection,
};

struct Stmt {
  StmtKind kind = StmtKind::Error;
  Span span;
  NodeId syntax = kNoNode;
  virtual ~Stmt() = default;
};

/// A block; `value` is its last expression when the block is used as a value.
struct Block {
  std::vector<Stmt *> stmts;
  Expr *value = nullptr;
  Span span;
};

/// `let` and `var`; several names take a tuple apart.
struct LetStmt : Stmt { bool isVar = false; std::vector<Local *> locals; Expr *value = nullptr; };

enum class AssignMode : uint8_t { Set, AtomicAdd, AtomicMax, AtomicMin };

/// `target = value`; `x += e` arrives as `x = x + e` (value holds the whole right side) except for atomics.
struct AssignStmt : Stmt {
  Local *target = nullptr;
  IndexExpr *place = nullptr;  ///< indexed assignment; its `base` is the target, possibly through struct fields; null: whole
  Expr *value = nullptr;       ///< broadcast to the place where the extents are 1 or scalar
  AssignMode mode = AssignMode::Set;
  bool isStore = false;        ///< writes an output or `inout` in global memory
  const OpRecord *updateOp = nullptr; ///< set for `+=` etc.: `value` is then OpExpr(target, operand)
};

struct ExprStmt : Stmt { Expr *value = nullptr; };

struct LoopModifiers {
  int64_t pipeline = 0;         ///< 0: none
  Expr *pipelineExpr = nullptr; ///< when given by a tunable
  bool unroll = false;
  int64_t unrollFactor = 0;     ///< 0: full
  std::string label;            ///< `as name`, or the loop variable
};

/// One loop: over a range of integers, the tiles of a range, or (in tests) a list.
struct LoopHead {
  Local *var = nullptr;      ///< type int (positions), range (tiles) or the list's element
  Expr *iterable = nullptr;  ///< RangeExpr, TilesExpr, an expression of range type, or ListExpr
  RangeInfo *range = nullptr; ///< for tiles: the loop variable's range
};

struct ForStmt : Stmt { LoopHead head; LoopModifiers modifiers; Block *body = nullptr; bool isStatic = false; };
struct ParallelStmt : Stmt { std::vector<LoopHead> heads; Block *body = nullptr; };
struct WhileStmt : Stmt { Expr *condition = nullptr; Block *body = nullptr; };
/// `isStatic`: the condition is over tunables, statics and constants; only the chosen arm exists when built.
struct IfStmt : Stmt { Expr *condition = nullptr; Block *thenBlock = nullptr; Block *elseBlock = nullptr; bool isStatic = false; };
struct BreakStmt : Stmt {};
struct ContinueStmt : Stmt {};
struct ReturnStmt : Stmt { Expr *value = nullptr; };
struct AssertStmt : Stmt { Expr *condition = nullptr; std::string message; std::string text; };
struct TaskStmt : Stmt { std::string name; Block *body = nullptr; };
struct BlockStmt : Stmt { Block *block = nullptr; };
/// `on aic { … }`, `on aiv split rows { … }`.
struct OnStmt : Stmt { std::string core; bool splitRows = false; Block *body = nullptr; };

// ---- Declarations --------------------------------------------------------------------------------

enum class DeclKind : uint8_t { Fn, Kernel, ManualKernel, ExternKernel, Program, Test, Property, Bench };

/// A `where` clause: a condition over dimensions, scalars, tunables, or a data fact.
struct WhereClause {
  Expr *condition = nullptr;
  std::string text; ///< as written
  bool onTunables = false; ///< filters the tuning domain
  Span span;
};

struct CallableDecl {
  DeclKind kind = DeclKind::Fn;
  std::string name;                 ///< the text for tests, properties and benches
  const CheckedModule *module = nullptr;
  NodeId syntax = kNoNode;
  Span span, nameSpan;
  std::string doc;
  bool isPub = false;
  bool hasErrors = false;           ///< do not execute
  bool isBlockLevel = false;        ///< uses pipes, sections, buffers or events (language.md section 7)
  std::string level;                ///< `at host` …; empty: the default
  std::string role;                 ///< `as worker`
  std::string core;                 ///< `on aiv`; empty: the compiler splits
  std::vector<std::string> targets; ///< `for a2, a3`; empty: all
  std::vector<std::pair<std::string, std::string>> externSources; ///< target and symbol or file
  std::vector<TypeParam *> typeParams;
  std::vector<DimParam> dims;       ///< in the order written
  bool hasPrefix = false;           ///< the signature uses `..`
  std::vector<Local *> params;
  std::vector<Expr *> paramDefaults; ///< parallel to `params`, null where none
  std::vector<Local *> outputs;     ///< kernels and programs
  std::vector<Expr *> outputInits;  ///< parallel to `outputs`, null where none
  const Type *returnType = nullptr; ///< fns: the value's type; kernels and programs: type of a call (output or tuple)
  std::vector<WhereClause> wheres;
  std::vector<Tunable> tunables;
  std::vector<std::pair<int64_t, int64_t>> sampleRanges; ///< properties: `[R: 0..300]`, one per dim
  Block *body = nullptr;            ///< null for extern kernels
  std::vector<Local *> locals;      ///< all of them, `locals[i]->index == i`
};

struct StructField { std::string name; const Type *type = nullptr; Span span; };
struct StructDecl {
  std::string name;
  std::string doc;
  const CheckedModule *module = nullptr;
  NodeId syntax = kNoNode;
  Span span, nameSpan;
  bool isPub = false;
  std::vector<TypeParam *> typeParams;
  std::vector<DimParam> dims;
  std::vector<StructField> fields;
};

struct ConstDecl {
  std::string name;
  std::string doc;
  Span span, nameSpan;
  bool isPub = false;
  Expr *value = nullptr; ///< a ConstExpr
};

struct TypeAliasDecl {
  std::string name;
  std::string doc;
  Span span, nameSpan;
  bool isPub = false;
  std::vector<TypeParam *> typeParams;
  std::vector<DimParam> dims;
  const Type *type = nullptr;
};

/// One line of a schedule's block for a label: `tile B by 128, F by 256`, `place @mat`, `l0 128, 256, 64` …
struct ScheduleDirective {
  std::string label;
  std::vector<std::pair<std::string, int64_t>> tiles; ///< dimension name and size
  Place place = Place::Inferred;
  std::vector<int64_t> l0;
  Span span;
};

struct ScheduleDecl {
  const CallableDecl *target = nullptr;
  std::string machine;               ///< empty: every target
  Expr *when = nullptr;              ///< over the target's dimensions and tunables; null: always
  std::vector<std::pair<Local *, int64_t>> tunables;
  std::vector<std::pair<std::string, int64_t>> pipelines; ///< loop label and depth
  std::vector<std::pair<std::string, int64_t>> unrolls;   ///< loop label and factor, 0: full
  std::vector<ScheduleDirective> directives;
  std::vector<std::vector<std::string>> fuses;
  std::vector<std::string> splitsAfter;
  std::vector<std::vector<std::string>> orders;
  int64_t cores = 0;
  Span span;
};

/// One file after checking.
struct CheckedModule {
  FileId file = 0;
  std::string name;                    ///< `nn` for `std.nn`
  std::shared_ptr<const Tree> tree;
  std::vector<const CheckedModule *> imports;
  std::vector<CallableDecl *> callables; ///< in the order written, tests included
  std::vector<StructDecl *> structs;
  std::vector<ConstDecl *> consts;
  std::vector<TypeAliasDecl *> aliases;
  std::vector<ScheduleDecl *> schedules;
};

/// Everything made from one root file: modules, arena, dimensions. Owns all nodes.
struct CheckedProgram {
  std::shared_ptr<DimContext> dims;
  std::vector<std::unique_ptr<CheckedModule>> modules; ///< [0] is the root file
  /// For each expression or name in a root-file syntax node, what it was found to be (hover, previews).
  std::map<NodeId, const Expr *> exprOfNode;
  std::map<NodeId, Local *> localOfNode;

  template <typename T, typename... Args> T *make(Args &&...args) {
    auto owner = std::make_shared<T>(std::forward<Args>(args)...);
    T *node = owner.get();
    arena_.push_back(std::move(owner));
    return node;
  }

private:
  std::vector<std::shared_ptr<void>> arena_;
};

} // namespace ptl

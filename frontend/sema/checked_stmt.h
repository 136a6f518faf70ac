// The statements of the checked tree. See checked_tree.h.
#pragma once

#include "frontend/sema/checked_expr.h"

namespace ptl {

// ---- Statements ---------------------------------------------------------------------------------

enum class StmtKind : uint8_t {
  Error,
  Let,
  Assign,
  ExprStmt,
  For,
  Parallel,
  While,
  If,
  Break,
  Continue,
  Return,
  Assert,
  Task,
  Block,
  OnSection,
  BlockDecl,
};

struct Stmt : casting::Castable {
  StmtKind kind = StmtKind::Error;
  Span span;
  NodeId syntax = kNoNode;
  virtual ~Stmt() = default;
};

/// The statements of one kind, likewise.
template <StmtKind Kind> struct StmtOf : Stmt {
  StmtOf() { kind = Kind; }
  static bool classof(const Stmt *stmt) { return stmt->kind == Kind; }
};

/// A block; `value` is its last expression if the block is used as a value.
struct Block {
  std::vector<Stmt *> stmts;
  Expr *value = nullptr;
  Span span;
};

/// `let` and `var`; several names destructure a tuple.
struct LetStmt : StmtOf<StmtKind::Let> {
  bool isVar = false;
  std::vector<Local *> locals;
  Expr *value = nullptr;
};

enum class AssignMode : uint8_t { Set, AtomicAdd, AtomicMax, AtomicMin };

/// `target = value`; `x += e` arrives as `x = x + e` (value holds the whole right side) except for
/// atomics.
struct AssignStmt : StmtOf<StmtKind::Assign> {
  Local *target = nullptr;
  IndexExpr *place = nullptr; ///< indexed assignment; its `base` is the target, possibly through
                              ///< struct fields; null: whole
  Expr *value = nullptr;      ///< broadcast to the place where the extents are 1 or scalar
  AssignMode mode = AssignMode::Set;
  bool isStore = false; ///< writes an output or `inout` in global memory
  const OpRecord *updateOp =
      nullptr; ///< set for `+=` etc.: `value` is then OpExpr(target, operand)
};

struct ExprStmt : StmtOf<StmtKind::ExprStmt> {
  Expr *value = nullptr;
};

struct LoopModifiers {
  int64_t pipeline = 0;         ///< 0: none
  Expr *pipelineExpr = nullptr; ///< when given by a tunable
  bool unroll = false;
  int64_t unrollFactor = 0; ///< 0: full
  Span unrollSpan = kNoSpan;
  std::string label; ///< `as name`, or the loop variable
};

/// `checkpoint "run" every 100 keep 3`: the interval at which the carried values are saved.
struct CheckpointClause {
  std::string folder;
  Expr *every = nullptr;
  int64_t keep = 2; ///< number of checkpoints that are kept
  Span span;
};

/// One loop: over a range of integers, the tiles of a range, or (in tests) a list.
struct LoopHead {
  Local *var = nullptr;       ///< type int (positions), range (tiles) or the list's element
  Expr *iterable = nullptr;   ///< RangeExpr, TilesExpr, an expression of range type, or ListExpr
  RangeInfo *range = nullptr; ///< for tiles: the loop variable's range
};

struct ForStmt : StmtOf<StmtKind::For> {
  LoopHead head;
  LoopModifiers modifiers;
  CheckpointClause *checkpoint = nullptr; ///< null: nothing is saved
  Block *body = nullptr;
  bool isStatic = false;
};
struct ParallelStmt : StmtOf<StmtKind::Parallel> {
  std::vector<LoopHead> heads;
  Block *body = nullptr;
};
struct WhileStmt : StmtOf<StmtKind::While> {
  Expr *condition = nullptr;
  Block *body = nullptr;
};
/// `isStatic`: the condition depends only on tunables, statics and constants; only the chosen
/// branch is built.
struct IfStmt : StmtOf<StmtKind::If> {
  Expr *condition = nullptr;
  Block *thenBlock = nullptr;
  Block *elseBlock = nullptr;
  bool isStatic = false;
};
struct BreakStmt : StmtOf<StmtKind::Break> {};
struct ContinueStmt : StmtOf<StmtKind::Continue> {};
struct ReturnStmt : StmtOf<StmtKind::Return> {
  Expr *value = nullptr;
};
struct AssertStmt : StmtOf<StmtKind::Assert> {
  Expr *condition = nullptr;
  std::string message;
  std::string text;
};
struct TaskStmt : StmtOf<StmtKind::Task> {
  std::string name;
  Block *body = nullptr;
};
struct OnStmt;
struct BlockStmt : StmtOf<StmtKind::Block> {
  Block *block = nullptr;
  const OnStmt *section = nullptr; ///< of a program: the section whose statements these are
};
/// `on aic { … }`, `on aiv split rows { … }`; in programs `on chip 0 { … }`. Executors receive the
/// sections of programs as blocks, serialised such that nothing waits (`fuse_sections.h`). A block
/// for stages has a `var` for each value that passes along them, and a loop over the stages.
struct OnStmt : StmtOf<StmtKind::OnSection> {
  std::string core; ///< or the level of the machine to which its part belongs
  bool splitRows = false;
  uint32_t part = 0; ///< in programs
  /// `s in 0..S`: each `s` is a section, on the part that has element `s` of an axis that is cut
  /// over the level. `var` is null for a single part.
  LoopHead stages;
  Block *body = nullptr;
};

/// `buffer`, `event`, `pipe`: see `Local::object`.
struct BlockDeclStmt : StmtOf<StmtKind::BlockDecl> {
  Local *local = nullptr;
};

} // namespace ptl

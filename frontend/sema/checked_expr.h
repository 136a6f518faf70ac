// The expressions of the checked tree, and the names in them. See checked_tree.h.
#pragma once

#include "frontend/base/casting.h"
#include "frontend/base/diagnostic.h"
#include "frontend/base/round_mode.h"
#include "frontend/sema/types.h"
#include "frontend/syntax/tree.h"
#include "ir/ops/op_table.h"

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

// ---- Names --------------------------------------------------------------------------------------

enum class LocalKind : uint8_t {
  Param,
  Output,
  Let,
  Var,
  Loop,
  Tunable,
  Dimension,
  Const, ///< `Dimension` and `Tunable` have `symbol`
  Buffer,
  Event,
  Pipe,
};

struct BlockObject;

struct Local {
  std::string name;
  LocalKind kind = LocalKind::Let;
  const Type *type = nullptr;
  bool isInout = false;           ///< parameters only
  std::optional<SymbolId> symbol; ///< see the header comment
  Dim dim;   ///< the value as a dimension, if it is one (`let h = D / 2`), else unknown
  Span span; ///< of the name
  BlockObject *object = nullptr; ///< buffers, events, pipes: checked_block.h
  uint32_t index = 0; ///< unique within the declaration, dense from 0: environments are vectors
};

struct DimParam {
  std::string name;
  SymbolId symbol;
  bool isStatic = false;
  Local *local = nullptr;
  Span span;
  /// Of a number of parts (`chips`), which the header does not declare: the level or axis of a mesh that it counts.
  std::string level = {};
  bool isCount() const { return !level.empty(); }
};

struct Tunable {
  Local *local = nullptr;
  bool isBool = false;
  /// legal values in the order written; empty: the tunable is not searched
  std::vector<int64_t> domain;
  int64_t defaultValue = 0; ///< 0/1 for bool
};

// ---- Expressions --------------------------------------------------------------------------------

enum class ExprKind : uint8_t {
  Error,
  Const,
  LocalRef,
  Dim,
  Op,
  Convert,
  Call,
  Index,
  If,
  Range,
  Tiles,
  Field,
  Tuple,
  List,
  StructMake,
  Logical,
  String,
  EnumTag,
  Block, ///< checked_block.h
};

struct Expr : casting::Castable {
  ExprKind kind = ExprKind::Error;
  const Type *type = nullptr; ///< never null; the error type when unknown
  Span span;
  NodeId syntax = kNoNode;
  Dim dim; ///< the value as a dimension, when it is one (scalar `int` only)
  virtual ~Expr() = default;
};

/// Base of the expressions of one kind: `isa`, `cast` and `dyn_cast` (casting.h) identify them by
/// it.
template <ExprKind Kind> struct ExprOf : Expr {
  ExprOf() { kind = Kind; }
  static bool classof(const Expr *expr) { return expr->kind == Kind; }
};

/// A literal or folded constant, already converted to `type`. Constants are folded before, with
/// exact rational arithmetic.
struct ConstExpr : ExprOf<ExprKind::Const> {
  double floatValue = 0; ///< for float types and `any` generics (`T`)
  int64_t intValue = 0;  ///< for integers (bit pattern for u64) and bool
};

struct LocalRefExpr : ExprOf<ExprKind::LocalRef> {
  Local *local = nullptr;
};

/// A dimension expression used as an `int` value; `Expr::dim` is the value.
struct DimExpr : ExprOf<ExprKind::Dim> {};

/// A built-in applied to arguments; operators are built-ins too (`+` is `OpId::Add`). Operands are
/// broadcast as in section 5 of language.md; their element types are already equal (by explicit
/// `ConvertExpr`s).
struct OpExpr : ExprOf<ExprKind::Op> {
  const OpRecord *op = nullptr;
  std::vector<Expr *>
      args; ///< one per `op->params`; null if omitted, variadic, or given by the fields below
  std::vector<Expr *> rest;  ///< arguments of the variadic parameter
  std::vector<int64_t> axes; ///< `axis:` values, counted from the end: -1 is the last axis; sorted.
                             ///< For `transpose` the axis of the operand per axis of the result
  bool reducesAll = false;   ///< reduction without `axis:`
  std::vector<Dim> shape; ///< shape argument of reshape, zeros, full, random, broadcast …; `k` of
                          ///< `topk`, `E` of `one_hot`; for `pad` before of all axes, then after
  bool shapeHasPrefix = false;
  std::string equation; ///< einsum
  /// `gather` and `scatter`: it was not proved that the positions lie within the axis.
  bool needsCheck = false;
};

/// The use of a pool of pages that a conversion stands for (`placement/pool_call.h`): executors of
/// one part ignore it.
struct PoolUse {
  enum class Kind : uint8_t {
    Make, ///< `pool(f32[P, D], memory: "1 GiB")`: the argument is a page of zeros
    Find, ///< `find(kv, tokens)`: 0
    Page, ///< `kv[p]`: a page of zeros
    Keep, ///< `keep(kv, page)`: the page
  };
  Kind kind = Kind::Make;
  Local *pool = nullptr;         ///< of all but `Make`
  Expr *with = nullptr;          ///< of `Find` the rows, of `Page` the position
  uint64_t memory = 0, disk = 0; ///< of `Make`: bytes
  NodeId over = kNoNode;         ///< of `Make`: the level whose parts have one memory
};

/// `f16(x)`, `i8(x, round: .even, saturate: true)`, and implicit `int` to integer conversions.
/// `shift(x, over: chip, by: 1)`: moves the elements of an axis, those at its end to its beginning.
struct ShiftUse {
  Dim by;           ///< positions
  int64_t axis = 0; ///< counted from the end; 0 until placement has found which one the level cuts
};

struct ConvertExpr : ExprOf<ExprKind::Convert> {
  Expr *arg = nullptr;
  RoundMode round = RoundMode::Even;
  bool saturate = false;
  bool checkRange = false;       ///< implicit `int` conversion whose range was not proved
  const PoolUse *pool = nullptr; ///< null for most
  ShiftUse *shift = nullptr;     ///< null for most
};

struct CallArg {
  Local *param = nullptr; ///< of the callee
  Expr *value = nullptr;
  bool isInout = false; ///< value is then an lvalue (LocalRef or Index)
};

/// A requirement of the callee, in the caller's symbols, that was not proved and is checked at run
/// time.
struct RuntimeCheck {
  Expr *condition = nullptr;
  std::string text; ///< as written at the callee
  Span span;
};

struct CallExpr : ExprOf<ExprKind::Call> {
  const CallableDecl *callee = nullptr;
  std::vector<CallArg> args;      ///< in parameter order, defaults filled in
  std::vector<Dim> dimArgs;       ///< one per callee `dims`, in the caller's symbols
  std::vector<Elem> elemArgs;     ///< one per callee `typeParams`
  bool prefixHasPrefix = false;   ///< the callee's `..` begins with the caller's `..`
  std::vector<Extent> prefixArgs; ///< the remaining axes of the callee's `..`
  std::vector<std::pair<Local *, Expr *>> tunables; ///< set at the call
  std::vector<RuntimeCheck> checks;
};

enum class IndexItemKind : uint8_t { Position, Range, Full, Rest, NewAxis, Gather };

struct IndexItem {
  IndexItemKind kind = IndexItemKind::Full;
  Expr *value =
      nullptr; ///< Position: scalar; Range: expression of range type; Gather: 1-D integer array
  /// Range only (including slices `a:b:s`): start, length, step as Dims
  RangeInfo *range = nullptr;
  uint32_t restCount = 0; ///< Rest: number of known axes it covers (besides the prefix)
  bool restHasPrefix = false;
  bool needsCheck = true; ///< the bounds were not proved
  /// The last axis of an array with two elements in a byte: it was proved that the item consists of whole bytes.
  bool keepsBytes = false;
  /// For a range literal: it was not proved that its end is not before its start.
  bool mayEndBeforeStart = false;
  int64_t axis =
      0; ///< indexed axis of the base counted from the end (-1 last); meaningless for NewAxis
  Span span;
};

/// Indexing. One item per axis of the base plus `NewAxis`es; trailing axes not named are `Full`.
struct IndexExpr : ExprOf<ExprKind::Index> {
  Expr *base = nullptr;
  std::vector<IndexItem> items;
  Expr *outside = nullptr; ///< `load(x[…], outside: v)`
  bool isLoad = false;     ///< moves data from global memory into a kernel
};

struct WrittenFold;
struct IfExpr : ExprOf<ExprKind::If> {
  Expr *condition = nullptr;
  Block *thenBlock = nullptr;
  Block *elseBlock = nullptr;
  const WrittenFold *fold = nullptr; ///< what `thenBlock` is written out from (written_fold.h)
};
/// `lo..hi step s`.
struct RangeExpr : ExprOf<ExprKind::Range> {
  Expr *lo = nullptr;
  Expr *hi = nullptr;
  Expr *step = nullptr;
};
/// `tiles(lo..hi, T)`: only as the iterated value of a loop; `tiles(N, T)` has `lo` = 0.
struct TilesExpr : ExprOf<ExprKind::Tiles> {
  Expr *lo = nullptr;
  Expr *hi = nullptr;
  Expr *size = nullptr;
  std::string level =
      {}; ///< of `parts(N, over: chip)`, whose tiles are the blocks of the chips; empty: of `tiles`
};
/// Range fields (`start end len size count`) and struct or tuple fields.
struct FieldExpr : ExprOf<ExprKind::Field> {
  Expr *base = nullptr;
  std::string field;
  uint32_t fieldIndex = 0;
};
struct TupleExpr : ExprOf<ExprKind::Tuple> {
  std::vector<Expr *> elements;
};
struct ListExpr : ExprOf<ExprKind::List> {
  std::vector<Expr *> elements;
};
struct StructMakeExpr : ExprOf<ExprKind::StructMake> {
  const StructDecl *decl = nullptr;
  std::vector<Expr *> fields;
};
/// Short-circuit `and`/`or` on scalars. (On arrays they are `OpExpr`s.)
struct LogicalExpr : ExprOf<ExprKind::Logical> {
  bool isAnd = true;
  Expr *lhs = nullptr;
  Expr *rhs = nullptr;
};
struct StringExpr : ExprOf<ExprKind::String> {
  std::string value;
};
/// `.even` and the like, where an op has an enumerated parameter.
struct EnumTagExpr : ExprOf<ExprKind::EnumTag> {
  std::string tag;
};

} // namespace ptl

// What the checks of expressions and statements share among each other: operands, shapes, built-in
// calls. Other parts of the checker use context.h.
#pragma once

#include "frontend/sema/context.h"
#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"

namespace ptl {

// ---- Making nodes -------------------------------------------------------------------------------

template <typename T> T *newExpr(Context &ctx, ExprKind kind, NodeId node, const Type *type) {
  T *expr = ctx.program.make<T>();
  expr->kind = kind;
  expr->syntax = node;
  if (node != kNoNode)
    expr->span = ctx.span(node);
  expr->type = type;
  return expr;
}

template <typename T> T *newStmt(Context &ctx, StmtKind kind, NodeId node) {
  T *stmt = ctx.program.make<T>();
  stmt->kind = kind;
  stmt->syntax = node;
  if (node != kNoNode)
    stmt->span = ctx.span(node);
  return stmt;
}

/// A reference to a local as an expression, with its `dim`.
Expr *refTo(Context &ctx, Local *local, NodeId node);
/// A dimension as an `int` value: a constant, a reference or a `DimExpr`.
Expr *dimValue(Context &ctx, Dim dim, NodeId node);
/// An operator or built-in on operands whose types already agree.
OpExpr *makeOp(Context &ctx, const OpRecord *op, NodeId node, const Type *type,
               std::vector<Expr *> args);
/// Through parentheses to what is inside.
NodeId skipParens(Context &ctx, NodeId node);
inline bool isMissing(const Expr *expr) { return !expr || expr->type->isError(); }

// ---- Shapes (broadcast.cpp) ---------------------------------------------------------------------

struct Shape {
  bool prefix = false; ///< begins with the declaration's `..`
  std::vector<Extent> extents;

  size_t rank() const { return extents.size(); }
  bool isScalar() const { return !prefix && extents.empty(); }
};

/// Scalars have no axes.
Shape shapeOf(const Type *type);
/// A scalar type when the shape has no axes.
const Type *shapedType(Context &ctx, Elem elem, const Shape &shape);
/// `[i, C]`
std::string toString(Context &ctx, const Shape &shape);

/// Equal under the facts.
Proof extentsEqual(Context &ctx, const Extent &a, const Extent &b);
/// Equal shapes without broadcasting.
bool sameShape(Context &ctx, const Shape &a, const Shape &b);

/// Two axes that do not match.
struct ExtentMismatch {
  Extent a, b;
  int64_t axis = 0;         ///< counted from the end
  bool rankDiffers = false; ///< the leading axes of `..` cannot be told
};
/// The shape both broadcast to; nothing and `*mismatch` when they do not.
std::optional<Shape> broadcast(Context &ctx, const Shape &a, const Shape &b,
                               ExtentMismatch *mismatch);
/// Whether `from` broadcasts to `to` without changing it.
bool broadcastsTo(Context &ctx, const Shape &from, const Shape &to, ExtentMismatch *mismatch);
/// Adds why two extents differ or cannot be shown equal, and the `assert` that would settle it.
void explainExtents(Context &ctx, DiagnosticBuilder diagnostic, const Extent &a, const Extent &b);
/// Where a value would be of the type without axes that a reduction has kept, offers to drop them.
bool offerWithoutKeptAxes(Context &ctx, DiagnosticBuilder report, const Expr *value,
                          const Type *target);

// ---- Operands -----------------------------------------------------------------------------------

/// A checked operand: an expression, or a constant that still waits for a type.
struct Operand {
  NodeId node = kNoNode;
  Span span;
  Expr *expr = nullptr; ///< null while `constant` waits
  std::optional<ConstValue> constant;

  bool isUntyped() const { return !expr; }
  bool isError() const { return expr && expr->type->isError(); }
  bool isIntScalar() const { return expr && expr->type->isInt(); }
};

/// `expected` is a hint for constants within the operand; an untyped constant stays untyped.
Operand checkOperand(Context &ctx, NodeId node, const Type *expected = nullptr);
/// The operand with an element type: constants take it, `int` scalars convert to integers. The
/// types must agree already otherwise.
Expr *operandAs(Context &ctx, const Operand &operand, Elem elem);
/// Without a context: `int`, else `f32`.
Expr *settle(Context &ctx, const Operand &operand);
/// The type an untyped constant takes by itself.
Elem defaultElem(const ConstValue &constant);
/// An `int` scalar as a value of an integer type.
Expr *convertInt(Context &ctx, Expr *value, Elem elem);
/// Whether a generic or concrete element type is of a class.
bool elemIs(Elem elem, ElemConstraint constraint);
inline bool elemIsInt(Elem elem) { return !elem.param && elem.kind == ElemKind::Int; }
/// `acc(T)` of an element type.
Elem accElem(Elem elem);

// ---- Expressions by form ------------------------------------------------------------------------

/// Text that indexes a tensor in a kernel: by the ranges of enclosing loops where they fit, else
/// whole axes.
std::string suggestIndex(Context &ctx, const Type &type);
/// Like `checkExpr`, but a tensor of a kernel need not be indexed: bases, `inout` arguments, data
/// facts.
Expr *checkBase(Context &ctx, NodeId node);
Expr *checkBinary(Context &ctx, NodeId node, const Type *expected);
Expr *checkUnary(Context &ctx, NodeId node, const Type *expected);
/// A built-in operator by its spelling, on operands.
Expr *checkOperator(Context &ctx, NodeId node, std::string_view spelling,
                    std::vector<Operand> operands);
Expr *checkCall(Context &ctx, NodeId node, const Type *expected);
Expr *checkIndex(Context &ctx, NodeId node);
/// `x[…]` of `load(x[…], outside: v)`: no bounds.
IndexExpr *checkRegion(Context &ctx, NodeId node);
/// Whether `min`, `max` and `%` in an `int` that is no dimension keep it within `0..extent`.
bool staysWithin(Context &ctx, const Expr *value, Dim extent);
/// Whether a `where` about data says that all elements of the parameter that an index reads are
/// positions of an axis of that extent.
bool elementsWithin(Context &ctx, const Expr *index, Dim extent);
/// The same of all elements of an array.
bool valuesWithin(Context &ctx, const Local *array, Dim extent);
/// The integer before conversions that keep different integers different.
const Expr *withoutWidening(const Expr *expr);
/// The value with another shape of as many elements.
Expr *reshaped(Context &ctx, Expr *value, const Shape &shape);
/// The value with the shape that it broadcasts to.
Expr *repeated(Context &ctx, Expr *value, const Shape &shape);
/// The value of an index expression with all axes of its index array.
Expr *asWritten(Context &ctx, IndexExpr *expr);
/// An array as one of one axis; one with `..` stays as it is.
Expr *withOneAxis(Context &ctx, Expr *array);
/// The place an indexed assignment writes.
Expr *checkTarget(Context &ctx, NodeId node);
Expr *checkMember(Context &ctx, NodeId node);
Expr *checkRange(Context &ctx, NodeId node);
Expr *checkIfValue(Context &ctx, NodeId node, const Type *expected);
/// A scalar `int` (or another integer type, converted): bounds, steps, counts. `what` names it.
Expr *checkIntScalar(Context &ctx, NodeId node, std::string_view what);
/// The value as a dimension; one that is none becomes an implicit `let` before the statement.
/// Unknown when that is impossible here, which is reported.
Dim dimOrHoist(Context &ctx, Expr *value);
/// The root of `x`, `x[…]`, `s.field[…]`; null if the expression has none.
Local *rootLocal(const Expr *expr);
/// The callee's or built-in's call of a conversion `f16(x)`, `T(x)`.
Expr *checkConversion(Context &ctx, NodeId node, Elem target);

// ---- Calls --------------------------------------------------------------------------------------

/// An argument as written.
struct CallArgument {
  std::string_view name; ///< empty: positional
  NodeId node = kNoNode; ///< the `Arg`
  NodeId value = kNoNode;
  bool isInout = false;
  Span span;
};
/// Splits the arguments of a `CallExpr`; reports positional ones after named ones.
std::vector<CallArgument> callArguments(Context &ctx, NodeId node);

/// Whether an expression is `fetch_add(…)`, `fetch_max(…)` or `fetch_min(…)`.
bool isFetch(Context &ctx, NodeId node);
/// `let old = fetch_add(inout y[i], v)`.
Stmt *checkFetch(Context &ctx, NodeId node);
/// A call with one checked value for each parameter.
Expr *callOn(Context &ctx, NodeId node, const CallableDecl &callee,
             const std::vector<Expr *> &values);
/// `scan(f, x…, start: …, axis: n)` and `reduce(…)` with an associative `fn`; null: another name.
Expr *checkFold(Context &ctx, NodeId node, std::string_view name,
                const std::vector<CallArgument> &args);
/// Reads `where associative` of a `fn`, whose parameters are two values for each of its results;
/// false: another requirement.
bool readAssociative(Context &ctx, NodeId condition, WhereClause *clause);
/// The body of an associative `fn` keeps positions apart: steps of a `scan` are done for many at
/// once.
void checkElementwise(Context &ctx, const CallableDecl &decl);
Expr *checkCallable(Context &ctx, NodeId node, const CallableDecl &callee,
                    const std::vector<CallArgument> &args);
Expr *checkStructMake(Context &ctx, NodeId node, const StructDecl &decl,
                      const std::vector<CallArgument> &args);
Expr *checkOpCall(Context &ctx, NodeId node, std::string_view name,
                  const std::vector<CallArgument> &args, const Type *expected);
/// `push pop wait signal barrier`, PTO instructions, collectives. Null: no such name.
Expr *checkBlockCall(Context &ctx, NodeId node, std::string_view name,
                     const std::vector<CallArgument> &args, const Type *expected);

/// A call of a built-in whose arguments are checked and sorted by kind.
struct OpCall {
  const OpRecord *op = nullptr;
  NodeId node = kNoNode;
  Span span;
  std::vector<Operand>
      values; ///< one per `Value` parameter, in order; variadic ones all, at the place of theirs
  std::vector<size_t>
      operandIndex;          ///< parallel to `values`: the signature's operand; empty: one by one
  std::vector<bool> given;   ///< parallel to `values`: false where an optional one is left out
  std::optional<Elem> named; ///< `elem` of the signature
  const Type *arrayArg = nullptr; ///< `ArrayType` argument
  std::optional<Elem>
      expected; ///< element type the surroundings want: types constants that nothing else does
  std::optional<std::vector<int64_t>> axes; ///< as written
  std::vector<Span> axisSpans;
  std::vector<std::pair<std::string_view, Extent>> dims;  ///< `Dim` parameters
  std::vector<std::pair<std::string_view, Shape>> shapes; ///< `Dims` parameters
  std::vector<std::pair<std::string_view, Expr *>>
      others;                                           ///< `Range`, `Enum`, `BoolConst`, `Text` …
  std::vector<std::pair<std::string_view, Span>> spans; ///< of every argument by parameter
  bool hasErrors = false;

  Expr *other(std::string_view name) const;
  const Shape *shape(std::string_view name) const;
  const Extent *dim(std::string_view name) const;
  Span spanOf(std::string_view name) const;
};

/// The result of finding a signature.
struct OpMatch {
  const Signature *signature = nullptr; ///< null: none fits, reported
  std::vector<Elem> elems;              ///< of the element variables
  std::vector<Expr *> values;           ///< parallel to `OpCall::values`; null where left out
  std::vector<const Type *> results;    ///< the error type where the signature says `[?]`
};
OpMatch matchSignature(Context &ctx, const OpCall &call);
/// Warns where `[M, 1]`, whose axis a reduction has kept, meets `[M]` and becomes `[M, M]`.
void warnOfKeptAxis(Context &ctx, const OpCall &call, const OpMatch &match);
/// Sets `dim` of an operator or built-in on `int` scalars.
void setDim(Context &ctx, OpExpr *expr);
/// The result's element type as the signature says it.
Elem resultElem(const OpCall &call, const OpMatch &match, const ElemPattern &pattern);

/// Axes counted from the end, sorted; reports those that do not exist or occur twice.
std::optional<std::vector<int64_t>> normalizeAxes(Context &ctx, const OpCall &call,
                                                  const Shape &shape);

/// The hand-written rest of a record with `customCheck`: sets result types and arguments. Returns
/// the type.
const Type *checkCustomOp(Context &ctx, const OpCall &call, const OpMatch &match, OpExpr *expr);
using CustomCheck = const Type *(*)(Context &, const OpCall &, const OpMatch &, OpExpr *);
CustomCheck customShapeCheck(std::string_view name); ///< check_op_custom_shape.cpp
CustomCheck customDataCheck(std::string_view name);  ///< check_op_custom_data.cpp

// ---- Statements ---------------------------------------------------------------------------------

Stmt *checkLet(Context &ctx, NodeId node);
Stmt *checkAssign(Context &ctx, NodeId node);
Stmt *checkAtomic(Context &ctx, NodeId node);
Stmt *checkFor(Context &ctx, NodeId node);
Stmt *checkParallel(Context &ctx, NodeId node);
Stmt *checkWhile(Context &ctx, NodeId node);
Stmt *checkIf(Context &ctx, NodeId node);
Stmt *checkBlockLevelStmt(Context &ctx, NodeId node);
/// "a kernel", "a `fn`" …
std::string declKindText(Context &ctx);
/// Whether both arms of an `if` end in a value.
bool yieldsIf(Context &ctx, NodeId node);
/// What the facts say of a condition over dimensions.
Proof conditionProof(Context &ctx, const Expr *condition);
/// Adds to the facts that a condition is false.
void assumeNot(Context &ctx, const Expr *condition);
/// A condition whose value is known when compiling: constants, tunables, `static` dimensions.
bool isStaticValue(Context &ctx, const Expr *expr);
/// Notes for the editor what a node of the root file is.
void note(Context &ctx, NodeId node, const Expr *expr);
void note(Context &ctx, NodeId node, Local *local);

} // namespace ptl

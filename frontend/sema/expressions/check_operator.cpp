#include "frontend/sema/expressions/check_operator.h"

#include "frontend/base/word_char.h"
#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/calls/match_signature.h"
#include "frontend/sema/calls/op_call.h"
#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/foreign_names.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/names/unknown_names.h"
#include "frontend/sema/operand_text.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"

#include <algorithm>

namespace ptl {

// ---- Dimensions ---------------------------------------------------------------------------------

/// The value of an integer operator as a dimension, unknown when it is none.
static Dim combineDims(Context &ctx, std::string_view op, Dim a, Dim b) {
  if (!a || !b)
    return Dim();
  if (op == "+")
    return ctx.dims.add(a, b);
  if (op == "-")
    return ctx.dims.sub(a, b);
  if (op == "*")
    return ctx.dims.mul(a, b);
  if (op == "min")
    return ctx.dims.min(a, b);
  if (op == "max")
    return ctx.dims.max(a, b);
  if (op == "**" || op == "pow")
    return ctx.dims.power(a, b);
  bool divides = op == "/" || op == "%" || op == "cdiv";
  // A divisor that is a dimension is taken to be at least 1, as in types.
  if (!divides || !ctx.facts.proveNonNegative(b).isTrue())
    return Dim();
  if (op == "/")
    return ctx.dims.floorDiv(a, b);
  return op == "%" ? ctx.dims.mod(a, b) : ctx.dims.ceilDiv(a, b);
}

void setDim(Context &ctx, OpExpr *expr) {
  // Only integers can be lengths or positions.
  if (!expr->type->isInt())
    return;
  // A negation has one operand.
  if (expr->args.size() == 1 && expr->args[0]->dim && expr->op->name == "-")
    expr->dim = ctx.dims.negate(expr->args[0]->dim);
  if (expr->args.size() == 2 && expr->args[0] && expr->args[1])
    expr->dim = combineDims(ctx, expr->op->name, expr->args[0]->dim, expr->args[1]->dim);
}

/// Whether an operand is the integer 0, written or known.
static bool isZero(const Expr *value) {
  if (value->dim && value->dim.constant())
    return *value->dim.constant() == 0;
  bool isInteger = value->type->isInt() || (value->type->isScalar() && !value->type->elem.param &&
                                            elemIs(value->type->elem, ElemConstraint::Integer));
  return isInteger && value->kind == ExprKind::Const && cast<ConstExpr>(value)->intValue == 0;
}

void checkDivisor(Context &ctx, const OpExpr *expr) {
  bool divides =
      expr->op->id == OpId::Div || expr->op->id == OpId::Rem || expr->op->id == OpId::Cdiv;
  // A float has a quotient by 0, too.
  if (divides && expr->args.size() >= 2 && expr->args[1] && isZero(expr->args[1]))
    ctx.sink.report(DiagId::ConstantDivisionByZero, expr->span);
}

// ---- Ranges -------------------------------------------------------------------------------------

static const RangeInfo *rangeOf(const Operand &operand) {
  return operand.expr && operand.expr->type->kind == TypeKind::Range ? operand.expr->type->range
                                                                     : nullptr;
}

/// `r + 1`, `r - 1`, `2 * r`: the positions of `r` shifted or spread.
static Expr *checkRangeOperator(Context &ctx, NodeId node, std::string_view spelling,
                                std::vector<Operand> &operands) {
  const RangeInfo *left = rangeOf(operands[0]);
  const RangeInfo *right = operands.size() == 2 ? rangeOf(operands[1]) : nullptr;
  const RangeInfo *range = left ? left : right;
  // A range can be moved or spread, and stays a range.
  bool shifts = operands.size() == 2 && (spelling == "+" || (spelling == "-" && left));
  bool spreads = operands.size() == 2 && spelling == "*";
  // `1 - r` would run backwards, and two ranges have no common positions.
  if ((left && right) || (!shifts && !spreads)) {
    ctx.sink.report(DiagId::OperandNotAllowed, ctx.span(node), {std::string(spelling), "a range"})
        .help("a range can be shifted (`r + 1`) and scaled (`2*r`); `index(r)` gives its positions "
              "as an array");
    return errorExpr(ctx, node);
  }
  Operand &other = operands[left ? 1 : 0];
  Expr *amount = settle(ctx, other);
  if (isMissing(amount))
    return errorExpr(ctx, node);
  if (!amount->type->isInt()) {
    auto report = ctx.sink.report(
        DiagId::NotAnInteger, amount->span,
        {"the number by which a range is shifted or scaled", toString(ctx, amount->type)});
    if (amount->type->isArray())
      report.help("`index(r)` is the array of the positions in a range `r`");
    return errorExpr(ctx, node);
  }
  // The shift has to be a dimension, so that bounds can be proved.
  Dim by = dimOrHoist(ctx, amount);
  RangeInfo *info = ctx.program.make<RangeInfo>(*range);
  info->parent = range;
  // A moved range has no tiles of its own.
  info->count = info->size = Dim();
  info->name.clear();
  if (spreads) {
    info->start = ctx.dims.mul(range->start, by);
    info->step = ctx.dims.mul(range->step, by);
    if (by && ctx.facts.proveLessEqual(by, ctx.dims.constant(0)).isTrue())
      ctx.sink.report(DiagId::RangeStepNotPositive, amount->span, {ctx.dims.toString(by)});
  } else {
    info->start = spelling == "+" ? ctx.dims.add(range->start, by) : ctx.dims.sub(range->start, by);
  }
  const OpRecord *op = findOp(spelling, 2);
  std::vector<Expr *> args = {operands[0].expr ? operands[0].expr : amount,
                              operands[1].expr ? operands[1].expr : amount};
  return makeOp(ctx, op, node, rangeType(ctx, info), std::move(args));
}

// ---- Comparisons with whole numbers -------------------------------------------------------------

static std::optional<Rational> wholeNumber(const Operand &operand) {
  if (operand.isUntyped() && operand.constant->isNumber() && operand.constant->number.isInteger())
    return operand.constant->number;
  if (operand.expr && operand.expr->kind == ExprKind::Const && operand.expr->type->isInt())
    return Rational(cast<ConstExpr>(operand.expr)->intValue);
  return std::nullopt;
}

/// An integer of few bits next to a size or position that they may not hold is compared as `i32`.
static void widenFor(Context &ctx, Operand &operand, const Operand &other) {
  Elem elem = operand.expr->type->elem;
  unsigned bits = elemBits(elem.kind);
  if (!other.isIntScalar() || (bits != 8 && bits != 16))
    return;
  // A signed type has one bit less for its magnitude.
  unsigned magnitude = bits - (isSigned(elem.kind) ? 1 : 0);
  int64_t high = (int64_t(1) << magnitude) - 1;
  // If the value always fits, nothing has to be widened.
  if (other.expr->dim &&
      ctx.facts.isWithin(other.expr->dim, isSigned(elem.kind) ? -high - 1 : 0, high))
    return;
  Elem wide{ElemKind::I32};
  auto *convert = newExpr<ConvertExpr>(ctx, operand.expr->syntax,
                                       shapedType(ctx, wide, shapeOf(operand.expr->type)));
  convert->span = operand.expr->span;
  convert->arg = operand.expr;
  operand.expr = convert;
}

/// A number that the type of the other side cannot hold lies above or below all its values: what
/// the comparison gives is known, and said with the nearest value. Returns how it is spelled then.
static std::string_view compareExactly(Context &ctx, std::string_view spelling,
                                       std::vector<Operand> &operands) {
  static constexpr std::string_view orders[] = {"<", "<=", ">", ">=", "==", "!="};
  static constexpr std::string_view mirrors[] = {">", ">=", "<", "<=", "==", "!="};
  auto order = std::find(std::begin(orders), std::end(orders), spelling) - std::begin(orders);
  // Each side may be the number.
  for (size_t i = 0; i < 2 && order < std::ssize(orders); ++i) {
    Operand &value = operands[i], &other = operands[1 - i];
    const Type *type = value.expr ? value.expr->type : nullptr;
    bool isInteger = type && (type->isArray() || type->isScalar()) && !type->isInt() &&
                     !type->elem.param && elemIs(type->elem, ElemConstraint::Integer);
    if (!isInteger)
      continue;
    auto number = wholeNumber(other);
    if (!number) {
      widenFor(ctx, value, other);
      return spelling;
    }
    // The type's values end at 2^bits, exclusively.
    unsigned bits = elemBits(type->elem.kind) - (isSigned(type->elem.kind) ? 1 : 0);
    Rational end(false, Natural(1).shiftLeft(bits), Natural(1));
    Rational least = isSigned(type->elem.kind) ? Rational(0) - end : Rational(0);
    bool isAbove = number->compare(end) >= 0;
    if (!isAbove && number->compare(least) >= 0)
      // A number that the type holds is compared as it is.
      return spelling;
    // A number on the left turns the comparison around.
    std::string_view asked = i == 0 ? spelling : mirrors[order];
    bool holds = asked == "!=" || asked[0] == (isAbove ? '<' : '>');
    // The nearest value that the type holds takes the place of the number.
    other.expr = nullptr;
    other.constant = ConstValue();
    other.constant->number = isAbove ? end - Rational(1) : least;
    // The comparison that is always true, or never, with that value.
    std::string_view comparison = isAbove ? (holds ? "<=" : ">") : (holds ? ">=" : "<");
    return i == 0 ? comparison
                  : mirrors[std::find(std::begin(orders), std::end(orders), comparison) - orders];
  }
  return spelling;
}

// ---- Built-in operators -------------------------------------------------------------------------

Expr *checkOperator(Context &ctx, NodeId node, std::string_view spelling,
                    std::vector<Operand> operands) {
  bool hasRange = false;
  for (const Operand &operand : operands) {
    if (operand.isError())
      return errorExpr(ctx, node);
    hasRange = hasRange || rangeOf(operand);
  }
  // Ranges have operators of their own.
  if (hasRange)
    return checkRangeOperator(ctx, node, spelling, operands);
  if (operands.size() == 2)
    spelling = compareExactly(ctx, spelling, operands);
  OpCall call;
  call.op = findOp(spelling, operands.size());
  call.node = node;
  call.span = ctx.span(node);
  if (!call.op) {
    ctx.sink.report(DiagId::OperandNotAllowed, call.span,
                    {std::string(spelling), "these operands"});
    return errorExpr(ctx, node);
  }
  call.values = std::move(operands);
  call.given.assign(call.values.size(), true);
  OpMatch match = matchSignature(ctx, call);
  if (!match.signature)
    return errorExpr(ctx, node);
  for (const Expr *value : match.values)
    if (isMissing(value))
      return errorExpr(ctx, node);
  OpExpr *expr = makeOp(ctx, call.op, node, match.results.front(), match.values);
  // Optional parameters of the operation stay empty.
  expr->args.resize(call.op->params.size(), nullptr);
  checkDivisor(ctx, expr);
  setDim(ctx, expr);
  return expr;
}

// ---- Short circuit ------------------------------------------------------------------------------

static bool isBoolScalar(const Operand &operand) {
  const Type *type = operand.expr ? operand.expr->type : nullptr;
  return type && type->isScalar() && type->elem == Elem{ElemKind::Bool};
}

static Expr *checkLogical(Context &ctx, NodeId node, bool isAnd) {
  BinaryExprView view(ctx.tree, node);
  Operand lhs = checkOperand(ctx, view.lhs());
  // What stands on the right is evaluated only under the left one's value.
  // Hoisting would evaluate what the left side may prevent.
  FactSet before = ctx.facts;
  bool couldHoist = ctx.canHoist;
  ctx.canHoist = false;
  if (lhs.expr && isAnd)
    assumeCondition(ctx, lhs.expr);
  else if (lhs.expr)
    assumeNot(ctx, lhs.expr);
  Operand rhs = checkOperand(ctx, view.rhs());
  ctx.canHoist = couldHoist;
  ctx.facts = before;
  // On arrays both sides are evaluated, element by element.
  if (!isBoolScalar(lhs) || !isBoolScalar(rhs))
    return checkOperator(ctx, node, isAnd ? "and" : "or", {lhs, rhs});
  auto *logical = newExpr<LogicalExpr>(ctx, node, boolType(ctx));
  logical->isAnd = isAnd;
  logical->lhs = lhs.expr;
  logical->rhs = rhs.expr;
  return logical;
}

// ---- Entry points -------------------------------------------------------------------------------

static bool isChainedComparison(Context &ctx, NodeId node) {
  if (!ctx.tree.is(node, NodeKind::BinaryExpr))
    return false;
  std::string_view op = ctx.tree.mainText(node);
  return op == "<" || op == "<=" || op == ">" || op == ">=";
}

/// Whether the result of an operator has the element type of its operands.
static bool keepsElem(std::string_view op) {
  return op != "==" && op != "!=" && op != "<" && op != "<=" && op != ">" && op != ">=" &&
         op != "@";
}

/// The type an untyped constant next to another constant takes from its surroundings.
static void typeOperands(Context &ctx, std::vector<Operand> &operands, std::string_view op,
                         const Type *expected) {
  if (!keepsElem(op) || !expected || !(expected->isScalar() || expected->isArray()))
    return;
  // An operand with a type decides itself.
  for (const Operand &operand : operands)
    if (operand.expr)
      return;
  for (Operand &operand : operands)
    operand.expr = makeConst(ctx, *operand.constant, expected, operand.node);
}

/// What types the constants of the right operand: an array on the left, as in `n + select(c, 1,
/// 0)`, otherwise what the surroundings want.
static const Type *hintOfOther(const Operand &lhs, std::string_view op, const Type *hint) {
  // Products and shifts have operands of unrelated types.
  bool isLike = op != "@" && op != "<<" && op != ">>";
  return isLike && lhs.expr && lhs.expr->type->isArray() ? lhs.expr->type : hint;
}

Expr *checkBinary(Context &ctx, NodeId node, const Type *expected) {
  std::string_view op = ctx.tree.mainText(node);
  if (op == "and" || op == "or")
    return checkLogical(ctx, node, op == "and");
  BinaryExprView view(ctx.tree, node);
  bool wasChained = isChainedComparison(ctx, node) && isChainedComparison(ctx, view.lhs());
  const Type *hint = keepsElem(op) ? expected : nullptr;
  Operand lhs = checkOperand(ctx, view.lhs(), hint);
  Operand rhs = checkOperand(ctx, view.rhs(), hintOfOther(lhs, op, hint));
  std::vector<Operand> operands = {lhs, rhs};
  // The parser has reported the chain.
  if (wasChained)
    return errorExpr(ctx, node);
  typeOperands(ctx, operands, op, expected);
  return checkOperator(ctx, node, op, std::move(operands));
}

Expr *checkUnary(Context &ctx, NodeId node, const Type *expected) {
  std::string_view op = ctx.tree.mainText(node);
  NodeId inner = UnaryExprView(ctx.tree, node).operand();
  Operand operand = checkOperand(ctx, inner, op == "not" ? nullptr : expected);
  // A plus sign changes nothing.
  if (op == "+")
    return settle(ctx, operand);
  if (op != "~")
    return checkOperator(ctx, node, op, {operand});
  Operand ones;
  ones.node = inner;
  ones.span = operand.span;
  ones.constant = ConstValue();
  ones.constant->number = Rational(-1);
  if (operand.expr && (operand.expr->type->isScalar() || operand.expr->type->isArray())) {
    Elem elem = operand.expr->type->elem;
    // For unsigned types, all ones is the largest value.
    if (!elem.param && isInteger(elem.kind) && !isSigned(elem.kind))
      ones.constant->number =
          Rational(false, Natural(1).shiftLeft(elemBits(elem.kind)) - Natural(1), Natural(1));
    // On truth values `~` is `not`.
    if (elem == Elem{ElemKind::Bool})
      return checkOperator(ctx, node, "not", {operand});
  }
  // ~x is x exclusive-or all ones.
  return checkOperator(ctx, node, "^", {operand, ones});
}

// ---- Members ------------------------------------------------------------------------------------

static Expr *checkTransposed(Context &ctx, NodeId node, Expr *base) {
  const Type *type = base->type;
  if (!type->isArray() || type->extents.size() < 2) {
    ctx.sink.report(DiagId::RankTooSmall, ctx.span(node), {".T", "2", toString(ctx, type)})
        .note("`.T` swaps the last two axes");
    return errorExpr(ctx, node);
  }
  Shape shape = shapeOf(type);
  std::swap(shape.extents[shape.rank() - 1], shape.extents[shape.rank() - 2]);
  const OpRecord *op = findOp(".T", 1);
  OpExpr *expr = makeOp(ctx, op, node, shapedType(ctx, type->elem, shape), {base});
  expr->args.resize(op ? op->params.size() : 1, nullptr);
  return expr;
}

static Expr *rangeField(Context &ctx, NodeId node, Expr *base, std::string_view name) {
  static constexpr std::string_view fields[] = {"start", "end", "len", "size", "count"};
  const RangeInfo *info = base->type->range;
  auto *field = newExpr<FieldExpr>(ctx, node, intType(ctx));
  field->base = base;
  field->field = name;
  // The number of the field is its place in the list.
  for (uint32_t i = 0; i < 5; ++i)
    if (fields[i] == name)
      field->fieldIndex = i;
  if (name == "start")
    field->dim = info->start;
  else if (name == "len")
    field->dim = info->length;
  else if (name == "size")
    field->dim = info->size;
  else if (name == "count")
    field->dim = info->count;
  else if (name == "end")
    // The end is the first position that the range does not reach.
    field->dim = ctx.dims.add(info->start, ctx.dims.mul(info->step, info->length));
  else
    return nullptr;
  // Only ranges of tiles have a size and a count.
  if ((name == "size" || name == "count") && !field->dim) {
    ctx.sink.report(DiagId::OnlyTilesHave, ctx.span(node), {std::string(name)});
    return errorExpr(ctx, node);
  }
  return field;
}

static Expr *structField(Context &ctx, NodeId node, Expr *base, std::string_view name);

/// The `N` of `x.shape[1]`.
static void offerExtent(Context &ctx, DiagnosticBuilder report, NodeId node, const Type *type,
                        std::string_view name) {
  NodeId indexed = ctx.tree.parent(node);
  if (name != "shape" || !ctx.tree.is(indexed, NodeKind::IndexExpr) || type->prefix)
    return;
  auto indices = IndexExprView(ctx.tree, indexed).indices();
  // The axis has to be a constant, so that the fix can name the extent.
  auto value = indices.size() == 1 ? evalConst(ctx, indices[0]) : std::nullopt;
  auto axis = value ? value->integer() : std::nullopt;
  auto rank = static_cast<int64_t>(type->extents.size());
  if (!axis || *axis < -rank || *axis >= rank)
    return;
  const Extent &extent = type->extents[static_cast<size_t>(*axis < 0 ? *axis + rank : *axis)];
  offerExtent(ctx, report, indexed, extent);
}

static Expr *reportNoField(Context &ctx, NodeId node, const Type *type, std::string_view name,
                           std::vector<std::string> fields) {
  Span span = ctx.span(MemberExprView(ctx.tree, node).name());
  auto report =
      ctx.sink.report(DiagId::NoSuchField, span, {toString(ctx, type), std::string(name)});
  if (const ForeignName *foreign = type->isArray() ? foreignField(name) : nullptr) {
    report.help(std::string(foreign->how) + ", `" + toString(ctx, type) + "`");
    offerExtent(ctx, report, node, type, name);
    return errorExpr(ctx, node);
  }
  suggestNearest(report, span, name, fields);
  return errorExpr(ctx, node);
}

Expr *checkMember(Context &ctx, NodeId node, const Type *expected) {
  MemberExprView view(ctx.tree, node);
  std::string_view name = ctx.text(view.name());
  // `module.name` looks like a member.
  if (ctx.tree.is(view.base(), NodeKind::NameExpr)) {
    ValueRef ref = lookupValue(ctx, ctx.text(view.base()));
    if (!ref && reportUnknownModule(ctx, ctx.text(view.base()), name, ctx.span(view.base()),
                                    ctx.span(node)))
      return errorExpr(ctx, node);
    if (ref.module) {
      ValueRef member = lookupValueIn(ctx, *ref.module, name, ctx.span(view.name()));
      // Only constants can be taken from a module as values.
      if (!member.constant)
        return errorExpr(ctx, node);
      auto it = ctx.state.constValues.find(member.constant);
      return it == ctx.state.constValues.end()
                 ? errorExpr(ctx, node)
                 : makeConst(ctx, it->second, scalarType(ctx, defaultElem(it->second)), node);
    }
  }
  bool transposes = name == "T";
  // `.T` is an operation, so its base is read as a value.
  Expr *base = transposes ? checkExpr(ctx, view.base(), elementExpected(ctx, expected))
                          : checkBase(ctx, view.base());
  if (isMissing(base) || name.empty())
    return errorExpr(ctx, node);
  if (base->type->kind == TypeKind::Struct)
    return structField(ctx, node, base, name);
  if (base->type->kind == TypeKind::Range) {
    Expr *field = rangeField(ctx, node, base, name);
    return field ? field
                 : reportNoField(ctx, node, base->type, name,
                                 {"start", "end", "len", "size", "count"});
  }
  if (transposes)
    return checkTransposed(ctx, node, base);
  return reportNoField(ctx, node, base->type, name,
                       base->type->isArray() ? std::vector<std::string>{"T"}
                                             : std::vector<std::string>{});
}

static Expr *structField(Context &ctx, NodeId node, Expr *base, std::string_view name) {
  const StructDecl &decl = *base->type->structDecl;
  std::vector<std::string> names;
  for (uint32_t i = 0; i < decl.fields.size(); ++i) {
    names.push_back(decl.fields[i].name);
    if (decl.fields[i].name != name)
      continue;
    auto *field = newExpr<FieldExpr>(ctx, node, fieldType(ctx, base->type, decl.fields[i]));
    field->base = base;
    field->field = name;
    field->fieldIndex = i;
    return field;
  }
  return reportNoField(ctx, node, base->type, name, std::move(names));
}

} // namespace ptl

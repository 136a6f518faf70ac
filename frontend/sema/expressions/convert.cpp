// Constants take a type, `int` becomes another integer type, values go to places of a known type.
#include "frontend/sema/expressions/convert.h"

#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/operand_text.h"
#include "frontend/sema/types/make_type.h"
#include "ir/ops/op_table.h"

namespace ptl {

bool elemIs(Elem elem, ElemConstraint constraint) {
  if (!elem.param)
    return satisfies(elem.kind, constraint);
  ElemConstraint have = elem.param->constraint;
  if (constraint == ElemConstraint::Any || have == constraint)
    return true;
  return constraint == ElemConstraint::Number &&
         (have == ElemConstraint::Float || have == ElemConstraint::Integer);
}

Elem accElem(Elem elem) {
  if (elem.param)
    return Elem{elem.kind, elem.param, true};
  return Elem{accOf(elem.kind)};
}

Elem defaultElem(const ConstValue &constant) {
  if (constant.type)
    return Elem{*constant.type};
  if (constant.kind == ConstKind::Bool)
    return Elem{ElemKind::Bool};
  return Elem{constant.isIntegral() ? ElemKind::Int : ElemKind::F32};
}

static Span spanOrNone(Context &ctx, NodeId node) {
  return node == kNoNode ? kNoSpan : ctx.span(node);
}

/// Whether a constant can be a value of a generic type, whatever the type turns out to be.
static bool fitsGeneric(const ConstValue &value, const TypeParam &param) {
  switch (param.constraint) {
  case ElemConstraint::Float:
    return value.kind != ConstKind::Bool;
  case ElemConstraint::Integer:
  case ElemConstraint::Number:
    return value.isIntegral();
  case ElemConstraint::Any:
  case ElemConstraint::Bool:
    return false;
  }
  return false;
}

void noteIntegers(DiagnosticBuilder report, ElemKind kind, const ConstValue &value) {
  if (!isInteger(kind) || !value.isNumber())
    return;
  std::string text = "`" + std::string(elemInfo(kind).name) + "` holds ";
  unsigned bits = kind == ElemKind::Int ? 64 : elemBits(kind);
  bool isWhole = value.number.isInteger();
  if (!isWhole)
    text += "whole numbers";
  else if (isSigned(kind))
    text += "integers from " + std::to_string(INT64_MIN >> (64 - bits)) + " to " +
            std::to_string(INT64_MAX >> (64 - bits));
  else
    text += "integers from 0 to " + std::to_string(UINT64_MAX >> (64 - bits));
  report.note(text);
}

Expr *makeConst(Context &ctx, const ConstValue &value, const Type *type, NodeId node,
                RoundMode mode) {
  if (type->isError())
    return errorExpr(ctx, node);
  if (type->isArray())
    // A constant that meets an array is a scalar of its element type.
    type = scalarType(ctx, type->elem);
  if (!type->isScalar()) {
    ctx.sink.report(
        DiagId::TypeMismatch, spanOrNone(ctx, node),
        {"the constant", toString(ctx, scalarType(ctx, defaultElem(value))), toString(ctx, type)});
    return errorExpr(ctx, node);
  }
  bool boolMeetsNumber =
      (value.kind == ConstKind::Bool) != (type->elem.kind == ElemKind::Bool && !type->elem.param);
  bool generic = type->elem.param != nullptr;
  if (generic ? !fitsGeneric(value, *type->elem.param) : boolMeetsNumber) {
    auto report = ctx.sink.report(DiagId::LiteralDoesNotFit, spanOrNone(ctx, node),
                                  {toString(value), toString(ctx, type)});
    if (generic)
      report.note("`" + type->elem.param->name + "` is any `" +
                  std::string(constraintName(type->elem.param->constraint)) + "` type");
    return errorExpr(ctx, node);
  }
  ConstBits bits = convertConst(value, type->elem, mode);
  if (!bits.fits) {
    auto report = ctx.sink.report(DiagId::LiteralDoesNotFit, spanOrNone(ctx, node),
                                  {toString(value), toString(ctx, type)});
    noteIntegers(report, type->elem.kind, value);
    return errorExpr(ctx, node);
  }
  auto *expr = newExpr<ConstExpr>(ctx, node, type);
  expr->floatValue = bits.floatValue;
  expr->intValue = bits.intValue;
  if (type->isInt())
    expr->dim = ctx.dims.constant(bits.intValue);
  return expr;
}

Expr *trueExpr(Context &ctx, NodeId node) {
  ConstValue yes;
  yes.kind = ConstKind::Bool;
  yes.boolean = true;
  return makeConst(ctx, yes, boolType(ctx), node);
}

Expr *settle(Context &ctx, const Operand &operand) {
  if (operand.expr)
    return operand.expr;
  return makeConst(ctx, *operand.constant, scalarType(ctx, defaultElem(*operand.constant)),
                   operand.node);
}

Expr *convertInt(Context &ctx, Expr *value, Elem elem) {
  if (elemIsInt(elem))
    return value;
  if (auto *constant = dyn_cast<ConstExpr>(value)) {
    ConstValue exact;
    exact.number = Rational(constant->intValue);
    return makeConst(ctx, exact, scalarType(ctx, elem), value->syntax);
  }
  auto *convert = newExpr<ConvertExpr>(ctx, value->syntax, scalarType(ctx, elem));
  convert->span = value->span;
  convert->arg = value;
  convert->checkRange = true;
  if (!elem.param && value->dim) {
    // Here `int` has 64 bits with a sign, so the range of `u64` ends at the largest `int`.
    unsigned bits = elemBits(elem.kind) - (isSigned(elem.kind) ? 1 : 0);
    int64_t high = bits >= 63 ? INT64_MAX : (int64_t(1) << bits) - 1;
    int64_t low = isSigned(elem.kind) ? -high - 1 : 0;
    convert->checkRange = !ctx.facts.isWithin(value->dim, low, high);
  }
  return convert;
}

Expr *operandAs(Context &ctx, const Operand &operand, Elem elem) {
  if (operand.isUntyped())
    return makeConst(ctx, *operand.constant, scalarType(ctx, elem), operand.node);
  // An `int` takes any integer type.
  if (operand.isIntScalar() && elemIs(elem, ElemConstraint::Integer))
    return convertInt(ctx, operand.expr, elem);
  return operand.expr;
}

/// `full(type, value)` for a constant that initialises an array.
static Expr *fillWith(Context &ctx, Expr *value, const Type *target) {
  const OpRecord *full = findOp("full", 2);
  if (!full)
    return errorExpr(ctx, value->syntax);
  OpExpr *expr = makeOp(ctx, full, value->syntax, target, {nullptr, value});
  for (const Extent &extent : target->extents)
    expr->shape.push_back(extent.length);
  expr->shapeHasPrefix = target->prefix;
  return expr;
}

void offerConversion(Context &ctx, DiagnosticBuilder report, Span span, Elem from, Elem to) {
  bool rounds = elemIs(from, ElemConstraint::Float) && elemIs(to, ElemConstraint::Integer);
  std::string begin = toString(to) + "(", end = rounds ? ", round: .even)" : ")";
  report.fix(
      FixId::Convert, "convert it: `" + begin + excerpt(ctx, span) + end + "`",
      {{{span.file, span.begin, span.begin}, begin}, {{span.file, span.end, span.end}, end}});
}

std::string excerpt(Context &ctx, Span span) {
  constexpr size_t kLongest = 24;
  std::string_view text = ctx.text(span);
  bool isShort = text.size() <= kLongest && text.find('\n') == std::string_view::npos;
  return isShort ? std::string(text) : "…";
}

void helpWithList(DiagnosticBuilder report) {
  report.help(
      "a list of numbers is not an array: compute its elements from `index(0..n)`, or assign "
      "them one by one to a `var x = zeros(f32[n])`");
}

/// Whether one type is the other with its two axes swapped.
static bool isTransposed(Context &ctx, const Type *type, const Type *target) {
  return !type->prefix && !target->prefix && type->extents.size() == 2 &&
         target->extents.size() == 2 &&
         extentsEqual(ctx, type->extents[0], target->extents[1]) == Proof::True &&
         extentsEqual(ctx, type->extents[1], target->extents[0]) == Proof::True;
}

/// What makes the shape of a value that of the target.
static void offerShape(Context &ctx, DiagnosticBuilder report, const Expr *value,
                       const Type *target) {
  const Type *type = value->type;
  Span span = value->span;
  bool isReduction =
      value->kind == ExprKind::Op && cast<OpExpr>(value)->op->opClass == OpClass::Reduction;
  if (isReduction && type->isScalar() && target->isArray()) {
    report.note("without `axis:` a reduction is over all axes");
    report.help("name the axis to reduce, for example `axis: -1`");
  } else if (!type->isArray() || !target->isArray()) {
    return;
  } else if (isTransposed(ctx, type, target)) {
    OperandText turned = operandBefore(ctx, span, ".T");
    report.fix(FixId::Transpose, "transpose it: `" + turned.around(excerpt(ctx, span)) + "`",
               turned.edits());
  } else if (type->prefix == target->prefix && type->extents.size() == target->extents.size()) {
    // The first extent that differs is explained.
    for (size_t i = 0; i < type->extents.size(); ++i)
      if (extentsEqual(ctx, type->extents[i], target->extents[i]) != Proof::True) {
        explainExtents(ctx, report, type->extents[i], target->extents[i]);
        break;
      }
  }
}

static Expr *reportMismatch(Context &ctx, Expr *value, const Type *target, std::string_view what) {
  auto report =
      ctx.sink.report(DiagId::TypeMismatch, value->span,
                      {std::string(what), toString(ctx, value->type), toString(ctx, target)});
  const Type *type = value->type;
  // Types of one kind that differ in their elements can be converted.
  bool sameKind = type->kind == target->kind && (type->isArray() || type->isScalar());
  if (sameKind && !(type->elem == target->elem))
    offerConversion(ctx, report, value->span, type->elem, target->elem);
  else if (type->kind == TypeKind::List && target->isArray())
    helpWithList(report);
  else if (!offerWithoutKeptAxes(ctx, report, value, target))
    offerShape(ctx, report, value, target);
  return errorExpr(ctx, value->syntax);
}

static bool sameStruct(Context &ctx, const Type &a, const Type &b) {
  if (a.structDecl != b.structDecl || a.elemArgs != b.elemArgs ||
      a.dimArgs.size() != b.dimArgs.size())
    return false;
  // Dimensions may be written differently and still be equal.
  for (size_t i = 0; i < a.dimArgs.size(); ++i)
    if (!ctx.facts.proveEqual(a.dimArgs[i], b.dimArgs[i]).isTrue())
      return false;
  return true;
}

/// Whether a value of the type is one of the target without any conversion.
static bool sameType(Context &ctx, const Type &a, const Type &b) {
  // An error was reported already, so it fits anything.
  if (a.isError() || b.isError())
    return true;
  if (a.kind != b.kind)
    return false;
  switch (a.kind) {
  case TypeKind::Scalar:
    return a.elem == b.elem;
  case TypeKind::Array:
    return a.elem == b.elem && sameShape(ctx, shapeOf(&a), shapeOf(&b));
  case TypeKind::Struct:
    return sameStruct(ctx, a, b);
  case TypeKind::Tuple:
  case TypeKind::List:
    if (a.elements.size() != b.elements.size() || !sameShape(ctx, shapeOf(&a), shapeOf(&b)))
      return false;
    for (size_t i = 0; i < a.elements.size(); ++i)
      if (!sameType(ctx, *a.elements[i], *b.elements[i]))
        return false;
    return true;
  // Other kinds have one type each.
  default:
    return true;
  }
}

static Expr *convertTuple(Context &ctx, TupleExpr *value, const Type *target,
                          std::string_view what) {
  auto *tuple = newExpr<TupleExpr>(ctx, value->syntax, target);
  for (size_t i = 0; i < value->elements.size(); ++i)
    tuple->elements.push_back(convertTo(ctx, value->elements[i], target->elements[i], what));
  return tuple;
}

Expr *convertTo(Context &ctx, Expr *value, const Type *target, std::string_view what) {
  if (isMissing(value) || target->isError())
    return value ? value : errorExpr(ctx, kNoNode);
  // Nothing has to be done in most cases.
  if (sameType(ctx, *value->type, *target))
    return value;
  if (value->type->isInt() && target->isScalar() && elemIs(target->elem, ElemConstraint::Integer))
    return convertInt(ctx, value, target->elem);
  // The elements of a tuple that is written out adapt one by one.
  if (value->kind == ExprKind::Tuple && target->kind == TypeKind::Tuple &&
      value->type->elements.size() == target->elements.size())
    return convertTuple(ctx, cast<TupleExpr>(value), target, what);
  // Only constants fill arrays; other scalars are broadcast by operations.
  if (value->kind == ExprKind::Const && target->isArray()) {
    if (value->type->elem == target->elem)
      return fillWith(ctx, value, target);
    if (value->type->isInt() && elemIs(target->elem, ElemConstraint::Integer))
      return fillWith(ctx, convertInt(ctx, value, target->elem), target);
  }
  return reportMismatch(ctx, value, target, what);
}

} // namespace ptl

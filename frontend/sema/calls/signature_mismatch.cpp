#include "frontend/sema/calls/signature_mismatch.h"

#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/operand_text.h"
#include "frontend/sema/types/make_type.h"

namespace ptl {

static std::string operandType(Context &ctx, const Operand &operand) {
  return operand.expr ? toString(ctx, operand.expr->type) : toString(*operand.constant);
}

static TextEdit insertAt(Span span, uint32_t offset, std::string text) {
  return {{span.file, offset, offset}, std::move(text)};
}

/// A float fits better than an integer, the wider than the narrower, all than `int`, for positions.
static bool leftIsWider(Elem left, Elem right) {
  if (left.param || right.param)
    return true;
  if (left.kind == ElemKind::Int || right.kind == ElemKind::Int)
    return right.kind == ElemKind::Int;
  if (isFloat(left.kind) != isFloat(right.kind))
    return isFloat(left.kind);
  return elemBits(left.kind) >= elemBits(right.kind);
}

static void reportElems(Context &ctx, const OpCall &call, const Mismatch &m) {
  const Operand &operand = call.values[m.operand];
  const Operand &other = call.values[m.other];
  Elem own = operand.expr ? operand.expr->type->elem : defaultElem(*operand.constant);
  auto report = ctx.sink.report(DiagId::ElementTypesDiffer, call.span,
                                {std::string(call.op->name), toString(m.elem), toString(own)});
  report.label(other.span, "`" + operandType(ctx, other) + "`");
  report.label(operand.span, "`" + operandType(ctx, operand) + "`");
  // The target of `x += v` cannot be converted.
  bool isUpdate = ctx.tree.is(call.node, NodeKind::AssignStmt);
  bool convertsOperand = isUpdate ? m.operand != 0 : leftIsWider(m.elem, own);
  const Operand &converted = convertsOperand ? operand : other;
  Elem from = convertsOperand ? own : m.elem, to = convertsOperand ? m.elem : own;
  // Arrays have no elements of `int`.
  if (elemIsInt(to) && converted.expr && converted.expr->type->isArray())
    report.help("a variable that starts with an integer literal is `int`: start it with a value of "
                "the type that is added to it");
  else
    offerConversion(ctx, report, converted.span, from, to);
}

/// `q @ b[j, :]` whose right side only needs to be transposed.
static void reportContracted(Context &ctx, const OpCall &call, const Mismatch &m) {
  const Operand &a = call.values[0], &b = call.values[1];
  auto report = ctx.sink.report(DiagId::ContractedExtentsDiffer, call.span,
                                {toString(ctx.dims, m.extents.a), toString(ctx.dims, m.extents.b)});
  std::string left = toString(a.expr->type->elem), right = toString(b.expr->type->elem);
  std::string k = toString(ctx.dims, m.extents.a);
  report.primary("needs " + left + "[.., " + k + "] @ " + right + "[" + k + ", ..], found " +
                 operandType(ctx, a) + " @ " + operandType(ctx, b));
  for (const Operand *operand : {&a, &b})
    if (operand->expr->kind == ExprKind::LocalRef) {
      const Local *local = cast<LocalRefExpr>(operand->expr)->local;
      report.label(local->span, local->name + ": " + toString(ctx, local->type));
    }
  const auto &rightExtents = b.expr->type->extents;
  const auto &leftExtents = a.expr->type->extents;
  bool transposing = rightExtents.size() >= 2 &&
                     extentsEqual(ctx, m.extents.a, rightExtents.back()) == Proof::True;
  if (transposing) {
    OperandText turned = operandBefore(ctx, b.span, ".T");
    report.fix(FixId::Transpose,
               "transpose the right side: `" + std::string(ctx.text(a.span)) + " @ " +
                   turned.around(ctx.text(b.span)) + "`",
               turned.edits());
  } else if (leftExtents.size() >= 2 &&
             extentsEqual(ctx, m.extents.b, leftExtents[leftExtents.size() - 2]) == Proof::True) {
    report.fix(FixId::Transpose, "transpose the left side",
               operandBefore(ctx, a.span, ".T").edits());
  } else {
    explainExtents(ctx, report, m.extents.a, m.extents.b);
  }
}

static void reportExtents(Context &ctx, const OpCall &call, const Mismatch &m) {
  const Operand &operand = call.values[m.operand], &other = call.values[m.other];
  if (call.op->opClass == OpClass::Product && m.variable == "K") {
    reportContracted(ctx, call, m);
    return;
  }
  auto report = ctx.sink.report(DiagId::ShapesDoNotMatch, call.span,
                                {std::string(call.op->name), toString(ctx.dims, m.extents.a),
                                 toString(ctx.dims, m.extents.b)});
  if (m.operand != m.other)
    report.label(other.span, operandType(ctx, other));
  report.label(operand.span, operandType(ctx, operand));
  explainExtents(ctx, report, m.extents.a, m.extents.b);
}

static void reportBroadcast(Context &ctx, const OpCall &call, const Mismatch &m) {
  const Operand &operand = call.values[m.operand], &other = call.values[m.other];
  if (m.extents.rankDiffers) {
    auto report = ctx.sink.report(
        DiagId::PrefixMeetsAxes, call.span,
        {std::string(call.op->name), operandType(ctx, other), operandType(ctx, operand)});
    report.note("`..` stands for any number of leading axes, so it is unknown which of them would "
                "be combined");
    return;
  }
  auto report = ctx.sink.report(DiagId::ShapesDoNotMatch, call.span,
                                {std::string(call.op->name), toString(ctx.dims, m.extents.a),
                                 toString(ctx.dims, m.extents.b)});
  report.primary("the extents differ at axis " + std::to_string(m.extents.axis));
  report.label(other.span, operandType(ctx, other));
  report.label(operand.span, operandType(ctx, operand));
  explainExtents(ctx, report, m.extents.a, m.extents.b);
  const Shape left = shapeOf(other.expr->type), right = shapeOf(operand.expr->type);
  for (const auto &[vector, matrix, where] :
       {std::tuple{&left, &right, &other}, std::tuple{&right, &left, &operand}})
    if (vector->rank() == 1 && matrix->rank() == 2 &&
        extentsEqual(ctx, vector->extents[0], matrix->extents[0]) == Proof::True)
      report.fix(FixId::MakeColumn, "make it a column: `[:, new]`",
                 operandBefore(ctx, where->span, "[:, new]").edits());
}

static void noteGeneric(DiagnosticBuilder report, const Operand &operand) {
  const TypeParam *param = operand.expr ? operand.expr->type->elem.param : nullptr;
  if (param)
    report.label(param->span, "`" + param->name + "` may be any `" +
                                  std::string(constraintName(param->constraint)) + "` type");
}

void reportMismatch(Context &ctx, const OpCall &call, const Signature &signature,
                    const Mismatch &m) {
  const Operand &operand = call.values[m.operand];
  std::string name(call.op->name);
  switch (m.kind) {
  case MismatchKind::NoValue: {
    ctx.sink.report(DiagId::OperandNotAllowed, operand.span,
                    {name, "`" + operandType(ctx, operand) + "`"});
    return;
  }
  case MismatchKind::ElemClass: {
    auto report = ctx.sink.report(DiagId::ElementTypeNotAllowed, operand.span,
                                  {name, std::string(m.variable), operandType(ctx, operand)});
    noteGeneric(report, operand);
    if (m.variable == "float" && operand.expr && !operand.expr->type->elem.param)
      offerConversion(ctx, report, operand.span, operand.expr->type->elem, Elem{ElemKind::F32});
    if (name == "^" && operand.expr && elemIs(operand.expr->type->elem, ElemConstraint::Number))
      report.help("`^` is the exclusive or; a power is `x ** n`");
    return;
  }
  case MismatchKind::ElemExact: {
    auto report = ctx.sink.report(DiagId::ElementTypeNotAllowed, operand.span,
                                  {name, "`" + toString(m.elem) + "`", operandType(ctx, operand)});
    if (name == "^")
      report.help("`^` is the exclusive or; a power is `x ** n`");
    if (operand.expr && !(m.elem == Elem{ElemKind::Bool}))
      offerConversion(ctx, report, operand.span, operand.expr->type->elem, m.elem);
    return;
  }
  case MismatchKind::ElemDiffers:
    return reportElems(ctx, call, m);
  case MismatchKind::NotScalar: {
    auto report = ctx.sink.report(DiagId::NotScalar, operand.span,
                                  {"this argument of `" + name + "`", operandType(ctx, operand)});
    if (operand.expr && operand.expr->type->isArray() &&
        operand.expr->type->elem == Elem{ElemKind::Bool})
      report.fix(FixId::WhichOfAll,
                 "reduce it to one `bool`: `all(" + excerpt(ctx, operand.span) + ")`",
                 {insertAt(operand.span, operand.span.begin, "all("),
                  insertAt(operand.span, operand.span.end, ")")});
    return;
  }
  case MismatchKind::Rank: {
    if (m.prefixRank) {
      const Operand &other = call.values[m.other];
      ctx.sink
          .report(DiagId::LeadingAxesDiffer, call.span,
                  {name, operandType(ctx, other), operandType(ctx, operand)})
          .note("`" + std::string(signature.text) + "`");
      return;
    }
    ctx.sink
        .report(DiagId::RankTooSmall, operand.span,
                {name, std::to_string(m.rank), operandType(ctx, operand)})
        .note("`" + name + "` is `" + std::string(signature.text) + "`");
    return;
  }
  case MismatchKind::Extent:
    return reportExtents(ctx, call, m);
  case MismatchKind::Broadcast:
    return reportBroadcast(ctx, call, m);
  case MismatchKind::None:
    return;
  }
}

} // namespace ptl

#include "frontend/sema/calls/check_requirements.h"

#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/analysis/data_facts.h"
#include "frontend/sema/calls/translate.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/reported.h"
#include "ir/ops/op_table.h"

#include <algorithm>

namespace ptl {

static std::string boundValues(Context &ctx, const CallableDecl &callee, const CallExpr &call,
                               const Expr *condition) {
  std::string text;
  std::vector<SymbolId> symbols;
  collectSymbols(condition, symbols);
  for (size_t i = 0; i < callee.dims.size() && i < call.dimArgs.size(); ++i) {
    bool used = std::find(symbols.begin(), symbols.end(), callee.dims[i].symbol) != symbols.end();
    if (used && call.dimArgs[i])
      text += (text.empty() ? "`" : ", `") + callee.dims[i].name + "` is `" +
              ctx.dims.toString(call.dimArgs[i]) + "`";
  }
  return text;
}

/// The length of the axis that an `argsort` has ordered, of which a value is the whole result;
/// unknown: it is none.
static Dim orderedLength(Context &ctx, const Expr *value) {
  for (int depth = 0; depth < 8 && value; ++depth) {
    value = withoutWidening(value);
    auto named = value->kind == ExprKind::LocalRef
                     ? ctx.letValues.find(cast<LocalRefExpr>(value)->local)
                     : ctx.letValues.end();
    if (named == ctx.letValues.end())
      break;
    value = named->second;
  }
  const auto *op = dyn_cast_if_present<OpExpr>(value);
  bool isOrder = op && op->op && op->op->id == OpId::Argsort && !op->type->prefix &&
                 op->type->extents.size() == 1;
  return isOrder ? op->type->extents[0].length : Dim();
}

static Dim integerOf(Context &ctx, const Expr *expr) {
  while (expr && expr->kind == ExprKind::Convert && !expr->dim)
    expr = cast<ConvertExpr>(expr)->arg;
  if (expr && expr->kind == ExprKind::Const && elemIs(expr->type->elem, ElemConstraint::Integer))
    return ctx.dims.constant(cast<ConstExpr>(expr)->intValue);
  return expr ? expr->dim : Dim();
}

/// Facts about data that follow from the operation that made it: the result of `argsort` has each
/// position once.
static bool isKnownOfData(Context &ctx, const Expr *condition) {
  const auto *op = dyn_cast<OpExpr>(condition);
  if (!op || !op->op || op->args.empty() || !op->args[0])
    return false;
  if (op->op->id == OpId::Unique)
    return orderedLength(ctx, op->args[0]).isKnown();
  const auto *comparison = op->op->id == OpId::ReduceAll ? dyn_cast<OpExpr>(op->args[0]) : nullptr;
  if (!comparison || comparison->args.size() != 2)
    return false;
  Dim length = orderedLength(ctx, comparison->args[0]);
  Dim bound = integerOf(ctx, comparison->args[1]);
  if (!length || !bound)
    return false;
  if (comparison->op->id == OpId::Ge)
    return ctx.facts.proveLessEqual(bound, ctx.dims.constant(0)).isTrue();
  return comparison->op->id == OpId::Lt && ctx.facts.proveLessEqual(length, bound).isTrue();
}

/// What the callee's `where` says of tunables has to hold for those that the call gives; others have
/// the values of its schedule, which says it itself.
static bool meetsConditionsOnTunables(Context &ctx, NodeId node, const CallableDecl &callee,
                                      const CallExpr &call) {
  auto valueOf = [&](const Local &local) -> std::optional<int64_t> {
    for (const auto &[own, value] : call.tunables)
      if (own == &local && value->kind == ExprKind::Const)
        return cast<ConstExpr>(value)->intValue;
    return std::nullopt;
  };
  const WhereClause *where = excludingWhere(callee, valueOf);
  if (!where)
    return true;
  auto report = ctx.sink.report(DiagId::WhereIsFalse, ctx.span(node), {callee.name, where->text});
  report.label(where->span, "required here");
  for (const auto &[own, value] : call.tunables)
    if (std::optional<int64_t> number = valueOf(*own))
      report.note("here `" + own->name + "` is " + std::to_string(*number));
  return false;
}

bool checkRequirements(Context &ctx, NodeId node, Unifier &unifier, const CallableDecl &callee,
                       CallExpr *call) {
  bool isMet = meetsConditionsOnTunables(ctx, node, callee, *call);
  for (const WhereClause &where : callee.wheres) {
    if (where.onTunables || isMissing(where.condition))
      continue;
    Translator translator{ctx, unifier, callee, call};
    Expr *condition = translator.translate(where.condition);
    if (!condition)
      continue;
    if (translator.isTooLarge) {
      ctx.sink.report(DiagId::DimensionTooLarge, ctx.span(node))
          .label(where.span, "with these arguments, in this requirement");
      isMet = false;
      continue;
    }
    Proof proof = conditionProof(ctx, condition);
    if (proof == Proof::True || isKnownOfData(ctx, condition))
      continue;
    // What is neither proved nor refuted is checked when the program runs.
    if (proof == Proof::Unknown) {
      call->checks.push_back({condition, where.text, where.span});
      continue;
    }
    auto report = ctx.sink.report(DiagId::WhereIsFalse, ctx.span(node), {callee.name, where.text});
    report.label(where.span, "required here");
    std::string values = boundValues(ctx, callee, *call, where.condition);
    if (!values.empty())
      report.note("here " + values);
    isMet = false;
  }
  return isMet;
}

} // namespace ptl

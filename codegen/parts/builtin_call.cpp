#include "codegen/parts/builtin_call.h"

namespace ptl::parts {

/// The margins are those of the last axes; axes behind `..` have none.
static void addMargins(reference::BuiltinCall &call, size_t rank,
                       const std::vector<int64_t> &lengths) {
  size_t named = lengths.size() / 2;
  call.before.assign(rank, 0);
  call.after.assign(rank, 0);
  for (size_t i = 0; i < named; ++i) {
    call.before[rank - named + i] = lengths[i];
    call.after[rank - named + i] = lengths[named + i];
  }
}

reference::BuiltinCall builtinCallOf(const OpExpr &expr, ElemKind elem,
                                     std::vector<reference::Value> operands,
                                     std::vector<int64_t> shape,
                                     const std::vector<int64_t> &lengths) {
  reference::BuiltinCall call;
  call.op = expr.op->id;
  call.elem = elem;
  call.all = expr.reducesAll;
  call.text = expr.equation;
  call.operands = std::move(operands);
  size_t rank =
      call.operands.empty() || call.operands[0].isNone() ? 0 : call.operands[0].shape().size();
  for (int64_t axis : expr.axes)
    // Negative axes count from the end; a part's block has as many axes as the whole array.
    call.axes.push_back(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  if (call.op == OpId::OneHot || call.op == OpId::Topk)
    call.shape = lengths;
  else if (expr.op->opClass == OpClass::Creation || expr.op->opClass == OpClass::Shape)
    call.shape = std::move(shape);
  if (call.op == OpId::Pad)
    addMargins(call, rank, lengths);
  for (size_t i = 0; i < expr.op->params.size() && i < expr.args.size(); ++i) {
    const Expr *arg = expr.args[i];
    if (!arg)
      continue;
    if (const auto *tag = dyn_cast<EnumTagExpr>(arg)) {
      call.text = tag->tag;
      call.round = roundModeByName(tag->tag).value_or(RoundMode::Even);
    } else if (expr.op->params[i].kind == ParamKind::BoolConst) {
      bool isSet = cast<ConstExpr>(*arg).intValue != 0;
      (expr.op->params[i].name == "saturate" ? call.saturate : call.descending) = isSet;
    }
  }
  return call;
}

reference::BuiltinCall conversionOf(const ConvertExpr &expr, ElemKind elem, reference::Value from) {
  reference::BuiltinCall call;
  call.op = OpId::Convert;
  call.elem = elem;
  call.operands = {std::move(from)};
  call.round = expr.round;
  call.saturate = expr.saturate;
  return call;
}

bool isTrue(const reference::Value &value) {
  return (value.isScalar() ? value.asScalar().scalar : value.asArray().at(0)).i != 0;
}

} // namespace ptl::parts

#include "codegen/reference/eval_op.h"

#include "codegen/reference/array_ops.h"
#include "codegen/reference/builtin.h"
#include "codegen/reference/dim_values.h"
#include "codegen/reference/eval.h"
#include "codegen/reference/eval_range.h"
#include "codegen/reference/expect.h"
#include "codegen/reference/op_arguments.h"
#include "codegen/reference/print.h"

#include <algorithm>

namespace ptl::reference {

namespace {

/// The lengths that a call names: of the result, or of the margins of `pad`.
void addShape(RunState &run, const OpExpr &expr, BuiltinCall &call) {
  bool isCreated = opRecord(call.op).opClass == OpClass::Creation || call.op == OpId::Random;
  if (isCreated && call.op != OpId::OneHot && call.op != OpId::Index) {
    call.shape = shapeOf(run, *expr.type, expr.span);
    return;
  }
  std::vector<int64_t> dims;
  for (Dim dim : expr.shape)
    dims.push_back(call.op == OpId::Pad ? dimValue(run, dim, expr.span)
                                        : lengthValue(run, dim, expr.span));
  if (call.op == OpId::Pad) {
    size_t rank = call.operands[0].shape().size(), named = dims.size() / 2;
    call.before.assign(rank, 0);
    call.after.assign(rank, 0);
    // Margins are named for the last axes; axes behind `..` have none.
    std::copy_n(dims.begin(), named, call.before.end() - static_cast<ptrdiff_t>(named));
    std::copy_n(dims.begin() + static_cast<ptrdiff_t>(named), named,
                call.after.end() - static_cast<ptrdiff_t>(named));
    return;
  }
  if (expr.shapeHasPrefix)
    call.shape = run.frame().prefix;
  call.shape.insert(call.shape.end(), dims.begin(), dims.end());
}

/// `index(r)` of a range, `index(N)` of a length.
RangeValue indexRange(RunState &run, const OpExpr &expr) {
  const Expr &arg = *expr.args[0];
  if (arg.type->kind == TypeKind::Range)
    return evalRange(run, arg);
  RangeValue range;
  range.length = std::max<int64_t>(evalInt(run, arg), 0);
  return range;
}

/// Adds the values of the record's parameters that are no operands.
void addParameters(RunState &run, const OpExpr &expr, BuiltinCall &call) {
  for (size_t i = 0; i < expr.op->params.size(); ++i) {
    const OpParam &param = expr.op->params[i];
    if (param.kind == ParamKind::Enum) {
      call.text = tagOf(run, expr, i);
      call.round = roundModeByName(call.text).value_or(RoundMode::Even);
    } else if (param.kind == ParamKind::BoolConst) {
      (param.name == "saturate" ? call.saturate : call.descending) = flagOf(run, expr, i);
    }
  }
  if (call.op == OpId::Einsum)
    call.text = expr.equation;
}

Value evalEffect(RunState &run, const OpExpr &expr) {
  switch (expr.op->id) {
  case OpId::Print:
    evalPrint(run, expr);
    break;
  case OpId::Expect:
    evalExpect(run, expr);
    break;
  case OpId::ExpectEqual:
    evalExpectEqual(run, expr);
    break;
  case OpId::ExpectClose:
    evalExpectClose(run, expr);
    break;
  default:
    stop(RunStatus::Fault, "`" + std::string(expr.op->name) + "` is a statement", expr.span);
  }
  return {};
}

Value evalBuiltinOp(RunState &run, const OpExpr &expr) {
  BuiltinCall call;
  call.op = expr.op->id;
  if (expr.op->opClass == OpClass::Effect)
    return evalEffect(run, expr);
  if (call.op == OpId::Index) {
    shapeOf(run, *expr.type, expr.span); // refuses a range that ends before its start
    call.range = indexRange(run, expr);
  }
  call.operands = operandsOf(run, expr);
  size_t rank =
      call.operands.empty() || call.operands[0].isNone() ? 0 : call.operands[0].shape().size();
  call.axes = axesOf(expr, rank);
  call.all = expr.reducesAll;
  if (expr.type->isArray() || expr.type->isScalar())
    call.elem = elemOf(run, expr.type->elem);
  addShape(run, expr, call);
  addParameters(run, expr, call);
  return applyBuiltin(call);
}

} // namespace

Value evalOp(RunState &run, const OpExpr &expr) {
  if (expr.type->kind == TypeKind::Range)
    return Value::range(rangeOfInfo(run, *expr.type->range, expr.span));
  try {
    return evalBuiltinOp(run, expr);
  } catch (Stop &why) {
    if (why.span.file == kNoFile)
      why.span = expr.span;
    throw;
  }
}

bool isImplemented(OpId op, std::string *reason) {
  auto elsewhere = [&](const char *text) {
    if (reason)
      *reason = text;
    return false;
  };
  const OpRecord &record = opRecord(op);
  if (op == OpId::Load)
    return elsewhere("the checker turns `load` into an index expression with `outside`");
  if (op == OpId::Assert)
    return elsewhere("`assert` is a statement of the tree");
  if (op == OpId::Scan || op == OpId::Reduce)
    return elsewhere("the checker writes calls of `scan` and `reduce` out");
  if (isScalarOp(op))
    return true;
  switch (record.opClass) {
  case OpClass::Reduction:
    return op == OpId::Unique || op == OpId::Sorted || foldStart(op, ElemKind::F32).has_value();
  case OpClass::Scan:
    return foldStart(op, ElemKind::F32).has_value();
  case OpClass::Load:
    return elsewhere("");
  default:
    return true;
  }
}

} // namespace ptl::reference

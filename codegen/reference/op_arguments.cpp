#include "codegen/reference/op_arguments.h"

#include "codegen/reference/eval.h"

namespace ptl::reference {

Value operandOf(RunState &run, const OpExpr &expr, size_t index) {
  const Expr *arg = index < expr.args.size() ? expr.args[index] : nullptr;
  return arg ? eval(run, *arg) : Value();
}

std::vector<Value> operandsOf(RunState &run, const OpExpr &expr) {
  std::vector<Value> values;
  for (size_t i = 0; i < expr.op->params.size(); ++i) {
    const OpParam &param = expr.op->params[i];
    if (param.kind != ParamKind::Value)
      continue;
    if (param.variadic)
      for (const Expr *each : expr.rest)
        values.push_back(eval(run, *each));
    else
      values.push_back(operandOf(run, expr, i));
  }
  return values;
}

bool flagOf(RunState &run, const OpExpr &expr, size_t index) {
  Value value = operandOf(run, expr, index);
  return value.isScalar() && value.asScalar().scalar.i != 0;
}

std::string tagOf(RunState &run, const OpExpr &expr, size_t index) {
  Value value = operandOf(run, expr, index);
  return value.isText() ? value.asText() : std::string();
}

std::vector<int64_t> axesOf(const OpExpr &expr, size_t rank) {
  std::vector<int64_t> axes;
  for (int64_t axis : expr.axes)
    axes.push_back(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  return axes;
}

} // namespace ptl::reference

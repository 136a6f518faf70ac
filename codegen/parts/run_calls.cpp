// Kernels, and programs of one chip, that parts run with what they have.
#include "codegen/parts/parts_run.h"

namespace ptl::parts {

using reference::RunResult;
using reference::Value;

/// One execution makes all results of a call. The first value of a call executes it, and those behind it take their results.
Value PartsRun::called(const PlacedValue &value, uint32_t part) {
  if (value.result > 0)
    return callResults_[part][value.result];
  const auto &expr = cast<CallExpr>(*value.expr);
  const CallableDecl &callee = *expr.callee;
  if (callee.kind == DeclKind::ManualKernel || callee.isBlockLevel)
    stopAt(
        reference::RunStatus::Unsupported,
        "`" + callee.name +
            "` is a manual kernel: parts run it if they are chips that its header names, as with "
            "`--target a3 --sim`, and if the program prints nothing",
        expr.span);
  reference::RunOptions options;
  options.print = options_.entry.print;
  options.mostElements = options_.entry.mostElements;
  for (size_t i = 0; i < callee.dims.size() && i < value.lengths.size(); ++i)
    options.dims[callee.dims[i].name] = number(value.lengths[i], value);
  for (const auto &[tunable, set] : expr.tunables)
    options.tunables[tunable->name] =
        set->kind == ExprKind::Const ? cast<ConstExpr>(*set).intValue : number(set->dim, value);
  RunResult made = reference::runEntry(program_, sources_, callee,
                                       operandsAt(value, part, std::nullopt), options);
  if (!made.ok()) {
    result_.calls = std::move(made.calls);
    result_.calls.push_back(expr.span);
    stopAt(made.status, made.message + " (" + grid_.name(part) + ")",
           made.span.file == kNoFile ? expr.span : made.span);
  }
  std::vector<Value> &results = callResults_[part];
  results = std::move(made.outputs);
  std::move(made.inouts.begin(), made.inouts.end(), std::back_inserter(results));
  return results[0];
}

} // namespace ptl::parts

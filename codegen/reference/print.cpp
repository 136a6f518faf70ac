#include "codegen/reference/print.h"

#include "codegen/reference/eval.h"
#include "codegen/reference/op_arguments.h"

#include <cstdio>

namespace ptl::reference {

void printLine(std::string line, std::span<const Value> values, const RunOptions &options) {
  for (const Value &value : values)
    line += (line.empty() ? "" : " ") + valueText(value);
  if (options.print) {
    options.print(line);
    return;
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

void evalPrint(RunState &run, const OpExpr &expr) {
  std::vector<Value> values;
  for (const Expr *value : expr.rest)
    values.push_back(eval(run, *value));
  printLine(tagOf(run, expr, 0), values, run.options());
}

} // namespace ptl::reference

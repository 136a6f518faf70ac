#include "codegen/reference/print.h"

#include "codegen/reference/eval.h"
#include "codegen/reference/op_arguments.h"

#include <cstdio>

namespace ptl::reference {

void evalPrint(RunState &run, const OpExpr &expr) {
  std::string line = tagOf(run, expr, 0);
  for (const Expr *value : expr.rest)
    line += (line.empty() ? "" : " ") + valueText(eval(run, *value));
  if (run.options().print) {
    run.options().print(line);
    return;
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

} // namespace ptl::reference

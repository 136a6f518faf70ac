#include "codegen/reference/compared_text.h"

#include "codegen/reference/eval.h"
#include "frontend/sema/reported.h"

namespace ptl::reference {

std::string comparedText(RunState &run, const Expr &condition) {
  std::string text;
  for (const Expr *value : reportedValues(condition, run.sources()))
    text += (text.empty() ? ": `" : ", `") + run.textOf(value->span) + "` is " +
            valueText(eval(run, *value));
  return text;
}

} // namespace ptl::reference

#include "codegen/reference/requirements.h"

#include "codegen/reference/compared_text.h"
#include "codegen/reference/dim_values.h"
#include "codegen/reference/eval.h"

#include <algorithm>

namespace ptl::reference {

void requireSupported(const CallableDecl &decl, Span span) {
  if (std::string reason = unsupportedReason(decl); !reason.empty())
    stop(RunStatus::Unsupported, reason, span.file == kNoFile ? decl.nameSpan : span);
}

void checkWheres(RunState &run, const CallableDecl &decl, Span callSpan) {
  for (const WhereClause &clause : decl.wheres) {
    if (!clause.condition || evalBool(run, *clause.condition))
      continue;
    // The failure is shown at the call, if there is one, with the requirement as its
    // cause.
    Stop why{RunStatus::Where,
             "`" + decl.name + "` needs `" + clause.text + "`" +
                 comparedText(run, *clause.condition),
             callSpan.file == kNoFile ? clause.span : callSpan,
             {}};
    if (callSpan.file != kNoFile)
      why.calls.push_back(clause.span);
    throw Stop(std::move(why));
  }
}

void checkShapes(const RunState &run, const CallableDecl &decl) {
  for (const Local *param : decl.params) {
    const Type &type = *param->type;
    const Value &value = run.local(*param);
    if (!type.isArray() || !(value.isArray() || value.isScalar()))
      continue;
    std::vector<int64_t> need = shapeOf(run, type, param->span);
    std::span<const int64_t> have = value.shape();
    if (!std::equal(need.begin(), need.end(), have.begin(), have.end()) ||
        value.elem() != elemOf(run, type.elem))
      stop(RunStatus::Fault,
           "the argument `" + param->name + "` of `" + decl.name + "` is " +
               typeText(value.elem(), have) + ", its parameter " +
               typeText(elemOf(run, type.elem), need),
           param->span);
  }
}

} // namespace ptl::reference

// Shows changes with which kernels take less time (compile/tune/advice.h): as diagnostics and as code
// actions. They are part of the verdicts of feasibility.h.
#pragma once

#include "lsp/server/feasibility.h"

namespace ptl::lsp {

/// What is shown of a verdict: to see whether that has changed.
std::vector<std::string> adviceTexts(const ChipVerdict &verdict);

/// Adds diagnostics for a file, of the severity of an information, with the code `ptl.advice`.
void addAdvice(Session &session, const ide::File &file, json &list);

/// The changes as code actions, for a request at their place or at the name of what they make faster.
std::vector<json> adviceActions(Session &session, const ide::File &file, const json &params);

} // namespace ptl::lsp

// Shows changes with which kernels take less time (compile/tune/advice.h): as diagnostics and as code
// actions. They are part of the verdicts of feasibility.h.
#pragma once

#include "lsp/server/feasibility.h"
#include "lsp/server/finding.h"

namespace ptl::lsp {

/// What is shown of a verdict: to see whether that has changed.
std::vector<std::string> adviceTexts(const ChipVerdict &verdict);

/// Adds diagnostics for a file, of the severity of an information, with the code `ptl.advice`.
void addAdvice(Session &session, const ide::File &file, std::vector<PlacedFinding> &list);

/// The least predicted time for each value of the tunable that is declared at a range, or of the size of
/// tiles that stands there, as a table in Markdown; empty if none was tried.
std::string triedText(Session &session, const ide::File &file, const ChipVerdict &verdict,
                      ide::Range range);

/// Lenses that carry out the best change: `a3: 568 µs → 202 µs · Apply`.
std::vector<std::string> adviceLenses(Session &session, const ide::File &file);

/// The changes as code actions, for a request at their place or at the name of what they make faster.
std::vector<json> adviceActions(Session &session, const ide::File &file, const json &params);

} // namespace ptl::lsp

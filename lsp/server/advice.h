// Shows changes that make kernels faster (compile/tune/advice.h): as diagnostics and as code
// actions. They are part of the verdicts of feasibility.h.
#pragma once

#include "lsp/server/feasibility.h"
#include "lsp/server/finding.h"

namespace ptl::lsp {

/// The shown text of a verdict's advice, to detect changes.
std::vector<std::string> adviceTexts(const ChipVerdict &verdict);

/// Adds diagnostics for a file, with the severity `information` and the code `ptl.advice`.
void addAdvice(Session &session, const ide::File &file, std::vector<PlacedFinding> &list);

/// A table in Markdown of the least predicted time for each value of the tunable that is declared
/// at a range, or of the tile size there; empty if none was tried.
std::string triedText(Session &session, const ide::File &file, const ChipVerdict &verdict,
                      ide::Range range);

/// Lenses that apply the best change: `a3: 568 µs → 202 µs · Apply`.
std::vector<std::string> adviceLenses(Session &session, const ide::File &file);

/// The changes as code actions, for a request at their place or at the name of the kernel that they
/// make faster.
std::vector<json> adviceActions(Session &session, const ide::File &file, const json &params);

} // namespace ptl::lsp

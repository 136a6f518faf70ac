// Shows costs on chips, that is, times of kernels, loops and statements, in lenses, hints and
// hovers. They are part of the verdicts of feasibility.h.
#pragma once

#include "lsp/server/feasibility.h"

namespace ptl::lsp {

/// `41.2 µs`
std::string timeText(double us);
/// `41.2 µs · cube-bound 87 %`, or nothing if no time is known.
std::string costTitle(const ChipVerdict &verdict);

/// The end of the line on which something begins, where hints stand.
uint32_t endOfLine(const ide::File &file, uint32_t offset);
/// Inlay hints in a range at the loop and the statement that take the most time of a kernel, as one
/// text.
std::string costHints(Session &session, const ide::File &file, ide::Range range);

/// The text of a hover over a range, in Markdown: over the name of a kernel its whole cost,
/// otherwise that of the statement or loop around it.
std::string kernelCostText(const ChipVerdict &verdict);
std::string statementCostText(Session &session, const ide::File &file, const ChipVerdict &verdict,
                              ide::Range range);

/// The answer of `ptl/cost`.
json costAnswer(Session &session, const ide::File &file, const std::string &entry,
                const ChipVerdict &verdict, bool isStale);

} // namespace ptl::lsp

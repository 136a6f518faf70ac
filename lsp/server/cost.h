// What chips cost: times of kernels, loops and statements, beside the verdicts of feasibility.h
// that bring them. Shown in lenses, hints and hovers.
#pragma once

#include "lsp/server/feasibility.h"

namespace ptl::lsp {

/// `41.2 µs`
std::string timeText(double us);
/// `41.2 µs · cube-bound 87 %`, or nothing if no time is known.
std::string costTitle(const ChipVerdict &verdict);

/// The end of the line on which something begins, where hints stand.
uint32_t endOfLine(const ide::File &file, uint32_t offset);
/// Inlay hints in a range: the loop and the statement that dominate a kernel, one text for all.
std::string costHints(Session &session, const ide::File &file, ide::Range range);

/// What a hover over a range says: of the name of a kernel all, else the statement or loop around
/// it. Markdown.
std::string kernelCostText(const ChipVerdict &verdict);
std::string statementCostText(Session &session, const ide::File &file, const ChipVerdict &verdict,
                              ide::Range range);

/// The answer of `ptl/cost`.
json costAnswer(Session &session, const ide::File &file, const std::string &entry,
                const ChipVerdict &verdict, bool isStale);

} // namespace ptl::lsp

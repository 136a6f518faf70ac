// Shows costs on chips, that is, times of kernels, loops and statements, in lenses, hints and
// hovers. They are part of the verdicts of feasibility.h.
#pragma once

#include "lsp/server/feasibility.h"

namespace ptl::lsp {

/// `41.2 µs`
std::string timeText(double us);
/// `41.2 µs · cube-bound 87 %`; empty if no time is known. `~` in front of a time says that some
/// lengths or data are assumed.
std::string costTitle(const ChipVerdict &verdict);
/// The same in fewer words, with the main cause if the time is poor: `41.2 µs · cube 87 % · 20 of
/// 24 core groups idle`.
std::string shortCostTitle(const ChipVerdict &verdict);
/// `for R = 768, C = 2048 (assumed)`; empty if no time is known.
std::string sizesTitle(const ChipVerdict &verdict);

/// The end of the line on which something begins, where hints stand.
uint32_t endOfLine(const ide::File &file, uint32_t offset);
/// Adds hints in a range at the loop and the statement that take the most time of a kernel.
void addCostHints(Session &session, const ide::File &file, ide::Range range, LineHints &hints);

/// The text of a hover over a range, in Markdown: over the name of a kernel its whole cost,
/// otherwise that of the statement or loop around it.
std::string kernelCostText(const ChipVerdict &verdict);
std::string statementCostText(Session &session, const ide::File &file, const ChipVerdict &verdict,
                              ide::Range range);

/// The answer of `ptl/cost`.
json costAnswer(Session &session, const ide::File &file, const std::string &entry,
                const ChipVerdict &verdict, bool isStale);

} // namespace ptl::lsp

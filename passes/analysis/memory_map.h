// Draws the memory map over time: which buffer is at which address while the program runs.
// Positions in the program, with source lines, go across, and addresses go up. Standard library
// only; the same ledger gives the same bytes.
#pragma once

#include "passes/analysis/buffer_ledger.h"

namespace ptl {

/// One picture per memory, of at most about 120 characters across.
std::string memoryMapText(const BufferLedger &ledger);
/// One document of SVG that needs nothing else; boxes have titles.
std::string memoryMapSvg(const BufferLedger &ledger);

} // namespace ptl

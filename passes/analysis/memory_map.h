// Draws the memory map over time: the address of each live buffer while the program runs. The
// horizontal axis is the position in the program, with source lines; addresses go upwards. Uses
// only the standard library; the output is deterministic.
#pragma once

#include "passes/analysis/buffer_ledger.h"

namespace ptl {

/// One picture per memory, of at most about 120 characters across.
std::string memoryMapText(const BufferLedger &ledger);
/// A self-contained SVG document; boxes have titles.
std::string memoryMapSvg(const BufferLedger &ledger);

} // namespace ptl

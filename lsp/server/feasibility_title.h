// Verdicts in a few words, and the pieces of such texts.
#pragma once

#include "lsp/server/feasibility.h"

#include <string>

namespace ptl::lsp {

/// A memory, with the most bytes of it that are used at a time.
struct SpaceUse {
  std::string place;
  int64_t peak = 0, usable = 0;
};

/// `96`, `20.5`: KiB.
std::string kibText(int64_t bytes);
/// `vec 96/184 KiB`
std::string useText(const SpaceUse &use);
/// A verdict in a few words, without the name of the chip.
std::string summaryOf(const ChipVerdict &verdict);

} // namespace ptl::lsp

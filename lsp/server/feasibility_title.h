// Short texts about verdicts.
#pragma once

#include "lsp/server/feasibility.h"

#include <string>

namespace ptl::lsp {

/// A memory with its peak use in bytes.
struct SpaceUse {
  std::string place;
  int64_t peak = 0, usable = 0;
};

/// `96`, `20.5`: KiB.
std::string kibText(int64_t bytes);
/// `vec 96/184 KiB`
std::string useText(const SpaceUse &use);
/// A verdict as a short text, without the name of the chip.
std::string summaryOf(const ChipVerdict &verdict);

} // namespace ptl::lsp

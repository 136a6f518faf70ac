// What `ptlc tune` prints.
#pragma once

#include "compile/tune/tune_entry.h"

namespace ptl {

struct TuneReport {
  const EntryTuning &tuning;
  const TuneResult &result; ///< has a best
  std::string entry, target;
  double seconds = 0;
  /// Of today's choice and of the best, when all is simulated; nothing where that takes too long.
  std::optional<double> simulatedToday = {}, simulatedBest = {};
  std::string ended = {}; ///< `budget`, `interrupt`; empty: it ended by itself

  /// `schedule matmul on a3 { BM = 64 }`
  std::string schedule() const;
};

std::string tuneText(const TuneReport &report);
/// The document that docs/schemas/tune.json describes.
std::string tuneDocument(const TuneReport &report);

} // namespace ptl

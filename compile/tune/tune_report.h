// The output of `ptlc tune`.
#pragma once

#include "compile/tune/tune_entry.h"

namespace ptl {

struct TuneReport {
  const EntryTuning &tuning;
  const TuneResult &result; ///< precondition: it has a best try
  std::string entry, target;
  double seconds = 0;
  /// The times of the present choice and of the best, confirmed (`EntryTuning::confirmed`).
  std::optional<std::pair<double, double>> confirmed = {};
  std::string ended = {}; ///< `budget`, `interrupt`; empty: the search completed

  /// `schedule matmul on a3 { BM = 64 }`
  std::string schedule() const;
};

std::string tuneText(const TuneReport &report);
/// The document that docs/schemas/tune.json describes.
std::string tuneDocument(const TuneReport &report);

} // namespace ptl

// Predicted times of choices that are kept from process to process, so that a search which was made before answers
// at once, and one that a budget ended goes on where it was.
#pragma once

#include "compile/cost/cost.h"
#include "compile/tune/search.h"
#include "frontend/base/disk_cache.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace ptl {

/// What is known of one question: choices by what a schedule says of them (`BM = 64, pipeline k 3`).
class KeptTimes {
public:
  KeptTimes() = default; ///< keeps nothing
  /// `key`: the hash of all that the times depend on (`KeyHash`).
  KeptTimes(std::shared_ptr<const DiskCache> cache, std::string key);
  KeptTimes(const KeptTimes &) = delete;
  KeptTimes &operator=(const KeptTimes &) = delete;
  KeptTimes(KeptTimes &&) = default;
  KeptTimes &operator=(KeptTimes &&) = default;
  ~KeptTimes(); ///< stores what was added

  /// Counts as one that was known.
  const TuneOutcome *find(const std::string &choice);
  void add(const std::string &choice, TuneOutcome outcome);
  /// How many were known.
  size_t known() const { return known_; }

  /// The times of two choices when all is simulated; nothing in their place: that takes too long.
  using Whole = std::optional<std::pair<double, double>>;
  const Whole *findWhole(const std::string &choices) const;
  void addWhole(const std::string &choices, const Whole &us);

  /// For which call the times are: sizes, elements and decisions, as `Cost` has them.
  void describe(const Cost &cost);
  /// False if that is not known.
  bool recall(Cost &cost) const;

private:
  void read(const std::string &text);
  std::string text() const;

  std::shared_ptr<const DiskCache> cache_;
  std::string key_;
  std::map<std::string, TuneOutcome> outcomes_;
  std::map<std::string, Whole> whole_;
  std::string call_; ///< a JSON document; empty: not known
  size_t known_ = 0;
  bool isChanged_ = false;
};

} // namespace ptl

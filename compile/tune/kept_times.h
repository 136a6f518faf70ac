// Caches predicted times of choices between processes, so that a repeated search answers at once,
// and a search that its budget ended resumes where it stopped.
#pragma once

#include "compile/cost/cost.h"
#include "compile/tune/search.h"
#include "frontend/base/disk_cache.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace ptl {

/// The known times of one question; choices are identified by their text in a schedule (`BM = 64,
/// pipeline k 3`).
class KeptTimes {
public:
  KeptTimes() = default; ///< caches nothing
  /// `key` is the hash of everything that the times depend on (`KeyHash`).
  KeptTimes(std::shared_ptr<const DiskCache> cache, std::string key);
  KeptTimes(const KeptTimes &) = delete;
  KeptTimes &operator=(const KeptTimes &) = delete;
  KeptTimes(KeptTimes &&) = default;
  KeptTimes &operator=(KeptTimes &&) = default;
  ~KeptTimes(); ///< stores what was added

  /// The cached outcome of a choice; null if there is none.
  const TuneOutcome *find(const std::string &choice);
  void add(const std::string &choice, TuneOutcome outcome);
  /// The number of outcomes that came from the cache.
  size_t known() const { return known_; }

  /// The times of two choices in a full simulation; nothing inside if that takes too long.
  using Whole = std::optional<std::pair<double, double>>;
  const Whole *findWhole(const std::string &choices) const;
  void addWhole(const std::string &choices, const Whole &us);

  /// Records the call that the times are for: sizes, elements and decisions, as in `Cost`.
  void describe(const Cost &cost);
  /// Fills in that call; false if it is not cached.
  bool recall(Cost &cost) const;

private:
  void read(const std::string &text);
  std::string text() const;

  std::shared_ptr<const DiskCache> cache_;
  std::string key_;
  std::map<std::string, TuneOutcome> outcomes_;
  std::map<std::string, Whole> whole_;
  std::string call_; ///< a JSON document; empty: unknown
  size_t known_ = 0;
  bool isChanged_ = false;
};

} // namespace ptl

// Determines what the core groups of a launch have in common, so that a few of them can represent
// all: which have work, and how much of the memory that they read at the same time is the same. For
// this the first iterations of all groups are run without timing.
#pragma once

#include "runtime/sim/run.h"
#include "runtime/sim/time/cost.h"
#include "runtime/sim/time/shared.h"

#include <map>
#include <set>
#include <vector>

namespace ptl::rt::sim {

class Sharing {
public:
  /// `most`: the number of representing groups, which may be exceeded by one. `model` has the
  /// costs; `second` is the chip's cache, without arrays.
  Sharing(const Kernel &kernel, const Chip &chip, std::span<const GlobalArray> pointers,
          std::span<const Scalar> scalars, int64_t blocks, int64_t most, const CostModel &model,
          SecondLevel second);

  /// False if the analysis failed; then all groups must run.
  bool isKnown() const { return known_; }
  /// Data decides which parts of an array some operations access: late ones find in L2 what early ones brought.
  bool isSomewhere() const { return isSomewhere_; }
  const std::vector<int64_t> &chosen() const { return chosen_; } ///< blocks that represent others
  const std::set<int64_t> &working() const { return working_; }  ///< blocks that move data
  /// The number of groups whose transfers a chosen block represents: those with about as much work.
  double weightOf(int64_t block) const { return weights_.at(block); }
  /// The ratio of the work of all groups to the work of the chosen ones.
  double workWeight() const { return workWeight_; }
  /// The number of groups that run at the same time as that of a chosen block, and so share the
  /// hub, while it is in an iteration of its outermost loop; groups with fewer iterations have
  /// ended.
  double groupsInTurn(int64_t block, int64_t round) const;
  /// The number of groups that move data, also if all of them run; 0 if it is unknown.
  int64_t numWorking() const { return numWorking_; }
  /// Of the bytes that the chosen blocks alone would miss in the cache at a step, the share that
  /// all blocks together would miss, too. `round` is the iteration of the outermost loop.
  double missing(bool cube, const Step *step, int64_t round) const;

private:
  /// What each block moves at its first execution of a step.
  using Views = std::map<int64_t, View>;
  using Site = std::pair<bool, const Step *>;
  void weigh(const std::map<int64_t, Cycles> &longest);
  void choose(int64_t most, std::map<int64_t, Cycles> &longest, std::map<int64_t, int64_t> &rounds);
  /// Computes `parts_`: for each byte that the chosen blocks alone would miss, how many all blocks
  /// would miss.
  void compare(SecondLevel ofAll, SecondLevel ofChosen);

  std::map<Site, Views> views_[2];  ///< in the first iteration, and in a later one
  std::map<Site, double> parts_[2]; ///< likewise
  std::set<int64_t> working_;
  std::vector<int64_t> chosen_;
  std::map<int64_t, double> weights_; ///< by chosen block
  double workWeight_ = 1;
  struct Turns {
    int64_t rounds = 1; ///< iterations of the outermost loop
    Cycles each = 0;    ///< work of the busiest pipe per iteration
  };
  std::map<int64_t, Turns> turns_; ///< of the blocks that have work
  int64_t numWorking_ = 0;
  bool known_ = false, isSomewhere_ = false;
};

} // namespace ptl::rt::sim

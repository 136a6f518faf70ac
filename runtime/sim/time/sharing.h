// What the core groups of a launch have in common, so that a few of them can stand for all: who has
// work, and how much of what they move at the same time is the same. Found by running the first
// rounds of all groups without time.
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
  /// `most`: so many groups are to stand for all, or one more.
  /// `model` says what takes long; `second`: of the chip, without arrays.
  Sharing(const Kernel &kernel, const Chip &chip, std::span<const GlobalArray> pointers,
          std::span<const Scalar> scalars, int64_t blocks, int64_t most, const CostModel &model,
          SecondLevel second);

  /// False when the groups cannot be told of like this; then all have to run.
  bool isKnown() const { return known_; }
  const std::vector<int64_t> &chosen() const { return chosen_; } ///< blocks that stand for others
  const std::set<int64_t> &working() const { return working_; }  ///< blocks that move anything
  /// For how many a chosen block stands.
  double weight() const {
    return static_cast<double>(working_.size()) / static_cast<double>(chosen_.size());
  }
  /// By how much what all groups do is more than what the chosen ones do.
  double workWeight() const { return workWeight_; }
  /// How many groups take turns with that of a chosen block, on average over its time: the others
  /// may be done before.
  double groupsInTurn(int64_t block) const { return inTurn_.at(block); }
  /// Of the bytes that the chosen blocks find nowhere by themselves at a step, the part that all
  /// blocks together would not find either. `round`: of the outermost loop.
  double missing(bool cube, const Step *step, int64_t round) const;

private:
  /// What each block moves at a step, the first time that it comes there.
  using Views = std::map<int64_t, View>;
  using Site = std::pair<bool, const Step *>;
  void choose(int64_t most, std::map<int64_t, Cycles> &longest, std::map<int64_t, int64_t> &rounds);
  /// Of each byte that the chosen blocks alone would miss, how many all would for each of theirs.
  void compare(SecondLevel ofAll, SecondLevel ofChosen);

  std::map<Site, Views> views_[2];  ///< in the first round, in a later one
  std::map<Site, double> parts_[2]; ///< the same
  std::set<int64_t> working_;
  std::vector<int64_t> chosen_;
  double workWeight_ = 1;
  std::map<int64_t, double> inTurn_;
  bool known_ = false;
};

} // namespace ptl::rt::sim

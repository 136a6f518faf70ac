// Launches that a program makes again and again: where two in a row took the same time, later ones
// are assumed to run like the last one that was run.
#pragma once

#include "runtime/sim/time/shared.h"
#include "runtime/sim/time/timeline.h"

#include <memory>
#include <vector>

namespace ptl::rt::sim {

/// The sums of a launch; core groups that others represented are included.
struct LaunchResult {
  uint32_t task = kNoTask;
  struct Block {
    Cycles took = 0; ///< from when it had its cores
    bool works = false;
  };
  std::vector<Block> blocks;
  std::vector<SiteTotal> totals; ///< by site of its kernel
  std::vector<bool> used;        ///< by lane: an instruction was on it
  int64_t bytes = 0, missed = 0;
  int64_t number = 0;             ///< of its turn
  std::vector<ByteRange> touched; ///< of each of its arrays
  /// How far these bytes were from those of the result before, for each turn between them.
  std::vector<int64_t> steps;
  uint64_t instructions = 0;
  int64_t standing = 0, skipped = 0; ///< as in its span
  Cycles worked = 0;                 ///< `sum()`

  Cycles sum() const;
  /// The bytes of an array that a launch like it touches, of a later turn: loops go on as they did.
  ByteRange touchedAt(size_t array, int64_t turn) const;
};

/// The launches from one place of a program, in the order in which they begin.
class Repeats {
public:
  /// How the next launch is treated.
  struct Turn {
    int64_t number = 0;
    bool counts = true;                                 ///< what it comes to says how others go
    std::shared_ptr<const LaunchResult> like = nullptr; ///< if nothing of it has to be run
  };
  Turn next();
  /// Notes the result of a launch that was simulated.
  void note(const Turn &turn, LaunchResult result);

private:
  std::shared_ptr<const LaunchResult> last_;
  bool isSteady_ = false; ///< two in a row took the same
  int64_t begun_ = 0;
  int64_t look_ = 0; ///< the number of the launch from which on two are run to see whether it holds
};

} // namespace ptl::rt::sim

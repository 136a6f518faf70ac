// Launches that a program makes repeatedly: if two in a row took the same time, later ones are
// assumed to run like the last simulated one.
#pragma once

#include "runtime/sim/time/shared.h"
#include "runtime/sim/time/timeline.h"

#include <memory>
#include <vector>

namespace ptl::rt::sim {

/// The totals of a launch, including represented core groups.
struct LaunchResult {
  uint32_t task = kNoTask;
  struct Block {
    /// from the time at which it had its cores, without what other launches delayed it
    Cycles took = 0;
    bool works = false;
  };
  std::vector<Block> blocks;
  std::vector<SiteTotal> totals; ///< by site of its kernel
  std::vector<bool> used;        ///< by lane: an instruction ran on it
  int64_t bytes = 0, missed = 0;
  int64_t number = 0;             ///< the number of its turn
  int64_t brought = 0;            ///< what all of its core groups bring into L2
  std::vector<ByteRange> touched; ///< for each of its arrays
  /// The distance of these bytes from those of the previous result, per turn in between.
  std::vector<int64_t> steps;
  uint64_t instructions = 0;
  int64_t standing = 0, skipped = 0; ///< as in its span
  Cycles worked = 0;                 ///< `sum()`

  Cycles sum() const;
  /// The bytes of an array that a similar launch in a later turn accesses, by linear extrapolation.
  ByteRange touchedAt(size_t array, int64_t turn) const;
};

/// The launches from one place of a program, in the order in which they begin.
class Repeats {
public:
  /// How the next launch is treated.
  struct Turn {
    int64_t number = 0;
    bool counts = true; ///< its result determines how others run
    /// the launch that it is like, if nothing need be simulated
    std::shared_ptr<const LaunchResult> like = nullptr;
  };
  Turn next();
  /// Records the result of a launch that was simulated.
  void note(const Turn &turn, LaunchResult result);

private:
  std::shared_ptr<const LaunchResult> last_;
  bool isSteady_ = false; ///< two in a row took the same time
  int64_t begun_ = 0;
  int64_t look_ = 0; ///< the number of the launch from which on two are simulated again, as a check
};

} // namespace ptl::rt::sim

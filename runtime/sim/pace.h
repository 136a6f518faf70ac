// How fast a loop goes once its pipes have fallen into step: found in the times at which pipes came
// to its rounds.
#pragma once

#include "runtime/sim/program.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace ptl::rt::sim {

/// Every `window` rounds all is as it was, `cycles` later.
struct Pace {
  int64_t window = 1;
  double cycles = 0;
  int64_t settled = 0; ///< from this round on
  int64_t last = -1;   ///< it was found in those before this round; -1: another time
};

/// One time that a core goes through a loop. `passed`: by pipe, when it had done what was before
/// each round that ran; a pipe is late if the scalar unit had not kept it waiting.
struct LoopRun {
  struct Passage {
    double time = 0;
    bool isLate = false;
  };
  size_t step = 0;              ///< of the loop
  uint32_t pipes = 0;           ///< bits of those that have something to do in it
  int64_t round = 0;            ///< that ran so far, or are queued
  int64_t left = 0;             ///< that are still to come
  int64_t position = 0, by = 1; ///< of the next; from round to round
  int64_t first = 0;            ///< of the rounds that are alike
  size_t agreed = 0;            ///< how often it has left out what all cores of the group do
  bool isOver = false;
  std::array<std::vector<Passage>, numPipes> passed;

  /// Rounds that all pipes have come to, less one.
  int64_t lastPassed() const;
};

struct PaceQuestion {
  int64_t period = 1;      ///< windows are multiples of it
  int64_t settling = 0;    ///< rounds in which pipes may still go at different speeds
  int64_t most = 1;        ///< rounds that have to show the pace, at least
  double tolerance = 0.01; ///< by which windows of one pace differ
};

/// What a round of the second half of a loop took that was over too soon to show a pace, on the
/// slowest pipe; 0 where it has less than four rounds.
double roundOfLastHalf(std::span<const LoopRun *const> runs);

/// The pace of a loop that cores go through together, if what ran so far shows one.
std::optional<Pace> findPace(std::span<const LoopRun *const> runs, const PaceQuestion &question);

} // namespace ptl::rt::sim

// Finds how fast a loop runs once its pipes are in step, from the times at which pipes reached its
// rounds.
#pragma once

#include "runtime/sim/program.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace ptl::rt::sim {

/// A loop is in a steady state: after every `window` rounds everything repeats, `cycles` later.
struct Pace {
  int64_t window = 1;
  double cycles = 0;
  int64_t settled = 0; ///< from this round on
  int64_t last = -1;   ///< it was found in those before this round; -1: another time
};

/// One execution of a loop by a core. `passed` has for each pipe the times at which it had finished
/// everything before each round that ran. A pipe is late if it was not waiting for the scalar unit.
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
  std::array<std::vector<Passage>, kNumPipes> passed;

  /// The number of rounds that all pipes have reached, less one.
  int64_t lastPassed() const;
};

struct PaceQuestion {
  int64_t period = 1;      ///< windows are multiples of it
  int64_t settling = 0;    ///< rounds in which pipes may still go at different speeds
  int64_t most = 1;        ///< rounds that have to show the pace, at least
  double tolerance = 0.01; ///< by which windows of one pace differ
};

/// What a round takes, as measured in the second half of a loop that ended too soon to show a pace,
/// on the slowest pipe; 0 where it has fewer than four rounds.
double roundOfLastHalf(std::span<const LoopRun *const> runs);

/// The pace of a loop that several cores execute together, if the rounds that ran so far show one.
std::optional<Pace> findPace(std::span<const LoopRun *const> runs, const PaceQuestion &question);

} // namespace ptl::rt::sim

// Finds the steady-state pace of a loop, from the times at which pipes reached its iterations.
#pragma once

#include "runtime/sim/program.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace ptl::rt::sim {

/// A loop in a steady state: after every `window` iterations everything repeats, `cycles` later.
struct Pace {
  int64_t window = 1;
  double cycles = 0;
  int64_t settled = 0; ///< from this iteration on
  int64_t last = -1;   ///< measured in the iterations before this one; -1: in another execution
};

/// One execution of a loop by a core. `passed` has, for each pipe, the times at which it had
/// finished everything before each iteration that ran. A pipe is late if it was not waiting for the
/// scalar unit.
struct LoopRun {
  struct Passage {
    double time = 0;
    bool isLate = false;
  };
  size_t step = 0;              ///< of the loop
  uint32_t pipes = 0;           ///< bits of the pipes that have work in it
  int64_t round = 0;            ///< number of iterations that ran so far, or are queued
  int64_t left = 0;             ///< number of remaining iterations
  int64_t position = 0, by = 1; ///< of the next iteration; its increment
  int64_t first = 0;            ///< the first of the iterations that are alike
  /// how often it has skipped iterations together with all cores of the group
  size_t agreed = 0;
  bool isOver = false;
  std::array<std::vector<Passage>, kNumPipes> passed;

  /// The number of iterations that all pipes have reached, minus one.
  int64_t lastPassed() const;
};

struct PaceQuestion {
  int64_t period = 1;      ///< windows are multiples of it
  int64_t settling = 0;    ///< iterations in which pipes may still drift apart
  int64_t most = 1;        ///< minimal number of iterations that must show the pace
  double tolerance = 0.01; ///< by which windows of one pace may differ
};

/// The time of an iteration, measured on the slowest pipe in the second half of a loop that ended
/// too early to show a pace; 0 if it has fewer than four iterations.
double roundOfLastHalf(std::span<const LoopRun *const> runs);

/// The pace of a loop that several cores execute together; nothing if the iterations so far do not
/// show one.
std::optional<Pace> findPace(std::span<const LoopRun *const> runs, const PaceQuestion &question);

} // namespace ptl::rt::sim

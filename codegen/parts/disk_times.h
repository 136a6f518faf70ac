// What disks take: of checkpoints that a loop saves while it goes on, and of pages that are found.
#pragma once

#include "codegen/parts/time_parts.h"

namespace ptl::parts {

/// Seconds until all parts have written or read so many bytes, beginning together: those whose chips share a
/// disk share its rate. Nothing where the machine says nothing of disks. `chips`: of the fabric, per part.
std::optional<double> diskSeconds(const movement::Fabric &fabric,
                                  const std::vector<uint32_t> &chips,
                                  const std::vector<int64_t> &bytes);

/// What each part writes of a value in a checkpoint: parts that have the same box write a share of it each.
std::vector<int64_t> savedBytes(const Grid &grid, const Placement &placement,
                                const std::vector<int64_t> &shape, int64_t elementBytes);

/// Seconds that saving adds to a loop of equal rounds. Checkpoints are saved while the loop goes on; the next one
/// waits for the one before, and the end of the loop for the last one.
struct SavedRounds {
  int64_t rounds = 0, every = 1;
  double loop = 0; ///< seconds of all rounds without saving
  double save = 0; ///< of one checkpoint
  int64_t saves() const { return rounds / every; }
  double adds() const;
};

/// The checkpoints of a loop of so many rounds, which take so many seconds without them. Nothing where nothing is
/// known of disks.
std::optional<SaveTime> saveTime(const TimeQuestion &question, const PlacedLoop &loop,
                                 int64_t rounds, double seconds);
/// Of all parts reading their blocks of a value; nothing likewise.
std::optional<double> readSeconds(const TimeQuestion &question, ValueId id,
                                  const LoopNumbers &loops);

} // namespace ptl::parts

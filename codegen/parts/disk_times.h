// The time that disks take: for checkpoints that a loop saves in the background, and for pages that
// are read from pools.
#pragma once

#include "codegen/parts/time_parts.h"

namespace ptl::parts {

/// Seconds until all parts have written or read their bytes, if all begin together: parts whose
/// chips share a disk share its bandwidth. Nothing if the machine file describes no disks. `chips`
/// gives the chip of the fabric for each part.
std::optional<double> diskSeconds(const movement::Fabric &fabric,
                                  const std::vector<uint32_t> &chips,
                                  const std::vector<int64_t> &bytes);

/// The bytes that each part writes of a value in a checkpoint: parts that have the same box write
/// equal shares of it.
std::vector<int64_t> savedBytes(const Grid &grid, const Placement &placement,
                                const std::vector<int64_t> &shape, int64_t elementBytes);

/// The seconds that checkpoints add to a loop of equal rounds. A checkpoint is saved while the loop
/// continues; the next checkpoint waits for the previous one, and the end of the loop waits for the
/// last.
struct SavedRounds {
  int64_t rounds = 0, every = 1;
  double loop = 0; ///< seconds of all rounds without checkpoints
  double save = 0; ///< of one checkpoint
  int64_t saves() const { return rounds / every; }
  double adds() const;
};

/// The time of the checkpoints of a loop of so many rounds, which takes so many seconds without
/// them. Nothing if the machine file describes no disks.
std::optional<SaveTime> saveTime(const TimeQuestion &question, const PlacedLoop &loop,
                                 int64_t rounds, double seconds);
/// Seconds until all parts have read their blocks of a value; nothing if the machine file describes
/// no disks.
std::optional<double> readSeconds(const TimeQuestion &question, ValueId id,
                                  const LoopNumbers &loops);

} // namespace ptl::parts

// What disks take: of checkpoints that a loop saves while it goes on, and of pages that are found; and which pages lie in memory instead.
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

/// The checkpoints of a loop of so many rounds, which begins at some time and takes so many seconds without them. Nothing where nothing is
/// known of disks.
std::optional<SaveTime> saveTime(const TimeQuestion &question, const PlacedLoop &loop,
                                 int64_t rounds, double begin, double seconds);
/// Of all parts reading their blocks of a value; nothing likewise.
std::optional<double> readSeconds(const TimeQuestion &question, ValueId id,
                                  const LoopNumbers &loops);

/// Where a page of a pool lies whose memory is that of several parts, when all pages up to it were kept one after the other: the number of the part over its
/// level; nothing if the memory has no room for it.
std::optional<uint32_t> homeOfPage(const TimeQuestion &question, const PlacedChoice &choice,
                                   const LoopNumbers &loops);

} // namespace ptl::parts

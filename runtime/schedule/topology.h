#pragma once

#include "runtime/graph/task.h"

#include <cstdint>
#include <vector>

namespace ptl::rt {

using LaneId = uint32_t;

/// What executes tasks, one at a time: a core of a chip, or a thread. A thread runs every kind.
enum class LaneKind : uint8_t { Aic, Aiv, Host, Thread };

/// The lanes that a scheduler feeds. Lanes of a group share something (a cube core and its vector
/// cores, caches), so work stays in the group where it can; likewise groups of a domain (a die).
struct Topology {
  struct Lane {
    LaneKind kind = LaneKind::Thread;
    uint32_t group = 0;
    uint32_t domain = 0;
  };
  std::vector<Lane> lanes;

  static Topology threads(int count);
  /// `groups` groups of one cube core and `vectorCores` vector cores each, dealt to `domains` in
  /// turn of equal runs, then `hosts` host lanes. Lane numbers: of group g, the cube core first.
  static Topology chip(int groups, int vectorCores, int hosts = 0, int domains = 1);

  /// Whether a lane may start a task of this kind. A cube core starts mixed tasks for its group.
  bool accepts(LaneId lane, TaskKind kind) const;
  /// The vector cores of a lane's group.
  std::vector<LaneId> vectorLanesOf(LaneId lane) const;
  /// All other lanes, nearest first; among equally near ones from the next number upwards, so that
  /// not all lanes ask the same victim first.
  std::vector<LaneId> neighboursOf(LaneId lane) const;
};

} // namespace ptl::rt

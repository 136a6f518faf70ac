#pragma once

#include "runtime/graph/task.h"

#include <cstdint>
#include <vector>

namespace ptl::rt {

using LaneId = uint32_t;

/// What executes tasks, one at a time: a core of a chip, or a thread. A thread accepts every kind.
enum class LaneKind : uint8_t { Aic, Aiv, Host, Thread };

/// The lanes of a scheduler. Lanes of a group share resources (a cube core with its vector cores,
/// or caches), so work stays in the group if possible; likewise groups of a domain (a die).
struct Topology {
  struct Lane {
    LaneKind kind = LaneKind::Thread;
    uint32_t group = 0;
    uint32_t domain = 0;
  };
  std::vector<Lane> lanes;

  static Topology threads(int count);
  /// A chip with `groups` groups of one cube core and `vectorCores` vector cores each, distributed
  /// over `domains` in equal runs, followed by `hosts` host lanes. Lanes are numbered by group, the
  /// cube core first.
  static Topology chip(int groups, int vectorCores, int hosts = 0, int domains = 1);

  /// Whether a lane may start a task of this kind. A cube core starts mixed tasks for its group.
  bool accepts(LaneId lane, TaskKind kind) const;
  /// The vector cores of a lane's group.
  std::vector<LaneId> vectorLanesOf(LaneId lane) const;
  /// All other lanes, nearest first; equally near ones in cyclic order from the next number on, so
  /// that lanes do not all try the same victim first.
  std::vector<LaneId> neighboursOf(LaneId lane) const;
};

} // namespace ptl::rt

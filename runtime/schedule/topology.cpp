#include "runtime/schedule/topology.h"

#include <algorithm>

namespace ptl::rt {

Topology Topology::threads(int count) {
  Topology topology;
  topology.lanes.resize(static_cast<size_t>(std::max(1, count)));
  return topology;
}

Topology Topology::chip(int groups, int vectorCores, int hosts, int domains) {
  Topology topology;
  int perDomain = (groups + domains - 1) / std::max(1, domains);
  for (int group = 0; group < groups; ++group) {
    auto number = static_cast<uint32_t>(group);
    auto domain = static_cast<uint32_t>(group / std::max(1, perDomain));
    topology.lanes.push_back({LaneKind::Aic, number, domain});
    for (int i = 0; i < vectorCores; ++i)
      topology.lanes.push_back({LaneKind::Aiv, number, domain});
  }
  for (int host = 0; host < hosts; ++host)
    // Each host is a group of its own, and in no domain.
    topology.lanes.push_back({LaneKind::Host, static_cast<uint32_t>(groups + host), ~0u});
  return topology;
}

bool Topology::accepts(LaneId lane, TaskKind kind) const {
  switch (lanes[lane].kind) {
  case LaneKind::Aic:
    return kind == TaskKind::Aic || kind == TaskKind::Mixed;
  case LaneKind::Aiv:
    return kind == TaskKind::Aiv;
  case LaneKind::Host:
    return kind == TaskKind::Host;
  case LaneKind::Thread:
    return true;
  }
  return false;
}

std::vector<LaneId> Topology::vectorLanesOf(LaneId lane) const {
  std::vector<LaneId> found;
  for (LaneId other = 0; other < lanes.size(); ++other)
    if (lanes[other].kind == LaneKind::Aiv && lanes[other].group == lanes[lane].group)
      found.push_back(other);
  return found;
}

std::vector<LaneId> Topology::neighboursOf(LaneId lane) const {
  std::vector<LaneId> order;
  auto count = static_cast<LaneId>(lanes.size());
  for (LaneId i = 1; i < count; ++i)
    order.push_back((lane + i) % count);
  auto distance = [&](LaneId other) {
    if (lanes[other].group == lanes[lane].group)
      return 0;
    return lanes[other].domain == lanes[lane].domain ? 1 : 2;
  };
  // Stability keeps the order round from the own lane, so that lanes do not all steal from one.
  std::stable_sort(order.begin(), order.end(),
                   [&](LaneId a, LaneId b) { return distance(a) < distance(b); });
  return order;
}

} // namespace ptl::rt

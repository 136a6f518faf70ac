#include "codegen/parts/fabric_of.h"

namespace ptl::parts {

movement::Fabric fabricOf(const MachineLevels &levels) {
  constexpr double us = 1e-6, giga = 1e9;
  movement::Fabric fabric;
  fabric.perMessage = levels.messageUs * us;
  fabric.combineRate = levels.combineRate * giga;
  fabric.contended = levels.contended;
  for (const MachineLevel &level : levels.levels)
    fabric.levels.push_back({.name = level.name,
                             .count = static_cast<uint32_t>(level.count),
                             .topology = level.topology == "mesh"   ? movement::Topology::Mesh
                                         : level.topology == "ring" ? movement::Topology::Ring
                                                                    : movement::Topology::Switch,
                             .isSamePlace = level.isSamePlace,
                             .throughInner = level.throughInner,
                             .latency = level.latencyUs * us,
                             .linkRate = level.linkRate * giga,
                             .portRate = level.portRate * giga,
                             .partRate = level.partRate * giga,
                             .start = level.startUs * us,
                             .diskRate = level.diskRate * giga,
                             .diskLatency = level.diskUs * us});
  return fabric;
}

MachineShape wholeShape(const std::vector<PlacedLevel> &placed, const MachineLevels &levels) {
  MachineShape shape;
  for (const PlacedLevel &level : placed)
    for (const MachineLevel &known : levels.levels)
      if (known.name == level.machineLevel)
        shape[known.name] = static_cast<uint32_t>(known.count);
  return shape;
}

} // namespace ptl::parts

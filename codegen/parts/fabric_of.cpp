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

std::vector<uint32_t> chipsOf(const std::vector<PlacedLevel> &levels, const Grid &grid,
                              const movement::Fabric &fabric, std::string &why) {
  std::vector<uint32_t> chips(grid.count());
  uint32_t stride = 1;
  size_t known = 0;
  for (const movement::FabricLevel &level : fabric.levels) {
    uint32_t count = 1;
    for (size_t i = 0; i < levels.size(); ++i)
      if (levels[i].machineLevel == level.name) {
        count *= grid.count(i);
        ++known;
      }
    if (count > level.count)
      why = "there are " + std::to_string(level.count) + " " + level.name +
            "s in each part of the next level, not " + std::to_string(count);
    for (uint32_t part = 0; part < grid.count(); ++part) {
      uint32_t number = 0; // Of a mesh's axes the last one varies fastest.
      for (size_t i = 0; i < levels.size(); ++i)
        if (levels[i].machineLevel == level.name)
          number = number * grid.count(i) + grid.coordinate(part, i);
      chips[part] += number * stride;
    }
    stride *= level.count;
  }
  if (known < levels.size())
    why = "its levels are others than those that the arrays lie over";
  return chips;
}

} // namespace ptl::parts

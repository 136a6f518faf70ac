#include "machines/levels.h"

#include "machines/machine_document.h"

#include <algorithm>

namespace ptl {

using Json = MachineJson;

static double figureOr(const Json &parent, const char *name, double absent = 0) {
  auto found = parent.find(name);
  return found == parent.end() ? absent : (*found)["value"].get<double>();
}

static MachineLevel levelOf(const Json &json) {
  return {.name = json["name"],
          .count = json["count"],
          .topology = json["topology"],
          .isSamePlace = json.value("samePlace", false),
          .throughInner = json.value("throughInner", false),
          .latencyUs = figureOr(json, "latencyUs"),
          .linkRate = figureOr(json, "linkRate"),
          .portRate = figureOr(json, "portRate"),
          .partRate = figureOr(json, "partRate"),
          .startUs = figureOr(json, "startUs"),
          .diskRate = figureOr(json, "diskRate"),
          .diskUs = figureOr(json, "diskUs")};
}

static MachineLevels machineLevelsOf(const Json &machine) {
  MachineLevels levels;
  if (auto chain = machine.find("levels"); chain != machine.end())
    for (const Json &level : *chain)
      levels.levels.push_back(levelOf(level));
  if (auto costs = machine.find("movements"); costs != machine.end()) {
    levels.messageUs = figureOr(*costs, "messageUs");
    levels.combineRate = figureOr(*costs, "combineRate");
    levels.contended = figureOr(*costs, "contended", 1);
  }
  return levels;
}

MachineLevels findLevels(std::string_view name, std::span<const MachineFile> others) {
  name = name.substr(0, name.find(':'));
  for (const MachineFile &file : others) {
    std::string error;
    Json json = resolveMachine(file.text, &error, others);
    if (error.empty() && json["name"] == name)
      return machineLevelsOf(json);
  }
  const Json &json = builtinMachine(name);
  return json.is_null() ? MachineLevels() : machineLevelsOf(json);
}

} // namespace ptl

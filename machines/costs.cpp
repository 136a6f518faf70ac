#include "machines/costs.h"

#include "machines/machine_document.h"

#include <algorithm>

namespace ptl {

using Json = MachineJson;

double ProductCost::cyclesOf(std::string_view element) const {
  for (const auto &[name, value] : cycles)
    if (name == element)
      return value;
  return 0;
}

const InstructionCost *MachineCosts::instruction(std::string_view name) const {
  for (std::string_view wanted : {name, std::string_view("default")})
    for (const InstructionCost &cost : instructions)
      if (cost.name == wanted)
        return &cost;
  return nullptr;
}

const PathCost *MachineCosts::path(std::string_view from, std::string_view to) const {
  for (const PathCost &path : paths)
    if (path.from == from && path.to == to)
      return &path;
  return nullptr;
}

static double figure(const Json &parent, const char *name) {
  auto found = parent.find(name);
  return found == parent.end() ? 0 : (*found)["value"].get<double>();
}

static ProductCost productOf(const Json &json) {
  ProductCost product{json["head"], json["rows"], json["columns"], json["depthBytes"], {}};
  for (const auto &[name, cycles] : json["cycles"].items())
    product.cycles.push_back({name, cycles});
  return product;
}

static MachineCosts costsOf(const Json &json) {
  MachineCosts costs;
  const Json none = Json::object();
  auto part = [&](const char *name) -> const Json & {
    auto found = json.find(name);
    return found == json.end() ? none : *found;
  };
  for (const auto &[name, cost] : part("instructions").items())
    costs.instructions.push_back(
        {name, cost["head"], cost["slope"], cost.value("row", 0.0), cost["tail"]});
  for (const Json &path : part("paths"))
    costs.paths.push_back({path["from"], path["to"], path.value("latency", 0.0),
                           path.value("head", 0.0), path["bytesPerCycle"]});
  if (auto product = json.find("product"); product != json.end())
    costs.product = productOf(*product);
  const Json &memory = part("memory"), &control = part("control");
  costs.memory = {.l2Bytes = static_cast<int64_t>(figure(memory, "l2Bytes")),
                  .lineBytes = static_cast<int64_t>(figure(memory, "lineBytes")),
                  .l2Rate = figure(memory, "l2Rate"),
                  .memoryRate = figure(memory, "memoryRate"),
                  .memoryRateOfCore = figure(memory, "memoryRateOfCore"),
                  .missLatency = figure(memory, "missLatency")};
  costs.control = {.scalar = figure(control, "scalar"),
                   .issue = figure(control, "issue"),
                   .scalarLoad = figure(control, "scalarLoad"),
                   .event = figure(control, "event"),
                   .mask = figure(control, "mask"),
                   .crossCore = figure(control, "crossCore"),
                   .signal = figure(control, "signal"),
                   .launch = figure(control, "launch"),
                   .block = figure(control, "block"),
                   .submit = figure(control, "submit"),
                   .dispatch = figure(control, "dispatch"),
                   .schedulers = figure(control, "schedulers")};
  return costs;
}

/// The costs in the description of a machine.
static std::optional<MachineCosts> costsIn(const Json &machine) {
  auto costs = machine.find("costs");
  return costs == machine.end() || costs->is_null() ? std::nullopt : std::optional(costsOf(*costs));
}

std::optional<MachineCosts> findCosts(std::string_view name, std::span<const MachineFile> others) {
  name = name.substr(0, name.find(':'));
  for (const MachineFile &file : others) {
    std::string error;
    Json json = resolveMachine(file.text, &error, others);
    if (error.empty() && json["name"].get<std::string>() == name)
      return costsIn(json);
  }
  const Json &json = builtinMachine(name);
  return json.is_null() ? std::nullopt : costsIn(json);
}

} // namespace ptl

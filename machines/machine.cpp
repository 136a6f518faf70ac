#include "machines/machine.h"

#include "common/words.h"
#include "machines/machine_check.h"
#include "machines/machine_document.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace ptl {

using Json = MachineJson;

static bool contains(const std::vector<std::string> &names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

static bool contains(const std::vector<NamePair> &pairs, std::string_view a, std::string_view b) {
  return std::any_of(pairs.begin(), pairs.end(),
                     [&](const NamePair &pair) { return pair.first == a && pair.second == b; });
}

bool MemorySpace::hasLayout(std::string_view layout) const { return contains(layouts, layout); }

bool Move::carries(std::string_view source, std::string_view result) const {
  // A type that stays the same is no conversion.
  return source == result ? contains(types, source) : contains(conversions, source, result);
}

bool Move::carriesQuantized(std::string_view source, std::string_view result) const {
  return contains(quantized, source, result);
}

bool Move::hasLayouts(std::string_view source, std::string_view result) const {
  return contains(layouts, source, result);
}

bool Move::hasInstruction(std::string_view name) const { return contains(instructions, name); }

const MachineCore *Machine::core(std::string_view kind) const {
  for (const MachineCore &core : cores)
    if (core.kind == kind)
      return &core;
  return nullptr;
}

const MemorySpace *Machine::space(std::string_view place) const {
  for (const MemorySpace &memory : memories)
    if (memory.place == place)
      return &memory;
  return nullptr;
}

const Move *Machine::move(std::string_view from, std::string_view to) const {
  for (const Move &move : moves)
    if (move.from == from && move.to == to)
      return &move;
  return nullptr;
}

/// By breadth, without stopping at `avoided`.
static std::vector<std::string> shortestRoute(const std::vector<Move> &moves, std::string_view from,
                                              std::string_view to, std::string_view avoided) {
  std::vector<std::vector<std::string>> open = {{std::string(from)}};
  std::vector<std::string> seen = {std::string(from)};
  for (size_t next = 0; next < open.size(); ++next) {
    for (const Move &move : moves) {
      if (move.from != open[next].back() || contains(seen, move.to) ||
          (move.to == avoided && move.to != to))
        continue;
      std::vector<std::string> longer = open[next];
      longer.push_back(move.to);
      if (move.to == to)
        return longer;
      seen.push_back(move.to);
      open.push_back(std::move(longer));
    }
  }
  return {};
}

std::vector<std::string> Machine::route(std::string_view from, std::string_view to) const {
  if (from == to)
    return {std::string(from)};
  // Through global memory a value takes many times as long, so a longer way on chip is preferred.
  std::vector<std::string> onChip = shortestRoute(moves, from, to, "gm");
  return onChip.empty() ? shortestRoute(moves, from, to, "") : onChip;
}

bool Machine::hasType(std::string_view element) const { return contains(elementTypes, element); }

const std::vector<TypeRow> *Machine::instruction(std::string_view name) const {
  for (const InstructionTypes &instruction : instructions)
    if (instruction.name == name)
      return &instruction.rows;
  return nullptr;
}

static bool rowTakes(const TypeRow &row, std::span<const std::string_view> types) {
  // A row that is one name stands for all tiles of the instruction, however many there are.
  if (row.size() == 1)
    return std::all_of(types.begin(), types.end(),
                       [&](std::string_view type) { return type == row.front(); });
  return types.size() <= row.size() && std::equal(types.begin(), types.end(), row.begin());
}

bool Machine::supports(std::string_view name, std::span<const std::string_view> types) const {
  const std::vector<TypeRow> *rows = instruction(name);
  return rows && std::any_of(rows->begin(), rows->end(),
                             [&](const TypeRow &row) { return rowTakes(row, types); });
}

static const std::string *reasonOf(const Machine &machine, const std::string &key) {
  for (const auto &[name, reason] : machine.missing)
    if (name == key)
      return &reason;
  return nullptr;
}

static std::string typesOf(const std::vector<TypeRow> &rows) {
  std::string text;
  for (const TypeRow &row : rows) {
    std::vector<std::string_view> names(row.begin(), row.end());
    text += (text.empty() ? "" : ", ") + joined(names, " ");
  }
  return text;
}

std::string Machine::whyNot(std::string_view name, std::span<const std::string_view> types) const {
  if (supports(name, types))
    return "";
  std::string quoted = "`" + std::string(name) + "`";
  const std::vector<TypeRow> *rows = instruction(name);
  if (!rows) {
    const std::string *reason = reasonOf(*this, std::string(name));
    return quoted + " is not on " + this->name + (reason ? ": " + *reason : "");
  }
  for (std::string_view type : types)
    if (!hasType(type))
      return "`" + std::string(type) + "` is not on " + this->name;
  const std::string *reason = nullptr;
  // The most special reason is given: for all types, then for the first ones, for any, for one type
  // everywhere.
  for (size_t count = types.size(); count > 0 && !reason; --count)
    reason = reasonOf(*this, std::string(name) + " " + joined(types.first(count), " "));
  if (!reason)
    reason = reasonOf(*this, std::string(name) + " *");
  for (size_t i = 0; i < types.size() && !reason; ++i)
    reason = reasonOf(*this, "* " + std::string(types[i]));
  return quoted + " does not take " + joined(types, " ") + " on " + this->name + ": " +
         (reason ? *reason : "it takes " + typesOf(*rows));
}

static std::vector<std::string> namesOf(const Json &parent, const char *member) {
  std::vector<std::string> names;
  if (parent.contains(member))
    for (const Json &name : parent[member])
      names.push_back(name);
  return names;
}

static std::vector<NamePair> pairsOf(const Json &parent, const char *member) {
  std::vector<NamePair> pairs;
  if (parent.contains(member))
    for (const Json &pair : parent[member])
      pairs.push_back({pair[0], pair[1]});
  return pairs;
}

static std::vector<MachineCore> coresOf(const Json &parent) {
  std::vector<MachineCore> cores;
  for (const Json &core : parent["cores"])
    cores.push_back({core["kind"], core["count"], namesOf(core, "pipes")});
  return cores;
}

static void readPlaces(const Json &json, Machine &machine) {
  for (const Json &memory : json["memories"]) {
    MemorySpace space{.place = memory["place"],
                      .bytes = memory["bytes"],
                      .reserved = memory.value("reserved", int64_t(0)),
                      .alignment = memory.value("alignment", int64_t(1)),
                      .core = memory.value("core", ""),
                      .fractal = {},
                      .layouts = namesOf(memory, "layouts")};
    if (auto fractal = memory.find("fractal"); fractal != memory.end())
      space.fractal = Fractal{(*fractal)["rows"], (*fractal)["bytes"]};
    machine.memories.push_back(std::move(space));
  }
  if (json.contains("moves"))
    for (const Json &move : json["moves"])
      machine.moves.push_back({move["from"], move["to"], move["core"], move["pipe"],
                               namesOf(move, "instructions"), pairsOf(move, "layouts"),
                               namesOf(move, "types"), pairsOf(move, "conversions"),
                               pairsOf(move, "quantized")});
}

static void readSynchronisation(const Json &json, Machine &machine) {
  machine.vectorBarrier = json.value("vectorBarrier", false);
  machine.maskOfOperandShape = json.value("maskOfOperandShape", false);
  if (auto events = json.find("events"); events != json.end())
    machine.events = (*events)["perPipePair"];
  if (auto flags = json.find("crossCore"); flags != json.end()) {
    machine.crossCore.flags = (*flags)["flags"];
    for (const Json &id : (*flags)["reserved"])
      machine.crossCore.reserved.push_back(id);
    machine.crossCore.countMax = (*flags)["countMax"];
  }
  if (auto exchange = json.find("exchange"); exchange != json.end())
    machine.exchange = {(*exchange)["through"] == "buffer", (*exchange)["vectorPerCube"],
                        exchange->value("slotsOneWay", int64_t(0)),
                        exchange->value("slotsTwoWay", int64_t(0)),
                        exchange->value("flagsPerDirection", int64_t(0))};
}

static MachineLimits limitsOf(const Json &json) {
  auto limit = [&](const char *name) { return json.value(name, int64_t(0)); };
  return {.matmulExtent = limit("matmulExtent"),
          .vectorBytes = limit("vectorBytes"),
          .blockBytes = limit("blockBytes"),
          .repeat = limit("repeat"),
          .loadVecRows = limit("loadVecRows"),
          .loadMatRows = limit("loadMatRows"),
          .storeAccColumns = limit("storeAccColumns"),
          .storeAccRows = limit("storeAccRows"),
          .storeAccRowsNz = limit("storeAccRowsNz"),
          .viewRank = limit("viewRank")};
}

static void readInstructions(const Json &json, Machine &machine) {
  if (json.contains("instructions"))
    for (const auto &[name, rows] : json["instructions"].items()) {
      InstructionTypes types{name, {}};
      for (const Json &row : rows)
        types.rows.push_back(row.is_array() ? row.get<TypeRow>() : TypeRow{row});
      machine.instructions.push_back(std::move(types));
    }
  if (json.contains("missing"))
    for (const auto &[name, reason] : json["missing"].items())
      machine.missing.push_back({name, reason});
}

static Machine machineOf(const Json &json) {
  Machine machine;
  machine.name = json["name"];
  machine.summary = json["summary"];
  machine.executable = json["executable"];
  machine.elementTypes = namesOf(json, "elementTypes");
  if (auto tools = json.find("tools"); tools != json.end())
    machine.tools = {tools->value("ptoas", ""), tools->value("library", ""),
                     tools->value("npuArch", int64_t(0))};
  machine.clockMhz = json.value("clockMhz", int64_t(0));
  machine.cores = coresOf(json);
  if (json.contains("variants"))
    for (const Json &variant : json["variants"])
      machine.variants.push_back(
          {variant["name"], variant.value("clockMhz", machine.clockMhz), coresOf(variant)});
  readPlaces(json, machine);
  machine.atomicTypes = namesOf(json, "atomicTypes");
  readSynchronisation(json, machine);
  if (auto limits = json.find("limits"); limits != json.end())
    machine.limits = limitsOf(*limits);
  if (auto tiling = json.find("tiling"); tiling != json.end())
    machine.tiling = TilingDefaults{(*tiling)["productM"], (*tiling)["productN"],
                                    (*tiling)["productK"], (*tiling)["rowBytes"]};
  readInstructions(json, machine);
  return machine;
}

std::optional<Machine> parseMachine(std::string_view text, std::string *error,
                                    std::span<const MachineFile> others) {
  Json json = resolveMachine(text, error, others);
  if (!error->empty())
    return std::nullopt;
  Machine machine = machineOf(json);
  *error = inconsistency(machine);
  if (!error->empty())
    return std::nullopt;
  return machine;
}

std::optional<std::string> machineJson(std::string_view text, std::string *error,
                                       std::span<const MachineFile> others) {
  Json json = resolveMachine(text, error, others);
  if (error->empty())
    *error = inconsistency(machineOf(json));
  if (!error->empty())
    return std::nullopt;
  return json.dump();
}

std::optional<Machine> machineVariant(Machine machine, std::string_view name) {
  size_t colon = name.find(':');
  if (colon == name.npos)
    return machine;
  for (const MachineVariant &variant : machine.variants)
    if (variant.name == name.substr(colon + 1)) {
      machine.clockMhz = variant.clockMhz;
      // A variant only changes numbers; the pipes of its cores are those of the machine.
      for (const MachineCore &counted : variant.cores)
        for (MachineCore &core : machine.cores)
          if (core.kind == counted.kind)
            core.count = counted.count;
      return machine;
    }
  return std::nullopt;
}

std::optional<Machine> findMachine(std::string_view name) {
  const Json &json = builtinMachine(name.substr(0, name.find(':')));
  if (json.is_null())
    return std::nullopt;
  return machineVariant(machineOf(json), name);
}

const Machine *knownMachine(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, std::optional<Machine>, std::less<>> machines;
  std::lock_guard lock(mutex);
  // Names that are no machines are remembered as well, since sources with errors ask again and
  // again.
  auto found = machines.find(name);
  if (found == machines.end())
    found = machines.emplace(std::string(name), findMachine(name)).first;
  return found->second ? &*found->second : nullptr;
}

} // namespace ptl

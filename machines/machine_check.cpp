#include "machines/machine_check.h"

#include <algorithm>

namespace ptl {

static std::string item(std::string_view list, size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

static std::string unknown(const std::string &path, std::string_view name, std::string_view among) {
  return "`" + path + "` is `" + std::string(name) + "`, which is not among the " +
         std::string(among);
}

static std::string checkVariants(const Machine &machine) {
  for (size_t i = 0; i < machine.variants.size(); ++i)
    for (size_t j = 0; j < machine.variants[i].cores.size(); ++j)
      if (!machine.core(machine.variants[i].cores[j].kind))
        return unknown(item(item("variants", i) + ".cores", j) + ".kind",
                       machine.variants[i].cores[j].kind, "cores");
  return "";
}

static std::string checkMemory(const Machine &machine, const MemorySpace &memory,
                               const std::string &path) {
  // The usable size is computed as the difference, and would be negative.
  if (memory.reserved > memory.bytes)
    return "`" + path + ".reserved` is " + std::to_string(memory.reserved) + ", more than the " +
           std::to_string(memory.bytes) + " bytes of `" + memory.place + "`";
  // Addresses are rounded up with masks, which needs a power of two.
  if (memory.alignment & (memory.alignment - 1))
    return "`" + path + ".alignment` is " + std::to_string(memory.alignment) +
           ", which is not a power of two";
  // Global memory belongs to no kind of core.
  if (!memory.core.empty() && !machine.core(memory.core))
    return unknown(path + ".core", memory.core, "cores");
  return "";
}

static std::string checkTypes(const Machine &machine, const std::vector<std::string> &types,
                              const std::string &path) {
  for (size_t i = 0; i < types.size(); ++i)
    if (!machine.hasType(types[i]))
      return unknown(item(path, i), types[i], "element types");
  return "";
}

static std::string checkTypes(const Machine &machine, const std::vector<NamePair> &pairs,
                              const std::string &path) {
  for (size_t i = 0; i < pairs.size(); ++i)
    for (const std::string &type : {pairs[i].first, pairs[i].second})
      if (!machine.hasType(type))
        return unknown(item(path, i), type, "element types");
  return "";
}

static std::string checkMove(const Machine &machine, const Move &move, const std::string &path) {
  const MemorySpace *from = machine.space(move.from), *to = machine.space(move.to);
  if (!from)
    return unknown(path + ".from", move.from, "memories");
  if (!to)
    return unknown(path + ".to", move.to, "memories");
  const MachineCore *core = machine.core(move.core);
  if (!core)
    return unknown(path + ".core", move.core, "cores");
  if (std::find(core->pipes.begin(), core->pipes.end(), move.pipe) == core->pipes.end())
    return unknown(path + ".pipe", move.pipe, "pipes of `" + core->kind + "`");
  for (size_t i = 0; i < move.instructions.size(); ++i)
    if (!machine.instruction(move.instructions[i]))
      return unknown(item(path + ".instructions", i), move.instructions[i], "instructions");
  // A layout that one end does not have could never be used, and is a slip of the pen.
  for (size_t i = 0; i < move.layouts.size(); ++i) {
    if (!from->hasLayout(move.layouts[i].first))
      return unknown(item(path + ".layouts", i) + "[0]", move.layouts[i].first,
                     "layouts of `" + move.from + "`");
    if (!to->hasLayout(move.layouts[i].second))
      return unknown(item(path + ".layouts", i) + "[1]", move.layouts[i].second,
                     "layouts of `" + move.to + "`");
  }
  for (std::string error : {checkTypes(machine, move.types, path + ".types"),
                            checkTypes(machine, move.conversions, path + ".conversions"),
                            checkTypes(machine, move.quantized, path + ".quantized")})
    if (!error.empty())
      return error;
  return "";
}

static std::string checkInstructions(const Machine &machine) {
  for (const InstructionTypes &instruction : machine.instructions) {
    std::string path = "instructions." + instruction.name;
    if (instruction.rows.empty())
      return "`" + path + "` has no element types";
    for (size_t i = 0; i < instruction.rows.size(); ++i) {
      if (instruction.rows[i].empty())
        return "`" + item(path, i) + "` has no element types";
      for (const std::string &type : instruction.rows[i])
        if (!machine.hasType(type))
          return unknown(item(path, i), type, "element types");
    }
  }
  // With a base, a list may get an instruction back whose reason the base still has.
  for (const auto &[name, reason] : machine.missing)
    if (machine.instruction(name))
      return "`missing." + name +
             "` gives a reason why it is missing, but it is listed in `instructions`";
  return "";
}

std::string inconsistency(const Machine &machine) {
  if (machine.name.empty())
    return "`name` is empty";
  std::string error = checkVariants(machine);
  for (size_t i = 0; i < machine.memories.size() && error.empty(); ++i)
    error = checkMemory(machine, machine.memories[i], item("memories", i));
  for (size_t i = 0; i < machine.moves.size() && error.empty(); ++i)
    error = checkMove(machine, machine.moves[i], item("moves", i));
  if (error.empty())
    error = checkInstructions(machine);
  if (error.empty())
    error = checkTypes(machine, machine.atomicTypes, "atomicTypes");
  for (size_t i = 0; i < machine.crossCore.reserved.size() && error.empty(); ++i)
    // Flags are numbered from 0.
    if (machine.crossCore.reserved[i] >= machine.crossCore.flags)
      error = "`" + item("crossCore.reserved", i) + "` is " +
              std::to_string(machine.crossCore.reserved[i]) + ", but there are " +
              std::to_string(machine.crossCore.flags) + " flags";
  return error;
}

} // namespace ptl

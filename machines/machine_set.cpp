#include "machines/machine_set.h"

#include "machines/levels.h"

#include <algorithm>

namespace ptl {

MachineSet::MachineSet(std::vector<MachineFile> own) : files_(std::move(own)) {
  for (const MachineFile &file : files_) {
    std::string reason;
    if (std::optional<Machine> machine = parseMachine(file.text, &reason, files_))
      own_.push_back(std::move(*machine));
    else
      invalid_.push_back({file.path, reason});
  }
}

const Machine *MachineSet::find(std::string_view name) const {
  std::string_view plain = name.substr(0, name.find(':'));
  for (const Machine &machine : own_) {
    if (machine.name != plain)
      continue;
    if (plain == name)
      return &machine;
    std::lock_guard lock(mutex_);
    auto found = variants_.find(name);
    if (found == variants_.end())
      found = variants_.emplace(std::string(name), machineVariant(machine, name)).first;
    return found->second ? &*found->second : nullptr;
  }
  return knownMachine(name);
}

std::vector<std::string> MachineSet::names() const {
  std::vector<std::string> names;
  for (const Machine &machine : own_)
    names.push_back(machine.name);
  for (const MachineFile &file : builtinMachineFiles())
    if (std::find(names.begin(), names.end(), file.path) == names.end())
      names.push_back(file.path);
  return names;
}

std::vector<std::string> MachineSet::chips() const {
  std::vector<std::string> chips = names();
  std::erase_if(chips, [this](const std::string &name) {
    const Machine *machine = find(name);
    // Kernels for machines of many chips are those of their chip.
    return !machine || machine->executable || findLevels(name, files_).known();
  });
  return chips;
}

} // namespace ptl

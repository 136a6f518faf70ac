#include "driver/target.h"

#include <algorithm>

namespace ptl {

Targets::Targets(Session &session) : session_(session) {
  for (const std::string &path : session.options().values(OptionId::Machine))
    if (std::optional<FileId> id = session.load(path))
      files_.push_back({path, std::string(session.sources().file(*id).text())});
  for (const MachineFile &file : files_) {
    std::string reason;
    if (std::optional<Machine> machine = parseMachine(file.text, &reason, files_))
      own_.push_back(std::move(*machine));
    else
      session.sink().report(DiagId::InvalidMachine, kNoSpan, {file.path, reason});
  }
}

std::vector<std::string> Targets::names() const {
  std::vector<std::string> names;
  for (const Machine &machine : own_)
    names.push_back(machine.name);
  for (const MachineFile &file : builtinMachineFiles())
    if (std::find(names.begin(), names.end(), file.path) == names.end())
      names.push_back(file.path);
  return names;
}

std::optional<Target> Targets::find(std::string_view name) const {
  if (own_.size() < files_.size()) // which has been reported
    return std::nullopt;
  if (name == "reference")
    return Target{"reference", std::nullopt};
  if (name.empty())
    name = own_.empty() ? std::string_view("cpu") : std::string_view(own_.back().name);
  std::string_view plain = name.substr(0, name.find(':'));
  for (const Machine &machine : own_)
    if (machine.name == plain)
      if (std::optional<Machine> chosen = machineVariant(machine, name))
        return Target{std::string(name), std::move(chosen)};
  if (std::optional<Machine> machine = findMachine(name))
    return Target{std::string(name), std::move(machine)};
  std::string known = "`reference`";
  for (const std::string &one : names())
    known += ", `" + one + "`";
  session_.sink()
      .report(DiagId::UnknownTarget, kNoSpan, {std::string(name)})
      .help("there are " + known);
  return std::nullopt;
}

} // namespace ptl

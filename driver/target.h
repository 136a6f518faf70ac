// What `--target` and `--machine` choose.
#pragma once

#include "codegen/machines/machine.h"
#include "driver/session.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

struct Target {
  std::string name = "cpu";
  std::optional<Machine> machine; ///< absent: the reference executor

  bool isReference() const { return !machine; }
  /// A chip: kernels are compiled for it, and run on its simulator.
  bool isChip() const { return machine && !machine->executable; }
  std::optional<Machine> chip() const { return isChip() ? machine : std::nullopt; }
};

/// The machines that a command line may name: those that came with the compiler, and the files of
/// `--machine`, whose own names come first.
class Targets {
public:
  /// Reads the files; reports those that cannot be read (E0001) or are no machine (E0803).
  explicit Targets(Session &session);

  /// The target of that name, `a2:910b3` a variant; empty: the last file's machine, else the CPU.
  /// Reports a name that there is not (E0813).
  std::optional<Target> find(std::string_view name) const;
  /// What `--target` says.
  std::optional<Target> chosen() const { return find(session_.options().value(OptionId::Target)); }

  const std::vector<MachineFile> &ownFiles() const { return files_; }
  /// All names but those of variants, own ones first.
  std::vector<std::string> names() const;

private:
  Session &session_;
  std::vector<MachineFile> files_;
  std::vector<Machine> own_;
};

} // namespace ptl

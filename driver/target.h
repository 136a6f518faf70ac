// Finds the target that `--target` and `--machine` choose.
#pragma once

#include "driver/session.h"
#include "machines/machine_set.h"

#include <optional>
#include <string>
#include <string_view>

namespace ptl {

struct Target {
  std::string name = "cpu";
  std::optional<Machine> machine; ///< absent: the reference executor

  bool isReference() const { return !machine; }
  /// A chip: kernels are compiled for it, and run on its simulator.
  bool isChip() const { return machine && !machine->executable; }
  std::optional<Machine> chip() const { return isChip() ? machine : std::nullopt; }
};

/// The target of that name; `a2:910b3` is a variant, and an empty name means the machine of the
/// last `--machine`, otherwise the CPU. An unknown name is reported (E0813). Returns nothing if a
/// file of `--machine` had an error, which was reported.
std::optional<Target> findTarget(Session &session, std::string_view name);
/// The target of `--target`.
std::optional<Target> chosenTarget(Session &session);

} // namespace ptl

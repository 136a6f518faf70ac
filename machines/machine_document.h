// The JSON side of machine files: text, schema, base. Only for use inside this folder.
#pragma once

#include "machines/machine.h"

#include <nlohmann/json.hpp>

namespace ptl {

/// Preserves the order of the file.
using MachineJson = nlohmann::ordered_json;

/// The whole description that `text` stands for: it follows the schema, and what it leaves out is
/// filled in from its base. Null and an `error` if that cannot be had.
MachineJson resolveMachine(std::string_view text, std::string *error,
                           std::span<const MachineFile> others);

/// The same for a built-in machine, which tests validate; null if there is none of that name.
/// Cached for the process.
const MachineJson &builtinMachine(std::string_view name);

} // namespace ptl

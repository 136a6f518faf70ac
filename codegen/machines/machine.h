// Machines are data: `codegen/machines/*.json`, validated against `schema.json`. No capacity or
// core count stands in code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

struct MachineCore {
  std::string kind;
  int64_t count = 0; ///< 0: as many as the host has
};

struct MemorySpace {
  std::string place;    ///< `vec`, as after `@` in the language
  int64_t bytes = 0;    ///< of one core; 0: no limit
  int64_t reserved = 0; ///< of these, not for kernels
};

/// Default sizes when tensor-level code is cut into tiles.
struct TilingDefaults {
  int64_t productM = 0, productN = 0, productK = 0;
  int64_t rowBytes = 0; ///< bytes of one array in a block of whole rows
};

struct Machine {
  std::string name;
  std::string summary;
  bool executable = false;
  std::vector<std::string> elementTypes;
  std::vector<MachineCore> cores;
  std::vector<MemorySpace> memories;
  std::optional<TilingDefaults> tiling;
};

struct MachineFile {
  std::string path;
  std::string text;
};

/// The machine files that came with the compiler, `cpu` first.
std::vector<MachineFile> builtinMachineFiles();

/// Reads a machine file. On failure `error` says what is wrong and where: `cores[0].kind` is not a
/// string.
std::optional<Machine> parseMachine(std::string_view text, std::string *error);

/// The built-in machine of that name.
std::optional<Machine> findMachine(std::string_view name);

} // namespace ptl

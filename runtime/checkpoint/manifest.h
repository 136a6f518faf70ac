// The manifest of a checkpoint: the state of a loop as boxes of arrays in files, with checksums. It
// is independent of parts, so any number of parts can read it.
#pragma once

#include "runtime/movement/step_list.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptl::checkpoint {

/// A variable that the loop carries.
struct Variable {
  std::string name, elem;
  std::vector<int64_t> shape;
  bool operator==(const Variable &) const = default;
};

/// A file of the checkpoint, in the format of safetensors.
struct File {
  std::string name;
  uint64_t bytes = 0;
  uint32_t checksum = 0; ///< CRC-32 of all its bytes
};

/// One box of a variable, stored as the array `name` of a file. The boxes of a variable cover it
/// and do not overlap.
struct Piece {
  size_t variable = 0, file = 0;
  std::string name;
  movement::Box box;
};

struct Manifest {
  std::string program, loop;            ///< names; `loop` is the loop's variable
  int64_t next = 0;                     ///< its value in the first iteration after the saved state
  std::string shape;                    ///< the parts that saved it; for people
  std::map<std::string, int64_t> sizes; ///< of the program, by name
  std::vector<Variable> state;
  std::vector<File> files;
  std::vector<Piece> pieces;
};

inline constexpr const char *kManifestName = "manifest.json";

/// The manifest as JSON, whose last member is a checksum of the text before it.
std::string textOf(const Manifest &manifest);
/// Nothing, with the reason, if the text is damaged or inconsistent.
std::optional<Manifest> parseManifest(const std::string &text, std::string &why);
/// Reads the manifest of the checkpoint in a folder.
std::optional<Manifest> readManifest(const std::string &folder, std::string &why);

uint32_t checksumOf(const void *bytes, size_t size, uint32_t before = 0);

/// `weights: f32[4, 3]`
std::string toString(const Variable &variable);

} // namespace ptl::checkpoint

// A file with nothing in it but what one declaration needs, so that checking it takes as long as
// the declaration is and not as long as the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ptl::worker {

/// `text` with spaces for the declarations that are neither the wanted ones, nor named by these,
/// directly or not, nor by blocks that name them. All else keeps its place. The wanted ones have
/// the name `entry` (a test: its text), or hold the byte `offset`.
std::string narrowed(const std::string &path, std::string text, const std::string &entry,
                     std::optional<uint32_t> offset);

} // namespace ptl::worker

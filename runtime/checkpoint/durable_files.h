// Files that are on the disk when a function says so. Each gives the reason if it fails, and an empty text
// otherwise.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ptl::checkpoint {

/// Makes a file of these bytes, one span behind the other.
std::string writeFile(const std::string &path, std::span<const std::span<const uint8_t>> bytes);
std::string writeFile(const std::string &path, const std::string &text);
std::string readFile(const std::string &path, std::string &text);
std::string makeFolder(const std::string &path);
/// The names in a folder are on the disk, too.
std::string syncFolder(const std::string &path);
std::string renameTo(const std::string &from, const std::string &to);
/// Removes a folder with all that is in it; what cannot be removed stays.
void removeAll(const std::string &path);

} // namespace ptl::checkpoint

// Durable operations on files: their effects survive a crash of the machine once they have
// returned. Each returns the reason if it fails, and an empty text otherwise.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ptl::checkpoint {

/// Writes a file with these bytes, one span after the other.
std::string writeFile(const std::string &path, std::span<const std::span<const uint8_t>> bytes);
std::string writeFile(const std::string &path, const std::string &text);
std::string readFile(const std::string &path, std::string &text);
std::string makeFolder(const std::string &path);
/// Makes changes of names in a folder durable, too.
std::string syncFolder(const std::string &path);
std::string renameTo(const std::string &from, const std::string &to);
/// Removes a folder and its contents. Files that cannot be removed stay.
void removeAll(const std::string &path);

} // namespace ptl::checkpoint

#pragma once

#include "runtime/context.h"

#include <cstdint>
#include <span>
#include <string>

namespace ptl::rt {

/// The bytes of a regular file, memory-mapped: of a large file only the parts that are read are
/// loaded.
class FileBytes {
public:
  FileBytes() = default;
  ~FileBytes();
  FileBytes(const FileBytes &) = delete;
  FileBytes &operator=(const FileBytes &) = delete;

  Failure open(const std::string &path);
  std::span<const uint8_t> bytes() const { return {static_cast<const uint8_t *>(memory_), size_}; }

private:
  Failure map(int file);

  void *memory_ = nullptr;
  size_t size_ = 0;
};

} // namespace ptl::rt

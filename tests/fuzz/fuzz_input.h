// What the fuzz targets share.
#pragma once

#include "frontend/base/source.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace ptl::fuzz {

inline SourceFile inputFile(const uint8_t *data, size_t size) {
  return SourceFile(0, "<fuzz>", std::string(reinterpret_cast<const char *>(data), size));
}

/// Stops the run, in release builds too.
inline void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

} // namespace ptl::fuzz

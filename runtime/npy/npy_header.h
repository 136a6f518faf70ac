#pragma once

#include "runtime/context.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptl::rt {

/// The contents of a `.npy` file's header.
struct NpyHeader {
  PtlElem elem = PTL_F32;
  bool bigEndian = false;
  bool fortranOrder = false;
  std::vector<int64_t> extents;
  size_t dataOffset = 0;
};

Failure parseNpyHeader(std::span<const uint8_t> bytes, NpyHeader &header);

/// The header in front of dense row-major data in this machine's byte order.
std::string makeNpyHeader(PtlElem elem, int64_t rank, const int64_t *extents);

/// Makes a Failure with PTL_ERROR_FILE.
Failure fileFailure(std::string message);

} // namespace ptl::rt

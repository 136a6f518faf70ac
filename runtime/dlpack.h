#pragma once

#include "runtime/context.h"

#include <cstdint>

namespace ptl::rt {

/// The layout of a tensor in DLPack (`DLTensor`).
struct DlTensor {
  void *data;
  int32_t deviceType;
  int32_t deviceId;
  int32_t ndim;
  uint8_t typeCode;
  uint8_t typeBits;
  uint16_t typeLanes;
  const int64_t *shape;
  const int64_t *strides; // nullptr: dense row-major
  uint64_t byteOffset;
};

/// A view of the same memory. Fails for devices other than the CPU, vector types, and element types
/// that PTL lacks.
Failure viewOfDlpack(const DlTensor &tensor, PtlView &view);

} // namespace ptl::rt

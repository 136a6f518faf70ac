#pragma once

#include "runtime/context.h"
#include "runtime/npy/owned_array.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptl::rt {

/// An array according to the header of a `.safetensors` file: dense, row-major, little-endian.
struct SafeTensor {
  std::string name;
  PtlElem elem = PTL_F32;
  std::vector<int64_t> extents;
  size_t begin = 0, end = 0; ///< its bytes in the file
};

/// Lists the arrays of a `.safetensors` file. Every inconsistency is a Failure: offsets outside the
/// file, sizes that contradict the shape, bytes that belong to two arrays.
Failure listSafetensors(std::span<const uint8_t> bytes, std::vector<SafeTensor> &tensors);
Failure findSafetensor(std::span<const uint8_t> bytes, const std::string &name, SafeTensor &tensor);

/// The header of a file whose arrays follow each other in this order; sets their positions.
std::string safetensorsHeader(std::vector<SafeTensor> &tensors);

/// The name of the file, beside the index, that contains the array `name`; `bytes` is the text of
/// `model.safetensors.index.json`.
Failure fileInIndex(std::span<const uint8_t> bytes, const std::string &name, std::string &file);

} // namespace ptl::rt

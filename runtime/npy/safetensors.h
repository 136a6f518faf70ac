#pragma once

#include "runtime/context.h"
#include "runtime/npy/owned_array.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptl::rt {

/// An array as the header of a `.safetensors` file describes it: dense, row-major, in little-endian
/// order.
struct SafeTensor {
  std::string name;
  PtlElem elem = PTL_F32;
  std::vector<int64_t> extents;
  size_t begin = 0, end = 0; ///< its bytes in the file
};

/// The arrays of a `.safetensors` file. Every contradiction is a Failure: offsets outside the file, sizes
/// that are not those of the shape, bytes that two arrays have.
Failure listSafetensors(std::span<const uint8_t> bytes, std::vector<SafeTensor> &tensors);
Failure findSafetensor(std::span<const uint8_t> bytes, const std::string &name, SafeTensor &tensor);

/// The header of a file whose arrays stand one behind the other, in this order; sets where they are.
std::string safetensorsHeader(std::vector<SafeTensor> &tensors);

/// The file, beside the index, that has the array `name`, from the text of `model.safetensors.index.json`.
Failure fileInIndex(std::span<const uint8_t> bytes, const std::string &name, std::string &file);

} // namespace ptl::rt

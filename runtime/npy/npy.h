#pragma once

#include "runtime/context.h"
#include "runtime/npy/owned_array.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ptl::rt {

/// Reads and writes `.npy` and `.npz` files (versions 1 to 3 of numpy's format; zip members stored
/// or deflated).
///
/// Any byte order and both axis orders are accepted, and give a dense row-major array in the byte
/// order of this machine. numpy has neither `bf16` nor `f8`: these are written as unsigned integers
/// of the same width, and read as such (also from the types `V2`, `V1` and `f1` of ml_dtypes);
/// `OwnedArray::reinterpretAs` restores their type.
///
/// No number in a file is trusted: memory is allocated only for data that are present, and every
/// inconsistency is a Failure (PTL_ERROR_FILE) that describes it.

Failure readNpy(std::span<const uint8_t> bytes, OwnedArray &array);
Failure writeNpy(const PtlArray &array, std::vector<uint8_t> &bytes);

} // namespace ptl::rt

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
/// Reading takes any byte order and both axis orders and gives a dense row-major array in the byte
/// order of this machine. numpy has no `bf16` and no `f8`: these are written as unsigned integers
/// of the same width, and read as such (also from the `V2`, `V1` and `f1` that ml_dtypes writes);
/// `OwnedArray::reinterpretAs` gives them their type back.
///
/// No number in a file is trusted: memory is taken only for data that is there, and every
/// contradiction is a Failure (PTL_ERROR_FILE) that says what is wrong.

Failure readNpy(std::span<const uint8_t> bytes, OwnedArray &array);
Failure writeNpy(const PtlArray &array, std::vector<uint8_t> &bytes);

/// The names of the arrays of a `.npz`, without their `.npy`.
Failure listNpz(std::span<const uint8_t> bytes, std::vector<std::string> &names);
Failure readNpz(std::span<const uint8_t> bytes, const std::string &name, OwnedArray &array);
Failure writeNpz(std::span<const std::pair<std::string, PtlArray>> arrays,
                 std::vector<uint8_t> &bytes);

/// The same on files. Messages start with the path. `loadArray` takes all that `ArrayFile` does: "x.npy",
/// "x.npz" with exactly one array, "x.npz:name", "x.safetensors:name".
Failure loadArray(const std::string &path, OwnedArray &array);
Failure saveNpy(const std::string &path, const PtlArray &array);
Failure saveNpz(const std::string &path, std::span<const std::pair<std::string, PtlArray>> arrays);

} // namespace ptl::rt

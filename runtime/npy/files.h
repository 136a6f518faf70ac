// Files of arrays, by their ending.
#pragma once

#include "runtime/npy/npy.h"

namespace ptl::rt {

/// Reads and writes files as npy.h does bytes. Messages start with the path. `loadArray` accepts everything that
/// `ArrayFile` does: "x.npy", "x.npz" with exactly one array, "x.npz:name", "x.safetensors:name".
Failure loadArray(const std::string &path, OwnedArray &array);
Failure saveNpy(const std::string &path, const PtlArray &array);
Failure saveNpz(const std::string &path, std::span<const std::pair<std::string, PtlArray>> arrays);

} // namespace ptl::rt

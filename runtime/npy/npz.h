// Archives of arrays: `.npz`.
#pragma once

#include "runtime/npy/npy.h"

namespace ptl::rt {

/// The names of the arrays in a `.npz`, without their `.npy`.
Failure listNpz(std::span<const uint8_t> bytes, std::vector<std::string> &names);
Failure readNpz(std::span<const uint8_t> bytes, const std::string &name, OwnedArray &array);
Failure writeNpz(std::span<const std::pair<std::string, PtlArray>> arrays,
                 std::vector<uint8_t> &bytes);

} // namespace ptl::rt

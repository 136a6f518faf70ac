// Converts results to text for people, and to arrays for files.
#pragma once

#include "runtime/npy/owned_array.h"

#include <string>

namespace ptl {

/// `y: f32[4, 8]` with the elements of a small array, or with the minimum, maximum and mean of a
/// large one.
std::string showArray(const std::string &name, const rt::OwnedArray &array);

/// Converts `bf16` and `f8` arrays to `f32`; returns all others unchanged.
rt::OwnedArray widened(rt::OwnedArray array);

} // namespace ptl

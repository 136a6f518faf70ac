// Converts results to texts for people and to arrays for files.
#pragma once

#include "runtime/npy/owned_array.h"

#include <string>

namespace ptl {

/// `y: f32[4, 8]` with the elements of a small array, or the smallest, largest and mean element of
/// a large one.
std::string showArray(const std::string &name, const rt::OwnedArray &array);

/// `bf16` and `f8` arrays widened to `f32`, all others as they are.
rt::OwnedArray widened(rt::OwnedArray array);

} // namespace ptl

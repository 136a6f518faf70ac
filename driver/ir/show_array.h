// Converts results to text for people, and to arrays for files.
#pragma once

#include "frontend/base/elem_type.h"
#include "runtime/npy/owned_array.h"

#include <string>

namespace ptl {

/// `y: f32[4, 8]` with the elements of a small array, or with the minimum, maximum and mean of a
/// large one.
std::string showArray(const std::string &name, const rt::OwnedArray &array);

/// The same of the elements that bytes hold two of (`compile/call/packed_arrays.h`).
std::string showPacked(const std::string &name, rt::OwnedArray bytes, ElemKind kind);

/// Converts `bf16` and `f8` arrays to `f32`; returns all others unchanged.
rt::OwnedArray widened(rt::OwnedArray array);

} // namespace ptl

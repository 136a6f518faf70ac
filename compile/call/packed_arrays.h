// Arrays of elements of four bits, as memory has them: two in a byte, the one at the even position of the last axis in the
// lower four bits.
#pragma once

#include "codegen/reference/value.h"
#include "runtime/manifest.h"
#include "runtime/npy/owned_array.h"

#include <functional>
#include <optional>

namespace ptl {

/// Bytes of the shape `extents` whose elements `at` gives by their positions in order; nothing if there is no memory.
std::optional<rt::OwnedArray> packedArray(ElemKind kind, const std::vector<int64_t> &extents,
                                          const std::function<Scalar(int64_t)> &at);

/// The elements of such bytes as a value of `kind`.
reference::Value unpackedValue(const rt::OwnedArray &bytes, ElemKind kind);
/// A value of such elements as bytes; nothing if its last axis has an odd length, or there is no memory.
std::optional<rt::OwnedArray> packedValue(const reference::Value &value);

/// The elements of such bytes for people and tools: `i8` or `f32`, which have all numbers. Other arrays stay as they are, and so do
/// bytes for whose elements there is no memory.
rt::OwnedArray unpackedArray(rt::OwnedArray array, std::optional<ElemKind> kind);

/// The elements that the bytes of a parameter hold.
std::optional<ElemKind> packedKind(const rt::Param &param);

} // namespace ptl

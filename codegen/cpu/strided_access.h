// Elements at a small constant stride, accessed by loads and stores of whole vectors.
#pragma once

#include "codegen/cpu/memory.h"

#include <optional>

namespace ptl::cpu {

/// The elements `pointer[lane * step]` of storage type `element`, for at least 2 lanes. The
/// elements between them are read as well, but nothing before the first or behind the last. Nothing
/// is returned where a gather is as fast: strides of 0 and 1, and of more than 4 in either
/// direction; and, with a mask, where the processor has no masked loads for the element type. With
/// `mask`, inactive lanes are zero and access no memory.
std::optional<mlir::Value> loadApart(const Emit &e, mlir::Value pointer, mlir::Type element,
                                     int64_t lanes, int64_t step, mlir::Value mask = {});

/// Stores the lanes of `value` that are on at `pointer[lane * step]`, and touches nothing in between. Returns
/// false, and emits nothing, where a scatter is as fast: for strides as in `loadApart`, and where
/// the processor has no masked stores for the element type.
bool storeApart(const Emit &e, mlir::Value pointer, mlir::Value value, int64_t step,
                mlir::Value mask = {});

} // namespace ptl::cpu

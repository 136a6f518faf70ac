// Elements at a small constant distance, by loads and stores of whole vectors.
#pragma once

#include "codegen/cpu/memory.h"

#include <optional>

namespace ptl::cpu {

/// The elements `pointer[lane * step]` of storage type `element`, whose number of lanes is at least 2. What lies between them is read
/// as well, nothing before the first or behind the last. Nothing where a gather is as good: steps of 0 and 1, and of more than 4
/// elements in either direction.
std::optional<mlir::Value> loadApart(const Emit &e, mlir::Value pointer, mlir::Type element,
                                     int64_t lanes, int64_t step);

/// Stores the lanes of `value` at `pointer[lane * step]`, and touches nothing between. False, and nothing is emitted, where a scatter is as
/// good: for such steps, and where the processor has no stores under masks for the element.
bool storeApart(const Emit &e, mlir::Value pointer, mlir::Value value, int64_t step);

} // namespace ptl::cpu

// Computes the memory that the intermediate arrays of a program take on this processor, before it
// runs.
#pragma once

#include "passes/analysis/program_storage.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace ptl::cpu {

/// Sets that attribute on the call that returns `address`, for an array of that type. Does nothing
/// if no call does, or if the attribute is already set.
void recordBytes(mlir::Value address, mlir::Type array);

/// The allocations of a program after `lowerToBlocks`, each with its lifetime from allocation to
/// release. Empty if the module has no program; nothing if the size of some array is unknown.
std::optional<ir::ProgramStorage> storageOf(mlir::ModuleOp blocks);

} // namespace ptl::cpu

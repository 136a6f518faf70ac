// Computes the memory that the intermediate arrays of a program take on this processor, before it
// runs.
#pragma once

#include "passes/analysis/program_storage.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace ptl::cpu {

/// Sets that attribute on the call that returns `address`, if a call does, for an array of that
/// type, unless it is set.
void recordBytes(mlir::Value address, mlir::Type array);

/// The allocations of a program after `lowerToBlocks`, each from its allocation to its release.
/// Empty where there is no program; nothing where the size of some array is not known.
std::optional<ir::ProgramStorage> storageOf(mlir::ModuleOp blocks);

} // namespace ptl::cpu

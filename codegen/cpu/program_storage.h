// How much memory the intermediate arrays of a program take on this processor, before it runs.
#pragma once

#include "passes/analysis/program_storage.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace ptl::cpu {

/// Has the call that gives `address`, if one does, say how many bytes an array of that type takes,
/// unless it does.
void tellBytes(mlir::Value address, mlir::Type array);

/// Of a program as `lowerToBlocks` made it: what it allocates from each allocation to its release.
/// No arrays where there is no program, nothing where the bytes of some array are not known.
std::optional<ir::ProgramStorage> storageOf(mlir::ModuleOp blocks);

} // namespace ptl::cpu

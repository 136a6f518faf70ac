// Translates a module of the block level to a kernel for the simulator. This is the only part of
// the simulator that uses MLIR.
#pragma once

#include "runtime/sim/program.h"

#include "mlir/IR/BuiltinOps.h"

namespace ptl::rt::sim {

/// The kernel of that name; with an empty name, the only one of the module. Its buffers must have
/// addresses. Nothing, with a sentence in `error`, if the simulator does not support it.
std::optional<Kernel> load(mlir::ModuleOp module, llvm::StringRef kernelName, std::string &error);

/// Names of the kernels of a module, in order.
std::vector<std::string> kernelNames(mlir::ModuleOp module);

} // namespace ptl::rt::sim

// The entry points of the CPU target: from tile-level `ptl` to native code.
#pragma once

#include "codegen/cpu/native.h"
#include "codegen/cpu/product_functions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace ptl::cpu {

/// An LLVM module together with the context that owns it.
struct LlvmModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// Lowers the result of `lowerToBlocks`, which is consumed, to LLVM IR before optimisation.
/// `onLowered` is called in between with the module in the LLVM dialect.
llvm::Expected<LlvmModule> blocksToLlvm(mlir::ModuleOp blocks,
                                        const std::function<void(mlir::ModuleOp)> &onLowered = {});

/// Lowers a tile-level module to optimised LLVM IR. `source` is not changed.
llvm::Expected<LlvmModule> compileToLlvm(mlir::ModuleOp source, const Processor &processor,
                                         int optimisation = 2);

/// Compiles a tile-level module to native code in this process. Calls of the runtime resolve to
/// `runtime` (see `rt::calledSymbols`), other calls to symbols of the process.
llvm::Expected<JitCode> compileInProcess(mlir::ModuleOp source, const Processor &processor,
                                         const JitCode::Symbols &runtime, int optimisation = 2);

} // namespace ptl::cpu

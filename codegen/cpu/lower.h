// The entry points of the CPU target: from tile-level `ptl` to native code.
#pragma once

#include "codegen/cpu/native.h"
#include "codegen/cpu/product_functions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace ptl::cpu {

/// Lowers every function of a tile-level `ptl` module to func, cf, arith, math, vector and llvm. A
/// function `f` becomes an entry of the runtime (`PtlEntryFn` of runtime/abi/kernel_abi.h) of the
/// same name. Null after reporting to MLIR's diagnostic handler. With `deferred`, functions of products are only declared, and given
/// there.
mlir::OwningOpRef<mlir::ModuleOp> lowerToBlocks(mlir::ModuleOp source, const Processor &processor,
                                                DeferredFunctions *deferred = nullptr);

/// LLVM IR together with the context it lives in.
struct LlvmModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// Lowers the result of `lowerToBlocks`, which is used up, to LLVM IR before optimisation.
/// `onLowered` gets it in between, in the LLVM dialect.
llvm::Expected<LlvmModule> blocksToLlvm(mlir::ModuleOp blocks,
                                        const std::function<void(mlir::ModuleOp)> &onLowered = {});

/// From tile level to optimised LLVM IR. `source` is left as it is.
llvm::Expected<LlvmModule> compileToLlvm(mlir::ModuleOp source, const Processor &processor,
                                         int optimisation = 2);

/// From tile level to native code in this process. Calls of the runtime resolve to `runtime` (see
/// `runtimeSymbols`), others to the process.
llvm::Expected<JitCode> compileInProcess(mlir::ModuleOp source, const Processor &processor,
                                         const JitCode::Symbols &runtime, int optimisation = 2);

} // namespace ptl::cpu

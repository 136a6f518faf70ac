// From a module of func/scf/arith/math/vector/llvm operations to LLVM IR.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace ptl::cpu {

/// Registers every dialect that the target reads or emits, and the translations to LLVM IR.
void registerCpuDialects(mlir::DialectRegistry &registry);

/// Rewrites `module` in place to the LLVM dialect. On failure MLIR's diagnostic handler has
/// received the details.
llvm::Error lowerToLlvmDialect(mlir::ModuleOp module);

/// Translates a module of the LLVM dialect.
llvm::Expected<std::unique_ptr<llvm::Module>> translateToLlvm(mlir::ModuleOp module,
                                                              llvm::LLVMContext &context);

} // namespace ptl::cpu

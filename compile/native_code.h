// From tile level to native code, stage by stage.
#pragma once

#include "codegen/cpu/function_objects.h"
#include "codegen/cpu/lower.h"
#include "compile/tile_module.h"

#include <functional>
#include <optional>
#include <string>

namespace ptl {

/// Code as loops and vectors; never null.
struct VectorModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Lowers tile level to loops and vectors, for the processor of the options; `deferred` is passed
/// to `lowerToBlocks`. Nothing after an error.
std::optional<VectorModule> vectorise(const CompileContext &context, const TileModule &tiles,
                                      cpu::DeferredFunctions *deferred = nullptr);

/// LLVM IR before optimisation. `onLowered` is called with the code in the LLVM dialect. Nothing
/// after an error.
std::optional<cpu::LlvmModule>
translateToLlvm(const CompileContext &context, VectorModule vectors,
                const std::function<void(mlir::ModuleOp)> &onLowered = {});

/// Lowers tensor level to LLVM IR, optimised with the options. Nothing after an error.
std::optional<cpu::LlvmModule> lowerToLlvm(const CompileContext &context, TensorModule tensor);

/// Lowers a checked entry to loops and vectors; `deferred` is passed to `lowerToBlocks`. Nothing
/// after an error.
std::optional<VectorModule> vectoriseEntry(const CompileContext &context,
                                           const ir::EntryBinding &binding,
                                           const std::string &symbol,
                                           cpu::DeferredFunctions *deferred = nullptr);

/// Compiles a checked entry to code in this process, possibly from `CompilerOptions::cache`. The
/// code must not outlive the context. Nothing after an error.
std::optional<cpu::JitCode> compileEntry(const CompileContext &context,
                                         const ir::EntryBinding &binding,
                                         const std::string &symbol);

/// LLVM IR before optimisation, serialised, so it may outlive the context.
struct Translated {
  std::string bytes;
  /// Functions that are not in `bytes` because compilations share their code; only with
  /// `CompilerOptions::functionObjects`.
  cpu::SeparateFunctions functions;
};

/// `compileEntry` in two stages, of which only the second depends on level and quality. Nothing
/// after an error.
std::optional<Translated> translateEntry(const CompileContext &context,
                                         const ir::EntryBinding &binding,
                                         const std::string &symbol);
std::optional<cpu::JitCode> compileTranslated(const CompileContext &context,
                                              const Translated &translated, int level,
                                              cpu::CodeQuality quality);

} // namespace ptl

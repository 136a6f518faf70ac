// IR as text without locations, which go into the map instead.
#pragma once

#include "lsp/worker/stage.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace ptl::worker {

/// Locations as numbers: LLVM carries a line and nothing else through its passes, so each distinct
/// origin gets a line of its own.
struct LineNumbers {
  std::vector<std::vector<Span>> origins; ///< of line `i + 1`

  const std::vector<Span> *find(unsigned line) const {
    return line == 0 || line > origins.size() ? nullptr : &origins[line - 1];
  }
};

StageText printModule(mlir::ModuleOp module);

/// Gives every operation of a module of the LLVM dialect its number as location, in functions that
/// have debug information.
LineNumbers numberLines(mlir::ModuleOp module);

/// LLVM IR whose lines are `numbers`. The module is left as it is.
StageText printLlvm(const llvm::Module &module, const LineNumbers &numbers);

/// Assembly as the code generator wrote it with line information, made readable: directives for
/// debuggers and the linker are left out.
StageText cleanAssembly(std::string_view assembly, const LineNumbers &numbers);

} // namespace ptl::worker

// Prints IR as text without locations; these go to the line map instead.
#pragma once

#include "lsp/worker/function_code.h"
#include "lsp/worker/function_key.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

namespace ptl::worker {

/// `ops`, if not null, receives the operation that begins on each line; null where none does.
StageText printModule(mlir::ModuleOp module, std::vector<mlir::Operation *> *ops = nullptr);

// LLVM's passes preserve only the line of a location, so the number of a location is stored as the
// line.

/// Replaces the locations of a function by their numbers in its key.
void numberPlaces(mlir::func::FuncOp function, const FunctionKey &key);
/// Gives the functions of a module of the LLVM dialect debug information, without which LLVM loses
/// the lines.
void addDebugScopes(mlir::ModuleOp module);

using FunctionCodes = std::map<std::string, FunctionCode>; ///< by name

/// Prints the functions of a module as LLVM IR. Removes the debug information from the module.
FunctionCodes printFunctions(llvm::Module &module);

/// The module-level symbols and attributes that a function refers to.
using Needs = std::map<std::string, std::set<std::string>>;
Needs needsOf(const llvm::Module &module);

} // namespace ptl::worker

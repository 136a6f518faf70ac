// Prints IR as text without locations, which are put into the map instead.
#pragma once

#include "lsp/worker/function_code.h"
#include "lsp/worker/function_key.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

namespace ptl::worker {

/// `ops`, if not null, receives the operation that begins on each line; null where none does.
StageText printModule(mlir::ModuleOp module, std::vector<mlir::Operation *> *ops = nullptr);

// LLVM's passes keep only the line of a location, so the number of a place becomes the line.

/// Replaces the locations of a function by the numbers of places in its key.
void numberPlaces(mlir::func::FuncOp function, const FunctionKey &key);
/// Gives the functions of a module of the LLVM dialect debug information, without which LLVM loses
/// the lines.
void addDebugScopes(mlir::ModuleOp module);

using FunctionCodes = std::map<std::string, FunctionCode>; ///< by name

/// The functions of a module as LLVM IR. Removes the debug information from the module.
FunctionCodes printFunctions(llvm::Module &module);

/// The symbols and attributes of its module that a function names.
using Needs = std::map<std::string, std::set<std::string>>;
Needs needsOf(const llvm::Module &module);

/// The functions in assembly as the code generator wrote it with line information, made readable:
/// directives for debuggers and the linker are left out.
FunctionCodes splitAssembly(std::string_view assembly, const Needs &needs);

} // namespace ptl::worker

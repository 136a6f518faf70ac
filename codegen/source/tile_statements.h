// Statements: bindings, checks, and the dispatch of operations to the functions that print them.
#pragma once

#include "codegen/source/body_code.h"

namespace ptl::source {

/// Prints the statements of a block, without its terminator.
void printBlock(BodyCode &code, mlir::Block &block);

/// `assert(holds, "…")`; `hasValues`: the message ends in values, which are omitted because the new
/// assertion reports them again.
std::string assertText(const std::string &holds, llvm::StringRef message, bool hasValues);

} // namespace ptl::source

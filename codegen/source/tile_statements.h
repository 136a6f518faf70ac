// Statements: bindings, checks, and the choice of what prints an operation.
#pragma once

#include "codegen/source/body_code.h"

namespace ptl::source {

/// Prints the statements of a block, without its terminator.
void printBlock(BodyCode &code, mlir::Block &block);

/// `assert(holds, "…")`; `hasValues`: the message ends in values, which are shown again anyway.
std::string assertText(const std::string &holds, llvm::StringRef message, bool hasValues);

} // namespace ptl::source

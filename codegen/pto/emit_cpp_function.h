// Prints functions as C++: statements and control flow.
#pragma once

#include "codegen/pto/cpp_code.h"

namespace ptl::pto {

/// The parameters of the function: `__gm__ float *x, int64_t n`.
std::string parametersOf(CppCode &code);

/// Prints the operations of a block.
void emitBlock(CppCode &code, mlir::Block &block);

/// Prints the statements of the function's body and moves them out of `code`.
TextLines emitBody(CppCode &code);

} // namespace ptl::pto

// Assembly by function.
#pragma once

#include "lsp/worker/print_ir.h"

namespace ptl::worker {

/// Splits assembly with line information into functions and makes it readable: directives for
/// debuggers and the linker are removed.
FunctionCodes splitAssembly(std::string_view assembly, const Needs &needs);

} // namespace ptl::worker

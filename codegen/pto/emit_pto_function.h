// Prints functions as `.pto`: signatures, blocks and control flow.
#pragma once

#include "codegen/pto/pto_code.h"

namespace ptl::pto {

/// The text of a function, which begins with the constants that its body uses.
TextLines emitFunction(mlir::func::FuncOp function, const Machine &machine, PtoasVersion version,
                       const TypeAliases &types, std::vector<Finding> &findings);

} // namespace ptl::pto

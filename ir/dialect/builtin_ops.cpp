// The operations made from the op records.
#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "ir/dialect/ops.cpp.inc"

namespace ptl::ir {

void PtlDialect::registerBuiltinOps() {
  addOperations<
#define GET_OP_LIST
#include "ir/dialect/ops.cpp.inc"
      >();
}

} // namespace ptl::ir

// The classes of the built-ins, generated from their records.
#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "ir/dialect/ops.cpp.inc"

void ptl::ir::PtlDialect::registerBuiltinOps() {
  addOperations<
#define GET_OP_LIST
#include "ir/dialect/ops.cpp.inc"
      >();
}

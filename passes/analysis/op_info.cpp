#include "passes/analysis/op_info.h"

#include "ir/dialect/op_facts.h"

namespace ptl::ir {

const OpRecord *recordOf(mlir::Operation *op) {
  std::optional<OpId> id = opIdOf(op);
  return id ? &opRecord(*id) : nullptr;
}

bool isElementwise(mlir::Operation *op) {
  const OpRecord *record = recordOf(op);
  if (!record)
    return false;
  switch (record->opClass) {
  case OpClass::Elementwise:
  case OpClass::Comparison:
  case OpClass::Select:
  case OpClass::Conversion:
    return true;
  default:
    return record->id == OpId::Philox;
  }
}

} // namespace ptl::ir

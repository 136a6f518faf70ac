#include "passes/analysis/op_info.h"

#include "llvm/ADT/StringMap.h"

namespace ptl::ir {

const OpRecord *recordOf(mlir::Operation *op) {
  static const llvm::StringMap<const OpRecord *> records = [] {
    llvm::StringMap<const OpRecord *> map;
    for (const OpRecord &record : allOps())
      map[("ptl." + std::string(record.mnemonic))] = &record;
    return map;
  }();
  return records.lookup(op->getName().getStringRef());
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

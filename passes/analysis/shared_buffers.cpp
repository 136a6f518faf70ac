#include "passes/analysis/shared_buffers.h"

#include "passes/analysis/value_liveness.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ptl::ir {

void SharedBuffers::bind(Value value, Value buffer) {
  Value &own = bufferOf_[value];
  if (own == buffer)
    return;
  // A value is in one buffer at a time.
  if (own)
    llvm::erase(values_[own], value);
  own = buffer;
  if (buffer)
    values_[buffer].push_back(value);
}

llvm::ArrayRef<Value> SharedBuffers::valuesIn(Value buffer) const {
  auto found = values_.find(buffer);
  return found == values_.end() ? llvm::ArrayRef<Value>() : found->second;
}

bool SharedBuffers::mayOverwrite(Value buffer, Operation *op,
                                 llvm::ArrayRef<unsigned> inPlace) const {
  for (Value value : valuesIn(buffer)) {
    // The result may take the place of the value itself.
    if (value.getDefiningOp() == op)
      continue;
    // An operand may be overwritten only if the instruction works in place on it.
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get() == value && !llvm::is_contained(inPlace, operand.getOperandNumber()))
        return false;
    // A reader later on, or in the regions of the operation, still needs the value.
    if (isReadAfter(value, op) || isReadInside(value, op))
      return false;
  }
  return true;
}

} // namespace ptl::ir

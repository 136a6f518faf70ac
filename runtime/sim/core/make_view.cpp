#include "runtime/sim/core/make_view.h"

#include "runtime/sim/core/fault.h"

namespace ptl::rt::sim {

void addPointer(Registers &registers, const Step &step) {
  View &result = registers.view(step.result);
  result = registers.view(step.operands[0]);
  result.offset += registers.position(step, 1, result) * elemBytes(result.elem);
}

void makeView(Registers &registers, const Step &step) {
  View result = step.view;
  const View &pointer = registers.view(step.operands[0]);
  result.array = pointer.array;
  result.offset = pointer.offset;
  result.isSomewhere = pointer.isSomewhere;
  auto rank = static_cast<size_t>(result.rank);
  for (size_t i = 0; i < rank; ++i) {
    result.shape[i] = registers.integer(step, 1 + i);
    result.strides[i] = registers.integer(step, 1 + rank + i);
  }
  registers.view(step.result) = result;
}

bool partitionView(CoreState &core, const Step &step) {
  Registers &registers = core.registers;
  View result = registers.view(step.operands[0]);
  auto rank = static_cast<size_t>(result.rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t offset = registers.position(step, 1 + i, result),
            size = registers.integer(step, 1 + rank + i);
    if (offset < 0 || size < 0 || offset + size > result.shape[i])
      return failAt(core, step,
                    "takes elements " + std::to_string(offset) + ".." +
                        std::to_string(offset + size) + " of axis " + std::to_string(i) +
                        ", which has " + std::to_string(result.shape[i]));
    // Offsets of views count bytes, strides and positions count elements.
    result.offset += offset * result.strides[i] * elemBytes(result.elem);
    result.shape[i] = size;
  }
  registers.view(step.result) = result;
  return true;
}

} // namespace ptl::rt::sim

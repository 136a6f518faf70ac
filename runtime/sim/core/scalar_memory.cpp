#include "runtime/sim/core/scalar_memory.h"

#include "runtime/sim/core/fault.h"
#include "runtime/sim/core/issue.h"
#include "runtime/sim/group.h"
#include "runtime/sim/scalar.h"

namespace ptl::rt::sim {

bool accessScalar(CoreState &core, const Step &step) {
  Registers &registers = core.registers;
  const View &pointer = registers.view(step.operands[0]);
  const GlobalArray &array = core.launch.pointers[static_cast<size_t>(pointer.array)];
  bool isLoad = step.kind == StepKind::LoadScalar;
  View cell = pointer;
  int64_t size = elemBytes(pointer.elem),
          at = pointer.offset + registers.position(step, 1, cell) * size;
  if (cell.isSomewhere) {
    if (isLoad)
      registers.scalar(step.result) = Scalar::unknown(pointer.array + 1);
    return true;
  }
  if (at < 0 || at + size > array.bytes)
    return failAt(core, step,
                  "is at byte " + std::to_string(at) + " of `" + array.name + "`, which has " +
                      std::to_string(array.bytes));
  // Where only times are wanted, a store has no effect.
  if (!core.launch.options.values && !isLoad)
    return true;
  if (!array.data) {
    registers.scalar(step.result) = Scalar::unknown(pointer.array + 1);
    return true;
  }
  if (isLoad)
    registers.scalar(step.result) = loadScalar(array.data + at, pointer.elem);
  else
    storeScalar(array.data + at, pointer.elem, registers.scalar(step.operands[2]));
  return true;
}

bool getValue(CoreState &core, const Step &step) {
  Scalar &result = core.registers.scalar(step.result);
  // Where only time is asked for, memory holds nothing; what depends on such a number is unknown,
  // too.
  if (!core.launch.options.values) {
    result = Scalar::unknown(0);
    return true;
  }
  Issued issued;
  fillIssued(core, issued, step);
  Execution x(issued, core.launch.chip, core.memory, core.group.memories(), core.launch.pointers);
  const Tile &source = core.registers.tile(step.operands[0]);
  Plane plane;
  if (!x.planeOf(source, plane))
    return failAt(core, step, x.fault());
  int64_t position = core.registers.integer(step, 1);
  if (position < 0 || position >= int64_t(source.rows) * source.cols)
    return failAt(core, step,
                  "has the position " + std::to_string(position) + " in " +
                      std::to_string(source.rows) + "x" + std::to_string(source.cols) +
                      " elements");
  result = loadScalar(plane.at(position / source.cols, position % source.cols), source.elem);
  return true;
}

} // namespace ptl::rt::sim

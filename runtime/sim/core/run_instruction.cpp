#include "runtime/sim/core/run_instruction.h"

#include "runtime/sim/core/fault.h"
#include "runtime/sim/core/queue_copy.h"
#include "runtime/sim/group.h"

namespace ptl::rt::sim {

bool delaysVector(const CoreState &core) {
  return core.launch.chip.vectorBarrier && core.launch.options.schedule != Schedule::Program;
}

/// Whether the writes of an instruction are held back until it ends. Atomic additions are not:
/// those of others come in between.
static bool isHeld(const CoreState &core, Pipe pipe, const Issued &issued) {
  if (issued.step->modifiers.atomicAdd || pipe == Pipe::S)
    return false;
  return (pipe == Pipe::V && delaysVector(core)) || core.launch.options.stretched;
}

/// Executes an instruction whose operands have been found. With `held` its outputs are watched
/// before it begins, so that their old contents can be restored until it ends.
static bool executeHeld(Execution &x, HeldWrites *held) {
  if (held)
    for (size_t i = 0; i < x.numOuts(); ++i)
      held->watch(x.out(i), !instructionInfo(x.id()).has(InstructionInfo::WritesPart));
  if (!x.execute())
    return false;
  if (held)
    held->take();
  return true;
}

/// Hands the tile that a `tprint` has executed on to whoever shows lines.
static void showPrinted(CoreState &core, const Issued &issued, const Plane &tile) {
  const auto &show = core.launch.options.print;
  if (!show || issued.step->target < 0)
    return;
  const PrintedPart &part = core.function.prints[static_cast<size_t>(issued.step->target)];
  Printed printed{core.group.block(), core.index, &part, tile.elem, tile.rows, tile.cols, {}};
  int64_t rowBytes = tile.cols * elemBytes(tile.elem);
  printed.bytes.resize(static_cast<size_t>(tile.rows * rowBytes));
  for (int64_t row = 0; row < tile.rows; ++row)
    loadBits(tile, row, 0, tile.cols, printed.bytes.data() + row * rowBytes);
  show(std::move(printed));
}

static bool execute(CoreState &core, const Issued &issued, HeldWrites *held) {
  // Without values only times are wanted, and nothing is executed.
  if (!core.launch.options.values)
    return true;
  Execution x(issued, core.launch.chip, core.memory, core.group.memories(), core.launch.pointers);
  StepKind kind = issued.step->kind;
  bool ok = x.prepare() && (kind == StepKind::Push  ? runPush(core, x, issued, held)
                            : kind == StepKind::Pop ? runPop(core, x, issued, held)
                                                    : executeHeld(x, held));
  if (ok && kind == StepKind::Instruction && x.id() == InstructionId::TPrint)
    showPrinted(core, issued, x.in(0));
  return ok || failAt(core, *issued.step, x.fault());
}

bool runInstruction(CoreState &core, Pipe pipe, Issued &issued) {
  bool isVector = pipe == Pipe::V;
  std::optional<HeldWrites> held;
  if (isHeld(core, pipe, issued))
    held.emplace();
  // Writes that only other pipes may see are taken back while a vector instruction reads.
  if (isVector)
    core.vectorWrites.hide();
  if (!execute(core, issued, held ? &*held : nullptr))
    return false;
  if (isVector)
    core.vectorWrites.reveal();
  ++core.launch.result.instructions;
  if (held)
    core.pipes[pipe].inFlight = std::move(held);
  return true;
}

} // namespace ptl::rt::sim

// The scalar unit: everything that is done as it comes by, up to the next operation that a pipe or
// an event decides.
#include "runtime/sim/group.h"
#include "runtime/sim/scalar.h"

#include <utility>

namespace ptl::rt::sim {

static bool isPlain(StepKind kind) {
  switch (kind) {
  case StepKind::Return:
  case StepKind::LoadScalar:
  case StepKind::StoreScalar:
  case StepKind::GetValue:
  case StepKind::Push:
  case StepKind::Pop:
  case StepKind::Free:
  case StepKind::SetFlag:
  case StepKind::WaitFlag:
  case StepKind::SignalCores:
  case StepKind::WaitCores:
  case StepKind::Barrier:
  case StepKind::Instruction:
    return false;
  default:
    return true;
  }
}

/// Constants, names of buffers and copies of registers are gone in machine code.
static bool takesTime(StepKind kind) {
  switch (kind) {
  case StepKind::Constant:
  case StepKind::Move:
  case StepKind::Jump:
  case StepKind::AllocTile:
  case StepKind::Alias:
  case StepKind::SetValid:
  case StepKind::DeclareTile:
  case StepKind::InitQueue:
    return false;
  default:
    return true;
  }
}

bool Core::runToIssue() {
  LaunchState &launch = group_.launch();
  // Steps that neither wait nor reach a pipe are done at once.
  while (isPlain(current().kind)) {
    const Step &step = current();
    ++position_;
    scalarWork_ += takesTime(step.kind);
    // The limit stops loops without an end in the kernel.
    if (launch.options.maxSteps && ++launch.steps > launch.options.maxSteps)
      return failAt(step, "took more than " + std::to_string(launch.options.maxSteps) + " steps");
    if (!runPlain(step) || !wasKnown(step))
      return false;
  }
  return true;
}

bool Core::wasKnown(const Step &step) {
  // A step that needed a value which only data knows has left a note of it.
  const Scalar *needed = std::exchange(needed_, nullptr);
  if (!needed)
    return true;
  std::string what = step.kind == StepKind::JumpUnlessLess ? "how often a loop goes round"
                     : step.kind == StepKind::JumpUnless   ? "whether a branch is taken"
                                                           : "`" + std::string(nameOf(step)) + "`";
  std::string data = "what is computed";
  if (needed->i > 0)
    data =
        "elements of `" + group_.launch().pointers[static_cast<size_t>(needed->i - 1)].name + "`";
  if (Result &result = group_.launch().result; result.ok)
    result.lacksValues = true;
  return failAt(step, what,
                "depends on " + data + ": there are no values where only times are wanted");
}

/// Whether a step is a check of data that is not there. Such checks are assumed to hold.
bool Core::isCheckOfUnknown(const Step &step) const {
  // A check is a branch over a trap, in either form.
  auto target = static_cast<size_t>(step.target);
  return !scalar(step.operands[0]).isKnown &&
         (current().kind == StepKind::Trap ||
          (target < function_.steps.size() && function_.steps[target].kind == StepKind::Trap));
}

bool Core::runPlain(const Step &step) {
  switch (step.kind) {
  case StepKind::Constant:
    scalar(step.result) = step.constant;
    return true;
  case StepKind::Compute:
    return runCompute(step);
  case StepKind::Move:
    if (step.result.kind == RegisterKind::Scalar)
      scalar(step.result) = scalar(step.operands[0]);
    else if (step.result.kind == RegisterKind::Tile)
      tile(step.result) = tile(step.operands[0]);
    else
      view(step.result) = view(step.operands[0]);
    return true;
  case StepKind::Jump:
    position_ = step.target;
    return true;
  case StepKind::Trap:
    return stop(step);
  case StepKind::JumpUnless:
    // Without values a check of data cannot be decided, so it is taken to hold.
    if (isCheckOfUnknown(step)) {
      if (current().kind == StepKind::Trap)
        position_ = step.target;
      return true;
    }
    if (!integer(step, 0))
      position_ = step.target;
    return true;
  case StepKind::JumpUnlessLess:
    // The sampler may move the loop's variable on, so it comes before the comparison.
    if (sampler_)
      sample(step);
    if (integer(step, 0) >= integer(step, 1))
      position_ = step.target;
    return true;
  case StepKind::AddPointer:
    view(step.result) = view(step.operands[0]);
    view(step.result).offset +=
        position(step, 1, view(step.result)) * elemBytes(view(step.result).elem);
    return true;
  case StepKind::MakeView:
    return makeView(step);
  case StepKind::PartitionView:
    return partitionView(step);
  case StepKind::BlockIndex:
    scalar(step.result) = Scalar::integer(group_.block());
    return true;
  case StepKind::BlockCount:
    scalar(step.result) = Scalar::integer(group_.launch().blocks);
    return true;
  case StepKind::SubBlockIndex:
    scalar(step.result) = Scalar::integer(subBlock_);
    return true;
  case StepKind::SubBlockCount:
    scalar(step.result) = Scalar::integer(std::max(group_.numVector(), 1));
    return true;
  case StepKind::InitQueue: {
    QueueEnd &end = ends_[static_cast<size_t>(step.queue)];
    end.localAddress = scalar(step.operands.back()).i;
    if (step.operands.size() > 1)
      end.global = view(step.operands[0]);
    return true;
  }
  case StepKind::SetValid:
    setValid(step, tile(step.operands[0]));
    return true;
  default:
    return makeTile(step);
  }
}

/// A check of the program has failed.
bool Core::stop(const Step &step) {
  LaunchState &launch = group_.launch();
  const Check &check = function_.checks[static_cast<size_t>(step.target)];
  if (launch.result.ok) {
    FailedCheck &failed = launch.result.failedCheck.emplace();
    failed.check = check;
    failed.at = function_.locations[static_cast<size_t>(step.location)];
    for (size_t i = 0; i < step.operands.size(); ++i)
      failed.values.emplace_back(step.operandTypes[i], scalar(step.operands[i]));
  }
  return failAt(step, check.message);
}

/// Before a round of a loop: rounds that others stand for are left out.
void Core::sample(const Step &step) {
  auto number = static_cast<size_t>(&step - function_.steps.data());
  Scalar &position = scalar(step.operands[0]);
  int64_t by = std::max<int64_t>(integer(step, 2), 1), end = integer(step, 1);
  // The rounds that are left are counted from the present position, rounded up.
  int64_t left = std::max<int64_t>((end - position.i + by - 1) / by, 0);
  LoopVisit at{number, position.i, by, left, sequence_, scalars_};
  SampleAction action = sampler_->visit(at);
  switch (action.kind) {
  case SampleAction::Kind::None:
    return;
  case SampleAction::Kind::Leave:
    // The loop ends here, so the position is set to its end and the sampler hears of that.
    position.i = end;
    at.left = 0;
    sampler_->visit(at);
    return;
  case SampleAction::Kind::Stand:
    position.i += action.skip * by;
    goOn(step, action);
    break;
  case SampleAction::Kind::End:
    carried_.erase(number);
    return mark(step, action);
  case SampleAction::Kind::Round:
    break;
  }
  // Carried values are kept for each round, since their growth over a window is continued later.
  std::vector<int64_t> values;
  for (size_t i = 3; i < step.operands.size(); ++i)
    values.push_back(step.operands[i].isScalar() ? scalar(step.operands[i]).i : 0);
  if (!values.empty())
    carried_[number].push_back(std::move(values));
  mark(step, action);
}

/// Continues carried values over the rounds that are left out: a counter goes on, and a value that
/// repeats stays as it is.
void Core::goOn(const Step &step, const SampleAction &action) {
  const auto &rounds = carried_[static_cast<size_t>(&step - function_.steps.data())];
  // Without a whole window there is nothing to continue from.
  if (rounds.size() < static_cast<size_t>(action.window))
    return;
  const std::vector<int64_t> &before = rounds[rounds.size() - static_cast<size_t>(action.window)];
  for (size_t i = 3; i < step.operands.size(); ++i)
    if (step.operands[i].isScalar())
      scalar(step.operands[i]).i +=
          (scalar(step.operands[i]).i - before[i - 3]) * action.skip / action.window;
}

/// Tells the pipes that have something to do in a loop that another round begins, or that it has
/// ended.
void Core::mark(const Step &step, const SampleAction &action) {
  const LoopShape &shape = sampler_->shapeOf(step, function_);
  for (size_t i = 0; i < kNumPipes; ++i) {
    // Pipes without work in the loop need no marks.
    if (!(shape.pipes >> i & 1))
      continue;
    PipeState &pipe = pipes_[i];
    ++pipe.issued;
    ++pipe.marks;
    Issued &issued = pipe.queue.append();
    issued.function = &function_;
    issued.step = &step;
    issued.mark = action;
    issued.sequence = sequence_++;
    issued.time = clock_;
    issued.note = note_;
  }
  marks_.push_back(action);
}

bool Core::runCompute(const Step &step) {
  Scalar values[3];
  for (size_t i = 0; i < step.operands.size(); ++i) {
    values[i] = scalar(step.operands[i]);
    // What is computed from an unknown value is unknown, too.
    if (!values[i].isKnown) {
      scalar(step.result) = values[i];
      return true;
    }
  }
  std::string error;
  return evaluate(step, values, scalar(step.result), error) || failAt(step, error);
}

bool Core::makeView(const Step &step) {
  View result = step.view;
  const View &pointer = view(step.operands[0]);
  result.array = pointer.array;
  result.offset = pointer.offset;
  result.isSomewhere = pointer.isSomewhere;
  auto rank = static_cast<size_t>(result.rank);
  for (size_t i = 0; i < rank; ++i) {
    result.shape[i] = integer(step, 1 + i);
    result.strides[i] = integer(step, 1 + rank + i);
  }
  view(step.result) = result;
  return true;
}

bool Core::partitionView(const Step &step) {
  View result = view(step.operands[0]);
  auto rank = static_cast<size_t>(result.rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t offset = position(step, 1 + i, result), size = integer(step, 1 + rank + i);
    if (offset < 0 || size < 0 || offset + size > result.shape[i])
      return failAt(step, "takes elements " + std::to_string(offset) + ".." +
                              // A part must lie inside of its view.
                              std::to_string(offset + size) + " of axis " + std::to_string(i) +
                              ", which has " + std::to_string(result.shape[i]));
    result.offset += offset * result.strides[i] * elemBytes(result.elem);
    result.shape[i] = size;
  }
  view(step.result) = result;
  return true;
}

/// Operands that say what is valid are the last ones.
void Core::setValid(const Step &step, Tile &tile) {
  size_t next = step.operands.size() - step.validRowGiven - step.validColGiven;
  if (step.validRowGiven)
    tile.validRows = static_cast<int32_t>(integer(step, next++));
  if (step.validColGiven)
    tile.validCols = static_cast<int32_t>(integer(step, next));
}

bool Core::makeTile(const Step &step) {
  Tile made = step.tile;
  switch (step.kind) {
  case StepKind::AllocTile:
    made.address = integer(step, 0);
    break;
  case StepKind::GetSlot: {
    int64_t slot = integer(step, 1) % step.slotCount;
    if (slot < 0)
      // A negative remainder would take a slot before the ring.
      return failAt(step, "takes the slot " + std::to_string(slot));
    int64_t alignment =
        std::max<int64_t>(group_.launch().chip.alignment[static_cast<size_t>(made.place)], 1);
    // Slots lie at multiples of the memory's alignment.
    int64_t distance = (made.bufferBytes() + alignment - 1) / alignment * alignment;
    made.address = tile(step.operands[0]).address + slot * distance;
    break;
  }
  case StepKind::Window:
    if (!window(step, made))
      return false;
    break;
  case StepKind::Alias:
    if (!alias(step, made))
      return false;
    break;
  default: // declared tiles have no address yet
    made.address = -1;
    break;
  }
  setValid(step, made);
  if (made.validRows < 0 || made.validRows > made.rows || made.validCols < 0 ||
      made.validCols > made.cols)
    return failAt(step, "has " + std::to_string(made.validRows) + "x" +
                            std::to_string(made.validCols) + " valid elements in " +
                            std::to_string(made.rows) + "x" + std::to_string(made.cols));
  tile(step.result) = made;
  return true;
}

bool Core::window(const Step &step, Tile &made) {
  const Tile &source = tile(step.operands[0]);
  int64_t row = integer(step, 1), col = integer(step, 2);
  if (row < 0 || col < 0 || row + made.rows > source.rows || col + made.cols > source.cols)
    return failAt(step, "is a window of " + std::to_string(made.rows) + "x" +
                            std::to_string(made.cols) + " at (" + std::to_string(row) + ", " +
                            std::to_string(col) + ") of " + std::to_string(source.rows) + "x" +
                            std::to_string(source.cols));
  made.address = source.address;
  made.core = source.core;
  made.bufferRows = source.bufferRows;
  made.bufferCols = source.bufferCols;
  made.row0 = source.row0 + static_cast<int32_t>(row);
  made.col0 = source.col0 + static_cast<int32_t>(col);
  return true;
}

/// Makes an alias of a tile with another form. A window that is not the whole buffer can only have
/// one if its rows are adjacent.
bool Core::alias(const Step &step, Tile &made) {
  const Tile &source = tile(step.operands[0]);
  bool rowsInARow = source.layout.inner == ElementOrder::None &&
                    source.layout.box == ElementOrder::RowMajor && source.cols == source.bufferCols;
  bool whole = source.rows == source.bufferRows && source.cols == source.bufferCols;
  bool sameForm = made.rows == source.rows && made.cols == source.cols &&
                  made.layout == source.layout && elemBytes(made.elem) == elemBytes(source.elem);
  made.core = source.core;
  made.address = source.address;
  if (sameForm) {
    made.bufferRows = source.bufferRows;
    made.bufferCols = source.bufferCols;
    made.row0 = source.row0;
    made.col0 = source.col0;
    return true;
  }
  if (!whole && !rowsInARow)
    return failAt(step, "takes a window of a tile for another shape");
  // An alias of whole rows begins at the window's first element.
  made.address += whole ? 0 : elementOffset(source, 0, 0);
  return true;
}

bool Core::accessScalar(const Step &step) {
  const View &pointer = view(step.operands[0]);
  const GlobalArray &array = group_.launch().pointers[static_cast<size_t>(pointer.array)];
  View cell = pointer;
  int64_t size = elemBytes(pointer.elem), at = pointer.offset + position(step, 1, cell) * size;
  // The place depends on data, so nothing is known of the value, and nothing is written.
  if (cell.isSomewhere) {
    if (step.kind == StepKind::LoadScalar)
      scalar(step.result) = Scalar::unknown(pointer.array + 1);
    return true;
  }
  if (at < 0 || at + size > array.bytes)
    return failAt(step, "is at byte " + std::to_string(at) + " of `" + array.name +
                            "`, which has " + std::to_string(array.bytes));
  // Where only times are wanted, a store has no effect.
  if (!group_.launch().options.values && step.kind == StepKind::StoreScalar)
    return true;
  if (!array.data) {
    scalar(step.result) = Scalar::unknown(pointer.array + 1);
    return wasKnown(step);
  }
  if (step.kind == StepKind::LoadScalar)
    scalar(step.result) = loadScalar(array.data + at, pointer.elem);
  else
    storeScalar(array.data + at, pointer.elem, scalar(step.operands[2]));
  return true;
}

bool Core::getValue(const Step &step) {
  if (!group_.launch().options.values) {
    scalar(step.result) = Scalar::unknown(0);
    return true;
  }
  Issued issued = makeIssued(step);
  Execution x(issued, group_.launch().chip, memory_, group_.memories(), group_.launch().pointers);
  const Tile &source = tile(step.operands[0]);
  Plane plane;
  if (!x.planeOf(source, plane))
    return failAt(step, x.fault());
  int64_t position = integer(step, 1);
  if (position < 0 || position >= int64_t(source.rows) * source.cols)
    return failAt(step, "has the position " + std::to_string(position) + " in " +
                            std::to_string(source.rows) + "x" + std::to_string(source.cols) +
                            " elements");
  scalar(step.result) =
      loadScalar(plane.at(position / source.cols, position % source.cols), source.elem);
  return true;
}

} // namespace ptl::rt::sim

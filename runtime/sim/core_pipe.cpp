// Issue and execution: what each pipe of a core does next, and when it may.
#include "runtime/sim/group.h"
#include "runtime/sim/scalar.h"

namespace ptl::rt::sim {

/// Operations that a pipe may have waiting before the scalar unit has to wait too.
static constexpr size_t kQueueDepth = 64;

static size_t at(Pipe pipe) { return static_cast<size_t>(pipe); }

Core::Core(Group &group, const Function &function, int32_t index, int32_t subBlock)
    : group_(group), function_(function), index_(index), subBlock_(subBlock),
      scalars_(static_cast<size_t>(function.numScalars)),
      tiles_(static_cast<size_t>(function.numTiles)),
      views_(static_cast<size_t>(function.numViews)), ends_(group.launch().kernel.queues.size()) {
  const Chip &chip = group.launch().chip;
  for (size_t i = 0; i < kNumPlaces; ++i) {
    // Vector cores have the vector buffer, and the cube core has all other memories.
    bool mine = (static_cast<Place>(i) == Place::Vec) != function.cube;
    mine &= group.launch().options.values;
    memory_.places[i].allocate(mine ? chip.bytes[i] : 0);
  }
  if (const LoopShapes *shapes = group.launch().shapesOf(function))
    sampler_.emplace(*shapes, group.loops(), function.cube,
                     group.launch().options.glance   ? SampleMode::Glance
                     : group.launch().options.sample ? SampleMode::LeaveOut
                                                     : SampleMode::Look);
  if (sampler_ && group.launch().options.keepInnerQueues)
    sampler_->keepInnerQueues();
  // Arguments come in the order of the parameters; pointers and scalars are given in separate
  // lists.
  size_t nextPointer = 0, nextScalar = 0;
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    const Parameter &parameter = group.launch().kernel.parameters[i];
    if (!parameter.isPointer) {
      scalar(function.arguments[i]) = group.launch().scalars[nextScalar++];
      continue;
    }
    View &pointer = view(function.arguments[i]);
    pointer.array = static_cast<int32_t>(nextPointer++);
    pointer.elem = parameter.type.kind;
  }
}

std::string Core::name() const {
  return function_.cube ? "the cube core" : "vector core " + std::to_string(subBlock_);
}

bool Core::failAt(const Step &step, const std::string &message) {
  return failAt(step, "`" + std::string(nameOf(step)) + "`", message);
}
bool Core::failAt(const Step &step, const std::string &what, const std::string &message) {
  std::string place = toString(function_.locations[static_cast<size_t>(step.location)]);
  return group_.fail((place.empty() ? "" : place + ": ") + "block " +
                     std::to_string(group_.block()) + ", " + name() + ": " + what + " " + message);
}
bool Core::fail(const Issued &issued, const std::string &message) {
  return failAt(*issued.step, message);
}

// ---- who can go on ------------------------------------------------------------------------------

bool Core::drained() const {
  for (const PipeState &pipe : pipes_)
    if (!pipe.queue.empty() || pipe.inFlight)
      return false;
  return true;
}

bool Core::isFinished() const { return current().kind == StepKind::Return && drained(); }

static bool isEvent(StepKind kind) {
  return kind == StepKind::SetFlag || kind == StepKind::WaitFlag || kind == StepKind::SignalCores ||
         kind == StepKind::WaitCores;
}

Flag Core::flagOf(const Step &step) const {
  Flag flag = step.flag;
  // An id that is not a constant is computed; the clamp keeps a wild one representable until it is
  // reported.
  if (flag.id < 0)
    flag.id = static_cast<int32_t>(std::clamp<int64_t>(integer(step, 0), -1, 1 << 20));
  return flag;
}

/// A glance leaves rounds out on each core for itself, so events need not match, and without values nobody needs
/// them. Queues tell how cores keep pace with each other: where they do not match there is no glance.
bool Core::isGlance() const { return group_.launch().options.glance; }

Core::State Core::scalarState() const {
  const Step &step = current();
  switch (isGlance() && isEvent(step.kind) ? StepKind::Instruction : step.kind) {
  case StepKind::Return:
    return State::Idle;
  case StepKind::Barrier:
    if (step.flag.source == Pipe::All)
      return drained() ? State::Ready : State::Waiting;
    break;
  case StepKind::WaitFlag:
    if (step.flag.target == Pipe::S) {
      Flag flag = flagOf(step);
      bool known = flag.id >= 0 && flag.id < 16;
      // An unknown event counts as ready, so that issuing the wait reports it.
      return !known || isSet(flag) ? State::Ready : State::Waiting;
    }
    break;
  case StepKind::WaitCores:
    if (step.pipe == Pipe::S || group_.launch().chip.crossWaitsStopCore) {
      int32_t event = flagOf(step).id;
      bool known = event >= 0 && event < int32_t(kMaxCrossFlags);
      if (known && !crossReady(event, crossIssued_[event]))
        return State::Waiting;
    }
    break;
  default:
    break;
  }
  bool queued = step.pipe != Pipe::S && step.pipe != Pipe::All;
  if (!queued)
    return State::Ready;
  const PipeState &pipe = pipes_[at(step.pipe)];
  // A machine may also stop the whole core while it waits for another one.
  // Marks are the sampler's own and take no room on the chip.
  return pipe.queue.size() - pipe.marks >= kQueueDepth ? State::Waiting : State::Ready;
}

bool Core::headReady(const Issued &head) const {
  if (isGlance() && isEvent(head.step->kind))
    return true;
  switch (head.step->kind) {
  case StepKind::WaitFlag:
    return isSet(head.flag);
  case StepKind::WaitCores:
    return crossReady(head.flag.id, awaited_[head.flag.id]);
  case StepKind::Push:
    return pushReady(head);
  case StepKind::Pop:
    return popReady(head);
  default:
    return true;
  }
}

Core::State Core::state(Pipe pipe) const {
  if (pipe == Pipe::S)
    return scalarState();
  const PipeState &state = pipes_[at(pipe)];
  // An instruction that has begun can always end.
  if (state.inFlight)
    return State::Ready;
  if (state.queue.empty())
    return State::Idle;
  return headReady(state.queue.front()) ? State::Ready : State::Waiting;
}

// ---- issue --------------------------------------------------------------------------------------

/// `issued` may hold another operation.
void Core::fill(Issued &issued, const Step &step) {
  issued.function = &function_;
  issued.step = &step;
  issued.sequence = sequence_++;
  issued.time = clock_;
  issued.note = note_;
  issued.flag = {};
  issued.ordinal = sampler_ ? sampler_->outerRound() : 0;
  issued.times = isGlance() ? sampler_->times() : 1;
  if (isEvent(step.kind)) {
    issued.flag = flagOf(step);
    return;
  }
  for (size_t i = 0; i < step.operands.size() && i < kMaxOperands; ++i) {
    Register r = step.operands[i];
    if (r.kind == RegisterKind::Scalar)
      issued.operands[i] = scalar(r);
    else if (r.kind == RegisterKind::Tile)
      issued.operands[i] = tile(r);
    else
      issued.operands[i] = view(r);
  }
  // A tile that goes from the accumulator to a vector core arrives in that core's memory.
  if (step.modifiers.accToVec)
    for (size_t i = step.numIns(); i < step.operands.size(); ++i)
      if (Tile *tile = std::get_if<Tile>(&issued.operands[i]))
        tile->core = group_.firstVector() + (*step.modifiers.accToVec == AccToVec::Vec1);
}

bool Core::checkFlag(const Issued &issued) {
  const Flag &flag = issued.flag;
  if (issued.step->kind == StepKind::SignalCores || issued.step->kind == StepKind::WaitCores) {
    int32_t flags = std::min(group_.launch().chip.crossFlags, int32_t(kMaxCrossFlags));
    if (flag.id >= 0 && flag.id < flags) {
      crossIssued_[flag.id] += issued.step->kind == StepKind::WaitCores;
      return true;
    }
    return fail(issued, "names the event " + std::to_string(flag.id) +
                            " between cores; there are " + std::to_string(flags));
  }
  bool pipes = at(flag.source) < kNumPipes && at(flag.target) < kNumPipes;
  if (pipes && flag.id >= 0 && flag.id < std::min(group_.launch().chip.events, 16))
    return true;
  return fail(issued, "names the event " + std::to_string(flag.id) + "; there are " +
                          std::to_string(group_.launch().chip.events) + " for each pair of pipes");
}

bool Core::issueQueue(const Step &step, Issued &issued) {
  QueueEnd &end = ends_[static_cast<size_t>(step.queue)];
  const Queue &queue = queueOf(step);
  if (step.kind == StepKind::Push) {
    issued.ordinal = end.pushes++;
  } else if (step.kind == StepKind::Pop) {
    issued.ordinal = end.pops++;
    // Through global memory the slot is a local one, which the pop loads into.
    int64_t slots = queue.throughGlobal ? queue.localSlots : queue.slots;
    Tile &bound = tile(step.operands[0]);
    // Behind a ring in global memory slots lie as far apart as those of the ring.
    bound.address =
        end.localAddress +
        issued.ordinal % slots * (queue.throughGlobal ? queue.slotBytes : slotDistance(queue));
    issued.operands[0] = bound;
  } else {
    issued.ordinal = end.frees++;
    if (issued.ordinal >= end.pops)
      return fail(issued, "gives back a slot that was not popped");
    if (!queue.throughGlobal) {
      // The slot is free when every operation that was issued before has ended, since any of them
      // may read the tile.
      // The counts of issued operations say what has to be done before the slot is free.
      for (size_t i = 0; i < kNumPipes; ++i)
        issued.after[i] = pipes_[i].issued;
      frees_.push_back(issued);
      settleFrees();
      return true;
    }
  }
  return true;
}

bool Core::issue(const Step &step) {
  bool isFlag = isEvent(step.kind);
  bool isFree = step.kind == StepKind::Free && !queueOf(step).throughGlobal;
  // A free of a local slot waits in a list of its own, since it concerns all pipes.
  if (step.pipe == Pipe::S || isFree) {
    Issued issued = makeIssued(step);
    if (isFree)
      return issueQueue(step, issued);
    return (!isFlag || checkFlag(issued)) && run(Pipe::S, issued);
  }
  PipeState &pipe = pipes_[at(step.pipe)];
  Issued &issued = pipe.queue.append();
  ++pipe.issued;
  fill(issued, step);
  if (step.queue >= 0)
    return issueQueue(step, issued);
  return !isFlag || checkFlag(issued);
}

bool Core::advanceScalar() {
  const Step &step = current();
  ++position_;
  bool ok = true;
  switch (step.kind) {
  case StepKind::LoadScalar:
  case StepKind::StoreScalar:
    ok = accessScalar(step);
    break;
  case StepKind::GetValue:
    ok = getValue(step);
    break;
  case StepKind::Barrier:
    if (step.flag.source == Pipe::All)
      // All pipes are empty here, so what the vector pipe has written can settle at once.
      settle();
    else if (step.flag.source != Pipe::S)
      ok = issue(step);
    break;
  default:
    ok = issue(step);
    break;
  }
  return ok && runToIssue();
}

// ---- execution ----------------------------------------------------------------------------------

/// In the orders that look for faults, the writes of a vector instruction stay unseen by the vector
/// pipe until a barrier, on chips that need one.
bool Core::holds(Pipe pipe, const Issued &issued) const {
  if (issued.step->modifiers.atomicAdd || pipe == Pipe::S)
    return false;
  return (pipe == Pipe::V && delaysVector()) || group_.launch().options.stretched;
}

bool Core::delaysVector() const {
  const LaunchState &launch = group_.launch();
  return launch.chip.vectorBarrier && launch.options.schedule != Schedule::Program;
}

bool Core::runInstruction(Issued &issued, HeldWrites *held) {
  LaunchState &launch = group_.launch();
  // Without values only times are wanted, and nothing is executed.
  if (!launch.options.values)
    return true;
  Execution x(issued, launch.chip, memory_, group_.memories(), launch.pointers);
  if (issued.step->kind == StepKind::Push || issued.step->kind == StepKind::Pop) {
    bool ok = x.prepare() && (issued.step->kind == StepKind::Push ? runPush(x, issued, held)
                                                                  : runPop(x, issued, held));
    return ok || fail(issued, x.fault());
  }
  if (!x.prepare())
    return fail(issued, x.fault());
  // Outputs are watched before the execution, so that their old contents can be restored until the
  // instruction ends.
  if (held)
    for (size_t i = 0; i < x.numOuts(); ++i)
      held->watch(x.out(i), !instructionInfo(x.id()).has(InstructionInfo::WritesPart));
  if (!x.execute())
    return fail(issued, x.fault());
  if (held)
    held->take();
  return true;
}

bool Core::setFlag(Pipe pipe, const Issued &issued) {
  const Flag &event = issued.flag;
  // What the vector pipe has written becomes visible to whoever waits for the event.
  if (pipe == Pipe::V)
    publish();
  if (isSet(event) && !group_.launch().options.countEvents)
    return fail(issued, "sets an event that is set already");
  ++flag(event);
  // The event carries how far the setter knows the vector pipe's writes to be settled.
  knownAtFlag_[at(event.source)][at(event.target)][event.id] =
      pipe == Pipe::V ? vectorWrites_ : known_[at(pipe)];
  return true;
}

void Core::takeFlag(Pipe pipe, const Issued &issued) {
  const Flag &event = issued.flag;
  --flag(event);
  uint64_t &known = known_[at(pipe)];
  // Knowledge spreads along chains of events, so the waiter knows at least what the setter did.
  known = std::max(known, knownAtFlag_[at(event.source)][at(event.target)][event.id]);
  if (pipe == Pipe::V)
    settleUpTo(known);
}

/// Whether all cores of the other kind have signalled an event more often than `number` times.
bool Core::crossReady(int32_t event, int64_t number) const {
  bool any = false;
  for (const std::unique_ptr<Core> &core : group_.cores())
    if (core->isCube() != isCube()) {
      any = true;
      if (group_.signalled(core->index(), event) <= number)
        return false;
    }
  return any;
}

bool Core::signalCores(Pipe pipe, const Issued &issued) {
  int32_t event = issued.flag.id;
  // The signal makes the results visible to other cores, as an event does to other pipes.
  if (pipe == Pipe::V)
    publish();
  ++sent_[event];
  for (const std::unique_ptr<Core> &core : group_.cores())
    if (core->isCube() != isCube() &&
        sent_[event] - core->awaited(event) > group_.launch().chip.crossCountMax)
      return fail(issued, "signals the event " + std::to_string(event) + " between cores " +
                              std::to_string(sent_[event] - core->awaited(event)) +
                              " times before " + core->name() + " waits for it; it counts up to " +
                              std::to_string(group_.launch().chip.crossCountMax));
  group_.signal(QueueSignal::Signalled, event, index_);
  return true;
}

/// Takes a signal from another core. That core has seen the results of this core's vector pipe, so
/// the pipe itself sees them, too.
void Core::takeSignal(Pipe pipe, const Issued &issued) {
  ++awaited_[issued.flag.id];
  if (pipe == Pipe::V)
    settleUpTo(vectorWrites_);
}

/// Runs what a pipe has at its head. Instructions whose writes are held stay in flight.
bool Core::run(Pipe pipe, Issued &issued) {
  if (isGlance() && isEvent(issued.step->kind))
    return true;
  switch (issued.step->kind) {
  case StepKind::SetFlag:
    if (!setFlag(pipe, issued))
      return false;
    break;
  case StepKind::WaitFlag:
    takeFlag(pipe, issued);
    break;
  case StepKind::SignalCores:
    if (!signalCores(pipe, issued))
      return false;
    break;
  case StepKind::WaitCores:
    takeSignal(pipe, issued);
    break;
  case StepKind::Barrier:
    if (pipe == Pipe::V)
      settle();
    break;
  case StepKind::Free:
    group_.signal(QueueSignal::Freed, issued.step->queue, index_);
    break;
  case StepKind::JumpUnlessLess: // a mark, for drivers that keep time
    break;
  default: {
    bool hold = holds(pipe, issued);
    HeldWrites held;
    // Writes that only other pipes may see are taken back while a vector instruction reads.
    if (pipe == Pipe::V)
      for (auto writes = unsettled_.rbegin(); writes != unsettled_.rend(); ++writes)
        if (writes->published)
          writes->writes.hide();
    if (!runInstruction(issued, hold ? &held : nullptr))
      return false;
    if (pipe == Pipe::V)
      for (VectorWrites &writes : unsettled_)
        if (writes.published)
          writes.writes.reveal();
    ++group_.launch().result.instructions;
    if (hold)
      pipes_[at(pipe)].inFlight = std::move(held);
    break;
  }
  }
  return true;
}

bool Core::complete(Pipe pipe) {
  PipeState &state = pipes_[at(pipe)];
  const Issued &done = state.queue.front();
  StepKind kind = done.step->kind;
  int32_t queue = done.step->queue;
  report(pipe, done);
  state.marks -= kind == StepKind::JumpUnlessLess;
  state.queue.pop();
  ++state.done;
  if (state.inFlight) {
    // The vector pipe itself does not see the writes before a barrier, so they are kept apart.
    if (pipe == Pipe::V && delaysVector())
      unsettled_.push_back({std::move(*state.inFlight), ++vectorWrites_, false});
    else
      state.inFlight->commit();
    state.inFlight.reset();
  }
  if (kind == StepKind::Push)
    group_.signal(QueueSignal::Pushed, queue, index_);
  else if (kind == StepKind::Pop)
    group_.signal(QueueSignal::Popped, queue, index_);
  // The operation may have been the last one that a free waited for.
  settleFrees();
  return true;
}

/// Random schedules let any of the vector instructions up to the next event or barrier go first, on
/// chips where nothing else orders them.
void Core::reorderVector() {
  LaunchState &launch = group_.launch();
  if (!delaysVector() || launch.options.schedule != Schedule::Random || launch.random() % 2)
    return;
  IssueQueue &queue = pipes_[at(Pipe::V)].queue;
  size_t free = 0;
  // Only instructions up to the next event or barrier may overtake each other.
  while (free < queue.size() && queue[free].step->kind == StepKind::Instruction)
    ++free;
  if (free < 2)
    return;
  for (size_t chosen = launch.random() % free; chosen > 0; --chosen)
    std::swap(queue[chosen], queue[chosen - 1]);
}

bool Core::advance(Pipe pipe) {
  if (pipe == Pipe::S)
    return advanceScalar();
  PipeState &state = pipes_[at(pipe)];
  if (state.inFlight)
    return complete(pipe);
  if (pipe == Pipe::V)
    reorderVector();
  if (!run(pipe, state.queue.front()))
    return false;
  bool stays = state.inFlight && group_.launch().options.stretched;
  return stays || complete(pipe);
}

/// Lets other pipes see what the vector pipe has written. Instructions without a barrier between
/// them may end in any order.
void Core::publish() {
  LaunchState &launch = group_.launch();
  std::vector<VectorWrites *> fresh;
  for (VectorWrites &writes : unsettled_)
    if (!writes.published)
      // Only fresh writes are committed; the order among them is free, so a random schedule mixes
      // it.
      fresh.push_back(&writes);
  if (launch.options.schedule == Schedule::Random)
    std::shuffle(fresh.begin(), fresh.end(), launch.random);
  for (VectorWrites *writes : fresh) {
    writes->writes.commit();
    writes->published = true;
  }
}

/// Lets the vector pipe see it too.
void Core::settle() {
  publish();
  unsettled_.clear();
}

void Core::settleUpTo(uint64_t number) {
  // Writes that the pipe has waited for, directly or along a chain, are visible to it from here on.
  std::erase_if(unsettled_, [&](const VectorWrites &writes) {
    return writes.published && writes.number <= number;
  });
}

void Core::settleFrees() {
  while (!frees_.empty()) {
    const Issued &free = frees_.front();
    for (size_t i = 0; i < kNumPipes; ++i)
      if (pipes_[i].done < free.after[i])
        return;
    int32_t queue = free.step->queue;
    frees_.pop_front();
    group_.signal(QueueSignal::Freed, queue, index_);
  }
}

void Core::report(Pipe pipe, const Issued &issued) {
  const LaunchState &launch = group_.launch();
  if (launch.options.trace)
    launch.options.trace({group_.block(), index_, function_.cube, subBlock_, pipe, &issued});
}

// ---- the end ------------------------------------------------------------------------------------

static std::string flagText(Pipe source, Pipe target, int64_t id) {
  return "[" + std::string(pipeName(source)) + ", " + std::string(pipeName(target)) + ", " +
         std::to_string(id) + "]";
}

bool Core::finish() {
  settle();
  // An event that is left set would let a wait of the next block pass.
  for (size_t s = 0; s < kNumPipes; ++s)
    for (size_t t = 0; t < kNumPipes; ++t)
      for (size_t id = 0; id < 16; ++id)
        if (flags_[s][t][id])
          return failAt(current(), "leaves the event " +
                                       flagText(static_cast<Pipe>(s), static_cast<Pipe>(t),
                                                static_cast<int64_t>(id)) +
                                       " set");
  return true;
}

std::string Core::describeWaits() const {
  std::string text;
  auto add = [&](Pipe pipe, const Step &step, const std::string &what) {
    std::string place = toString(function_.locations[static_cast<size_t>(step.location)]);
    text += "\n  " + name() + ", pipe " + std::string(pipeName(pipe)) + " waits " +
            (place.empty() ? "" : "at " + place + " ") + what;
  };
  if (scalarState() == State::Waiting) {
    const Step &step = current();
    Flag flag = isEvent(step.kind) ? flagOf(step) : Flag{};
    add(Pipe::S, step,
        step.kind == StepKind::WaitFlag
            ? "for the event " + flagText(flag.source, flag.target, flag.id)
        : step.kind == StepKind::WaitCores
            ? "for the event " + std::to_string(flag.id) + " between cores"
        : step.kind == StepKind::Barrier
            ? "for all pipes"
            : "for room in the queue of pipe " + std::string(pipeName(step.pipe)));
  }
  for (size_t i = 1; i < kNumPipes; ++i) {
    if (state(static_cast<Pipe>(i)) != State::Waiting)
      continue;
    const Issued &head = pipes_[i].queue.front();
    StepKind kind = head.step->kind;
    add(static_cast<Pipe>(i), *head.step,
        kind == StepKind::WaitFlag
            ? "for the event " + flagText(head.flag.source, head.flag.target, head.flag.id)
        : kind == StepKind::WaitCores
            ? "for the event " + std::to_string(head.flag.id) + " between cores"
        : kind == StepKind::Push
            ? "for a free slot of its queue, for push " + std::to_string(head.ordinal)
            : "for push " + std::to_string(head.ordinal) + " of its queue");
  }
  return text;
}

} // namespace ptl::rt::sim

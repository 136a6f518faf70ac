// Executes scalar code on tiles and global memory, and records the events of instructions.
#include "passes/prover/runner.h"

#include "mlir/IR/Operation.h"

#include <algorithm>

namespace ptl::prove {

// Executes operations that make tiles and views, and records those on pipes.
void Runner::runOnMemory(const Step &step) {
  switch (step.kind) {
  case StepKind::Open:
    runOpen(step);
    break;
  case StepKind::Alloc:
  case StepKind::MultiGet:
  case StepKind::Declare:
    makeTile(step);
    break;
  case StepKind::Window:
  case StepKind::Alias:
  case StepKind::SetValid:
    deriveTile(step);
    break;
  case StepKind::Pointer:
  case StepKind::AddPointer:
  case StepKind::View:
  case StepKind::Box:
    makeBox(step);
    break;
  case StepKind::Pipe:
    runPipe(step);
    break;
  case StepKind::Set:
  case StepKind::Wait:
  case StepKind::Barrier:
    runFlag(step);
    break;
  case StepKind::Signal:
  case StepKind::Await:
    runCrossing(step);
    break;
  default:
    runQueue(step);
  }
}

// ---- tiles --------------------------------------------------------------------------------------

uint32_t Runner::buffer(const Buffer &wanted) {
  auto &all = execution_.buffers;
  // The search goes backwards, since the same buffer is usually made again soon after.
  for (size_t i = all.size(); i-- > 0;)
    if (all[i] == wanted)
      return static_cast<uint32_t>(i);
  all.push_back(wanted);
  return static_cast<uint32_t>(all.size() - 1);
}

void Runner::requireKnown(const Step &step, uint32_t value, const char *what) {
  if (value != kNone && at(value).data)
    reportUnknown(step, what);
}

void Runner::reportUnknown(const Step &step, const char *what) {
  if (!findings_.has(DiagId::CannotBeProved, operation(step), nullptr))
    findings_.undecided(operation(step), std::string(what) + " of `" + nameOf(operation(step)) +
                                             "` depends on data");
}

void Runner::setValid(RunningTile &tile, const TileShape &shape, uint32_t rows, uint32_t cols) {
  // An extent in the type is fixed; otherwise the operand says it, within the tile.
  tile.validRows = shape.validRows >= 0
                       ? shape.validRows
                       : std::clamp<int64_t>(valueOr(rows, shape.rows), 0, shape.rows);
  tile.validCols = shape.validCols >= 0
                       ? shape.validCols
                       : std::clamp<int64_t>(valueOr(cols, shape.cols), 0, shape.cols);
}

void Runner::makeTile(const Step &step) {
  const TileShape &shape = kernel_.shapes[static_cast<size_t>(step.imm)];
  bool multi = step.kind == StepKind::MultiGet;
  RunningTile tile;
  tile.shape = static_cast<uint32_t>(step.imm);
  // A slot of a ring has its number as operand 1, so the extents stand one place further on.
  uint32_t rows = step.args[multi ? 2 : 1], cols = step.args[multi ? 3 : 2];
  setValid(tile, shape, rows, cols);
  requireKnown(step, step.args[0], "the address");
  tile.base = valueOr(step.args[0], 0);
  Buffer made{step.op, shape.place, 0, 0, shape.bytes};
  if (multi) {
    requireKnown(step, step.args[1], "the slot");
    int64_t slot = at(step.args[1]).value % static_cast<int64_t>(step.count);
    // The remainder of a negative number is negative, so it is brought into the ring.
    made.slot = static_cast<uint32_t>(slot < 0 ? slot + step.count : slot);
    made.op = step.other;
    tile.base += made.slot * shape.stride;
  }
  made.base = tile.base;
  // A declared tile gets its buffer from the pop that fills it.
  if (step.kind != StepKind::Declare)
    tile.buffer = buffer(made);
  tiles_.push_back(tile);
  at(step.dst) = {static_cast<int64_t>(tiles_.size() - 1), false};
  // An allocation ends the life of what the bytes held, so the hazard check needs an event for it.
  if (step.kind == StepKind::Alloc)
    emit(Event::Alloc, step, 0).number = tile.buffer;
}

// The valid extent of a window or an alias: what its type says, else its operand, else `inherited`.
int64_t Runner::derivedValid(int64_t fixed, uint32_t given, int64_t inherited, int64_t capacity) {
  if (fixed >= 0)
    return fixed;
  return std::clamp<int64_t>(valueOr(given, inherited), 0, capacity);
}

// A window that begins further on; inside of one whose place is not known it is somewhere there,
// too. Of nothing there is no place where it may be.
void Runner::move(int64_t &at, int64_t &among, int64_t extent, Scalar by) {
  if (by.data && !among)
    // The window may lie anywhere among the rows or columns of what it was taken from.
    among = extent > 0 ? extent : kNowhere;
  if (!among)
    at += by.value;
}

void Runner::deriveTile(const Step &step) {
  if (step.kind == StepKind::SetValid) {
    RunningTile &tile = tileAt(step.args[0]);
    const TileShape &shape = kernel_.shapes[tile.shape];
    tile.validRows = std::clamp<int64_t>(at(step.args[1]).value, 0, shape.rows);
    tile.validCols = std::clamp<int64_t>(at(step.args[2]).value, 0, shape.cols);
    return;
  }
  RunningTile tile = tileAt(step.args[0]);
  const TileShape &shape = kernel_.shapes[static_cast<size_t>(step.imm)];
  if (step.kind == StepKind::Window) {
    move(tile.row, tile.amongRows, tile.validRows, at(step.args[3]));
    move(tile.col, tile.amongCols, tile.validCols, at(step.args[4]));
  } else {
    // An alias begins a new frame at the place where its source begins, so that place has to be
    // known.
    if (tile.amongRows || tile.amongCols)
      reportUnknown(step, "the place");
    const TileShape &frame = kernel_.shapes[tile.shape];
    const auto &first = ranges_[ranges_.part(frame, tile.row, tile.col, 1, 1)];
    tile.base += first.empty() ? 0 : first.front().begin;
    tile.row = tile.col = 0;
    tile.shape = static_cast<uint32_t>(step.imm);
  }
  setValid(tile, shape, step.args[1], step.args[2]);
  tiles_.push_back(tile);
  at(step.dst) = {static_cast<int64_t>(tiles_.size() - 1), false};
}

// ---- global memory ------------------------------------------------------------------------------

void Runner::makeBox(const Step &step) {
  GlobalBox box;
  if (step.kind == StepKind::Pointer) {
    box.pointer = static_cast<uint32_t>(step.imm);
  } else {
    box = boxAt(step.args[0]);
    // An extent from data can be bounded; an offset from data makes the place unknown.
    size_t numKnown = step.kind == StepKind::Box ? 1 + step.count : step.args.size();
    for (size_t i = 1; i < numKnown; ++i)
      box.known &= !at(step.args[i]).data;
  }
  if (step.kind == StepKind::AddPointer)
    box.offset += at(step.args[1]).value;
  // A box has at most five axes.
  unsigned rank = std::min(step.count, 5u);
  if (step.kind == StepKind::View || step.kind == StepKind::Box) {
    box.rank = static_cast<uint8_t>(rank);
    for (unsigned i = 0; i < rank; ++i) {
      int64_t first = at(step.args[1 + i]).value;
      Scalar second = at(step.args[1 + step.count + i]);
      if (step.kind == StepKind::View) {
        box.axes[i] = {first, second.value};
      } else { // as long as it may be, where only the data knows, and no further than its view
        box.offset += first * box.axes[i].stride;
        box.axes[i].size =
            second.data ? std::min(second.most, box.axes[i].size - first) : second.value;
      }
    }
  }
  boxes_.push_back(box);
  at(step.dst) = {static_cast<int64_t>(boxes_.size() - 1), false};
}

uint32_t Runner::box(GlobalBox box) {
  execution_.boxes.push_back(box);
  return static_cast<uint32_t>(execution_.boxes.size() - 1);
}

// ---- what runs on pipes -------------------------------------------------------------------------

Event &Runner::emit(Event::Kind kind, const Step &step, uint8_t pipe) {
  if (core_->events.size() >= limit_)
    execution_.complete = false;
  Event event{kind};
  event.pipe = pipe;
  event.op = step.op;
  event.access = static_cast<uint32_t>(core_->accesses.size());
  core_->events.push_back(event);
  // The hash of the core's work tells executions that do the same apart from others.
  note(step.op * 16 + kind);
  return core_->events.back();
}

void Runner::touchTile(const AccessSpec &spec, Access &access) {
  const RunningTile &tile = tileAt(spec.value);
  const TileShape &shape = kernel_.shapes[tile.shape];
  access.buffer = tile.buffer;
  access.base = tile.base;
  access.place = shape.place;
  int64_t row = tile.row, col = tile.col, rows = tile.validRows, cols = tile.validCols;
  auto isFromData = [&](uint32_t position) { return position != kNone && at(position).data; };
  bool isSomewhere = tile.amongRows || tile.amongCols;
  access.partly = isSomewhere || isFromData(spec.row) || isFromData(spec.col);
  if (access.partly)
    // An access whose place is not known must keep the other bytes, so its write is a read too.
    access.reads |= access.writes; // what it leaves stays
  if (isSomewhere) {
    rows = tile.amongRows ? std::max<int64_t>(tile.amongRows, 0) : rows;
    cols = tile.amongCols ? std::max<int64_t>(tile.amongCols, 0) : cols;
  } else if (access.partly) {
    // A position that comes from data may be any, so the access lies somewhere among all valid
    // elements.
  } else if (spec.row != kNone) {
    // An instruction with an offset into the tile (insert, extract) touches a window as large as
    // its other operand.
    const RunningTile &extent = tileAt(spec.extent);
    row += at(spec.row).value;
    col += at(spec.col).value;
    rows = std::min(extent.validRows, tile.validRows - at(spec.row).value);
    cols = std::min(extent.validCols, tile.validCols - at(spec.col).value);
  } else if (spec.col != kNone && shape.cols > 0) {
    // A single element is addressed by its linear index.
    row += at(spec.col).value / shape.cols;
    col += at(spec.col).value % shape.cols;
    rows = cols = 1;
  }
  access.bytes = ranges_.part(shape, row, col, rows, cols);
  access.held = access.partly ? 0 : spec.held;
  if (spec.writes)
    bridge(spec, access);
}

/// Parts that one write stands for, at most.
static constexpr int64_t kMostParts = 1 << 14;

/// The distance of all of `to` from `from`, if both have the same shape; 0 if they do not.
static int64_t shiftOf(const std::vector<ByteRange> &from, const std::vector<ByteRange> &to) {
  // Two accesses of successive turns are alike if all their ranges moved by the same distance.
  int64_t shift = from.empty() || to.empty() ? 0 : to[0].begin - from[0].begin;
  bool alike = std::equal(from.begin(), from.end(), to.begin(), to.end(),
                          [&](const ByteRange &a, const ByteRange &b) {
                            return a.begin + shift == b.begin && a.end + shift == b.end;
                          });
  return alike ? shift : 0;
}

// Parts that follow each other turn by turn, side by side or with something between them.
void Runner::bridge(const AccessSpec &spec, Access &access) {
  const std::vector<ByteRange> &ranges = ranges_[access.bytes];
  if (ranges.empty())
    return;
  Written &last = written_[&spec];
  // Positions are compared absolutely, since the tile may lie elsewhere in the next turn.
  std::vector<ByteRange> now = ranges;
  for (ByteRange &range : now) {
    range.begin += access.base;
    range.end += access.base;
  }
  int64_t shift = shiftOf(last.ranges, now), reach = now.back().end - now.front().begin;
  // Only the first turn after a gap stands for the turns that were left out.
  bool behind = bridging_ && !last.ranges.empty() && now.front().begin > last.ranges.back().end;
  bool steps = shift > 0 && last.step >= reach && shift % std::max<int64_t>(last.step, 1) == 0 &&
               shift / std::max<int64_t>(last.step, 1) <= kMostParts;
  // Parts that touched each other before the gap are taken to have filled it without holes.
  if (behind && last.followed && now.size() == 1) {
    access.bytes = ranges_.between(last.ranges.back().end - access.base, ranges[0].end);
    last.ranges = std::move(now);
  } else if (behind && steps) {
    // Parts with a regular distance are repeated at that distance.
    access.bytes = ranges_.repeated(access.bytes, last.step, shift / last.step);
    last.ranges = std::move(now);
  } else {
    // Two writes in a row that touch tell that a later gap was filled likewise.
    bool followed =
        now.size() == 1 && last.ranges.size() == 1 && now.front().begin == last.ranges.front().end;
    last = {std::move(now), std::max<int64_t>(shift, 0), followed};
  }
}

void Runner::touchGlobal(const AccessSpec &spec, Access &access) {
  access.global = true;
  GlobalBox place = boxAt(spec.value);
  // A scalar access reaches one element, which has no axes.
  if (spec.col != kNone) { // a scalar at a pointer
    place.offset += at(spec.col).value;
    place.known &= !at(spec.col).data;
    place.rank = 0;
  }
  access.bytes = box(place);
}

// What an instruction does before it starts: another pipe fills its scratch, and pipes wait for
// each other by events.
void Runner::runInside(const Step &step) {
  const Inside &inside = kernel_.inside[step.inside];
  if (inside.scratchPipe != kNoPipe) {
    Event &event = emit(Event::Operation, step, inside.scratchPipe);
    for (const AccessSpec &spec : step.accesses)
      if (spec.scratch) {
        ++event.accesses;
        Access access{false, true};
        touchTile(spec, access);
        core_->accesses.push_back(access);
      }
  }
  for (const InsideEvent &own : inside.events)
    for (Event::Kind kind : {Event::Set, Event::Wait}) {
      Event &event = emit(kind, step, kind == Event::Set ? own.from : own.to);
      event.flag = static_cast<uint16_t>((own.from * 8 + own.to) * 64 + inside.id);
      event.orders = inside.always;
      event.guarded = own.guarded;
    }
}

void Runner::runPipe(const Step &step) {
  if (gathers_ && gather(step))
    return;
  if (step.inside != kNone)
    runInside(step);
  Event &event = emit(Event::Operation, step, step.sub);
  event.inPlace = step.inPlace;
  event.accesses = static_cast<uint32_t>(step.accesses.size());
  for (uint32_t operand : step.args)
    // The multiplier spreads the bits, so that different operands give different hashes.
    event.scalars = event.scalars * 0x9E3779B1u + static_cast<uint32_t>(at(operand).value);
  for (const AccessSpec &spec : step.accesses) {
    Access access{spec.reads, spec.writes, spec.scratch, spec.atomic};
    if (spec.memory)
      touchGlobal(spec, access);
    else
      touchTile(spec, access);
    if (!access.global)
      // The hash is of what a core does on chip; where it reaches global memory does not matter.
      note(access.bytes * 64 + static_cast<uint64_t>(access.base));
    core_->accesses.push_back(access);
  }
}

void Runner::runFlag(const Step &step) {
  if (step.kind == StepKind::Barrier) {
    emit(Event::Barrier, step, step.sub);
    return;
  }
  int64_t id = step.args.empty() ? step.count : at(step.args[0]).value;
  if (!step.args.empty())
    requireKnown(step, step.args[0], "the event");
  if (id < 0 || (kernel_.eventIds && id >= kernel_.eventIds)) {
    findings_.add(DiagId::EventIdBeyondLimit, operation(step),
                  {std::to_string(id), pipeText(static_cast<unsigned>(step.imm / 8)),
                   pipeText(static_cast<unsigned>(step.imm % 8)),
                   std::to_string(kernel_.eventIds - 1)});
    // The execution goes on with an id that fits into the flag, so that other faults are found as
    // well.
    id &= 7;
  }
  bool set = step.kind == StepKind::Set;
  auto pipe = static_cast<uint8_t>(set ? step.imm / 8 : step.imm % 8);
  Event &event = emit(set ? Event::Set : Event::Wait, step, pipe);
  // The layout is that of `Event::flag`; an id has six bits.
  event.flag = static_cast<uint16_t>(step.imm * 64 + (id & 63));
  note(static_cast<uint64_t>(id));
}

void Runner::runCrossing(const Step &step) {
  int64_t id = at(step.args[0]).value;
  requireKnown(step, step.args[0], "the event");
  judgeCrossing(kernel_, operation(step), id, findings_);
  Event &event = emit(step.kind == StepKind::Signal ? Event::Signal : Event::Await, step, step.sub);
  event.flag = static_cast<uint16_t>(id & 63);
  note(static_cast<uint64_t>(id));
}

void Runner::runOpen(const Step &step) {
  at(step.dst) = {step.imm, false};
  if (step.args.empty())
    return;
  const Queue &queue = kernel_.queues[static_cast<size_t>(step.imm)];
  const QueueSide &side = function_->cube ? queue.cube : queue.vector;
  const GlobalBox &pointer = boxAt(step.args[0]);
  if (!pointer.known)
    findings_.undecided(operation(step),
                        "where `" + queue.name + "` lies in global memory depends on data");
  int64_t begin = pointer.offset * side.pointerBytes;
  execution_.areas.push_back({static_cast<uint32_t>(step.imm), step.op, pointer.pointer, begin,
                              begin + side.slots * side.slotSize});
}

/// Tiles that follow each other in a slot have different turns, so that reading one after the next
/// has been popped is detected.
static constexpr uint32_t kTurns = 8;

void Runner::runQueue(const Step &step) {
  auto number = static_cast<size_t>(at(step.args.back()).value);
  const Queue &queue = kernel_.queues[number];
  bool free = step.kind == StepKind::Free, pop = step.kind == StepKind::Pop;
  // A free has no pipe of its own; `Simulation::prepareFrees` finds the pipes that read the slot.
  Event &event = emit(free  ? Event::Free
                      : pop ? Event::Pop
                            : Event::Push,
                      step, free ? static_cast<uint8_t>(Pipe::MTE2) : step.sub);
  event.flag = static_cast<uint16_t>(number);
  event.number = (free ? freed_ : pop ? popped_ : pushed_)[number]++;
  if (free)
    return;
  AccessSpec spec;
  spec.value = step.args[0];
  Access access{!pop, pop};
  if (pop) {
    RunningTile &tile = tileAt(spec.value);
    const TileShape &shape = kernel_.shapes[tile.shape];
    const QueueSide &side = queue.consumer();
    // Through global memory the popped tile lies in the consumer's local ring, else in the queue's
    // slots.
    int64_t slots = std::max<int64_t>(1, queue.throughGlobal ? side.localSlots : side.slots);
    auto slot = static_cast<uint32_t>(event.number % slots);
    // A split tile takes half of a slot on each vector core.
    int64_t parts = !queue.throughGlobal && queue.toVector && step.imm ? 2 : 1;
    int64_t apart = side.slotSize > 0 ? side.slotSize / parts : shape.bytes;
    tile.base = std::max<int64_t>(side.reservedBase, 0) + slot * apart;
    // The turn makes tiles that follow each other in one slot different buffers.
    tile.buffer = buffer({side.op == kNone ? step.op : side.op, shape.place, slot, tile.base,
                          shape.bytes, static_cast<uint32_t>(event.number / slots % kTurns)});
  }
  core_->events.back().accesses = 1;
  touchTile(spec, access);
  core_->accesses.push_back(access);
}

} // namespace ptl::prove

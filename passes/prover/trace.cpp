#include "passes/prover/trace.h"

#include "passes/prover/mix.h"

#include "mlir/IR/Operation.h"

#include <algorithm>
#include <unordered_map>

namespace ptl::prove {

static constexpr int64_t kTurnsOnData = 3; ///< of a loop whose end only the data knows
static constexpr int64_t kTurnsOfWhile = 4096;
static constexpr int64_t kTurnsOfParts = 256; ///< that are all run of a loop that fills a tile

namespace {

struct Tile {
  uint32_t buffer = 0, shape = 0;
  int64_t base = 0, row = 0, col = 0, validRows = 0, validCols = 0;
};

class Runner {
public:
  Runner(const Kernel &kernel, const Inputs &inputs, RangeTable &ranges, Findings &findings,
         Execution &execution, size_t limit)
      : kernel_(kernel), inputs_(inputs), ranges_(ranges), findings_(findings),
        execution_(execution), limit_(limit) {}

  void run(const Function &function, unsigned subBlock) {
    execution_.cores.push_back({});
    core_ = &execution_.cores.back();
    core_->function = function_ = &function;
    core_->subBlock = subBlock;
    registers_.assign(function.registers, {});
    popped_.assign(kernel_.queues.size(), 0);
    pushed_ = freed_ = popped_;
    tiles_.assign(1, {});
    written_.clear();
    runBody(0);
  }

private:
  bool goesOn() const { return execution_.complete && !execution_.excluded; }
  Scalar &at(uint32_t index) { return registers_[index]; }
  int64_t valueOr(uint32_t index, int64_t otherwise) {
    return index == kNone ? otherwise : at(index).value;
  }
  mlir::Operation *operation(const Step &step) const { return kernel_.operations[step.op]; }
  int64_t derivedValid(int64_t fixed, uint32_t given, int64_t inherited, int64_t capacity);
  void runBody(uint32_t index);
  void runStep(const Step &step);
  void runFor(const Step &step);
  void runIf(const Step &step);
  void runWhile(const Step &step);
  void assign(const std::vector<uint32_t> &to, size_t first, const std::vector<Scalar> &values,
              size_t from);
  void setValid(Tile &tile, const TileShape &shape, uint32_t rows, uint32_t cols);
  void makeTile(const Step &step);
  void deriveTile(const Step &step);
  void makeBox(const Step &step);
  void runPipe(const Step &step);
  void runInside(const Step &step);
  void runFlag(const Step &step);
  void runCrossing(const Step &step);
  void runOpen(const Step &step);
  void runQueue(const Step &step);
  uint32_t buffer(const Buffer &wanted);
  uint32_t box(GlobalBox box);
  GlobalBox &boxAt(uint32_t index) { return boxes_[static_cast<size_t>(at(index).value)]; }
  Tile &tileAt(uint32_t index) { return tiles_[static_cast<size_t>(at(index).value)]; }
  void touchTile(const AccessSpec &spec, Access &access);
  void bridge(const AccessSpec &spec, Access &access);
  void touchGlobal(const AccessSpec &spec, Access &access);
  void note(uint64_t what) {
    core_->hash = (core_->hash ^ what) * 0x9E3779B97F4A7C15ull;
    core_->hash ^= core_->hash >> 31;
  }
  Event &emit(Event::Kind kind, const Step &step, uint8_t pipe);
  void requireKnown(const Step &step, uint32_t value, const char *what);

  const Kernel &kernel_;
  const Inputs &inputs_;
  RangeTable &ranges_;
  Findings &findings_;
  Execution &execution_;
  size_t limit_;
  Core *core_ = nullptr;
  const Function *function_ = nullptr;
  std::vector<Scalar> registers_, yielded_;
  std::vector<Tile> tiles_;
  std::vector<GlobalBox> boxes_;
  std::vector<uint32_t> popped_, pushed_, freed_;
  /// What an operand was written in last, and whether that began where the time before had ended.
  struct Written {
    ByteRange range = {0, 0};
    bool followed = false;
  };
  std::unordered_map<const AccessSpec *, Written> written_;
  bool bridging_ = false; ///< in the first turn after some that were left out
};

} // namespace

// ---- control flow
// -----------------------------------------------------------------------------------------

void Runner::runBody(uint32_t index) {
  for (const Step &step : function_->bodies[index].steps) {
    if (!goesOn())
      return;
    runStep(step);
  }
}

void Runner::assign(const std::vector<uint32_t> &to, size_t first,
                    const std::vector<Scalar> &values, size_t from) {
  for (size_t i = 0; first + i < to.size() && from + i < values.size(); ++i)
    at(to[first + i]) = values[from + i];
}

// A long loop runs its first and last turns; what is left out is a multiple of the rotation, and
// carried values go on as they did in the last rotation. Where turns fill a tile part by part, the
// first write after those that were left out stands for theirs.
void Runner::runFor(const Step &step) {
  int64_t lower = at(step.args[0]).value, upper = at(step.args[1]).value,
          by = at(step.args[2]).value;
  // Data that says how often it runs does not say where a turn is.
  bool data = at(step.args[0]).data || at(step.args[2]).data;
  int64_t turns = by > 0 && upper > lower ? (upper - lower - 1) / by + 1 : 0;
  const Body &body = function_->bodies[step.body];
  std::vector<Scalar> carried, earlier;
  for (size_t i = 3; i < step.args.size(); ++i)
    carried.push_back(at(step.args[i]));
  int64_t rotation = body.rotation, skipAt = -1, skip = 0;
  bool each = body.hasQueue || (body.fillsParts && turns <= kTurnsOfParts);
  if (!each && turns > 3 * rotation + 2) {
    skipAt = 2 * rotation;
    skip = (turns - 3 * rotation - 1) / rotation * rotation;
  }
  for (int64_t turn = 0; turn < turns && goesOn(); ++turn) {
    if (turn == skipAt - rotation)
      earlier = carried;
    bridging_ |= turn == skipAt && body.fillsParts;
    if (turn == skipAt) {
      turn += skip;
      for (size_t i = 0; i < carried.size(); ++i)
        carried[i].value += (carried[i].value - earlier[i].value) * (skip / rotation);
    }
    at(body.parameters[0]) = {lower + turn * by, data};
    assign(body.parameters, 1, carried, 0);
    yielded_.clear();
    runBody(step.body);
    carried = yielded_;
    bridging_ &= turn != skipAt + skip;
  }
  assign(step.results, 0, carried, 0);
}

void Runner::runIf(const Step &step) {
  yielded_.clear();
  runBody(at(step.args[0]).value ? step.body : step.other);
  std::vector<Scalar> values = yielded_;
  assign(step.results, 0, values, 0);
}

void Runner::runWhile(const Step &step) {
  std::vector<Scalar> values;
  for (uint32_t argument : step.args)
    values.push_back(at(argument));
  for (int64_t turn = 0; goesOn(); ++turn) {
    assign(function_->bodies[step.body].parameters, 0, values, 0);
    yielded_.clear();
    runBody(step.body);
    values = yielded_;
    bool again = !values.empty() && values[0].value, data = !values.empty() && values[0].data;
    if (turn == kTurnsOfWhile)
      findings_.undecided(operation(step),
                          "a loop with more than " + std::to_string(kTurnsOfWhile) + " turns");
    if (!again || turn == kTurnsOfWhile || (data && turn == kTurnsOnData))
      break;
    assign(function_->bodies[step.other].parameters, 0, values, 1);
    yielded_.clear();
    runBody(step.other);
    values = yielded_;
  }
  assign(step.results, 0, values, 1);
}

void Runner::runStep(const Step &step) {
  switch (step.kind) {
  case StepKind::Calc: {
    const Scalar *operands[3] = {};
    for (size_t i = 0; i < step.args.size() && i < 3; ++i)
      operands[i] = &at(step.args[i]);
    at(step.dst) = calculate(step, operands[0], operands[1], operands[2]);
    break;
  }
  case StepKind::Input:
    at(step.dst) = {inputs_[static_cast<size_t>(step.imm)], step.sub != 0};
    break;
  case StepKind::Assume:
    execution_.excluded |= at(step.args[0]).value == 0;
    break;
  case StepKind::SubBlock:
    at(step.dst) = {core_->subBlock, false};
    break;
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
  case StepKind::Push:
  case StepKind::Pop:
  case StepKind::Free:
    runQueue(step);
    break;
  case StepKind::For:
    runFor(step);
    break;
  case StepKind::If:
    runIf(step);
    break;
  case StepKind::While:
    runWhile(step);
    break;
  case StepKind::Yield:
    yielded_.clear();
    for (uint32_t argument : step.args)
      yielded_.push_back(at(argument));
    break;
  }
}

// ---- tiles
// ------------------------------------------------------------------------------------------------

uint32_t Runner::buffer(const Buffer &wanted) {
  auto &all = execution_.buffers;
  for (size_t i = all.size(); i-- > 0;)
    if (all[i] == wanted)
      return static_cast<uint32_t>(i);
  all.push_back(wanted);
  return static_cast<uint32_t>(all.size() - 1);
}

void Runner::requireKnown(const Step &step, uint32_t value, const char *what) {
  if (value != kNone && at(value).data &&
      !findings_.has(DiagId::CannotBeProved, operation(step), nullptr))
    findings_.undecided(operation(step), std::string(what) + " of `" + nameOf(operation(step)) +
                                             "` depends on data");
}

void Runner::setValid(Tile &tile, const TileShape &shape, uint32_t rows, uint32_t cols) {
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
  Tile tile;
  tile.shape = static_cast<uint32_t>(step.imm);
  uint32_t rows = step.args[multi ? 2 : 1], cols = step.args[multi ? 3 : 2];
  setValid(tile, shape, rows, cols);
  requireKnown(step, step.args[0], "the address");
  tile.base = valueOr(step.args[0], 0);
  Buffer made{step.op, shape.place, 0, 0, shape.bytes};
  if (multi) {
    requireKnown(step, step.args[1], "the slot");
    int64_t slot = at(step.args[1]).value % static_cast<int64_t>(step.count);
    made.slot = static_cast<uint32_t>(slot < 0 ? slot + step.count : slot);
    made.op = step.other;
    tile.base += made.slot * shape.stride;
  }
  made.base = tile.base;
  if (step.kind != StepKind::Declare)
    tile.buffer = buffer(made);
  tiles_.push_back(tile);
  at(step.dst) = {static_cast<int64_t>(tiles_.size() - 1), false};
  if (step.kind == StepKind::Alloc)
    emit(Event::Alloc, step, 0).number = tile.buffer;
}

// The valid extent of a window or an alias: what its type says, else its operand, else `inherited`.
int64_t Runner::derivedValid(int64_t fixed, uint32_t given, int64_t inherited, int64_t capacity) {
  if (fixed >= 0)
    return fixed;
  return std::clamp<int64_t>(valueOr(given, inherited), 0, capacity);
}

void Runner::deriveTile(const Step &step) {
  if (step.kind == StepKind::SetValid) {
    Tile &tile = tileAt(step.args[0]);
    const TileShape &shape = kernel_.shapes[tile.shape];
    tile.validRows = std::clamp<int64_t>(at(step.args[1]).value, 0, shape.rows);
    tile.validCols = std::clamp<int64_t>(at(step.args[2]).value, 0, shape.cols);
    return;
  }
  Tile tile = tileAt(step.args[0]);
  const TileShape &shape = kernel_.shapes[static_cast<size_t>(step.imm)];
  if (step.kind == StepKind::Window) {
    requireKnown(step, step.args[3], "the row");
    requireKnown(step, step.args[4], "the column");
    tile.row += at(step.args[3]).value;
    tile.col += at(step.args[4]).value;
  } else {
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

// ---- global memory
// ----------------------------------------------------------------------------------------

void Runner::makeBox(const Step &step) {
  GlobalBox box;
  if (step.kind == StepKind::Pointer) {
    box.pointer = static_cast<uint32_t>(step.imm);
  } else {
    box = boxAt(step.args[0]);
    for (size_t i = 1; i < step.args.size(); ++i)
      box.known &= !at(step.args[i]).data;
  }
  if (step.kind == StepKind::AddPointer)
    box.offset += at(step.args[1]).value;
  unsigned rank = std::min(step.count, 5u);
  if (step.kind == StepKind::View || step.kind == StepKind::Box) {
    box.rank = static_cast<uint8_t>(rank);
    for (unsigned i = 0; i < rank; ++i) {
      int64_t first = at(step.args[1 + i]).value, second = at(step.args[1 + step.count + i]).value;
      if (step.kind == StepKind::View) {
        box.axes[i] = {first, second};
      } else {
        box.offset += first * box.axes[i].stride;
        box.axes[i].size = second;
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

// ---- what runs on pipes
// -----------------------------------------------------------------------------------

Event &Runner::emit(Event::Kind kind, const Step &step, uint8_t pipe) {
  if (core_->events.size() >= limit_)
    execution_.complete = false;
  Event event{kind};
  event.pipe = pipe;
  event.op = step.op;
  event.access = static_cast<uint32_t>(core_->accesses.size());
  core_->events.push_back(event);
  note(step.op * 16 + kind);
  return core_->events.back();
}

void Runner::touchTile(const AccessSpec &spec, Access &access) {
  const Tile &tile = tileAt(spec.value);
  const TileShape &shape = kernel_.shapes[tile.shape];
  access.buffer = tile.buffer;
  access.base = tile.base;
  access.place = shape.place;
  int64_t row = tile.row, col = tile.col, rows = tile.validRows, cols = tile.validCols;
  if (spec.row != kNone && !at(spec.row).data && !at(spec.col).data) {
    const Tile &extent = tileAt(spec.extent);
    row += at(spec.row).value;
    col += at(spec.col).value;
    rows = std::min(extent.validRows, tile.validRows - at(spec.row).value);
    cols = std::min(extent.validCols, tile.validCols - at(spec.col).value);
  } else if (spec.row == kNone && spec.col != kNone && !at(spec.col).data && shape.cols > 0) {
    row += at(spec.col).value / shape.cols;
    col += at(spec.col).value % shape.cols;
    rows = cols = 1;
  }
  access.bytes = ranges_.part(shape, row, col, rows, cols);
  if (spec.writes)
    bridge(spec, access);
}

// Parts that follow each other turn by turn.
void Runner::bridge(const AccessSpec &spec, Access &access) {
  const std::vector<ByteRange> &ranges = ranges_[access.bytes];
  if (ranges.size() != 1)
    return;
  Written &last = written_[&spec];
  ByteRange now = {ranges[0].begin + access.base, ranges[0].end + access.base};
  if (bridging_ && last.followed && now.begin > last.range.end) {
    access.bytes = ranges_.between(last.range.end - access.base, ranges[0].end);
    now.begin = last.range.end;
  }
  last = {now, now.begin == last.range.end};
}

void Runner::touchGlobal(const AccessSpec &spec, Access &access) {
  access.global = true;
  GlobalBox place = boxAt(spec.value);
  if (spec.col != kNone) { // a scalar at a pointer
    place.offset += at(spec.col).value;
    place.known &= !at(spec.col).data;
    place.rank = 0;
  }
  access.bytes = box(place);
}

// What the instruction does before it starts: another pipe fills its scratch, and tells it so.
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
  for (Event::Kind kind : {Event::Set, Event::Wait}) {
    Event &event = emit(kind, step, kind == Event::Set ? inside.from : inside.to);
    event.flag = static_cast<uint16_t>((inside.from * 8 + inside.to) * 64 + inside.id);
    event.orders = inside.always;
  }
}

void Runner::runPipe(const Step &step) {
  if (step.inside != kNone)
    runInside(step);
  Event &event = emit(Event::Operation, step, step.sub);
  event.inPlace = step.inPlace;
  event.accesses = static_cast<uint32_t>(step.accesses.size());
  for (uint32_t operand : step.args)
    event.scalars = event.scalars * 0x9E3779B1u + static_cast<uint32_t>(at(operand).value);
  for (const AccessSpec &spec : step.accesses) {
    Access access{spec.reads, spec.writes, spec.scratch, spec.atomic};
    if (spec.memory)
      touchGlobal(spec, access);
    else
      touchTile(spec, access);
    if (!access.global)
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
    id &= 7;
  }
  bool set = step.kind == StepKind::Set;
  auto pipe = static_cast<uint8_t>(set ? step.imm / 8 : step.imm % 8);
  Event &event = emit(set ? Event::Set : Event::Wait, step, pipe);
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

/// Tiles that follow each other in a slot are told apart, so that reading one after the next has
/// been popped is found.
static constexpr uint32_t kTurns = 8;

void Runner::runQueue(const Step &step) {
  auto number = static_cast<size_t>(at(step.args.back()).value);
  const Queue &queue = kernel_.queues[number];
  bool free = step.kind == StepKind::Free, pop = step.kind == StepKind::Pop;
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
    Tile &tile = tileAt(spec.value);
    const TileShape &shape = kernel_.shapes[tile.shape];
    const QueueSide &side = queue.consumer();
    int64_t slots = std::max<int64_t>(1, queue.throughGlobal ? side.localSlots : side.slots);
    auto slot = static_cast<uint32_t>(event.number % slots);
    int64_t parts = !queue.throughGlobal && queue.toVector && step.imm ? 2 : 1;
    int64_t apart = side.slotSize > 0 ? side.slotSize / parts : shape.bytes;
    tile.base = std::max<int64_t>(side.reservedBase, 0) + slot * apart;
    tile.buffer = buffer({side.op == kNone ? step.op : side.op, shape.place, slot, tile.base,
                          shape.bytes, static_cast<uint32_t>(event.number / slots % kTurns)});
  }
  core_->events.back().accesses = 1;
  touchTile(spec, access);
  core_->accesses.push_back(access);
}

// ---- kernels
// ----------------------------------------------------------------------------------------------

Execution runKernel(const Kernel &kernel, const Inputs &inputs, RangeTable &ranges,
                    Findings &findings, size_t limit) {
  Execution execution;
  execution.cores.reserve(kMaxCores);
  execution.buffers.push_back({}); // of tiles that no pop has bound yet
  for (const Function &function : kernel.functions) {
    Runner runner(kernel, inputs, ranges, findings, execution, limit);
    bool onBoth = !function.cube && (function.usesSubBlock || kernel.functions.size() > 1);
    runner.run(function, 0);
    if (!onBoth || execution.cores.size() == kMaxCores)
      continue;
    if (function.usesSubBlock) {
      runner.run(function, 1);
    } else { // the same again
      execution.cores.push_back(execution.cores.back());
      execution.cores.back().subBlock = 1;
    }
  }
  for (const Core &core : execution.cores)
    execution.hash = mix(execution.hash, core.hash);
  return execution;
}

} // namespace ptl::prove

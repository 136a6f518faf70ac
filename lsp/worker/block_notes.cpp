#include "lsp/worker/block_notes.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/cross_core.h"
#include "ir/dialect/instruction_op.h"
#include "passes/analysis/source_place.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ptl::pto;

namespace ptl::worker {

BlockNotes::BlockNotes(ModuleOp kernel, const BufferLedger &ledger) {
  for (auto op : kernel.getOps<func::FuncOp>()) {
    Function function;
    function.op = op;
    for (const LedgerFunction &each : ledger.functions)
      if (each.name == op.getName())
        function.ledger = &each;
    // The order of the walk is that of the text, so numbers compare positions.
    op.walk<WalkOrder::PreOrder>([&](Operation *inner) {
      functionOf_[inner] = functions_.size();
      function.numbers[inner] = function.order.size();
      function.order.push_back(inner);
    });
    functions_.push_back(std::move(function));
  }
}

namespace {

/// An event: the pipe that sets it, the pipe that waits for it, and its id.
struct Flag {
  Pipe from, to; ///< of an event between cores only the own end is known; both are set to it
  bool isWait;
  std::optional<int64_t> id = std::nullopt; ///< nullopt if it is computed
  bool crosses = false;
  int64_t first = 0, count = 0; ///< the range of a computed id between cores

  Pipe own() const { return isWait ? to : from; }
  /// Whether the other operation may mean the same event: a computed id may be any.
  bool mayMeet(const Flag &other) const {
    if (isWait == other.isWait || crosses != other.crosses)
      return false;
    // Between cores the ranges of the ids must overlap.
    if (crosses)
      return first < other.first + other.count && other.first < first + count;
    return from == other.from && to == other.to && (!id || !other.id || id == other.id);
  }
};

std::optional<int64_t> numberOf(Value value) {
  APInt number;
  return value && matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue())
                                                              : std::nullopt;
}

std::optional<Flag> flagOf(Operation *op) {
  auto fixed = [](auto flag, bool isWait) {
    return Flag{pipeOf(flag.getSrcPipe()), pipeOf(flag.getDstPipe()), isWait,
                static_cast<int64_t>(flag.getEventId())};
  };
  auto computed = [](auto flag, bool isWait) {
    return Flag{pipeOf(flag.getSrcPipe()), pipeOf(flag.getDstPipe()), isWait};
  };
  auto crossing = [](auto event, bool isWait) {
    Pipe own = pipeOf(event.getPipe());
    Flag flag{own, own, isWait, numberOf(event.getEventId()), /*crosses=*/true, 0, 0};
    auto ids = attrs::ids.of(event);
    flag.first = flag.id ? *flag.id : ids ? ids[0] : 0;
    flag.count = flag.id ? 1 : ids ? ids[1] : 0;
    return flag;
  };
  return llvm::TypeSwitch<Operation *, std::optional<Flag>>(op)
      .Case([&](SetFlagOp flag) { return fixed(flag, false); })
      .Case([&](WaitFlagOp flag) { return fixed(flag, true); })
      .Case([&](SetFlagDynOp flag) { return computed(flag, false); })
      .Case([&](WaitFlagDynOp flag) { return computed(flag, true); })
      .Case([&](SyncSetOp event) { return crossing(event, false); })
      .Case([&](SyncWaitOp event) { return crossing(event, true); })
      .Default([](Operation *) { return std::nullopt; });
}

std::string pipeText(Pipe pipe) { return "`" + std::string(pipeName(pipe)) + "`"; }

std::string hexadecimal(int64_t value) {
  return "0x" + llvm::utohexstr(static_cast<uint64_t>(value), /*LowerCase=*/true);
}

std::string placeText(const LedgerBuffer &buffer, std::string_view space) {
  std::string text =
      "`" + buffer.name + "`: " + sizeText(buffer) + " in `" + std::string(space) + "`";
  if (buffer.address >= 0)
    text += " at " + hexadecimal(buffer.address);
  return text;
}

} // namespace

/// Writes the notes on one operation.
class BlockNotes::Writer {
public:
  Writer(llvm::ArrayRef<Function> functions, size_t own, const LineOf &lineOf)
      : functions_(functions), function_(functions[own]), lineOf_(lineOf) {}

  std::vector<std::string> write(Operation *op);

private:
  void flag(Operation *op, const Flag &flag);
  void barrier(BarrierOp op);
  void instruction(Operation *op, Pipe pipe);
  void accesses(Operation *op);
  void buffer(Operation *op);
  void reason(Operation *op);

  /// An operation and the function that contains it.
  struct Placed {
    const Function *function;
    Operation *op;
  };
  std::string named(Operation *op) const;
  Operation *neighbour(Operation *op, Pipe pipe, bool before) const {
    return neighbour({&function_, op}, pipe, before);
  }
  Operation *neighbour(Placed from, Pipe pipe, bool before) const;
  std::vector<Placed> partners(const Flag &flag) const;
  std::string handedOver(Placed set, Pipe from, Placed wait, Pipe to) const;
  const LedgerBuffer *bufferOf(Operation *maker, std::string &space) const;
  void add(std::string text) { notes_.push_back(std::move(text)); }

  llvm::ArrayRef<Function> functions_;
  const Function &function_;
  const LineOf &lineOf_;
  std::vector<std::string> notes_;
};

/// The name, source position and line of an operation, `` `tload` (11:21), line 43``.
std::string BlockNotes::Writer::named(Operation *op) const {
  std::string text = "`" + op->getName().stripDialect().str() + "`";
  LedgerPlace place = block::placeOf(op->getLoc());
  if (place.line)
    text += " (" + std::to_string(place.line) + ":" + std::to_string(place.column) + ")";
  if (std::optional<size_t> line = lineOf_(op))
    text += ", line " + std::to_string(*line + 1);
  return text;
}

/// The nearest operation on a pipe before or behind another one, in program order.
Operation *BlockNotes::Writer::neighbour(Placed from, Pipe pipe, bool before) const {
  const Function &function = *from.function;
  auto isOn = [&](Operation *other) {
    std::optional<Pipe> own = pto::pipeOf(other);
    return own && (*own == pipe || pipe == Pipe::All);
  };
  size_t at = function.numbers.lookup(from.op);
  for (size_t i = at; before && i-- > 0;)
    if (isOn(function.order[i]))
      return function.order[i];
  for (size_t i = at + 1; !before && i < function.order.size(); ++i)
    if (isOn(function.order[i]))
      return function.order[i];
  return nullptr;
}

/// The waits of a set or the sets of a wait; for an event between cores those in the other
/// functions.
std::vector<BlockNotes::Writer::Placed> BlockNotes::Writer::partners(const Flag &flag) const {
  std::vector<Placed> found;
  for (const Function &function : functions_)
    if ((&function == &function_) != flag.crosses)
      for (Operation *op : function.order)
        if (std::optional<Flag> other = flagOf(op); other && flag.mayMeet(*other))
          found.push_back({&function, op});
  return found;
}

/// The memory of an access: a buffer of the function, or an array in global memory, by its name.
static std::pair<Value, std::string> targetOf(const Access &access, func::FuncOp function) {
  Value root = rootOf(access.value);
  auto argument = dyn_cast<BlockArgument>(root);
  bool isParameter = argument && argument.getOwner() == &function.front();
  auto name = isParameter ? attrs::name.of(function, argument.getArgNumber()) : StringAttr();
  return {name ? Value() : root, name ? name.str() : ""};
}

/// Describes what an event without a reason orders: an access of one pipe shortly before the event
/// is set, and an access of the other pipe shortly after the wait, to the same memory. Empty if
/// none is near.
std::string BlockNotes::Writer::handedOver(Placed set, Pipe from, Placed wait, Pipe to) const {
  constexpr unsigned nearby = 4;
  auto verb = [](const Access &access) {
    return access.writes ? access.reads ? "updates" : "writes" : "reads";
  };
  Placed last = set;
  for (unsigned i = 0; i < nearby && (last.op = neighbour(last, from, true)); ++i) {
    Placed next = wait;
    for (unsigned j = 0; j < nearby && (next.op = neighbour(next, to, false)); ++j)
      for (const Access &early : accessesOf(last.op))
        for (const Access &late : accessesOf(next.op)) {
          auto target = targetOf(early, last.function->op);
          bool isSame = target == targetOf(late, next.function->op) &&
                        (!target.first || set.function == wait.function);
          // Two reads need no order, and scratch holds no value between operations.
          if (!isSame || !(early.writes || late.writes) || early.scratch || late.scratch)
            continue;
          std::string name = target.first ? block::nameOf(target.first.getLoc()) : target.second;
          return named(last.op) + " " + verb(early) + " " +
                 (name.empty() ? "what" : "`" + name + "`, which") + " " + named(next.op) + " " +
                 verb(late);
        }
  }
  return "";
}

void BlockNotes::Writer::reason(Operation *op) {
  if (auto why = attrs::why.of(op))
    add("why: " + why.str());
}

/// A pipe of a core in words, `` `fix` of the cube core``. With `all` both vector cores are meant.
static std::string endText(Pipe pipe, func::FuncOp function, bool all) {
  return pipeText(pipe) + (isCube(function) ? " of the cube core"
                           : all            ? " of both vector cores"
                                            : " of the vector core");
}

void BlockNotes::Writer::flag(Operation *op, const Flag &flag) {
  std::vector<Placed> others = partners(flag);
  std::string event = flag.id ? "event " + std::to_string(*flag.id) : "an event by slot";
  std::string from = pipeText(flag.from), to = pipeText(flag.to);
  if (flag.crosses) {
    std::optional<Flag> other = others.empty() ? std::nullopt : flagOf(others.front().op);
    std::string far = other ? endText(other->own(), others.front().function->op, /*all=*/true)
                            : "the other cores";
    std::string near = endText(flag.own(), function_.op, /*all=*/false);
    from = flag.isWait ? far : near;
    to = flag.isWait ? near : far;
  }
  if (flag.isWait)
    add("**" + to + " waits for " + from + "** (" + event + ")");
  else
    add("**" + from + " signals to " + to + "** that all its earlier instructions have finished (" +
        event + ")");
  reason(op);
  std::string why;
  // Where the compiler left no reason, it is read off the code at both ends.
  for (size_t i = 0; i < others.size() && why.empty() && !attrs::why.isOn(op); ++i) {
    Placed set{&function_, op}, wait = others[i];
    Pipe from = flag.own(), to = flagOf(wait.op)->own();
    if (flag.isWait) {
      std::swap(set, wait);
      std::swap(from, to);
    }
    why = handedOver(set, from, wait, to);
    if (why.empty()) // other pipes may have told this one
      why = handedOver(set, Pipe::All, wait, to);
  }
  if (!why.empty())
    add("why: " + why);
  if (!flag.isWait)
    if (Operation *last = neighbour(op, flag.from, true))
      add("done before: " + named(last));
  std::string list;
  constexpr size_t most = 6;
  for (size_t i = 0; i < others.size() && i < most; ++i)
    if (std::optional<size_t> line = lineOf_(others[i].op))
      list += (list.empty() ? "" : ", ") + std::to_string(*line + 1);
  if (!list.empty())
    add(std::string(flag.isWait ? "set" : "waited for") + " at line " + list +
        (others.size() > most ? " …" : ""));
  if (flag.isWait)
    if (Operation *next = neighbour(op, flag.to, false))
      add("first instruction that waits: " + named(next));
}

void BlockNotes::Writer::barrier(BarrierOp op) {
  Pipe pipe = pipeOf(op.getPipe());
  add(pipe == Pipe::All
          ? "**every pipe waits** until all earlier instructions have finished"
          : "**" + pipeText(pipe) + " waits** until its own earlier instructions have finished");
  reason(op);
  if (Operation *last = neighbour(op, pipe, true))
    add("done before: " + named(last));
  if (Operation *next = neighbour(op, pipe, false))
    add("first instruction that waits: " + named(next));
}

const LedgerBuffer *BlockNotes::Writer::bufferOf(Operation *maker, std::string &space) const {
  if (!function_.ledger || !maker)
    return nullptr;
  if (auto slot = dyn_cast<MultiTileGetOp>(maker))
    maker = slot.getSource().getDefiningOp();
  std::optional<int64_t> address;
  ir::Place place{};
  if (auto tile = dyn_cast_or_null<AllocTileOp>(maker)) {
    address = numberOf(tile.getAddr());
    place = cast<TileBufType>(tile->getResult(0).getType()).getPlace();
  } else if (auto slots = dyn_cast_or_null<AllocMultiTileOp>(maker)) {
    address = numberOf(slots.getAddr());
    place = cast<MultiTileBufType>(slots->getResult(0).getType()).getSlot().getPlace();
  }
  if (!address)
    return nullptr;
  // Buffers that do not live at the same time may share an address, so the positions are compared
  // as well.
  LedgerPlace at = block::placeOf(maker->getLoc());
  const LedgerBuffer *best = nullptr;
  for (const LedgerSpace &each : function_.ledger->spaces)
    for (const LedgerBuffer &buffer : each.buffers)
      if (each.place == ir::placeName(place) && buffer.address == *address) {
        bool isExact = buffer.place.line == at.line && buffer.place.column == at.column;
        if (!best || isExact)
          best = &buffer;
        space = each.place;
      }
  return best;
}

void BlockNotes::Writer::buffer(Operation *op) {
  std::string space;
  const LedgerBuffer *buffer = bufferOf(op, space);
  if (!buffer)
    return;
  add(placeText(*buffer, space));
  auto lineAt = [&](uint32_t position) {
    const std::vector<uint32_t> &lines = function_.ledger->lines;
    return std::to_string(position < lines.size() ? lines[position] : 0);
  };
  add("live from line " + lineAt(buffer->begin) + " to " + lineAt(buffer->end) + " of the source");
}

void BlockNotes::Writer::accesses(Operation *op) {
  for (const Access &access : accessesOf(op)) {
    std::string what = access.scratch                  ? "uses"
                       : access.reads && access.writes ? "updates"
                       : access.reads                  ? "reads"
                                                       : "writes";
    std::string space;
    const LedgerBuffer *buffer = bufferOf(rootOf(access.value).getDefiningOp(), space);
    if (buffer) {
      add(what + " " + placeText(*buffer, space));
    } else if (auto argument = dyn_cast<BlockArgument>(rootOf(access.value))) {
      func::FuncOp function = function_.op;
      bool isParameter = argument.getOwner() == &function.front();
      auto name = isParameter ? attrs::name.of(function, argument.getArgNumber()) : StringAttr();
      if (name)
        add(what + " `" + name.str() + "` in global memory");
    }
  }
}

void BlockNotes::Writer::instruction(Operation *op, Pipe pipe) {
  std::string text = "runs on " + pipeText(pipe);
  if (std::optional<KernelKind> kind = kernelKindOf(function_.op))
    text += " of the " + stringifyKernelKind(*kind).str() + " core";
  if (Instruction instruction(op); instruction && !instruction.info().summary.empty())
    text = std::string(instruction.info().summary) + "; " + text;
  add(text);
  accesses(op);
  // The events that this pipe waited for since its previous instruction.
  size_t at = function_.numbers.lookup(op);
  Operation *previous = neighbour(op, pipe, true);
  size_t first = previous ? function_.numbers.lookup(previous) + 1 : 0;
  for (size_t i = first; i < at; ++i) {
    Operation *other = function_.order[i];
    std::optional<Flag> wait = flagOf(other);
    auto barrier = dyn_cast<BarrierOp>(other);
    bool isOwn =
        (wait && wait->isWait && wait->to == pipe) ||
        (barrier && (pipeOf(barrier.getPipe()) == pipe || pipeOf(barrier.getPipe()) == Pipe::All));
    if (!isOwn)
      continue;
    auto why = attrs::why.of(other);
    std::string whom = wait && wait->crosses ? "another core"
                       : wait                ? pipeText(wait->from)
                                             : "all before";
    add("waits for " + whom + (why ? ": " + why.str() : std::string()));
  }
}

std::vector<std::string> BlockNotes::Writer::write(Operation *op) {
  if (std::optional<Flag> event = flagOf(op))
    flag(op, *event);
  else if (auto barrierOp = dyn_cast<BarrierOp>(op))
    barrier(barrierOp);
  else if (isa<AllocTileOp, AllocMultiTileOp, MultiTileGetOp>(op))
    buffer(op);
  else if (std::optional<Pipe> pipe = pto::pipeOf(op))
    instruction(op, *pipe);
  return std::move(notes_);
}

std::vector<std::string> BlockNotes::of(Operation *op, const LineOf &lineOf) const {
  auto found = functionOf_.find(op);
  return found == functionOf_.end() ? std::vector<std::string>()
                                    : Writer(functions_, found->second, lineOf).write(op);
}

} // namespace ptl::worker

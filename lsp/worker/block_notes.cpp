#include "lsp/worker/block_notes.h"

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
    op.walk<WalkOrder::PreOrder>([&](Operation *inner) {
      functionOf_[inner] = functions_.size();
      function.numbers[inner] = function.order.size();
      function.order.push_back(inner);
    });
    functions_.push_back(std::move(function));
  }
}

namespace {

/// An event: who sets it, who waits for it, its number.
struct Flag {
  Pipe from, to;
  bool isWait;
  std::optional<int64_t> id; ///< nothing: computed

  /// Whether the other end may mean the same event: computed numbers may be any.
  bool mayMeet(const Flag &other) const {
    return isWait != other.isWait && from == other.from && to == other.to &&
           (!id || !other.id || id == other.id);
  }
};

std::optional<Flag> flagOf(Operation *op) {
  auto fixed = [](auto flag, bool isWait) {
    return Flag{pipeOf(flag.getSrcPipe()), pipeOf(flag.getDstPipe()), isWait,
                static_cast<int64_t>(flag.getEventId())};
  };
  auto computed = [](auto flag, bool isWait) {
    return Flag{pipeOf(flag.getSrcPipe()), pipeOf(flag.getDstPipe()), isWait, std::nullopt};
  };
  return llvm::TypeSwitch<Operation *, std::optional<Flag>>(op)
      .Case([&](SetFlagOp flag) { return fixed(flag, false); })
      .Case([&](WaitFlagOp flag) { return fixed(flag, true); })
      .Case([&](SetFlagDynOp flag) { return computed(flag, false); })
      .Case([&](WaitFlagDynOp flag) { return computed(flag, true); })
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

/// Says something about one operation.
class BlockNotes::Writer {
public:
  Writer(const Function &function, const LineOf &lineOf) : function_(function), lineOf_(lineOf) {}

  std::vector<std::string> write(Operation *op);

private:
  void flag(Operation *op, const Flag &flag);
  void barrier(BarrierOp op);
  void instruction(Operation *op, Pipe pipe);
  void accesses(Operation *op);
  void buffer(Operation *op);
  void reason(Operation *op);

  std::string named(Operation *op) const;
  Operation *neighbour(Operation *op, Pipe pipe, bool before) const;
  std::vector<Operation *> partners(const Flag &flag) const;
  const LedgerBuffer *bufferOf(Operation *maker, std::string &space) const;
  void add(std::string text) { notes_.push_back(std::move(text)); }

  const Function &function_;
  const LineOf &lineOf_;
  std::vector<std::string> notes_;
};

/// `` `tload` (11:21), line 43``: the instruction, where it came from, where it stands in the text.
std::string BlockNotes::Writer::named(Operation *op) const {
  std::string text = "`" + op->getName().stripDialect().str() + "`";
  LedgerPlace place = block::placeOf(op->getLoc());
  if (place.line)
    text += " (" + std::to_string(place.line) + ":" + std::to_string(place.column) + ")";
  if (std::optional<size_t> line = lineOf_(op))
    text += ", line " + std::to_string(*line + 1);
  return text;
}

/// The nearest operation on a pipe before or behind, in program order.
Operation *BlockNotes::Writer::neighbour(Operation *op, Pipe pipe, bool before) const {
  auto isOn = [&](Operation *other) {
    std::optional<Pipe> own = pto::pipeOf(other);
    return own && (*own == pipe || pipe == Pipe::All);
  };
  size_t at = function_.numbers.lookup(op);
  for (size_t i = at; before && i-- > 0;)
    if (isOn(function_.order[i]))
      return function_.order[i];
  for (size_t i = at + 1; !before && i < function_.order.size(); ++i)
    if (isOn(function_.order[i]))
      return function_.order[i];
  return nullptr;
}

/// The waits of a set, the sets of a wait.
std::vector<Operation *> BlockNotes::Writer::partners(const Flag &flag) const {
  std::vector<Operation *> found;
  for (Operation *op : function_.order)
    if (std::optional<Flag> other = flagOf(op); other && flag.mayMeet(*other))
      found.push_back(op);
  return found;
}

void BlockNotes::Writer::reason(Operation *op) {
  if (auto why = op->getAttrOfType<StringAttr>("ptl.why"))
    add("why: " + why.str());
}

void BlockNotes::Writer::flag(Operation *op, const Flag &flag) {
  std::string event = flag.id ? "event " + std::to_string(*flag.id) : "an event by slot";
  if (flag.isWait)
    add("**" + pipeText(flag.to) + " waits for " + pipeText(flag.from) + "** (" + event + ")");
  else
    add("**" + pipeText(flag.from) + " tells " + pipeText(flag.to) +
        "** that it has done all before (" + event + ")");
  reason(op);
  if (!flag.isWait)
    if (Operation *last = neighbour(op, flag.from, true))
      add("done before: " + named(last));
  std::string list;
  constexpr size_t most = 6;
  std::vector<Operation *> others = partners(flag);
  for (size_t i = 0; i < others.size() && i < most; ++i)
    if (std::optional<size_t> line = lineOf_(others[i]))
      list += (list.empty() ? "" : ", ") + std::to_string(*line + 1);
  if (!list.empty())
    add(std::string(flag.isWait ? "set" : "waited for") + " at line " + list +
        (others.size() > most ? " …" : ""));
  if (flag.isWait)
    if (Operation *next = neighbour(op, flag.to, false))
      add("held up until then: " + named(next));
}

void BlockNotes::Writer::barrier(BarrierOp op) {
  Pipe pipe = pipeOf(op.getPipe());
  add(pipe == Pipe::All ? "**every pipe waits** until all before is done"
                        : "**" + pipeText(pipe) + " waits** until it has done all before");
  reason(op);
  if (Operation *last = neighbour(op, pipe, true))
    add("done before: " + named(last));
  if (Operation *next = neighbour(op, pipe, false))
    add("held up until then: " + named(next));
}

const LedgerBuffer *BlockNotes::Writer::bufferOf(Operation *maker, std::string &space) const {
  if (!function_.ledger || !maker)
    return nullptr;
  if (auto slot = dyn_cast<MultiTileGetOp>(maker))
    maker = slot.getSource().getDefiningOp();
  auto addressOf = [](Value value) -> std::optional<int64_t> {
    APInt number;
    return value && matchPattern(value, m_ConstantInt(&number))
               ? std::optional(number.getSExtValue())
               : std::nullopt;
  };
  std::optional<int64_t> address;
  ir::Place place{};
  if (auto tile = dyn_cast_or_null<AllocTileOp>(maker)) {
    address = addressOf(tile.getAddr());
    place = cast<TileBufType>(tile->getResult(0).getType()).getPlace();
  } else if (auto slots = dyn_cast_or_null<AllocMultiTileOp>(maker)) {
    address = addressOf(slots.getAddr());
    place = cast<MultiTileBufType>(slots->getResult(0).getType()).getSlot().getPlace();
  }
  if (!address)
    return nullptr;
  // Buffers that are not live together may share an address; the place tells them apart.
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
      auto name = isParameter
                      ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ptl.name")
                      : StringAttr();
      if (name)
        add(what + " `" + name.str() + "` in global memory");
    }
  }
}

void BlockNotes::Writer::instruction(Operation *op, Pipe pipe) {
  std::string text = "runs on " + pipeText(pipe);
  if (auto kind = func::FuncOp(function_.op)->getAttrOfType<KernelKindAttr>("pto.kernel_kind"))
    text += " of the " + stringifyKernelKind(kind.getValue()).str() + " core";
  if (Instruction instruction(op); instruction && !instruction.info().summary.empty())
    text = std::string(instruction.info().summary) + "; " + text;
  add(text);
  accesses(op);
  // What its own pipe waited for since the instruction before.
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
    auto why = other->getAttrOfType<StringAttr>("ptl.why");
    add("waits for " + (wait ? pipeText(wait->from) : "all before") +
        (why ? ": " + why.str() : std::string()));
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
                                    : Writer(functions_[found->second], lineOf).write(op);
}

} // namespace ptl::worker

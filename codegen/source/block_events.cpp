#include "codegen/source/block_events.h"

#include "codegen/source/block_shared.h"
#include "codegen/source/origins.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/cross_core.h"
#include "ir/dialect/instruction_op.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::source {

/// `base + (x % count)`: the numbers that a computed event takes.
struct Rotation {
  int64_t first = 0, count = 1;
  Value turn; ///< `x`; null if it is not of this form
};

static Rotation rotationOf(Value id) {
  Rotation rotation;
  // An event of a loop whose buffers rotate has a number for each of them: the first plus the round
  // modulo their count.
  if (auto sum = id.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> base = getConstantIntValue(sum.getRhs())) {
      rotation.first = *base;
      id = sum.getLhs();
    }
  auto rest = id.getDefiningOp<arith::RemUIOp>();
  std::optional<int64_t> count = rest ? getConstantIntValue(rest.getRhs()) : std::nullopt;
  if (count) {
    rotation.count = *count;
    rotation.turn = rest.getLhs();
  }
  return rotation;
}

static EventGroup &groupOf(BlockCode &code, Pipe from, Pipe to, int64_t id) {
  for (EventGroup &group : code.events())
    if (group.from == from && group.to == to && group.first <= id && id < group.first + group.count)
      return group;
  code.events().push_back({from, to, id, 1, "", {}});
  return code.events().back();
}

/// The event between cores that an operation is about, by its source: numbers that are computed
/// are of one. Null: it is none that was declared.
static CoreEvent *coreEvent(BlockCode &code, Operation *op, bool isSet) {
  auto ids = attrs::ids.of(op); // first, and how many
  if (!ids || !pto::kernelKindOf(code.function()))
    return nullptr;
  bool isCube = pto::isCube(code.function());
  CoreEvent &event = code.byCores().events[{isCube == isSet, ids[0]}];
  if (event.name.empty()) {
    auto name = attrs::event.of(op);
    event.name = code.byCores().fresh(name ? name.str() : "handed");
    event.first = ids[0];
    event.count = ids[1];
    event.op = op;
  }
  return &event;
}

/// Without places, which are of another text.
static std::string reasonText(llvm::StringRef why) {
  std::string text;
  size_t begin = why.rfind("; ");
  for (char c : begin == llvm::StringRef::npos ? why : why.drop_front(begin + 2)) {
    text += c;
    // ` (8:16)` names a line of the source that this was made from.
    size_t open = text.rfind(" (");
    if (c == ')' && open != text.npos && text.find(':', open) != text.npos)
      text.resize(open);
  }
  return text;
}

/// Computed numbers come first: single ones may lie among them.
void collectEvents(BlockCode &code) {
  code.function()->walk([&](Operation *op) {
    auto add = [&](Pipe from, Pipe to, Value id) {
      Rotation rotation = rotationOf(id);
      if (!rotation.turn)
        return code.unwritable(op, "an event has a computed number");
      EventGroup &group = groupOf(code, from, to, rotation.first);
      group.count = std::max(group.count, rotation.count);
    };
    auto addEnd = [&](Operation *op, bool isSet, Pipe pipe) {
      CoreEvent *event = coreEvent(code, op, isSet);
      if (!event)
        return code.unwritable(op, "an event between cores has no declaration");
      bool isCube = pto::isCube(code.function());
      std::string &known = isSet ? event->from : event->to;
      std::string end = (isCube ? "aic." : "aiv.") + std::string(pipeName(pipe));
      if (!known.empty() && known != end)
        return code.unwritable(op, "events between cores share a number");
      known = end;
    };
    if (auto set = dyn_cast<pto::SetFlagDynOp>(op))
      add(pto::pipeOf(set.getSrcPipe()), pto::pipeOf(set.getDstPipe()), set.getEventId());
    if (auto wait = dyn_cast<pto::WaitFlagDynOp>(op))
      add(pto::pipeOf(wait.getSrcPipe()), pto::pipeOf(wait.getDstPipe()), wait.getEventId());
    if (auto set = dyn_cast<pto::SyncSetOp>(op))
      addEnd(op, /*isSet=*/true, pto::pipeOf(set.getPipe()));
    if (auto wait = dyn_cast<pto::SyncWaitOp>(op))
      addEnd(op, /*isSet=*/false, pto::pipeOf(wait.getPipe()));
  });
  // The groups of computed numbers exist now, so that a fixed number finds the group whose range
  // holds it.
  code.function()->walk([&](Operation *op) {
    auto note = [&](EventGroup &group) {
      if (auto why = attrs::why.of(op))
        group.reasons.insert(reasonText(why));
      if (!group.declared)
        group.declared = declarationOf(op);
    };
    llvm::TypeSwitch<Operation *>(op)
        .Case<pto::SetFlagOp, pto::WaitFlagOp>([&](auto flag) {
          note(groupOf(code, pto::pipeOf(flag.getSrcPipe()), pto::pipeOf(flag.getDstPipe()),
                       static_cast<int64_t>(flag.getEventId())));
        })
        .Case<pto::SetFlagDynOp, pto::WaitFlagDynOp>([&](auto flag) {
          note(groupOf(code, pto::pipeOf(flag.getSrcPipe()), pto::pipeOf(flag.getDstPipe()),
                       rotationOf(flag.getEventId()).first));
        });
  });
  // The order of the declarations must not depend on that of the instructions, which passes change.
  llvm::stable_sort(code.events(), [](const EventGroup &a, const EventGroup &b) {
    return std::tuple(a.from, a.to, a.first) < std::tuple(b.from, b.to, b.first);
  });
}

namespace {
/// A word for what has happened when an event between two pipes is set.
struct EventWord {
  Pipe from, to;
  const char *word;
};

constexpr EventWord kEventWords[] = {
    {Pipe::MTE2, Pipe::V, "loaded"},    {Pipe::V, Pipe::MTE2, "consumed"},
    {Pipe::V, Pipe::MTE3, "computed"},  {Pipe::MTE3, Pipe::V, "stored"},
    {Pipe::MTE3, Pipe::MTE2, "stored"}, {Pipe::MTE2, Pipe::MTE3, "loaded"},
    {Pipe::V, Pipe::S, "computed"},     {Pipe::S, Pipe::V, "read"},
    {Pipe::MTE2, Pipe::MTE1, "staged"}, {Pipe::MTE1, Pipe::MTE2, "moved"},
    {Pipe::MTE1, Pipe::M, "ready"},     {Pipe::M, Pipe::MTE1, "used"},
    {Pipe::M, Pipe::FIX, "summed"},     {Pipe::FIX, Pipe::M, "drained"},
};

} // namespace

static void nameEvents(BlockCode &code) {
  for (EventGroup &group : code.events()) {
    std::string word = std::string(pipeName(group.from)) + "_" + std::string(pipeName(group.to));
    for (const EventWord &each : kEventWords)
      if (each.from == group.from && each.to == group.to)
        word = each.word;
    group.name = code.names().fresh(word);
  }
}

void declareEvents(BlockCode &code) {
  nameEvents(code);
  for (const EventGroup &group : code.events()) {
    std::string count = group.count > 1 ? "[" + std::to_string(group.count) + "]" : "";
    std::string text = "event " + group.name + count + ": " + std::string(pipeName(group.from)) +
                       " -> " + std::string(pipeName(group.to)) + " id " +
                       std::to_string(group.first);
    if (!group.reasons.empty()) {
      text += "  // " + *group.reasons.begin();
      if (group.reasons.size() > 1)
        text += ", and " + std::to_string(group.reasons.size() - 1) + " more";
    }
    code.line(group.declared ? withOrigin(text, *group.declared) : text);
  }
}

static std::string eventText(BlockCode &code, Pipe from, Pipe to, Value id,
                             std::optional<int64_t> number) {
  Rotation rotation = id ? rotationOf(id) : Rotation();
  EventGroup &group = groupOf(code, from, to, number.value_or(rotation.first));
  if (group.count == 1)
    return group.name;
  return group.name + "[" +
         (number ? std::to_string(*number - group.first)
                 : indexText(code, rotation.turn, "turn").text) +
         "]";
}

static void printCoreFlag(BlockCode &code, Operation *op, bool isSet, Value id) {
  CoreEvent *event = coreEvent(code, op, isSet);
  if (!event)
    return;
  std::string text = event->name;
  std::optional<int64_t> number = getConstantIntValue(id);
  Value turn = rotationOf(id).turn;
  if (event->count > 1 && !number && !turn)
    return code.unwritable(op, "an event has a computed number");
  if (event->count > 1)
    text += "[" +
            (number ? std::to_string(*number - event->first) : indexText(code, turn, "turn").text) +
            "]";
  code.line((isSet ? "signal(" : "wait(") + text + ")");
}

bool printSynchronisation(BlockCode &code, Operation *op) {
  auto flag = [&](bool sets, Pipe from, Pipe to, Value id, std::optional<int64_t> number) {
    code.line((sets ? "signal(" : "wait(") + eventText(code, from, to, id, number) + ")");
    return true;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<pto::SetFlagOp, pto::WaitFlagOp>([&](auto own) {
        return flag(isa<pto::SetFlagOp>(op), pto::pipeOf(own.getSrcPipe()),
                    pto::pipeOf(own.getDstPipe()), {}, static_cast<int64_t>(own.getEventId()));
      })
      .Case<pto::SetFlagDynOp, pto::WaitFlagDynOp>([&](auto own) {
        return flag(isa<pto::SetFlagDynOp>(op), pto::pipeOf(own.getSrcPipe()),
                    pto::pipeOf(own.getDstPipe()), own.getEventId(), std::nullopt);
      })
      .Case<pto::SyncSetOp, pto::SyncWaitOp>([&](auto own) {
        printCoreFlag(code, op, isa<pto::SyncSetOp>(op), own.getEventId());
        return true;
      })
      .Case<pto::BarrierOp>([&](pto::BarrierOp barrier) {
        code.line("barrier(" + std::string(pipeName(pto::pipeOf(barrier.getPipe()))) + ")");
        return true;
      })
      .Default(false);
}

} // namespace ptl::source

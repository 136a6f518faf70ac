// Reports hazards and errors of synchronisation.
#include "passes/prover/report.h"

#include "ir/dialect/attributes.h"

#include "machines/machine.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"

namespace ptl::prove {

std::string Case::bufferName(uint32_t buffer) const {
  const Buffer &made = execution.buffers[buffer];
  // A slot of a ring is named by its number, since the ring's slots share a name.
  std::string name = nameOf(kernel.operations[made.op]);
  bool rotates = mnemonic(kernel.operations[made.op]) != "alloc_tile";
  return rotates ? name + "[" + std::to_string(made.slot) + "]" : name;
}

static std::string edge(unsigned from, unsigned to, const char *what) {
  return std::string(what) + "[<" + pipeText(from) + ">, <" + pipeText(to) + ">, <id>]";
}

/// Whether the kernel was written at the block level of the language, not in IR.
static bool byHand(mlir::Operation *op) {
  auto module = op->getParentOfType<mlir::ModuleOp>();
  return module && attrs::byHand.isOn(module);
}

/// The name of a pipe as the language spells it, `mte2`.
static std::string pipeWord(unsigned pipe) {
  return llvm::StringRef(pipeText(pipe)).drop_front(5).lower();
}

/// A pipe of a core as events between cores name it, `aic.fix`.
static std::string endWord(const Core &core, unsigned pipe) {
  return (core.function->cube ? "aic." : "aiv.") + pipeWord(pipe);
}

/// Describes the missing edge in a manual kernel, whose author writes events and barriers.
static void explainByHand(const Case &judged, EventRef first, EventRef second, Finding &finding) {
  mlir::Operation *a = judged.operation(first), *b = judged.operation(second);
  unsigned from = judged.event(first).pipe, to = judged.event(second).pipe;
  bool crosses = first.core != second.core;
  // Operations of one pipe run in order anyway; only their results may not be visible yet.
  if (from == to && !crosses) {
    finding.notes.push_back("missing edge: `barrier(" + pipeWord(from) + ")` between the two");
    finding.fix = "insert `barrier(" + pipeWord(from) + ")` before " + withPlace(b);
    return;
  }
  const auto &cores = judged.execution.cores;
  std::string edge =
      crosses ? endWord(cores[first.core], from) + " -> " + endWord(cores[second.core], to)
              : pipeWord(from) + " -> " + pipeWord(to);
  finding.notes.push_back("missing edge: " + edge + ", from " + withPlace(a) + " to " +
                          withPlace(b));
  finding.fix = "with an `event e: " + edge + "`, insert `signal(e)` after " + withPlace(a) +
                " and `wait(e)` before " + withPlace(b);
}

// Describes the edge that is missing, and how to insert it.
static void explainEdge(const Case &judged, EventRef first, EventRef second, Finding &finding) {
  unsigned from = judged.event(first).pipe, to = judged.event(second).pipe;
  mlir::Operation *a = judged.operation(first), *b = judged.operation(second);
  if (byHand(b))
    return explainByHand(judged, first, second, finding);
  if (first.core != second.core) {
    finding.notes.push_back("missing edge: from " + withPlace(a) + " on one core to " +
                            withPlace(b) + " on another");
    finding.fix =
        "push to a queue after " + withPlace(a) + " and pop from it before " + withPlace(b);
    return;
  }
  if (from == to) {
    finding.notes.push_back("missing edge: `barrier <" + pipeText(from) + ">` between the two");
    finding.fix = "insert `barrier <" + pipeText(from) + ">` before " + withPlace(b);
    return;
  }
  finding.notes.push_back("missing edge: `set_flag[" + pipeText(from).substr(5) + " -> " +
                          pipeText(to).substr(5) + "]` after " + withPlace(a) +
                          ", `wait_flag` before " + withPlace(b));
  finding.fix = "insert `" + edge(from, to, "set_flag") + "` after " + withPlace(a) + " and `" +
                edge(from, to, "wait_flag") + "` before " + withPlace(b);
}

void reportHazard(const Case &judged, HazardKind kind, EventRef first, EventRef second,
                  const std::string &what, const std::string &other) {
  mlir::Operation *a = judged.operation(first), *b = judged.operation(second);
  bool reads = kind == HazardKind::ReadAfterWrite, firstReads = kind == HazardKind::WriteAfterRead;
  // The second operation comes no later in the code, so it belongs to the next round of a loop.
  bool nextTurn = first.core == second.core && judged.event(first).op >= judged.event(second).op;
  std::string still = firstReads ? "reading " : "writing ";
  still += what == other ? "it" : "`" + other + "`, in the same bytes";
  Finding *finding =
      judged.findings.add(DiagId::PipeHazard, b,
                          {mnemonic(b), reads ? "reads" : "writes", what, mnemonic(a), still,
                           nextTurn ? ", one iteration of a loop earlier" : ""},
                          a);
  if (!finding)
    return;
  finding->first = a;
  finding->earlierTurn = nextTurn;
  finding->sharedBytes = what != other;
  auto place = [&](EventRef ref) {
    return "on " + pipeText(judged.event(ref).pipe) + " of the " +
           (judged.execution.cores[ref.core].function->cube ? "cube" : "vector") + " core";
  };
  const char *names[] = {"read after write", "write after read", "write after write"};
  finding->related.push_back({a->getLoc(), "`" + mnemonic(a) + "` runs " + place(first)});
  finding->notes.push_back(std::string(names[static_cast<int>(kind)]) + ": `" + mnemonic(b) +
                           "` runs " + place(second));
  explainEdge(judged, first, second, *finding);
  if (!judged.with.empty())
    finding->notes.push_back("it happens with " + judged.with);
}

// ---- events and queues --------------------------------------------------------------------------

static bool isCrossing(const Event &event) {
  return event.kind == Event::Signal || event.kind == Event::Await;
}

static std::string crossingName(const Case &judged, EventRef ref) {
  mlir::Operation *op = judged.operation(ref);
  return attrs::event.isOn(op) ? "`" + spelledEvent(op) + "`"
                               : std::to_string(judged.event(ref).flag);
}

/// The pipe at one end of an event between cores. The core of the operation is one end; the other
/// end is looked up on the cores of the other kind.
static std::string endOf(const Case &judged, EventRef ref, Event::Kind kind) {
  const Core &own = judged.execution.cores[ref.core];
  const Event &event = judged.event(ref);
  if (event.kind == kind)
    return endWord(own, event.pipe);
  for (const Core &core : judged.execution.cores)
    if (core.function->cube != own.function->cube)
      for (const Event &other : core.events)
        if (other.kind == kind && other.flag == event.flag)
          return endWord(core, other.pipe);
  return own.function->cube ? "aiv" : "aic";
}

/// Whether any operation sets the event that a wait waits for.
static bool isEverSet(const Case &judged, EventRef wait) {
  const Event &awaited = judged.event(wait);
  const auto &cores = judged.execution.cores;
  for (uint32_t i = 0; i < cores.size(); ++i)
    for (const Event &event : cores[i].events)
      if (isCrossing(awaited)
              ? event.kind == Event::Signal && event.flag == awaited.flag &&
                    cores[i].function->cube != cores[wait.core].function->cube
              : i == wait.core && event.kind == Event::Set && event.flag == awaited.flag)
        return true;
  return false;
}

/// The event and the pipes that it connects, as the author writes them.
static std::vector<std::string> eventArguments(const Case &judged, EventRef ref) {
  unsigned flag = judged.event(ref).flag;
  if (isCrossing(judged.event(ref)))
    return {crossingName(judged, ref), endOf(judged, ref, Event::Signal),
            endOf(judged, ref, Event::Await)};
  // The number of an event within a core packs both pipes: from * 512 + to * 64 + id.
  unsigned from = flag / 512, to = flag / 64 % 8;
  mlir::Operation *op = judged.operation(ref);
  if (auto name = attrs::event.of(op))
    return {"`" + name.str() + "`", pipeWord(from), pipeWord(to)};
  return {std::to_string(flag % 64), pipeText(from), pipeText(to)};
}

static Finding *reportEvent(const Case &judged, const SyncFault &fault) {
  mlir::Operation *op = judged.operation(fault.first);
  auto arguments = eventArguments(judged, fault.first);
  if (fault.kind == SyncFault::LeftSet) {
    arguments.push_back(judged.kernel.name);
    Finding *finding = judged.findings.add(DiagId::EventLeftSet, op, arguments);
    if (finding)
      finding->fix =
          isCrossing(judged.event(fault.first))
              ? "wait for it on the other core as often, or leave " + withPlace(op) + " out"
              : "wait for it after " + withPlace(op) + ", or leave that out";
    return finding;
  }
  arguments.insert(arguments.begin(), spelling(op));
  if (fault.kind == SyncFault::NeverSet) {
    arguments.push_back(isEverSet(judged, fault.first) ? "set fewer times than it is waited for"
                                                       : "never set");
    Finding *finding = judged.findings.add(DiagId::WaitNeverSatisfied, op, arguments);
    if (finding)
      finding->fix = "set it on " + arguments[2] + " before, or leave the wait out";
    return finding;
  }
  mlir::Operation *pending = judged.operation(fault.second);
  Finding *finding = judged.findings.add(DiagId::EventSetTwice, op, arguments, pending);
  if (finding && fault.kind == SyncFault::BeyondCount) {
    finding->notes.push_back("events between cores count up to " +
                             std::to_string(judged.kernel.crossCount) +
                             " signals that have not been waited for");
    finding->fix = "let " + arguments[2] + " wait for an event of " + arguments[3] + " in between";
    return finding;
  }
  if (finding) {
    finding->related.push_back(
        {pending->getLoc(), "set here, and " + arguments[3] + " may not have waited for it yet"});
    finding->fix = "use another event, or let " + arguments[2] + " wait for an event of " +
                   arguments[3] + " in between";
  }
  return finding;
}

static Finding *reportQueue(const Case &judged, const SyncFault &fault) {
  mlir::Operation *op = judged.operation(fault.first);
  const Queue &queue = judged.kernel.queues[judged.event(fault.first).flag];
  std::string number = std::to_string(judged.event(fault.first).number + 1);
  std::string what;
  switch (fault.kind) {
  case SyncFault::PopWithoutPush:
    what = "pop " + number + " waits for a push that never comes";
    break;
  case SyncFault::PushWithoutFree:
    what = "push " + number + " waits for a free slot that never comes: a `tfree` is missing";
    break;
  case SyncFault::LeftInQueue:
    what = "push " + number + " is never popped";
    break;
  case SyncFault::MissingFree:
    what = "the slot of pop " + number + " is never given back with tfree";
    break;
  case SyncFault::HeldTwice:
    what = "pop " + number + " comes before tfree gives back what was popped before it";
    break;
  default:
    what = "tfree " + number + " comes when no slot is popped";
  }
  return judged.findings.add(DiagId::QueueUnbalanced, op, {queue.name, what});
}

/// Adds a note on slots that are freed in groups: a push may wait although its own slot has been
/// given back.
static void noteFreeSlots(const Case &judged, const SyncFault &fault, Finding &finding) {
  for (const EventRef &each : {fault.first, fault.second}) {
    if (each.event == kNone || judged.event(each).kind != Event::Push)
      continue;
    const Queue &queue = judged.kernel.queues[judged.event(each).flag];
    std::string atOnce = std::to_string(freedAtOnce(queue.producer().slots));
    if (atOnce != "1")
      finding.notes.push_back("free slots of `" + queue.name + "` are signalled " + atOnce +
                              " at a time, when " + atOnce + " have been given back");
    return;
  }
}

void judgeSync(const Case &judged) {
  for (const SyncFault &fault : judged.order.faults) {
    Finding *finding = nullptr;
    if (fault.kind <= SyncFault::BeyondCount) {
      finding = reportEvent(judged, fault);
    } else if (fault.kind == SyncFault::Deadlock) {
      mlir::Operation *op = judged.operation(fault.first);
      bool two = fault.second.event != kNone;
      mlir::Operation *other = two ? judged.operation(fault.second) : op;
      finding = judged.findings.add(
          DiagId::BlockDeadlock, op,
          {spelling(op), two ? withPlace(other) : "the operation it waits for"}, other);
      if (finding && two)
        finding->related.push_back({other->getLoc(), "this also waits"});
      if (finding)
        noteFreeSlots(judged, fault, *finding);
    } else {
      finding = reportQueue(judged, fault);
    }
    if (finding && !judged.with.empty())
      finding->notes.push_back("it happens with " + judged.with);
  }
}

} // namespace ptl::prove

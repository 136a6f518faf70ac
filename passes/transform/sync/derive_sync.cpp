// Puts the events and barriers that `FunctionOrder` chose into the function, and says why each is
// there.
#include "passes/transform/sync/derive_sync.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/cross_core.h"

#include "passes/passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace ptl::ir {
#define GEN_PASS_DEF_DERIVESYNC
#include "passes/passes.h.inc"
} // namespace ptl::ir

namespace ptl::pto {

// ---- reasons in words ---------------------------------------------------------------------------

// A location may be wrapped: by a name, by a call that was inlined, or by a fusion of several.
static FileLineColLoc placeOf(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return file;
  if (auto name = dyn_cast<NameLoc>(location))
    return placeOf(name.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return placeOf(call.getCaller());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (FileLineColLoc place = placeOf(part))
        return place;
  return {};
}

static std::string nameOf(Value value, func::FuncOp function) {
  Value root = rootOf(value);
  // A slot with a name of its own is called by it; otherwise the ring's name is used.
  while (auto get = root.getDefiningOp<MultiTileGetOp>()) {
    if (isa<NameLoc>(get.getLoc()))
      break;
    root = get.getSource();
  }
  if (auto argument = dyn_cast<BlockArgument>(root)) {
    if (argument.getOwner() == &function.front())
      if (auto name = attrs::name.of(function, argument.getArgNumber()))
        return name.str();
    return "";
  }
  auto name = dyn_cast<NameLoc>(root.getLoc());
  return name ? name.getName().str() : "";
}

static std::string describe(Operation *op) {
  std::string text = op->getName().stripDialect().str();
  if (FileLineColLoc place = placeOf(op->getLoc()))
    text += " (" + std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn()) + ")";
  return text;
}

static constexpr llvm::StringLiteral kHazardNames[] = {"RAW", "WAR", "WAW"};

static std::string explain(const Reason &reason, func::FuncOp function) {
  // An event that only orders rounds of a loop has no dependence of its own.
  if (!reason.src)
    return "the events inside are used again";
  std::string name = nameOf(reason.dst->value, function);
  if (name.empty())
    name = nameOf(reason.src->value, function);
  std::string text = reason.reuse ? "event used again, of " : "";
  text += kHazardNames[static_cast<size_t>(reason.hazard)];
  if (!name.empty())
    text += " on `" + name + "`";
  text += ": " + describe(reason.src->last);
  if (reason.carried)
    text += " in iteration i-" + std::to_string(reason.distance);
  return text + " -> " + describe(reason.dst->first);
}

// ---- putting in ---------------------------------------------------------------------------------

namespace {

class SyncEmitter {
public:
  SyncEmitter(func::FuncOp function, FunctionOrder &order, SyncResult &result)
      : function_(function), order_(order), result_(result), builder_(function.getContext()) {}

  void emit(Body &body);

private:
  struct Insertion {
    Step step;
    std::function<void()> make;
  };

  void addEvent(Body &body, const Event &event);
  void addBarrier(const BarrierPoint &point);
  void emitDrains(const Item &around, const Event &event);
  void emitWhile(const Item &item);
  void record(const Event &event, const std::string &why);
  void recordBarrier(bool all, const Reason &reason, const std::string &why);
  void describeEnds(SyncEdge &edge, const Reason &reason);
  void insert(Body &body);
  Value numberOf(Body &body, Value slot, int64_t count);
  Value iterationOf(Body &body);
  Value modulo(Value number, int64_t count, Location loc);
  Value idOf(Body &body, const Event &event);
  Value constant(int64_t value);
  Value copyOf(Value value, IRMapping &copies);
  template <typename OpT> void flag(const Event &event, int64_t id, const std::string &why);
  template <typename OpT> void flagBySlot(const Event &event, Value id, const std::string &why);
  void barrier(Location loc, PipeKind pipe, const std::string &why);
  Location locOf(const Reason &reason) const {
    return reason.dst ? reason.dst->first->getLoc() : func::FuncOp(function_).getLoc();
  }
  PipeKindAttr pipeAttr(Pipe pipe) {
    return PipeKindAttr::get(builder_.getContext(), pipeKind(pipe));
  }

  func::FuncOp function_;
  FunctionOrder &order_;
  SyncResult &result_;
  OpBuilder builder_;
  std::vector<Insertion> insertions_; ///< of the body at hand
  std::map<int64_t, Value> constants_;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> numbers_; ///< of slots, in the body at hand
  llvm::DenseMap<std::pair<Value, int>, Value> ids_;         ///< by number and first id
  std::set<std::tuple<size_t, int>> drained_;                ///< turns, by pair and resource
  llvm::DenseMap<Operation *, Operation *> lastDrain_;       ///< behind a loop
};

template <typename OpT>
void SyncEmitter::flag(const Event &event, int64_t id, const std::string &why) {
  auto op = builder_.create<OpT>(locOf(event.reason), pipeAttr(event.src), pipeAttr(event.dst),
                                 EventIdAttr::get(builder_.getContext(), static_cast<EventId>(id)));
  attrs::why.set(op, why);
}

template <typename OpT>
void SyncEmitter::flagBySlot(const Event &event, Value id, const std::string &why) {
  auto op = builder_.create<OpT>(locOf(event.reason), pipeAttr(event.src), pipeAttr(event.dst), id);
  attrs::why.set(op, why);
}

void SyncEmitter::barrier(Location loc, PipeKind pipe, const std::string &why) {
  auto op = builder_.create<BarrierOp>(loc, PipeKindAttr::get(builder_.getContext(), pipe));
  attrs::why.set(op, why);
}

Value SyncEmitter::constant(int64_t value) {
  Value &known = constants_[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(builder_);
    // Constants stand at the function's start, so that they dominate every use.
    builder_.setInsertionPointToStart(&function_.front());
    known = builder_.create<arith::ConstantIndexOp>(function_.getLoc(), value);
  }
  return known;
}

// A value at the insertion point, computed again where it is not there yet.
Value SyncEmitter::copyOf(Value value, IRMapping &copies) {
  Operation *op = value.getDefiningOp();
  if (!op || copies.contains(value))
    return copies.lookupOrDefault(value);
  Operation *next = &*builder_.getInsertionPoint();
  // The value dominates the insertion point, so it can be used as it is.
  if (Operation *here = op->getBlock()->findAncestorOpInBlock(*next);
      here && op->isBeforeInBlock(here))
    return value;
  for (Value operand : op->getOperands())
    copies.map(operand, copyOf(operand, copies));
  return builder_.clone(*op, copies)->getResult(0);
}

Value SyncEmitter::iterationOf(Body &body) {
  auto loop = cast<scf::ForOp>(body.owner);
  Value number = loop.getInductionVar();
  // Loops that begin at 0 with step 1 need no arithmetic.
  if (!matchPattern(loop.getLowerBound(), m_Zero()))
    number = builder_.create<arith::SubIOp>(loop.getLoc(), number, loop.getLowerBound());
  if (!matchPattern(loop.getStep(), m_One()))
    number = builder_.create<arith::DivUIOp>(loop.getLoc(), number, loop.getStep());
  return number;
}

// A number of a slot, from 0 on.
Value SyncEmitter::modulo(Value number, int64_t count, Location loc) {
  APInt divisor;
  // A number that is already a remainder by the count is used as it is.
  auto remainder = number.getDefiningOp<arith::RemUIOp>();
  if (remainder && matchPattern(remainder.getRhs(), m_ConstantInt(&divisor)) && divisor == count)
    return number;
  return builder_.create<arith::RemUIOp>(loc, number, constant(count));
}

// The number of a slot, from 0 on, at the start of the body.
Value SyncEmitter::numberOf(Body &body, Value slot, int64_t count) {
  Value &number = numbers_[{slot, count}];
  if (number)
    return number;
  OpBuilder::InsertionGuard guard(builder_);
  // One number in front of all items serves all events of the body.
  builder_.setInsertionPoint(body.items.front().op);
  IRMapping copies;
  number = modulo(slot ? copyOf(slot, copies) : iterationOf(body), count, body.owner->getLoc());
  return number;
}

// The first of the ids of an event that has one for each slot, and which of them it is; null: it is
// the first.
Value SyncEmitter::idOf(Body &body, const Event &event) {
  // An event with one slot, or with a constant one, has a fixed id.
  if (event.resource >= 0 ? event.slots == 1 || event.slot.kind == SlotNumber::Constant
                          : event.frame < 0)
    return Value();
  Value slot = event.resource < 0 ? body.frames[static_cast<size_t>(event.frame)].slot
               : event.slot.kind == SlotNumber::Number ? event.slot.number
                                                       : Value();
  Value number = numberOf(body, slot, event.slots);
  // The ids of the slots follow each other from `event.id` on.
  if (event.id == 0)
    return number;
  Value &id = ids_[{number, event.id}];
  if (!id) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPoint(body.items.front().op);
    id = builder_.create<arith::AddIOp>(body.owner->getLoc(), number, constant(event.id));
  }
  return id;
}

void SyncEmitter::describeEnds(SyncEdge &edge, const Reason &reason) {
  if (!reason.src)
    return;
  edge.producer = reason.src->last;
  edge.consumer = reason.dst->first;
  edge.buffer = nameOf(reason.dst->value, function_);
}

void SyncEmitter::record(const Event &event, const std::string &why) {
  SyncEdge &edge = result_.edges.emplace_back();
  edge = {event.src,          event.dst, event.id, event.slots, event.carried,
          event.reason.reuse, why,       "",       nullptr,     nullptr};
  describeEnds(edge, event.reason);
  ++result_.statistics.events;
}

void SyncEmitter::recordBarrier(bool all, const Reason &reason, const std::string &why) {
  Pipe pipe = all ? Pipe::All : Pipe::V;
  SyncEdge &edge = result_.edges.emplace_back();
  edge = {pipe, pipe, -1, 0, reason.carried, reason.reuse, why, "", nullptr, nullptr};
  describeEnds(edge, reason);
  ++(all ? result_.statistics.fullBarriers : result_.statistics.barriers);
}

void SyncEmitter::emitDrains(const Item &around, const Event &event) {
  std::string why = explain(event.reason, function_);
  // Each slot's event is set once before the loop, since the first turn waits for a turn that was
  // never there, and cleared once behind it.
  for (int64_t i = 0; i < event.slots; ++i) {
    builder_.setInsertionPoint(around.op);
    flag<SetFlagOp>(event, event.id + i, "free before the first use; " + why);
    // Waits behind the loop stand in the order of their events.
    Operation *&last = lastDrain_.try_emplace(around.op, around.op).first->second;
    builder_.setInsertionPointAfter(last);
    flag<WaitFlagOp>(event, event.id + i, "clear after the last use; " + why);
    last = &*std::prev(builder_.getInsertionPoint());
  }
}

void SyncEmitter::addEvent(Body &body, const Event &event) {
  std::string why = explain(event.reason, function_);
  record(event, why);
  Value id = idOf(body, event);
  int64_t first = event.id + (event.resource >= 0 ? event.slot.constant : 0);
  // Insertions are collected first, since several events meet in one gap and have to be sorted by
  // step.
  insertions_.push_back({event.setStep, [this, event, why, id, first] {
                           id ? flagBySlot<SetFlagDynOp>(event, id, why)
                              : flag<SetFlagOp>(event, first, why);
                         }});
  insertions_.push_back({event.waitStep, [this, event, why, id, first] {
                           id ? flagBySlot<WaitFlagDynOp>(event, id, why)
                              : flag<WaitFlagOp>(event, first, why);
                         }});
}

void SyncEmitter::addBarrier(const BarrierPoint &point) {
  std::string why = explain(point.reason, function_);
  recordBarrier(point.all, point.reason, why);
  insertions_.push_back({point.step, [this, point, why] {
                           barrier(locOf(point.reason),
                                   point.all ? PipeKind::PIPE_ALL : PipeKind::PIPE_V, why);
                         }});
}

// Sets go right behind the item before them, waits right before the next.
void SyncEmitter::insert(Body &body) {
  // The sort is stable, so that equal steps keep the order of the events.
  llvm::stable_sort(insertions_,
                    [](const Insertion &a, const Insertion &b) { return a.step < b.step; });
  llvm::DenseMap<Operation *, Operation *> behind; // an item, and the last that was put behind it
  for (Insertion &insertion : insertions_) {
    size_t gap = static_cast<size_t>(gapOf(insertion.step));
    // Sets stay with the item that they follow, also when code is inserted before the next one.
    if (gap && insertion.step % 8 <= Set) {
      Operation *item = body.items[gap - 1].op;
      Operation *&last = behind.try_emplace(item, item).first->second;
      builder_.setInsertionPointAfter(last);
      insertion.make();
      last = &*std::prev(builder_.getInsertionPoint());
      continue;
    }
    if (gap < body.items.size())
      builder_.setInsertionPoint(body.items[gap].op);
    else if (body.block->mightHaveTerminator())
      builder_.setInsertionPoint(body.block->getTerminator());
    else
      builder_.setInsertionPointToEnd(body.block);
    insertion.make();
  }
  insertions_.clear();
}

void SyncEmitter::emitWhile(const Item &item) {
  FunctionOrder::WhileBarriers wanted = order_.whileBarriers(item);
  std::string why = explain(wanted.why, function_);
  Block *after = item.bodies.back()->block;
  auto add = [&] {
    recordBarrier(true, wanted.why, why);
    barrier(locOf(wanted.why), PipeKind::PIPE_ALL, why);
  };
  // The barrier separates the condition's part from the body's part.
  if (wanted.between) {
    builder_.setInsertionPointToStart(after);
    add();
  }
  if (wanted.atEnd) {
    builder_.setInsertionPoint(after->getTerminator());
    add();
  }
}

// The outer body first: what stands around a loop must be next to it.
void SyncEmitter::emit(Body &body) {
  numbers_.clear();
  ids_.clear();
  BodyOrder &order = order_.of(body);
  for (const Event &event : order.events())
    addEvent(body, event);
  for (const BarrierPoint &point : order.barriers())
    addBarrier(point);
  insert(body);
  // The drains of a turn are shared by all of its events, so they are made once.
  for (const Event &event : order.events())
    if (event.carried &&
        (event.resource < 0 ||
         drained_.insert({pairIndex(event.src, event.dst), event.resource}).second))
      emitDrains(*order_.drainItem(body, event), event);
  for (Item &item : body.items) {
    for (auto &inner : item.bodies)
      emit(*inner);
    if (isa<scf::WhileOp>(item.op))
      emitWhile(item);
  }
}

} // namespace

// ---- the pass -----------------------------------------------------------------------------------

static bool isPlaced(Operation *op) {
  if (auto alloc = dyn_cast<AllocTileOp>(op))
    return static_cast<bool>(alloc.getAddr());
  if (auto alloc = dyn_cast<AllocMultiTileOp>(op))
    return static_cast<bool>(alloc.getAddr());
  if (auto reserved = dyn_cast<ReserveBufferOp>(op))
    return reserved.getBase().has_value();
  return true;
}

static void countIds(SyncStatistics &statistics, const std::vector<SyncEdge> &edges) {
  std::array<uint32_t, kNumPairs> used{};
  for (const SyncEdge &edge : edges)
    if (edge.firstId >= 0)
      // An edge with several slots takes as many neighbouring ids.
      used[pairIndex(edge.from, edge.to)] |= ((1u << edge.ids) - 1) << edge.firstId;
  for (size_t pair = 0; pair < kNumPairs; ++pair)
    statistics.ids[pair] = static_cast<unsigned>(llvm::popcount(used[pair]));
}

static bool isSynchronised(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        bool found = isa<SetFlagOp, WaitFlagOp, SetFlagDynOp, WaitFlagDynOp, BarrierOp>(op);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool reportUnplaced(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        if (isPlaced(op))
          return WalkResult::advance();
        op->emitOpError(
            "has no address yet; events can only be derived for buffers that are placed");
        return WalkResult::interrupt();
      })
      .wasInterrupted();
}

bool deriveSync(func::FuncOp function, const BlockMachine &machine, SyncResult &result) {
  // Code that is synchronised by its author is left as it is.
  if (isSynchronised(function) || reportUnplaced(function))
    return false;
  BlockProgram program(function, machine);
  FunctionOrder order(program, machine);
  order.solve();
  SyncEmitter(function, order, result).emit(program.root());
  SyncStatistics &statistics = result.statistics;
  statistics.dependences = order.numDependences();
  unsigned asked = static_cast<unsigned>(
      llvm::count_if(result.edges, [](const SyncEdge &e) { return !e.reuse; }));
  // Dependences without an event of their own are implied by others.
  statistics.implied = statistics.dependences - std::min(statistics.dependences, asked);
  countIds(statistics, result.edges);
  // The arrays that events between cores order (`orders`) were needed to find dependences, and mean nothing to what comes next.
  function.walk([](Operation *op) {
    if (isa<SyncSetOp, SyncWaitOp>(op))
      op->eraseOperands(1, op->getNumOperands() - 1);
  });
  return true;
}

// ---- for tools ----------------------------------------------------------------------------------

static void writeInstruction(llvm::json::OStream &json, llvm::StringRef key, Operation *op) {
  if (!op)
    return;
  json.attributeObject(key, [&] {
    json.attribute("instruction", op->getName().stripDialect());
    if (FileLineColLoc place = placeOf(op->getLoc())) {
      json.attribute("file", place.getFilename().strref());
      json.attribute("line", place.getLine());
      json.attribute("column", place.getColumn());
    }
  });
}

static void writeEdge(llvm::json::OStream &json, const SyncEdge &edge) {
  auto name = [](Pipe pipe) {
    return llvm::StringRef(pipeName(pipe).data(), pipeName(pipe).size());
  };
  json.object([&] {
    json.attribute("kind", edge.firstId < 0 ? "barrier" : "event");
    json.attribute("from", name(edge.from));
    json.attribute("to", name(edge.to));
    if (edge.firstId >= 0)
      json.attributeArray("ids", [&] {
        for (int64_t i = 0; i < edge.ids; ++i)
          json.value(edge.firstId + i);
      });
    json.attribute("carried", edge.carried);
    json.attribute("reuse", edge.reuse);
    if (!edge.buffer.empty())
      json.attribute("buffer", edge.buffer);
    json.attribute("why", edge.why);
    writeInstruction(json, "producer", edge.producer);
    writeInstruction(json, "consumer", edge.consumer);
  });
}

void writeSyncJson(llvm::StringRef function, const SyncResult &result, llvm::raw_ostream &os) {
  llvm::json::OStream json(os, 2);
  const SyncStatistics &statistics = result.statistics;
  json.object([&] {
    json.attribute("function", function);
    json.attributeObject("statistics", [&] {
      json.attribute("dependences", statistics.dependences);
      json.attribute("implied", statistics.implied);
      json.attribute("events", statistics.events);
      json.attribute("barriers", statistics.barriers);
      json.attribute("fullBarriers", statistics.fullBarriers);
      json.attributeObject("ids", [&] {
        for (size_t pair = 0; pair < kNumPairs; ++pair)
          if (statistics.ids[pair])
            json.attribute(std::string(pipeNames[pair / kNumPipes]) + "->" +
                               std::string(pipeNames[pair % kNumPipes]),
                           statistics.ids[pair]);
      });
    });
    json.attributeArray("edges", [&] {
      for (const SyncEdge &edge : result.edges)
        writeEdge(json, edge);
    });
  });
  os << '\n';
}

namespace {

struct DeriveSyncPass : ir::impl::DeriveSyncBase<DeriveSyncPass> {
  using DeriveSyncBase::DeriveSyncBase;

  void runOnOperation() override {
    std::string name = machine;
    if (auto given = attrs::machine.of(getOperation()); given && name.empty())
      name = given.str();
    BlockMachine rules;
    if (!name.empty()) {
      std::optional<Machine> found = findMachine(name);
      if (!found) {
        getOperation()->emitError("there is no machine `") << name << '`';
        return signalPassFailure();
      }
      rules = BlockMachine(*found);
    }
    if (eventIds > 0)
      rules.eventIds = eventIds;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || !function->hasAttr("pto.kernel_kind"))
        continue;
      SyncResult result;
      if (isSynchronised(function))
        continue;
      if (!deriveSync(function, rules, result))
        return signalPassFailure();
      if (emit == "json")
        writeSyncJson(function.getName(), result, llvm::outs());
    }
  }
};

} // namespace
} // namespace ptl::pto

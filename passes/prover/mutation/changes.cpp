#include "passes/prover/mutation/changes.h"

#include "ir/dialect/cross_core.h"
#include "ir/dialect/instruction_op.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <set>

using namespace mlir;

namespace ptl::prove {

bool isSync(Operation *op) {
  return isa<pto::SetFlagOp, pto::WaitFlagOp, pto::SetFlagDynOp, pto::WaitFlagDynOp, pto::SyncSetOp,
             pto::SyncWaitOp, pto::BarrierOp, pto::TPushOp, pto::TPopOp, pto::TFreeOp>(op);
}
static bool isBuffer(Operation *op) { return isa<pto::AllocTileOp, pto::AllocMultiTileOp>(op); }
/// Whether moving something across it can matter.
static bool matters(Operation *op) {
  return isSync(op) || pto::pipeOf(op) || op->getNumRegions() > 0;
}

static Value addressOf(Operation *op) {
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    return alloc.getAddr();
  return cast<pto::AllocMultiTileOp>(op).getAddr();
}

static void setAddress(Operation *op, Value address) {
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    alloc.getAddrMutable().assign(address);
  else
    cast<pto::AllocMultiTileOp>(op).getAddrMutable().assign(address);
}

static pto::TileBufType tileOf(Operation *op) {
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    return alloc.getType();
  return cast<pto::AllocMultiTileOp>(op).getType().getSlot();
}

static std::optional<int64_t> constantAddress(Operation *op) {
  Value address = addressOf(op);
  if (!address)
    return std::nullopt;
  if (auto constant = address.getDefiningOp<arith::ConstantIntOp>())
    return constant.value();
  return std::nullopt;
}

// ---- one change ---------------------------------------------------------------------------------

// Up or down across the next operation that matters; false if there is none, or if it would leave
// its operands behind.
bool Change::shift(bool down) {
  // Operations that neither synchronise nor run on a pipe are skipped: a swap with them changes
  // nothing.
  Operation *target = down ? op->getNextNode() : op->getPrevNode();
  while (target && !matters(target))
    target = down ? target->getNextNode() : target->getPrevNode();
  if (!target || target->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (down) {
    op->moveAfter(target);
    return true;
  }
  // A move up must not pass the operation that computes one of its operands.
  for (Value operand : op->getOperands()) {
    Operation *maker = operand.getDefiningOp();
    if (maker && maker->getBlock() == op->getBlock() && !maker->isBeforeInBlock(target))
      return false;
  }
  op->moveBefore(target);
  return true;
}

void Change::remove(Operation *which) {
  removed.push_back({which, which->getNextNode(), which->getBlock()});
  which->remove();
}

static Value constantAt(Operation *op, Type type, int64_t value) {
  OpBuilder builder(op);
  return builder.create<arith::ConstantOp>(op->getLoc(), builder.getIntegerAttr(type, value));
}

bool Change::apply() {
  switch (kind) {
  case Up:
  case Down:
    // The old neighbours are noted before the move, since they say where to put it back.
    removed = {{op, op->getNextNode(), op->getBlock()}};
    if (shift(kind == Down))
      return true;
    removed.clear();
    return false;
  case Remove:
    remove(op);
    return true;
  case Unpaired:
    for (Operation *each : ops)
      remove(each);
    return true;
  case Renumber:
    for (Operation *each : ops) {
      numbers.push_back(each->getAttr("event_id"));
      each->setAttr("event_id",
                    pto::EventIdAttr::get(each->getContext(), static_cast<pto::EventId>(place)));
    }
    return true;
  case Both:
    former = op->getResult(0);
    // With 0 as the number of the vector core, both take themselves for the first.
    value = constantAt(op, former.getType(), 0);
    former.replaceAllUsesWith(value);
    return true;
  case Redirect:
    former = op->getOperand(static_cast<unsigned>(place));
    op->setOperand(static_cast<unsigned>(place), value);
    return true;
  case Move:
    former = addressOf(op);
    setAddress(op, constantAt(op, IntegerType::get(op->getContext(), 64), place));
    // The verifier rejects some addresses; such a mutant would not be a program.
    if (succeeded(verify(op)))
      return true;
    undo();
    return false;
  }
  return false;
}

void Change::undo() {
  if (kind == Move) {
    Operation *constant = addressOf(op).getDefiningOp();
    setAddress(op, former);
    constant->erase();
  } else if (kind == Redirect) {
    op->setOperand(static_cast<unsigned>(place), former);
  } else if (kind == Both) {
    value.replaceAllUsesWith(former);
    value.getDefiningOp()->erase();
  } else if (kind == Renumber) {
    for (auto [each, number] : llvm::zip_equal(ops, numbers))
      each->setAttr("event_id", number);
    numbers.clear();
  } else {
    // Operations are put back in reverse order, so that each one's neighbour is there again.
    for (Removed &each : llvm::reverse(removed)) {
      if (each.op->getBlock())
        each.op->remove();
      each.block->getOperations().insert(each.next ? Block::iterator(each.next) : each.block->end(),
                                         each.op);
    }
    removed.clear();
  }
}

bool Change::changesValues() const {
  // A moved push or pop hands over another tile, which is a different program rather than a lost
  // order.
  return kind == Both || kind == Redirect ||
         (isa<pto::TPushOp, pto::TPopOp>(op) && (kind == Up || kind == Down));
}

std::string Change::text() const {
  switch (kind) {
  case Remove:
    return "without " + withPlace(op);
  case Up:
    return withPlace(op) + " moved up";
  case Down:
    return withPlace(op) + " moved down";
  case Move:
    return "`" + name + "` at byte " + std::to_string(place) + " instead of " +
           std::to_string(*constantAddress(op));
  case Unpaired:
    return "without " + withPlace(op) + " and all that waits for it";
  case Renumber:
    return withPlace(op) + " as event " + std::to_string(place);
  case Both:
    return "both vector cores as the first";
  case Redirect:
    return withPlace(op) + " with `" + nameOf(value.getDefiningOp()) + "` as operand " +
           std::to_string(place);
  }
  return "";
}

// ---- all changes --------------------------------------------------------------------------------

static std::vector<Operation *> operationsOf(ModuleOp module) {
  std::vector<Operation *> operations;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { operations.push_back(op); });
  return operations;
}

static void addBufferChanges(Operation *op, const std::vector<Operation *> &all,
                             std::vector<Change> &changes) {
  auto address = constantAddress(op);
  if (!address)
    return;
  // The buffer moves by one slot each way, so it overlaps with a neighbour or leaves its memory.
  std::set<int64_t> places = {*address + tileOf(op).getBytes(), *address - tileOf(op).getBytes()};
  for (Operation *other : all)
    if (other != op && isBuffer(other) && tileOf(other).getPlace() == tileOf(op).getPlace() &&
        other->getParentOfType<func::FuncOp>() == op->getParentOfType<func::FuncOp>())
      if (auto there = constantAddress(other))
        places.insert(*there);
  places.erase(*address);
  std::string name = nameOf(op);
  for (int64_t place : places)
    changes.emplace_back(Change::Move, op, place, name);
}

/// Events between cores, by their number.
static void addUnpaired(const std::vector<Operation *> &all, std::vector<Change> &changes) {
  llvm::MapVector<int64_t, std::vector<Operation *>> ends;
  for (Operation *op : all)
    if (isa<pto::SyncSetOp, pto::SyncWaitOp>(op))
      if (auto id = op->getOperand(0).getDefiningOp<arith::ConstantIndexOp>())
        // Both ends are removed together; one end alone would only hang, which is another mutant.
        ends[id.value()].push_back(op);
  for (auto &[id, ops] : ends)
    changes.emplace_back(Change::Unpaired, ops.front()).ops = ops;
}

/// Each event of a function as another one of its pipes, and as one that instructions use inside.
static void addRenumbered(const std::vector<Operation *> &all, std::vector<Change> &changes) {
  using Pair = std::tuple<Operation *, pto::PipeKind, pto::PipeKind>;
  std::map<Pair, std::map<int64_t, std::vector<Operation *>>> events;
  auto add = [&](auto flag) {
    Operation *op = flag;
    events[{op->getParentOfType<func::FuncOp>(), flag.getSrcPipe(), flag.getDstPipe()}]
          [static_cast<int64_t>(flag.getEventId())]
              .push_back(op);
  };
  for (Operation *op : all)
    if (auto set = dyn_cast<pto::SetFlagOp>(op))
      add(set);
    else if (auto wait = dyn_cast<pto::WaitFlagOp>(op))
      add(wait);
  for (auto &[pair, byId] : events)
    for (auto &[id, ops] : byId) {
      int64_t first = byId.begin()->first;
      // The first id becomes the second and all others become the first, so that ids collide.
      int64_t other = id != first ? first : byId.size() > 1 ? std::next(byId.begin())->first : 0;
      if (other != id)
        changes.emplace_back(Change::Renumber, ops.front(), other).ops = ops;
    }
}

/// Adds changes that make an instruction write, or use as scratch, another tile: the one made
/// before its own, and the one made after.
static void addRedirected(Operation *op, const std::vector<Value> &tiles,
                          std::vector<Change> &changes) {
  if (!pto::Instruction(op))
    return;
  llvm::SmallVector<pto::Access, 4> accesses = pto::accessesOf(op);
  // Only operands that are written or used as scratch are redirected.
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    auto access = llvm::find_if(accesses, [&, value = operand](const pto::Access &each) {
      return each.value == value && (each.writes || each.scratch);
    });
    auto own = llvm::find(tiles, operand);
    if (access == accesses.end() || own == tiles.end())
      continue;
    auto redirect = [&, at = index, type = operand.getType()](Value tile) {
      Operation *maker = tile.getDefiningOp();
      Operation *here = maker->getBlock()->findAncestorOpInBlock(*op);
      // The other tile has to be of the same type and to exist before the instruction, or the code
      // would be invalid.
      if (tile.getType() == type && here && maker->isBeforeInBlock(here))
        changes.emplace_back(Change::Redirect, op, static_cast<int64_t>(at)).value = tile;
    };
    if (own != tiles.begin())
      redirect(*std::prev(own));
    if (std::next(own) != tiles.end())
      redirect(*std::next(own));
  }
}

std::vector<Change> changesOf(ModuleOp module) {
  std::vector<Change> changes;
  std::vector<Operation *> operations = operationsOf(module);
  std::vector<Value> tiles;
  for (Operation *op : operations)
    if (isa<pto::AllocTileOp, pto::MultiTileGetOp, pto::DeclareTileOp>(op))
      tiles.push_back(op->getResult(0));
  for (Operation *op : operations) {
    if (isSync(op))
      for (Change::Kind kind : {Change::Remove, Change::Up, Change::Down})
        changes.emplace_back(kind, op);
    else if (isBuffer(op))
      addBufferChanges(op, operations, changes);
    else if (isa<pto::GetSubBlockIdxOp>(op))
      changes.emplace_back(Change::Both, op);
    addRedirected(op, tiles, changes);
  }
  addUnpaired(operations, changes);
  addRenumbered(operations, changes);
  return changes;
}

} // namespace ptl::prove

#include "passes/transform/forward_storage.h"

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/op_kinds.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace ptl::ir {

/// A box that begins at the start of every axis and keeps all of them.
template <typename OpT> static bool isFromStart(OpT box) {
  return box.getDropped().empty() && box.getSteps().empty() &&
         llvm::all_of(box.getOffsets(),
                      [](Value offset) { return getConstantIntValue(offset) == 0; });
}

/// What a value is a description of.
static Value describedBy(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getSource();
  return value;
}

StoreOp finalCopy(AllocOp alloc) {
  for (Operation *user : alloc->getUsers()) {
    // The load has to be of all the storage, in its own shape.
    auto load = dyn_cast<LoadOp>(user);
    if (!load || load->getBlock() != alloc->getBlock() || load.getOutside() || !isFromStart(load) ||
        extentsOf(load.getType()) != extentsOf(alloc.getType()))
      continue;
    Operation *next = onlyUser(load);
    // Descriptions in between do not change the elements.
    while (isa_and_nonnull<CastOp>(next))
      next = onlyUser(next->getResult(0));
    auto store = dyn_cast_or_null<StoreOp>(next);
    bool isWhole = store && store->getBlock() == alloc->getBlock() && !store.getIndex() &&
                   !store.getAtomic() && isFromStart(store) &&
                   store.getRef().getType() == alloc.getType();
    if (!isWhole)
      continue;
    // A later use would need the storage itself.
    bool isLast = llvm::all_of(alloc->getUsers(), [&](Operation *other) {
      Operation *here = alloc->getBlock()->findAncestorOpInBlock(*other);
      return other == load || (here && here->isBeforeInBlock(load));
    });
    if (isLast)
      return store;
  }
  return {};
}

/// Whether nothing touches the storage between two operations of a block.
static bool isIdle(Value ref, Operation *from, Operation *to) {
  // Users that are in other blocks, and asking for lengths, do not touch the elements.
  return llvm::all_of(ref.getUsers(), [&](Operation *user) {
    Operation *here = from->getBlock()->findAncestorOpInBlock(*user);
    return user == to || isa<DimOp>(user) || !here || here->isBeforeInBlock(from) ||
           to->isBeforeInBlock(here);
  });
}

/// Whether storage is used behind an operation of its block alone.
static bool isUntouchedBefore(AllocOp variable, StoreOp copy) {
  return llvm::all_of(variable->getUsers(), [&](Operation *user) {
    Operation *here = copy->getBlock()->findAncestorOpInBlock(*user);
    return user == copy || isa<DimOp>(user) || (here && copy->isBeforeInBlock(here));
  });
}

// ---- The order of operations in branches --------------------------------------------------------

/// The block of which a block is a part of a single turn: nothing but branches is in between.
static Block *turnOf(Block *block) {
  while (isa<scf::IfOp>(block->getParentOp()))
    block = block->getParentOp()->getBlock();
  return block;
}

/// Whether one operation comes before another one in the same turn, or never both are run in it.
static bool isBeforeOrApart(Operation *first, Operation *second, Block *turn) {
  // Both are compared in the smallest block that contains them.
  Block *block = first->getBlock();
  while (!block->findAncestorOpInBlock(*second))
    block = block->getParentOp()->getBlock();
  Operation *own = block->findAncestorOpInBlock(*first),
            *other = block->findAncestorOpInBlock(*second);
  if (turnOf(block) != turn)
    return false; // turns of a loop within come one after the other
  // The two arms of one branch never both run.
  bool isApart = own == other && isa<scf::IfOp>(own) && own != first && own != second;
  return isApart || (own != other && own->isBeforeInBlock(other));
}

/// A load, and whatever uses what is computed or seen of it: nothing is read before it is used.
static llvm::SmallVector<Operation *> readsOf(LoadOp load) {
  llvm::SmallVector<Operation *> reads = {load};
  llvm::SmallPtrSet<Operation *, 8> seen = {load};
  for (size_t i = 0; i < reads.size(); ++i) {
    Operation *op = reads[i];
    // A value that a branch or loop yields lives on as its result.
    ValueRange results = isa<scf::YieldOp>(op) ? op->getParentOp()->getResults() : op->getResults();
    for (Value result : results)
      if (isa<ArrayType>(result.getType()))
        for (Operation *user : result.getUsers())
          if (!isa<DimOp>(user) && seen.insert(user).second)
            reads.push_back(user);
  }
  return reads;
}

/// The load of all of `ref` that a store fills other storage with.
static LoadOp wholeLoadOf(StoreOp store, Value ref) {
  auto load = describedBy(store.getValue()).getDefiningOp<LoadOp>();
  bool isWhole = load && load.getRef() == ref && !load.getOutside() && isFromStart(load) &&
                 extentsOf(load.getType()) == extentsOf(ref.getType());
  return isWhole && !store.getIndex() && !store.getAtomic() && isFromStart(store) ? load : LoadOp();
}

namespace {
/// A turn of a loop that works on a copy of what the loop carries: `begins` make the copy, in the
/// arms of branches for instance, `copy` puts it back.
struct CopiedTurn {
  AllocOp alloc;
  StoreOp copy;
  llvm::SmallVector<StoreOp> begins; ///< none where the copy is written before it is read
  llvm::SmallVector<Operation *> writes;

  CopiedTurn(AllocOp alloc, StoreOp copy) : alloc(alloc), copy(copy) {
    for (Operation *user : alloc->getUsers()) {
      auto store = dyn_cast<StoreOp>(user);
      // A store of the whole of the carried storage is how a turn's copy begins.
      if (store && store.getRef() == alloc && wholeLoadOf(store, copy.getRef()))
        begins.push_back(store);
      else if (!isa<DimOp, LoadOp>(user))
        writes.push_back(user);
    }
  }

  /// Whether the turn may work on what the loop carries itself: nobody asks for what that was
  /// before once it is written.
  bool isNeedless() {
    Block *block = alloc->getBlock(), *turn = turnOf(block);
    Value outer = copy.getRef();
    // Without writes nothing is gained, and storage of the same turn is no carried one.
    Block *home = outer.getParentBlock();
    if (writes.empty() || home == block || !home->findAncestorOpInBlock(*alloc) ||
        outer.getType() != alloc.getType())
      return false;
    auto isBeforeWrites = [&](Operation *op) {
      return llvm::all_of(writes,
                          [&](Operation *write) { return isBeforeOrApart(op, write, turn); });
    };
    return llvm::all_of(outer.getUsers(), [&](Operation *user) {
      bool isInTurn = turn->findAncestorOpInBlock(*user);
      // Lengths do not change, and what comes after the copy back sees the new contents anyway.
      if (user == copy || isa<DimOp>(user) || (isInTurn && isBeforeOrApart(copy, user, turn)))
        return true;
      auto load = dyn_cast<LoadOp>(user);
      if (!load) // it may not change what a copy begins with
        return !isInTurn ||
               (isBeforeWrites(user) && llvm::all_of(begins, [&](StoreOp begin) {
                  LoadOp first = wholeLoadOf(begin, outer);
                  return turn->findAncestorOpInBlock(*first) && isBeforeOrApart(user, first, turn);
                }));
      // All that is read of the old contents has to be used before the first write.
      return llvm::all_of(readsOf(load), [&](Operation *read) {
        return !turn->findAncestorOpInBlock(*read) || isBeforeWrites(read);
      });
    });
  }
};
} // namespace

/// Whether nobody asks for what storage was once other storage is made, up to where that is copied
/// to it.
static bool isFreeFor(AllocOp alloc, StoreOp copy) {
  Value target = copy.getRef();
  Operation *made = target.getDefiningOp();
  Block *home = made->getBlock();
  Operation *here = home->findAncestorOpInBlock(*alloc);
  if (!here || !made->isBeforeInBlock(here))
    return false;
  // Readers of the target have to be done before the other storage is filled, or come after the
  // copy.
  Block *turn = turnOf(home);
  return llvm::all_of(target.getUsers(), [&](Operation *user) {
    auto load = dyn_cast<LoadOp>(user);
    return !load || isBeforeOrApart(copy, load, turn) ||
           llvm::all_of(readsOf(load),
                        [&](Operation *read) { return isBeforeOrApart(read, alloc, turn); });
  });
}

void replaceByTarget(StoreOp copy, AllocOp alloc, Value by) {
  Value value = copy.getValue(), stored = cast<LoadOp>(describedBy(value).getDefiningOp()).getRef();
  copy.erase();
  // The chain of descriptions between load and store goes with the copy.
  while (value != stored) {
    Operation *made = value.getDefiningOp();
    value.replaceAllUsesWith(stored); // who asks for lengths
    value = made->getOperand(0);
    made->erase();
  }
  alloc.getResult().replaceAllUsesWith(by);
  alloc.erase();
}

void forwardStorage(func::FuncOp function) {
  llvm::SmallVector<AllocOp> allocs;
  function.walk([&](AllocOp alloc) { allocs.push_back(alloc); });
  // Storage that was replaced must not be visited any more.
  llvm::SmallPtrSet<Operation *, 8> gone;
  for (AllocOp alloc : allocs) {
    if (gone.contains(alloc))
      continue;
    StoreOp copy = finalCopy(alloc);
    if (!copy)
      continue;
    Value target = copy.getRef();
    Operation *made = target.getDefiningOp();
    // A variable that begins as the copy.
    if (auto variable = dyn_cast_or_null<AllocOp>(made);
        variable && variable->getBlock() == alloc->getBlock() && alloc->isBeforeInBlock(variable) &&
        isUntouchedBefore(variable, copy)) {
      gone.insert(variable);
      replaceByTarget(copy, variable, alloc);
      continue;
    }
    if (CopiedTurn turn(alloc, copy); turn.isNeedless()) {
      for (StoreOp begin : turn.begins)
        begin.erase();
      replaceByTarget(copy, alloc, target);
      continue;
    }
    // A target without a definition is an argument, of which only the time in between counts.
    if (target == alloc || (made && !isFreeFor(alloc, copy)) || !isIdle(target, alloc, copy))
      continue;
    replaceByTarget(copy, alloc, target);
  }
}

// ---- What was stored, instead of a load of it -------------------------------------------------------

/// Whether two lists of bounds are the same values, or the same numbers.
static bool areSame(OperandRange own, OperandRange other) {
  return own.size() == other.size() && llvm::all_of(llvm::zip(own, other), [](auto pair) {
           auto [a, b] = pair;
           std::optional<int64_t> number = getConstantIntValue(a);
           return a == b || (number && number == getConstantIntValue(b));
         });
}

/// Whether a load gives the very value of a store: nothing is converted, left out or put in another shape.
static bool loadsWhatIsStored(LoadOp load, StoreOp store) {
  Type stored = store.getValue().getType(), loaded = load.getType();
  return isa<ArrayType>(stored) && isa<ArrayType>(loaded) && !load.getOutside() &&
         elementTypeOf(stored) == elementTypeOf(store.getRef().getType()) &&
         elementTypeOf(stored) == elementTypeOf(loaded) && extentsOf(stored) == extentsOf(loaded) &&
         store.getDropped() == load.getDropped() &&
         areSame(store.getOffsets(), load.getOffsets()) &&
         areSame(store.getLengths(), load.getLengths()) &&
         areSame(store.getSteps(), load.getSteps());
}

void forwardValues(func::FuncOp function) {
  llvm::SmallVector<StoreOp> stores;
  function.walk([&](StoreOp store) {
    if (!store.getIndex() && !store.getAtomic() && !store->getParentOfType<ParallelOp>())
      stores.push_back(store);
  });
  for (StoreOp store : stores)
    for (Operation *user : llvm::make_early_inc_range(store.getRef().getUsers())) {
      auto load = dyn_cast<LoadOp>(user);
      if (!load || load->getBlock() != store->getBlock() || !store->isBeforeInBlock(load) ||
          !loadsWhatIsStored(load, store))
        continue;
      // Other loads do not change what is stored; whoever writes a view of it is not among its users.
      bool isUnchanged = llvm::all_of(store.getRef().getUsers(), [&](Operation *other) {
        if (isa<ViewOp>(other))
          return false;
        Operation *here = store->getBlock()->findAncestorOpInBlock(*other);
        return isa<LoadOp, DimOp>(other) || !here || !store->isBeforeInBlock(here) ||
               load->isBeforeInBlock(here);
      });
      if (!isUnchanged)
        continue;
      load.getResult().replaceAllUsesWith(store.getValue());
      load.erase();
    }
}

} // namespace ptl::ir

#include "passes/transform/forward_storage.h"

#include "ir/dialect/ptl_dialect.h"

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

/// The only user of a value beside those that ask for its lengths.
static Operation *onlyUser(Value value) {
  Operation *only = nullptr;
  for (Operation *user : value.getUsers()) {
    if (isa<DimOp>(user))
      continue;
    if (only)
      return nullptr;
    only = user;
  }
  return only;
}

/// The store that copies all of the storage, if that is the last thing that happens to it.
static StoreOp finalCopy(AllocOp alloc) {
  for (Operation *user : alloc->getUsers()) {
    auto load = dyn_cast<LoadOp>(user);
    if (!load || load->getBlock() != alloc->getBlock() || load.getOutside() || !isFromStart(load) ||
        extentsOf(load.getType()) != extentsOf(alloc.getType()))
      continue;
    auto store = dyn_cast_or_null<StoreOp>(onlyUser(load));
    bool isWhole = store && store->getBlock() == alloc->getBlock() && !store.getIndex() &&
                   !store.getAtomic() && isFromStart(store) &&
                   store.getRef().getType() == alloc.getType();
    if (!isWhole)
      continue;
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

/// Where a value, or what is computed or seen of it, is used last in a block.
static Operation *lastUse(Value value, Block *block) {
  llvm::SmallVector<Value> work = {value};
  llvm::SmallDenseSet<Value> seen = {value};
  Operation *last = nullptr;
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      if (!here)
        continue;
      last = !last || last->isBeforeInBlock(here) ? here : last;
      for (Value result : here->getResults())
        if (isa<ArrayType>(result.getType()) && seen.insert(result).second)
          work.push_back(result);
    }
  return last;
}

/// The load of all of `ref` that a store of the same block fills other storage with.
static LoadOp wholeLoadOf(StoreOp store, Value ref) {
  Value value = store.getValue();
  while (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getSource();
  auto load = value.getDefiningOp<LoadOp>();
  bool isWhole = load && load.getRef() == ref && load->getBlock() == store->getBlock() &&
                 !load.getOutside() && isFromStart(load) &&
                 extentsOf(load.getType()) == extentsOf(ref.getType());
  return isWhole && !store.getIndex() && !store.getAtomic() && isFromStart(store) ? load : LoadOp();
}

namespace {
/// A turn of a loop that works on a copy of what the loop carries: `begin` makes the copy, `copy`
/// puts it back.
struct CopiedTurn {
  AllocOp alloc;
  StoreOp begin, copy; ///< begin: null where the copy is written before it is read
  Operation *firstWrite = nullptr;

  CopiedTurn(AllocOp alloc, StoreOp copy) : alloc(alloc), copy(copy) {
    Block *block = alloc->getBlock();
    Operation *first = nullptr;
    auto find = [&] {
      first = nullptr;
      for (Operation *user : alloc->getUsers())
        if (Operation *here = block->findAncestorOpInBlock(*user);
            !isa<DimOp>(user) && here != begin && (!first || here->isBeforeInBlock(first)))
          first = here;
    };
    find();
    if (auto store = dyn_cast_or_null<StoreOp>(first);
        store && store.getRef() == alloc && wholeLoadOf(store, copy.getRef())) {
      begin = store;
      find();
    }
    firstWrite = first;
  }

  /// Whether the turn may work on what the loop carries itself: nobody asks for what that was
  /// before once it is written.
  bool isNeedless() {
    Block *block = alloc->getBlock();
    Value outer = copy.getRef();
    Block *home = outer.getParentBlock();
    if (!firstWrite || home == block || !home->findAncestorOpInBlock(*alloc) ||
        outer.getType() != alloc.getType())
      return false;
    Operation *start = begin ? wholeLoadOf(begin, outer).getOperation() : firstWrite;
    return llvm::all_of(outer.getUsers(), [&](Operation *user) {
      Operation *here = block->findAncestorOpInBlock(*user);
      if (!here || user == copy || isa<DimOp>(user) || copy->isBeforeInBlock(here))
        return true;
      auto load = dyn_cast<LoadOp>(user);
      if (!load)
        return here->isBeforeInBlock(start);
      if (here != load || !load->isBeforeInBlock(firstWrite))
        return false;
      Operation *last = lastUse(load.getResult(), block);
      return !last || last->isBeforeInBlock(firstWrite);
    });
  }
};
} // namespace

/// Storage becomes other storage, and the copy between them goes.
static void replace(StoreOp copy, AllocOp alloc, Value by) {
  auto load = copy.getValue().getDefiningOp<LoadOp>();
  Value stored = load.getRef();
  copy.erase();
  load.getResult().replaceAllUsesWith(stored); // who asks for lengths
  load.erase();
  alloc.getResult().replaceAllUsesWith(by);
  alloc.erase();
}

void forwardStorage(func::FuncOp function) {
  llvm::SmallVector<AllocOp> allocs;
  function.walk([&](AllocOp alloc) { allocs.push_back(alloc); });
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
      replace(copy, variable, alloc);
      continue;
    }
    if (CopiedTurn turn(alloc, copy); turn.isNeedless()) {
      if (turn.begin)
        turn.begin.erase();
      replace(copy, alloc, target);
      continue;
    }
    bool isThere = !made || (made->getBlock() == alloc->getBlock() && made->isBeforeInBlock(alloc));
    if (target == alloc || !isThere || !isIdle(target, alloc, copy))
      continue;
    replace(copy, alloc, target);
  }
}

} // namespace ptl::ir

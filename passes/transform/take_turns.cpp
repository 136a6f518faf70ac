#include "passes/transform/take_turns.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/forward_storage.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ptl::ir {

/// The most stores of a body that stands twice. Each is a kernel, which takes its time to be compiled.
static constexpr int64_t kMostStores = 32;

namespace {
/// The store that puts what a round makes where the loop carries it.
struct Turn {
  StoreOp store;
  AllocOp made; ///< the storage that it copies; null where it stores what is computed
  Value carried() const { return StoreOp(store).getRef(); }
};
} // namespace

/// Whether nobody but the loops of a program knows this storage: it is made in the program, or an output that is written whole.
static bool isOwn(Value ref) {
  if (ref.getDefiningOp<AllocOp>())
    return true;
  auto argument = dyn_cast<BlockArgument>(ref);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && attrs::output.isOn(function, argument.getArgNumber());
}

/// Whether a store has all of its storage.
static bool isWhole(StoreOp store) {
  return !store.getIndex() && !store.getAtomic() && store.getDropped().empty() &&
         store.getSteps().empty() &&
         extentsOf(store.getValue().getType()) == extentsOf(store.getRef().getType()) &&
         llvm::all_of(store.getOffsets(),
                      [](Value offset) { return getConstantIntValue(offset) == 0; });
}

/// Whether what is computed of a value is computed element by element, up to a store to the storage that it was loaded from: then each
/// element may be written where it was read.
static bool staysInPlace(Value value, StoreOp store) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (user == store || isa<DimOp>(user))
      return true;
    bool isStep = (isElementwise(user) || isa<CastOp>(user)) && user->getNumResults() == 1 &&
                  user->getBlock() == store->getBlock() &&
                  extentsOf(user->getResult(0).getType()) == extentsOf(value.getType());
    return isStep && staysInPlace(user->getResult(0), store);
  });
}

/// Whether the storage begins as a copy of other storage, parts of which are replaced.
static bool beginsAsCopyOf(AllocOp made, Value ref) {
  return llvm::any_of(made->getUsers(), [&](Operation *user) {
    auto store = dyn_cast<StoreOp>(user);
    auto load =
        store && store.getRef() == made ? store.getValue().getDefiningOp<LoadOp>() : LoadOp();
    return load && load.getRef() == ref;
  });
}

/// Whether the store puts anew what rounds of the loop read, when nobody reads that any more.
static std::optional<Turn> turnOf(StoreOp store, scf::ForOp loop) {
  Value carried = store.getRef();
  bool isAlone = isWhole(store) && isOwn(carried) && loop.isDefinedOutsideOfLoop(carried) &&
                 llvm::all_of(carried.getUsers(), [&](Operation *user) {
                   Operation *here = loop.getBody()->findAncestorOpInBlock(*user);
                   return !here || user == store || isa<DimOp>(user) ||
                          (isa<LoadOp>(user) && here->isBeforeInBlock(store));
                 });
  if (!isAlone)
    return std::nullopt;
  Value value = store.getValue();
  while (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getSource();
  if (auto load = value.getDefiningOp<LoadOp>()) {
    auto made = load.getRef().getDefiningOp<AllocOp>();
    bool isCopy = made && made->getBlock() == loop.getBody() && finalCopy(made) == store;
    return isCopy && !beginsAsCopyOf(made, carried) ? std::optional<Turn>({store, made})
                                                    : std::nullopt;
  }
  bool isElsewhere = llvm::any_of(carried.getUsers(), [&](Operation *user) {
    auto load = dyn_cast<LoadOp>(user);
    return load && loop->isProperAncestor(load) && !staysInPlace(load, store);
  });
  return isElsewhere ? std::optional<Turn>({store, AllocOp()}) : std::nullopt;
}

/// Whether the body is small enough to stand twice. A product is a kernel with much code, and takes longer than the copy of its result.
static bool isSmall(scf::ForOp loop) {
  int64_t stores = 0;
  bool isPlain = true;
  loop.getBody()->walk([&](Operation *op) {
    isPlain &= !isProduct(op) && !isa<LaunchOp>(op);
    stores += isa<StoreOp>(op) ? 1 : 0;
  });
  return isPlain && stores <= kMostStores;
}

namespace {
class Turns {
public:
  Turns(scf::ForOp loop, llvm::ArrayRef<Turn> turns)
      : b_(loop), loc_(loop.getLoc()), loop_(loop), turns_(turns) {}

  void rewrite();

private:
  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }
  Value isOdd(Value number);
  Value storageBeside(Value carried);
  scf::IfOp inBranch();
  void copyBack(llvm::ArrayRef<Value> others);

  OpBuilder b_;
  Location loc_;
  scf::ForOp loop_;
  llvm::ArrayRef<Turn> turns_;
};
} // namespace

Value Turns::isOdd(Value number) {
  Value rest = b_.createOrFold<arith::RemSIOp>(loc_, number, constant(2));
  return b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::ne, rest, constant(0));
}

Value Turns::storageBeside(Value carried) {
  auto type = cast<RefType>(carried.getType());
  llvm::SmallVector<Value> named;
  for (auto [axis, extent] : llvm::enumerate(type.getExtents()))
    if (!extent.isConstant())
      named.push_back(lengthOf(b_, carried, static_cast<int64_t>(axis)));
  return b_.create<AllocOp>(loc_, type, named);
}

/// The body as the second arm of a branch: that of the rounds with even numbers. The first one has no code yet.
scf::IfOp Turns::inBranch() {
  Block *body = loop_.getBody();
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  b_.setInsertionPointToStart(body);
  Value number =
      b_.createOrFold<arith::SubIOp>(loc_, loop_.getInductionVar(), loop_.getLowerBound());
  number = b_.createOrFold<arith::DivSIOp>(loc_, number, loop_.getStep());
  Value odd = isOdd(number);
  auto branch = b_.create<scf::IfOp>(loc_, yield.getOperandTypes(), odd, /*withElseRegion=*/true);
  for (Block *arm : {branch.thenBlock(), branch.elseBlock()})
    if (!arm->empty())
      arm->getTerminator()->erase();
  Block *even = branch.elseBlock();
  even->getOperations().splice(even->end(), body->getOperations(),
                               std::next(Block::iterator(branch)), Block::iterator(yield));
  b_.setInsertionPointToEnd(even);
  b_.create<scf::YieldOp>(loc_, yield.getOperands());
  b_.setInsertionPoint(yield);
  b_.create<scf::YieldOp>(loc_, branch.getResults());
  yield.erase();
  return branch;
}

/// What the last of an odd number of rounds has made.
void Turns::copyBack(llvm::ArrayRef<Value> others) {
  b_.setInsertionPointAfter(loop_);
  Value span = b_.createOrFold<arith::SubIOp>(loc_, loop_.getUpperBound(), loop_.getLowerBound());
  span = b_.createOrFold<arith::MaxSIOp>(loc_, span, constant(0));
  Value rounds = b_.createOrFold<arith::CeilDivSIOp>(loc_, span, loop_.getStep());
  Value odd = isOdd(rounds);
  std::optional<int64_t> known = getConstantIntValue(odd);
  if (known && *known == 0)
    return;
  if (!known) {
    auto branch = b_.create<scf::IfOp>(loc_, odd, /*withElseRegion=*/false);
    b_.setInsertionPointToStart(branch.thenBlock());
  }
  for (auto [turn, other] : llvm::zip(turns_, others)) {
    RefType type = cast<RefType>(other.getType());
    Value all = loadWhole(b_, loc_, other, arrayTypeOf(type.getElementType(), type.getExtents()));
    storeWhole(b_, loc_, all, turn.carried());
  }
}

void Turns::rewrite() {
  llvm::SmallVector<Value> others;
  for (const Turn &turn : turns_)
    others.push_back(storageBeside(turn.carried()));
  scf::IfOp branch = inBranch();
  copyBack(others);
  // The odd rounds read what even ones have made, and make what these have read.
  IRMapping map;
  for (auto [turn, other] : llvm::zip(turns_, others)) {
    Value carried = turn.carried();
    if (turn.made)
      replaceByTarget(turn.store, turn.made, other);
    else
      StoreOp(turn.store).getRefMutable().assign(other);
    map.map(other, carried);
    map.map(carried, other);
  }
  b_.setInsertionPointToStart(branch.thenBlock());
  for (Operation &op : *branch.elseBlock())
    b_.clone(op, map);
}

void takeTurns(func::FuncOp function) {
  llvm::SmallVector<scf::ForOp> loops;
  // Inner loops come first.
  function.walk([&](scf::ForOp loop) {
    if (!loop->getParentOfType<ParallelOp>())
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    llvm::SmallVector<Turn> turns;
    for (StoreOp store : loop.getBody()->getOps<StoreOp>())
      if (std::optional<Turn> turn = turnOf(store, loop))
        turns.push_back(*turn);
    if (!turns.empty() && isSmall(loop))
      Turns(loop, turns).rewrite();
  }
}

} // namespace ptl::ir

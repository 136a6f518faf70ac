// Arrays that loops and branches of programs carry, as storage.
#include "passes/transform/expand/expand_control.h"

#include "ir/dialect/attributes.h"

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/lengths.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace ptl::ir {

static bool isArray(Value value) { return isa<ArrayType>(value.getType()); }

/// The end of a loop's or branch's body: arrays go to their storage (`refs`, null for other
/// values).
static void storeYielded(OpBuilder &b, Location loc, Block *body, llvm::ArrayRef<Value> refs) {
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  b.setInsertionPoint(yield);
  llvm::SmallVector<Value> yielded;
  // Arrays leave the loop through their storage, all other values through the yield.
  for (auto [value, ref] : llvm::zip(yield.getOperands(), refs)) {
    if (ref)
      storeWhole(b, loc, value, ref);
    else
      yielded.push_back(value);
  }
  b.create<scf::YieldOp>(loc, yielded);
  yield.erase();
}

/// `made`, whose results are those without storage, instead of `op`.
static void replaceResults(OpBuilder &b, Operation *op, Operation *made,
                           llvm::ArrayRef<Value> refs) {
  b.setInsertionPointAfter(made);
  unsigned next = 0;
  for (auto [result, ref] : llvm::zip(op->getResults(), refs))
    result.replaceAllUsesWith(ref ? loadWhole(b, op->getLoc(), ref, result.getType())
                                  : Value(made->getResult(next++)));
  op->erase();
}

/// What an array variable becomes: storage that begins with `init`.
static Value beginStorage(OpBuilder &builder, Location loc, Value init) {
  Value ref = storageLike(builder, loc, init);
  storeWhole(builder, loc, init, ref);
  return ref;
}

static void storeCarriedByFor(scf::ForOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  llvm::SmallVector<Value> inits;
  llvm::SmallVector<Value> refs;
  for (Value init : loop.getInitArgs()) {
    // Storage begins with the initial value, in front of the loop.
    // An array variable is storage from here on; only scalars are still carried by the loop itself.
    refs.push_back(isArray(init) ? beginStorage(b, loc, init) : Value());
    if (!isArray(init))
      inits.push_back(init);
  }
  auto made =
      b.create<scf::ForOp>(loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  made->setAttrs(loop->getAttrs());
  Block *body = made.getBody();
  // Without carried values the builder has made a terminator, which the inlined body brings itself.
  if (inits.empty())
    body->getTerminator()->erase();
  b.setInsertionPointToStart(body);
  llvm::SmallVector<Value> arguments = {made.getInductionVar()};
  unsigned next = 0;
  // In the body the variable is what its storage holds when the turn begins.
  for (auto [i, ref] : llvm::enumerate(refs))
    arguments.push_back(
        ref ? loadWhole(b, loc, ref, loop.getRegionIterArg(static_cast<unsigned>(i)).getType())
            : Value(made.getRegionIterArg(next++)));
  IRRewriter rewriter(b.getContext());
  rewriter.inlineBlockBefore(loop.getBody(), body, body->end(), arguments);
  storeYielded(b, loc, body, refs);
  replaceResults(b, loop, made, refs);
}

/// The length of what an arm gives. That of a value that is joined from others, or padded, is a
/// sum: the value itself does not stand outside of the arm.
static Value lengthInArm(OpBuilder &b, Value value, int64_t axis) {
  auto plus = [&](Value sum, Value more) {
    return sum ? b.createOrFold<arith::AddIOp>(value.getLoc(), sum, more) : more;
  };
  Value sum;
  if (auto concat = value.getDefiningOp<ConcatOp>();
      concat && axis == static_cast<int64_t>(concat.getAxis())) {
    for (Value part : concat.getXs())
      sum = plus(sum, lengthOf(b, part, axis));
    return sum;
  }
  auto pad = value.getDefiningOp<PadOp>();
  if (!pad)
    return lengthOf(b, value, axis);
  sum = lengthOf(b, pad.getX(), axis);
  for (ValueRange more : {ValueRange(pad.getBefore()), ValueRange(pad.getAfter())})
    if (!more.empty())
      sum = plus(sum, more[static_cast<size_t>(axis)]);
  return sum;
}

/// Moves what computes a scalar in an arm before the branch; false if it reads what the arm makes.
static bool moveBefore(scf::IfOp branch, Value scalar) {
  Operation *op = scalar.getDefiningOp();
  // A value from outside of the branch is there already.
  if (!op || !branch->isProperAncestor(op))
    return true;
  // Only pure scalar code may move, since the arm may not run at all.
  if (!isPure(op) || isArray(scalar) || op->getNumRegions() > 0 ||
      !llvm::all_of(op->getOperands(), [&](Value operand) { return moveBefore(branch, operand); }))
    return false;
  op->moveBefore(branch);
  return true;
}

/// The length of a result, in front of the branch: that of one of the arms.
static Value lengthBefore(scf::IfOp branch, unsigned result, int64_t axis) {
  Value length;
  // The first arm whose length can be computed in front decides; both arms have the same length.
  for (Block *arm : {branch.thenBlock(), branch.elseBlock()}) {
    OpBuilder inside(arm->getTerminator());
    length = lengthInArm(inside, arm->getTerminator()->getOperand(result), axis);
    if (moveBefore(branch, length))
      return length;
  }
  auto function = branch->getParentOfType<func::FuncOp>(); // names that are equal are equal lengths
  StringAttr name = extentsOf(branch.getResult(result).getType())[static_cast<size_t>(axis)].symbol;
  // A length with a name is an argument of the function.
  for (BlockArgument argument : function.getArguments())
    if (attrs::dim.of(function, argument.getArgNumber()) == name)
      return argument;
  return length;
}

static void storeCarriedByIf(scf::IfOp branch) {
  OpBuilder b(branch);
  Location loc = branch.getLoc();
  llvm::SmallVector<Value> refs;
  llvm::SmallVector<Type> types;
  for (auto [i, result] : llvm::enumerate(branch.getResults())) {
    if (!isArray(result)) {
      refs.push_back({});
      types.push_back(result.getType());
      continue;
    }
    // The lengths of what an arm computes are known in that arm only, but names are lengths.
    auto type = cast<ArrayType>(result.getType());
    llvm::SmallVector<Value> named;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (!type.getExtents()[axis].isConstant()) {
        named.push_back(lengthBefore(branch, static_cast<unsigned>(i), axis));
      }
    refs.push_back(allocateStorage(b, loc, type, named));
  }
  // The new branch takes over the regions, so nothing is copied.
  auto made = b.create<scf::IfOp>(loc, types, branch.getCondition(), /*addThenBlock=*/false,
                                  /*addElseBlock=*/false);
  for (unsigned arm = 0; arm < 2; ++arm) {
    Region &region = made->getRegion(arm);
    region.takeBody(branch->getRegion(arm));
    storeYielded(b, loc, &region.front(), refs);
  }
  replaceResults(b, branch, made, refs);
}

/// By value that a condition hands to the body: the number of the variable that it is unchanged, if
/// no other is that one.
static llvm::SmallVector<std::optional<size_t>> handedOn(scf::WhileOp loop) {
  auto condition = cast<scf::ConditionOp>(loop.getBeforeBody()->getTerminator());
  llvm::SmallVector<std::optional<size_t>> numbers;
  for (Value value : condition.getArgs()) {
    // A variable that the condition hands on unchanged can keep its storage.
    auto variable = dyn_cast<BlockArgument>(value);
    bool isOne = variable && variable.getOwner() == loop.getBeforeBody() && isArray(value) &&
                 llvm::count(condition.getArgs(), value) == 1;
    numbers.push_back(isOne ? std::optional<size_t>(variable.getArgNumber()) : std::nullopt);
  }
  return numbers;
}

/// Moves a block into a region, whose block carries scalars alone: the arrays are read from their
/// storage.
static void moveBlock(OpBuilder &b, Location loc, Block *from, Region &to, ValueRange scalars,
                      llvm::ArrayRef<Value> refs) {
  llvm::SmallVector<Type> own;
  for (Value value : scalars)
    own.push_back(value.getType());
  llvm::SmallVector<Location> locs(own.size(), loc);
  Block *body = b.createBlock(&to, {}, own, locs);
  llvm::SmallVector<Value> arguments;
  unsigned next = 0;
  // Arrays are read at the begin of the block; later stores do not change what was read.
  for (auto [argument, ref] : llvm::zip(from->getArguments(), refs))
    arguments.push_back(ref ? loadWhole(b, loc, ref, argument.getType())
                            : Value(body->getArgument(next++)));
  IRRewriter(b.getContext()).inlineBlockBefore(from, body, body->end(), arguments);
}

/// One storage for the variables of the condition and one for those of the body, which may be
/// others; one for both where they are the same.
static void storeCarriedByWhile(scf::WhileOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  llvm::SmallVector<Value> before, after, inits;
  llvm::SmallVector<Type> types;
  for (Value init : loop.getInits()) {
    before.push_back(isArray(init) ? beginStorage(b, loc, init) : Value());
    if (!isArray(init))
      inits.push_back(init);
  }
  auto condition = cast<scf::ConditionOp>(loop.getBeforeBody()->getTerminator());
  llvm::SmallVector<std::optional<size_t>> handed = handedOn(loop);
  for (auto [i, result] : llvm::enumerate(loop.getResults())) {
    Value ref;
    if (handed[i])
      ref = before[*handed[i]];
    else if (isArray(result)) // as long as what the variable began with
      ref = storageLike(b, loc, loop.getInits()[std::min(i, loop.getInits().size() - 1)]);
    else
      types.push_back(result.getType());
    after.push_back(ref);
  }
  auto made = b.create<scf::WhileOp>(loc, types, inits);
  auto keep = [&](Operation *end, ValueRange values, llvm::ArrayRef<Value> refs) {
    b.setInsertionPoint(end);
    llvm::SmallVector<Value> scalars;
    for (auto [i, value] : llvm::enumerate(values)) {
      // A value that is handed on unchanged is in its storage already.
      bool isThere = refs.data() == after.data() && handed[i];
      if (!refs[i])
        scalars.push_back(value);
      else if (!isThere)
        storeWhole(b, loc, value, refs[i]);
    }
    return scalars;
  };
  // The two regions have different arguments, so each is moved by itself.
  moveBlock(b, loc, loop.getBeforeBody(), made.getBefore(), inits, before);
  llvm::SmallVector<Value> kept = keep(condition, condition.getArgs(), after);
  b.create<scf::ConditionOp>(loc, condition.getCondition(), kept);
  condition.erase();
  moveBlock(b, loc, loop.getAfterBody(), made.getAfter(), made.getResults(), after);
  Operation *yield = made.getAfter().front().getTerminator();
  kept = keep(yield, yield->getOperands(), before);
  b.create<scf::YieldOp>(loc, kept);
  yield->erase();
  b.setInsertionPointAfter(made);
  unsigned next = 0;
  for (auto [result, ref] : llvm::zip(loop.getResults(), after))
    result.replaceAllUsesWith(ref ? loadWhole(b, loc, ref, result.getType())
                                  : Value(made.getResult(next++)));
  loop.erase();
}

/// A choice between two arrays is a branch, as the source may have it: arms that compute nothing were
/// taken out of one.
static scf::IfOp branchOf(arith::SelectOp choice) {
  OpBuilder b(choice);
  auto yields = [](Value value) {
    return [value](OpBuilder &inside, Location loc) { inside.create<scf::YieldOp>(loc, value); };
  };
  auto branch = b.create<scf::IfOp>(choice.getLoc(), choice.getCondition(),
                                    yields(choice.getTrueValue()), yields(choice.getFalseValue()));
  choice.replaceAllUsesWith(branch.getResult(0));
  choice.erase();
  return branch;
}

void storeCarried(func::FuncOp function) {
  llvm::SmallVector<Operation *> carriers;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ParallelOp>(op))
      // Grids hold tiles, which are no storage.
      return WalkResult::skip();
    if (auto choice = dyn_cast<arith::SelectOp>(op); choice && isArray(choice.getResult())) {
      carriers.push_back(branchOf(choice));
      return WalkResult::skip();
    }
    bool carries = llvm::any_of(op->getResults(), isArray);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      carries |= llvm::any_of(loop.getInits(), isArray);
    if (carries && isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
      carriers.push_back(op);
    return WalkResult::advance();
  });
  // Inner ones first: they are moved with the bodies of the outer ones.
  for (Operation *op : llvm::reverse(carriers)) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      storeCarriedByFor(loop);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      storeCarriedByIf(branch);
    else
      storeCarriedByWhile(cast<scf::WhileOp>(op));
  }
}

} // namespace ptl::ir

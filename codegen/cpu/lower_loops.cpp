// Loops: what they carry has one buffer each.
#include "codegen/cpu/lower_loops.h"
#include "codegen/cpu/carried.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/in_place.h"
#include "codegen/cpu/insert_in_place.h"
#include "codegen/cpu/lower_control.h"
#include "codegen/cpu/lower_program.h"
#include "codegen/cpu/lower_sums.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/storage.h"

using namespace mlir;

namespace ptl::cpu {

namespace {
/// The values that a loop carries: a buffer for each array, and scalars.
struct Carried {
  SmallVector<std::optional<View>> buffers; ///< by value; none for scalars
  SmallVector<Value> initial;               ///< of the scalars

  Carried(Lowering &l, Operation *loop, ValueRange values) {
    auto counted = dyn_cast<scf::ForOp>(loop);
    for (auto [number, value] : llvm::enumerate(values)) {
      if (isScalar(value)) {
        buffers.push_back(std::nullopt);
        initial.push_back(scalarOf(l, value));
      } else if (counted && continuesCarried(counted, static_cast<unsigned>(number))) {
        // The buffer of the loop around it serves both.
        buffers.push_back(requireView(l, value));
      } else {
        asHost(l, [&] { buffers.push_back(carriedBuffer(l, loop, value)); });
      }
    }
  }
  /// Says what stands for the values from here on.
  void bind(Lowering &l, ValueRange keys, ValueRange scalars) const {
    size_t next = 0;
    for (auto [key, buffer] : llvm::zip(keys, buffers))
      buffer ? l.bindView(key, *buffer) : l.bindScalar(key, scalars[next++]);
  }
  /// Has the storage that a round makes for next values stand in their buffers, where that may be.
  void shareStorage(Lowering &l, scf::ForOp loop) {
    for (auto [number, buffer] : llvm::enumerate(buffers)) {
      BlockArgument argument = loop.getRegionIterArg(number);
      ir::AllocOp alloc =
          buffer ? storageInPlace(argument, loop.getBody()->getTerminator()->getOperand(number))
                 : ir::AllocOp();
      if (!alloc)
        continue;
      l.bindView(alloc.getResult(), *buffer);
      // The boxes of that name are not all that is done to the buffer.
      l.program.refs.erase(buffer->data);
      inPlace.push_back(number);
    }
  }
  /// Says of next values that have been written to their buffers that they are there.
  void settleShared(Lowering &l, Operation *yield) const {
    for (size_t number : inPlace)
      l.bindView(yield->getOperand(number), *buffers[number]);
  }

private:
  SmallVector<size_t> inPlace; ///< the numbers of such values
};
} // namespace

void lowerFor(Lowering &l, scf::ForOp op) {
  if (lowerSum(l, op))
    return;
  Carried carried(l, op, op.getInitArgs());
  auto results = l.e.loop(
      scalarOf(l, op.getLowerBound()), scalarOf(l, op.getUpperBound()), scalarOf(l, op.getStep()),
      carried.initial, [&](const Emit &, Value i, ValueRange scalars) {
        // Values of the body do not dominate what stands behind the loop.
        Scope scope(l);
        l.bindScalar(op.getInductionVar(), i);
        carried.bind(l, op.getRegionIterArgs(), scalars);
        carried.shareStorage(l, op);
        for (BlockArgument argument : op.getRegionIterArgs())
          mayOverwrite(l, argument);
        Values next;
        // Each round releases what it has allocated, or a long loop would hold the memory of all
        // rounds.
        size_t owned = l.program.owned.size();
        withScratchScope(l, [&] {
          lowerBlock(l, *op.getBody());
          Operation *yield = op.getBody()->getTerminator();
          carried.settleShared(l, yield);
          asHost(l, [&] { yieldInto(l, yield, yield->getOperands(), carried.buffers, next); });
        });
        releaseOwned(l, owned);
        return SmallVector<Value>(next.begin(), next.end());
      });
  carried.bind(l, op.getResults(), results);
}

// What the first region hands on as it is carried, and no view of, has its buffer for itself in the second region: the first one has read it
// by then.
static void mayOverwriteHandedOn(Lowering &l, scf::WhileOp op) {
  Block *before = op.getBeforeBody();
  ValueRange given = cast<scf::ConditionOp>(before->getTerminator()).getArgs();
  auto memoryOfGiven = [&](Value value) {
    return isScalar(value) ? Value() : memoryOf(viewOf(l, value)->data);
  };
  for (auto [value, inside] : llvm::zip(given, op.getAfterArguments()))
    if (!isScalar(value) && llvm::is_contained(before->getArguments(), value) &&
        llvm::count_if(given, [&, value = value](Value other) {
          return memoryOfGiven(other) == memoryOfGiven(value);
        }) == 1)
      mayOverwrite(l, inside);
}

void lowerWhile(Lowering &l, scf::WhileOp op) {
  const Emit &e = l.e;
  Carried carried(l, op, op.getInits());
  Region *region = e.b.getInsertionBlock()->getParent();
  auto newBlock = [&](Block *previous) {
    OpBuilder::InsertionGuard guard(e.b);
    return e.b.createBlock(region, std::next(Region::iterator(previous)));
  };
  Block *header = newBlock(e.b.getInsertionBlock());
  for (Value value : carried.initial)
    header->addArgument(value.getType(), e.loc);
  e.b.create<cf::BranchOp>(e.loc, header, carried.initial);
  e.b.setInsertionPointToEnd(header);
  Block *before = op.getBeforeBody(), *after = op.getAfterBody();
  carried.bind(l, before->getArguments(), header->getArguments());
  // The first region is left only behind the loop: what it gives has a name there.
  SmallVector<std::pair<Value, View>> left;
  std::optional<Scope> scope(std::in_place, l);
  size_t owned = l.program.owned.size();
  lowerBlock(l, *before);
  auto condition = cast<scf::ConditionOp>(before->getTerminator());
  for (auto [value, inside, result] :
       llvm::zip(condition.getArgs(), after->getArguments(), op.getResults())) {
    if (isScalar(value)) {
      l.bindScalar(inside, scalarOf(l, value));
      l.bindScalar(result, scalarOf(l, value));
      continue;
    }
    // The value is used in both regions, so it gets memory before the ways part.
    asHost(l, [&] { requireView(l, value); });
    View view = requireView(l, value);
    l.bindView(inside, view);
    left.push_back({result, view});
  }
  mayOverwriteHandedOn(l, op);
  // What the first region computes is emitted in front of the branch, which dominates both ways.
  Value go = scalarOf(l, condition.getCondition());
  size_t first = l.program.owned.size();
  Block *body = newBlock(e.b.getInsertionBlock());
  Block *done = newBlock(body);
  e.b.create<cf::CondBranchOp>(e.loc, go, body, done);
  e.b.setInsertionPointToEnd(body);
  Values scalars;
  {
    Scope inner(l);
    withScratchScope(l, [&] {
      lowerBlock(l, *after);
      Operation *yield = after->getTerminator();
      asHost(l, [&] { yieldInto(l, yield, yield->getOperands(), carried.buffers, scalars); });
    });
    // Memory of the first region is still in use where the loop is left, so it is released behind
    // the loop.
    SmallVector<Value> made(ArrayRef<Value>(l.program.owned).slice(owned, first - owned));
    releaseOwned(l, owned);
    l.program.owned.append(made);
  }
  e.b.create<cf::BranchOp>(e.loc, header, SmallVector<Value>(scalars.begin(), scalars.end()));
  e.b.setInsertionPointToEnd(done);
  // Only now are the names of the first region forgotten, and the results bound outside of it.
  scope.reset();
  for (auto &[result, view] : left)
    l.bindView(result, view);
}

} // namespace ptl::cpu

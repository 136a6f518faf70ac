// Blocks, branches, and which function lowers what.
#include "codegen/cpu/lower_control.h"
#include "codegen/cpu/carried.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/in_place.h"
#include "codegen/cpu/insert_in_place.h"
#include "codegen/cpu/lower_boxes.h"
#include "codegen/cpu/lower_check.h"
#include "codegen/cpu/lower_loops.h"
#include "codegen/cpu/lower_parallel.h"
#include "codegen/cpu/lower_program.h"
#include "codegen/cpu/lower_scalars.h"
#include "codegen/cpu/lower_tasks.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"
#include "codegen/cpu/runtime_values.h"
#include "codegen/cpu/storage.h"
#include "codegen/cpu/store_together.h"
#include "ir/dialect/attributes.h"

using namespace mlir;

namespace ptl::cpu {

void lowerBlock(Lowering &l, Block &block) {
  if (l.isOrchestrating())
    return lowerProgramBlock(l, block);
  size_t done = 0;
  for (Operation &op : block.without_terminator()) {
    // This store was lowered together with an earlier one.
    if (done > 0) {
      --done;
      continue;
    }
    l.e.loc = op.getLoc();
    auto store = dyn_cast<ir::StoreOp>(op);
    SmallVector<ir::StoreOp> together =
        store ? storesOfOneLoop(l, store) : SmallVector<ir::StoreOp>();
    if (together.empty()) {
      lowerOp(l, &op);
    } else {
      lowerTogether(l, together);
      done = together.size() - 1;
    }
  }
}

// Canonicalisation turns an `if` that only chooses between arrays into a selection.
static void lowerArrayChoice(Lowering &l, arith::SelectOp op) {
  Value condition = scalarOf(l, op.getCondition());
  // Both arrays are computed; the condition only chooses an address and extents.
  View yes = carriedBuffer(l, op, op.getTrueValue()), no = carriedBuffer(l, op, op.getFalseValue());
  Values extents;
  for (auto [one, other] : llvm::zip(yes.extents, no.extents))
    extents.push_back(l.e.select(condition, one, other));
  Value data = l.e.select(condition, yes.data, no.data);
  auto type = cast<ir::ArrayType>(op.getType());
  l.bindView(op.getResult(), denseView(l, type.getElementType(), data, extents));
}

using Copies = SmallVector<std::pair<View, View>>;

// What an arm gives that is to stand in the memory of an array, and does not yet: copies of it, and where they go.
static Copies copiesOfArm(Lowering &l, scf::IfOp op, ValueRange yielded, ArrayRef<Value> inPlace) {
  Copies copies;
  for (auto [value, array] : llvm::zip(yielded, inPlace))
    if (array)
      asHost(l, [&, value = value, array = array] {
        auto there = viewOf(l, value);
        View place = *viewOf(l, array);
        if (!there || !sameView(*there, place))
          copies.push_back({carriedBuffer(l, op, value), place});
      });
  return copies;
}

// Scalars, and the address and the extents of arrays in memory of their own.
static SmallVector<Value> valuesOfArm(Lowering &l, scf::IfOp op, ValueRange yielded,
                                      ArrayRef<Value> inPlace) {
  SmallVector<Value> values;
  for (auto [value, array] : llvm::zip(yielded, inPlace)) {
    if (isScalar(value))
      values.push_back(scalarOf(l, value));
    else if (!array)
      asHost(l, [&, value = value] {
        View view = carriedBuffer(l, op, value);
        values.push_back(view.data);
        llvm::append_range(values, view.extents);
      });
  }
  return values;
}

// Each arm makes its arrays in memory of its own; address and extents meet behind the arms. What both arms leave in one memory stays there.
static void lowerIf(Lowering &l, scf::IfOp op) {
  const Emit &e = l.e;
  SmallVector<Type> types;
  SmallVector<Value> inPlace = arraysOfArms(l, op);
  Type pointer = pointerType(e.b.getContext()), index = e.b.getIndexType();
  for (auto [result, array] : llvm::zip(op.getResults(), inPlace)) {
    if (isScalar(result)) {
      types.push_back(registerType(result.getType()));
    } else if (!array) {
      types.push_back(pointer);
      types.append(cast<ir::ArrayType>(result.getType()).getRank(), index);
    }
  }
  auto arm = [&](Region &region) -> SmallVector<Value> {
    if (region.empty())
      return {};
    Scope scope(l);
    // What the arm allocates is released at its end, except the memory of its results.
    size_t owned = l.program.owned.size();
    lowerBlock(l, region.front());
    ValueRange yielded = region.front().getTerminator()->getOperands();
    Copies copies = copiesOfArm(l, op, yielded, inPlace);
    size_t inner = l.program.owned.size();
    SmallVector<Value> values = valuesOfArm(l, op, yielded, inPlace);
    // All that reads the arrays has been computed by now.
    for (auto &[from, to] : copies)
      asHost(l, [&, &from = from, &to = to] {
        asTask(l, op, [&] {
          forAll(l, to.extents, 1, {},
                 [&](Coords &at) { storeAt(l, to, at, loadAt(l, from, at)); });
        });
      });
    // The results' memory passes to the code behind the branch.
    l.program.owned.truncate(inner);
    releaseOwned(l, owned);
    return values;
  };
  auto merged = e.branch(
      scalarOf(l, op.getCondition()), types, [&](const Emit &) { return arm(op.getThenRegion()); },
      [&](const Emit &) { return arm(op.getElseRegion()); });
  size_t next = 0;
  for (auto [result, array] : llvm::zip(op.getResults(), inPlace)) {
    if (isScalar(result)) {
      l.bindScalar(result, merged[next++]);
      continue;
    }
    if (array) {
      l.bindView(result, *viewOf(l, array));
      mayOverwrite(l, result);
      continue;
    }
    auto type = cast<ir::ArrayType>(result.getType());
    Value data = merged[next++];
    if (l.isOrchestrating())
      l.program.owned.push_back(data);
    Values extents(merged.begin() + next, merged.begin() + next + type.getRank());
    next += type.getRank();
    for (auto [axis, extent] : llvm::enumerate(type.getExtents()))
      // A block argument hides a constant that the type knows.
      if (extent.isConstant())
        extents[axis] = l.index(extent.length);
    l.bindView(result, denseView(l, type.getElementType(), data, extents));
  }
}

// The lengths of storage: those that are no constants are operands.
static Values extentsOfStorage(Lowering &l, ir::RefType type, ValueRange lengths) {
  Values extents;
  size_t next = 0;
  for (const ir::Extent &extent : type.getExtents())
    extents.push_back(extent.isConstant() ? l.index(extent.length) : scalarOf(l, lengths[next++]));
  return extents;
}

void lowerOp(Lowering &l, Operation *op) {
  if (auto store = dyn_cast<ir::StoreOp>(op))
    return lowerStore(l, store);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerFor(l, loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lowerIf(l, branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return lowerWhile(l, loop);
  if (auto grid = dyn_cast<ir::ParallelOp>(op))
    return lowerParallel(l, grid);
  if (auto check = dyn_cast<ir::CheckOp>(op))
    return lowerCheck(l, check);
  if (auto print = dyn_cast<ir::PrintOp>(op)) {
    Value values = valueArray(l, print.getMessage(), print.getXs(), attrs::texts.of(print));
    auto count = static_cast<int64_t>(print.getXs().size() + !print.getMessage().empty());
    l.e.call("ptl_rt_print", {}, {l.context, values, l.e.i32(count)});
    return;
  }
  if (auto alloc = dyn_cast<ir::AllocOp>(op)) {
    // A loop has put this storage into the buffer of a value that it carries (`storageInPlace`).
    if (l.isMaterialised(alloc.getResult()))
      return;
    auto type = alloc.getResult().getType();
    Values extents = extentsOfStorage(l, type, alloc.getLengths());
    return l.bindView(alloc.getResult(), allocateShared(l, type.getElementType(), extents));
  }
  if (auto view = dyn_cast<ir::ViewOp>(op)) {
    auto type = view.getResult().getType();
    // Outputs are dense, so only lengths and strides are others.
    Values extents = extentsOfStorage(l, type, view.getLengths());
    View whole = *viewOf(l, view.getRef());
    return l.bindView(view.getResult(), denseView(l, whole.element, whole.data, extents));
  }
  if (auto choice = dyn_cast<arith::SelectOp>(op); choice && isa<ir::ArrayType>(choice.getType()))
    return lowerArrayChoice(l, choice);
  // Whatever has an effect is listed above; to leave out another one would change the program.
  if (op->getNumResults() == 0)
    return l.fail(op, "this operation has no lowering to the CPU");
  if (llvm::any_of(op->getResults(), [&](Value v) { return !isScalar(v); }))
    return defineValue(l, op);
  lowerScalarOp(l, op);
}

} // namespace ptl::cpu

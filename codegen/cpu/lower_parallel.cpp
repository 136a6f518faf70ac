// Grids: the body becomes a function that the runtime calls on ranges of the flattened grid.
#include "codegen/cpu/lower_parallel.h"
#include "codegen/cpu/column_tiles.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/lower_check.h"
#include "codegen/cpu/lower_control.h"
#include "codegen/cpu/lower_tasks.h"
#include "codegen/cpu/outline_body.h"
#include "codegen/cpu/product_tiles.h"
#include "codegen/cpu/storage.h"
#include "codegen/cpu/task_place.h"
#include "codegen/cpu/task_regions.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace ptl::cpu {

static void lowerPoint(Lowering &l, ir::ParallelOp op, Value linear, ArrayRef<Value> steps,
                       ArrayRef<Value> counts) {
  const Emit &e = l.e;
  Scope scope(l);
  Value rest = linear;
  // The last axis varies fastest, so that neighbouring points work on neighbouring memory.
  for (int64_t axis = static_cast<int64_t>(counts.size()) - 1; axis >= 0; --axis) {
    Value position = rest;
    if (axis > 0) {
      position = e.b.create<arith::RemUIOp>(e.loc, rest, counts[axis]);
      rest = e.b.create<arith::DivUIOp>(e.loc, rest, counts[axis]);
    }
    Value lower = scalarOf(l, op.getLower()[axis]);
    l.bindScalar(op.getBody().getArgument(axis), e.add(lower, e.mul(position, steps[axis])));
  }
  // The steps may be chosen at run time, so the lengths follow from them.
  settleTileLengths(l, op, steps);
  bool moves = !steps.empty();
  llvm::SaveAndRestore position(l.gridPosition,
                                moves ? Value(op.getBody().getArguments().back()) : Value());
  llvm::SaveAndRestore step(l.gridStep, moves ? steps.back() : Value());
  // The scratch memory of one point is reused by the next.
  withScratchScope(l, [&] { lowerBlock(l, op.getBody().front()); });
  // What was read of one tile says nothing about another one.
  l.readNow.clear();
  l.readBefore.clear();
}

static Value productOf(const Emit &e, ArrayRef<Value> counts) {
  Value total = e.index(1);
  for (Value count : counts)
    total = e.mul(total, count);
  return total;
}

static SmallVector<Value> gridSteps(Lowering &l, ir::ParallelOp op) {
  SmallVector<Value> steps;
  for (Value step : op.getSteps())
    steps.push_back(scalarOf(l, step));
  return steps;
}

static SmallVector<Value> gridCounts(Lowering &l, ir::ParallelOp op, ArrayRef<Value> steps) {
  SmallVector<Value> counts;
  const Emit &e = l.e;
  for (auto [lower, upper, size] : llvm::zip(op.getLower(), op.getUpper(), steps)) {
    Value span = e.sub(scalarOf(l, upper), scalarOf(l, lower));
    // An empty range must not become a huge unsigned number below.
    span = e.b.createOrFold<arith::MaxSIOp>(e.loc, span, e.index(0));
    // The last tile of an axis may be partial, so the number of tiles is rounded up.
    Value up = e.add(span, e.sub(size, e.index(1)));
    counts.push_back(e.b.createOrFold<arith::DivUIOp>(e.loc, up, size));
  }
  return counts;
}

// The most operations of a point that spends most of its time on combining elements in memory.
static constexpr int64_t kOpsOfCombining = 8;

/// Whether each point combines single elements in memory and computes little else.
static bool mostlyCombines(ir::ParallelOp op) {
  bool combines = false;
  int64_t ops = 0;
  for (Operation &each : op.getBody().front()) {
    if (++ops > kOpsOfCombining || each.getNumRegions() > 0 ||
        !llvm::all_of(each.getResults(), isScalar))
      return false;
    if (auto store = dyn_cast<ir::StoreOp>(each)) {
      if (!llvm::all_of(store.getLengths(), [](Value length) { return constantOf(length) == 1; }))
        return false;
      combines |= store.getAtomic().has_value();
    }
  }
  return combines;
}

// A grid inside a grid runs in the loop of the outer point.
static void lowerGridInPlace(Lowering &l, ir::ParallelOp op) {
  SmallVector<Value> steps = gridSteps(l, op), counts = gridCounts(l, op, steps);
  l.e.loop(l.index(0), productOf(l.e, counts), l.index(1), {},
           [&](const Emit &, Value i, ValueRange) {
             lowerPoint(l, op, i, steps, counts);
             return SmallVector<Value>();
           });
}

void lowerParallel(Lowering &l, ir::ParallelOp op) {
  const Emit &e = l.e;
  if (l.inBody)
    return lowerGridInPlace(l, op);
  SmallVector<Value> steps = gridSteps(l, op);
  // The tiles are chosen before the counts, which depend on the steps.
  chooseProductTiles(l, op, steps);
  chooseColumnTiles(l, op, steps);
  SmallVector<Value> counts = gridCounts(l, op, steps);
  Value total = e.indexCast(productOf(e, counts), e.b.getI64Type());
  func::FuncOp body = bodyFunction(l, [&](Value begin, Value end) {
    e.loop(begin, end, l.index(1), {}, [&](const Emit &, Value i, ValueRange) {
      lowerPoint(l, op, i, steps, counts);
      return SmallVector<Value>();
    });
  });
  Captured captured = captureInto(l, body);
  if (l.isOrchestrating()) {
    EmittedPositions positions(l);
    ir::GridRegions regions(positions, ir::OutsideArrays::Computed, op);
    submitTask(l, op, body, total, captured, [&](Value ref) { return regions.of(ref); });
  } else {
    Type pointer = pointerType(e.b.getContext());
    Value address = e.b.create<LLVM::AddressOfOp>(e.loc, pointer, body.getName());
    StringRef run = mostlyCombines(op) ? "ptl_rt_grid_combining" : "ptl_rt_grid";
    e.call(run, {}, {l.context, address, total, captured.cells, placeOfTask(l, op)});
  }
  // A check that has failed by now ends the function that started the grid.
  Value status = e.b.create<LLVM::LoadOp>(e.loc, e.b.getI32Type(), l.context);
  leaveUnless(l, e.cmpi(arith::CmpIPredicate::eq, status, 0));
}

} // namespace ptl::cpu

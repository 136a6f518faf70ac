// Pending and materialised values: when each is computed.
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/fold_together.h"
#include "codegen/cpu/in_place.h"
#include "codegen/cpu/insert_in_place.h"
#include "codegen/cpu/lower_elementwise.h"
#include "codegen/cpu/lower_gather.h"
#include "codegen/cpu/lower_product.h"
#include "codegen/cpu/lower_reduction.h"
#include "codegen/cpu/lower_scan.h"
#include "codegen/cpu/lower_shape.h"
#include "codegen/cpu/lower_sort.h"
#include "codegen/cpu/lower_tasks.h"
#include "codegen/cpu/one_pass.h"
#include "codegen/cpu/one_row.h"
#include "codegen/cpu/positions.h"
#include "codegen/cpu/storage.h"
#include "codegen/cpu/streamed_store.h"
#include "codegen/cpu/transpose.h"

#include "ir/dialect/fold.h"
#include "ir/dialect/host_views.h"
#include "ir/dialect/op_facts.h"
#include "passes/analysis/affine_positions.h"
#include "passes/analysis/axis_map.h"
#include "passes/analysis/op_info.h"
#include "llvm/Support/SaveAndRestore.h"

#include <numeric>

using namespace mlir;

namespace ptl::cpu {

static bool hasProducer(Operation *op) {
  const OpLowering *lowering = ir::loweringOf(op);
  if (lowering && lowering->combiner) // reductions and scans
    return true;
  return isa<ir::FoldOp, ir::MatmulOp, ir::EinsumOp, ir::SortOp, ir::ArgsortOp, ir::TopkOp,
             ir::ScatterOp, ir::ConcatOp, ir::PadOp, ir::InterleaveOp, ir::InsertOp, ir::UniqueOp,
             ir::SortedOp>(op);
}

// --- when values are computed --------------------------------------------------------------------

int64_t costOf(Lowering &l, Value value) {
  if (isScalar(value))
    return 0;
  if (l.views.count(value))
    return 1;
  auto found = l.costs.find(value);
  return found == l.costs.end() ? 1 : found->second;
}

// Deeper values are costly anyway, and operands may be shared again and again.
static constexpr int kDeepestSettled = 6;

// Whether a loop along the last axis loads an operand in front of it: it is in memory, and has one element for all positions there.
static bool isLoadedOnce(Lowering &l, Value operand, Value result) {
  auto own = arrayType(operand), all = arrayType(result);
  return own && all && own.getRank() == all.getRank() && own.getRank() > 0 &&
         own.getExtents().back().isOne() && !all.getExtents().back().isOne() && viewOf(l, operand);
}

// What several operations of the same element read is computed once.
static int64_t settledCost(Lowering &l, Value value, int depth,
                           llvm::SmallPtrSetImpl<void *> &met) {
  if (!met.insert(value.getAsOpaquePointer()).second)
    return 0;
  Operation *op = value.getDefiningOp();
  if (isScalar(value) || !op || depth > kDeepestSettled || l.views.count(value))
    return costOf(l, value);
  int64_t total = costOfOp(op);
  for (Value operand : op->getOperands())
    if (!isLoadedOnce(l, operand, value))
      total += settledCost(l, operand, depth + 1, met);
  return std::min(total, costOf(l, value));
}

int64_t settledCost(Lowering &l, Value array) {
  llvm::SmallPtrSet<void *, 16> met;
  return settledCost(l, array, 0, met);
}

// Whether storage that a load reads may change before the last use of what was loaded.
static bool isOverwritten(ir::LoadOp load) {
  Value storage = ir::storageUnder(load.getRef());
  return llvm::any_of(ir::usesOfElements(storage), [&](Operation *user) {
    auto store = dyn_cast<ir::StoreOp>(user);
    if (!store || ir::storageUnder(store.getRef()) != storage)
      return false;
    Operation *inBlock = load->getBlock()->findAncestorOpInBlock(*store);
    // A store in front of the load is over when it reads.
    return inBlock && load->isBeforeInBlock(inBlock);
  });
}

static bool isUsedInside(Operation *op) {
  return llvm::any_of(op->getUsers(),
                      [&](Operation *user) { return user->getBlock() != op->getBlock(); });
}

static bool mustEvaluateNow(Lowering &l, Operation *op) {
  if (auto load = dyn_cast<ir::LoadOp>(op); load && isOverwritten(load))
    return true;
  // A region may be a loop, where a pending value would be computed in each round.
  return isUsedInside(op) && costOf(l, op->getResult(0)) >= 4;
}

// Computes what a producer makes before a region reads parts of it, which are views then instead of copies.
static void settleSource(Lowering &l, Operation *op) {
  if (!isUsedInside(op) || !isa<ir::SliceOp, ir::NewAxisOp, ir::CastOp, ir::TransposeOp>(op))
    return;
  Value from = op->getOperand(0), source = from;
  while (auto reshape = source.getDefiningOp<ir::ReshapeOp>())
    source = reshape.getX();
  Operation *made = source.getDefiningOp();
  if (!made || !hasProducer(made) || viewOf(l, source))
    return;
  materialise(l, source);
  // A reshape of what is in memory is a view, too, and costs no more than a load.
  if (auto view = viewOf(l, from))
    l.bindView(from, *view);
}

void defineValue(Lowering &l, Operation *op) {
  defineExtents(l, op);
  settleSource(l, op);
  int64_t total = costOfOp(op);
  for (Value operand : op->getOperands())
    total += costOf(l, operand);
  for (Value result : op->getResults())
    // The limit keeps sums from overflowing where operands are shared again and again.
    l.costs[result] = std::min<int64_t>(total, 1000);
  // Array operations have no effects, so nothing is lost.
  if (op->use_empty())
    return;
  if (auto insert = dyn_cast<ir::InsertOp>(op); insert && insertInPlace(l, insert))
    return;
  bool now = mustEvaluateNow(l, op);
  if (op->getNumResults() == 1)
    if (auto view = viewOfOp(l, op)) {
      l.bindView(op->getResult(0), *view);
      // A view of storage that is written later has to be copied; a reshape reads no storage
      // itself.
      if (now && !isa<ir::ReshapeOp>(op))
        materialise(l, op->getResult(0));
      return;
    }
  // A producer writes whole arrays, so its value is made before a region that reads it.
  if (hasProducer(op) && (now || isUsedInside(op) || op->getNumResults() > 1))
    now = true;
  for (Value result : op->getResults()) {
    if (now && !l.views.count(result))
      materialise(l, result);
    else if (!now && isUsedInside(op))
      prepare(l, result);
  }
}

std::optional<View> viewOf(Lowering &l, Value array) {
  if (auto found = l.views.find(array); found != l.views.end())
    return found->second;
  Operation *op = array.getDefiningOp();
  // An operation that only changes strides has a view as soon as its operand has one.
  return op && op->getNumResults() == 1 ? viewOfOp(l, op) : std::nullopt;
}

View requireView(Lowering &l, Value array) {
  if (auto view = viewOf(l, array))
    return *view;
  return materialise(l, array);
}

static void produce(Lowering &l, Operation *op, ArrayRef<View> dests, Value streamed = {}) {
  llvm::SaveAndRestore place(l.e.loc, op->getLoc());
  if (produceReduction(l, op, dests[0]) || produceFold(l, op, dests) ||
      produceScan(l, op, dests[0], streamed) || produceProduct(l, op, dests[0], false) ||
      produceSort(l, op, dests) || produceScatter(l, op, dests[0]) || produceShape(l, op, dests))
    return;
  l.fail(op, "this operation has no lowering to the CPU");
}

View materialise(Lowering &l, Value array) {
  // The array is made by loops of its own, which are no part of the pass that wants it.
  llvm::SaveAndRestore<OnePass *> own(l.pass, nullptr);
  Operation *op = array.getDefiningOp();
  if (foldTogether(l, op))
    return l.views.find(array)->second;
  auto allocateFor = [&](Value value) {
    return allocate(l, cast<ir::ArrayType>(value.getType()).getElementType(), extentsOf(l, value));
  };
  // A producer of several results makes them together; all else goes one by one.
  if (hasProducer(op) && op->getNumResults() > 1 && !l.views.count(array)) {
    SmallVector<View> dests;
    for (Value result : op->getResults())
      dests.push_back(allocateFor(result));
    asTask(l, op, [&] { produce(l, op, dests); });
    for (auto [result, dest] : llvm::zip(op->getResults(), dests))
      l.bindView(result, dest);
    return l.views.find(array)->second;
  }
  View dest = allocateFor(array);
  asTask(l, op, [&] { evaluateInto(l, array, dest); });
  l.bindView(array, dest);
  // The next box may be stored on top of this one.
  if (isa<ir::InsertOp>(op))
    mayOverwrite(l, array);
  return dest;
}

// An operand of an operation whose result is of that type; null: of no array.
static void prepareOperand(Lowering &l, Operation *op, ir::ArrayType type, OpOperand &use) {
  auto array = arrayType(use.get());
  if (!array)
    return;
  // These read their first operand at positions that are known only when the code runs.
  bool randomAccess = isa<ir::ReshapeOp, ir::GatherOp, ir::TakeOp>(op);
  if (auto slice = dyn_cast<ir::SliceOp>(op))
    randomAccess = static_cast<bool>(slice.getOutside());
  if (randomAccess && use.getOperandNumber() == 0) {
    requireView(l, use.get());
    return;
  }
  if (isa<ir::TakeOp>(op)) {
    // Positions that count are coordinates; others would be computed again for each row.
    if (!ir::arePositionsEven(use.get()))
      prepare(l, use.get(), /*repeated=*/array.getRank() < type.getRank());
    return;
  }
  bool repeated = type && isElementwise(op) && array.getRank() < type.getRank();
  if (type && isElementwise(op) && array.getRank() == type.getRank())
    for (auto [from, to] : llvm::zip(array.getExtents(), type.getExtents()))
      // Elements that are broadcast would be computed again for each position.
      repeated |= from.isOne() && !to.isOne();
  prepare(l, use.get(), repeated);
}

static bool isReduced(Value value) {
  Operation *op = value.getDefiningOp();
  const OpRecord *record = op ? ir::recordOf(op) : nullptr;
  return record && record->opClass == OpClass::Reduction;
}

static void prepareOperands(Lowering &l, Operation *op) {
  auto type = op->getNumResults() ? arrayType(op->getResult(0)) : ir::ArrayType();
  // A reduction stores what it reduces where another operand needs it, too, so it goes first.
  for (bool reduced : {true, false})
    for (OpOperand &use : op->getOpOperands())
      if (isReduced(use.get()) == reduced)
        prepareOperand(l, op, type, use);
}

// Whether a sum with a product is made in memory of its own, where the product is added to the other summand, rather than in the loop that
// reads its elements: that loop would be the only one to pass over a summand that nothing has to store.
static bool isAddedInMemory(Lowering &l, Operation *op, bool isShared) {
  Value base;
  Operation *product = nullptr;
  if (!isProductInto(op, base, product) || viewOf(l, product->getResult(0)))
    return false;
  Operation *other = base.getDefiningOp();
  return isShared || (other && hasProducer(other) && !viewOf(l, base));
}

void prepare(Lowering &l, Value array, bool repeated) {
  if (isScalar(array) || viewOf(l, array))
    return;
  if (!l.pass) {
    OnePass pass = OnePass::reading(l, array);
    llvm::SaveAndRestore<OnePass *> own(l.pass, &pass);
    return prepare(l, array, repeated);
  }
  Operation *op = array.getDefiningOp();
  if (!op)
    return;
  // What this loop alone reads, at one position, stays in registers.
  bool ofPass = l.pass->operations.contains(op);
  if (ofPass && !l.pass->prepared.insert(op).second)
    return;
  bool shared = repeated || (!array.hasOneUse() && !ofPass);
  if (auto cast = dyn_cast<ir::CastOp>(op))
    return prepare(l, cast.getSource(), shared);
  // Where a reshape is no view, the place of one element takes divisions.
  if (isa<ir::ReshapeOp>(op) || hasProducer(op) || isAddedInMemory(l, op, shared)) {
    materialise(l, array);
    return;
  }
  prepareOperands(l, op);
  // What its operands cost is known only now: those that are in memory take a load.
  if (shared && settledCost(l, array) >= kCostlyToRepeat)
    materialise(l, array);
}

void prepareInside(Lowering &l, ValueRange arrays) {
  OnePass pass(l, arrays);
  llvm::SaveAndRestore<OnePass *> own(l.pass, &pass);
  for (Value array : arrays)
    prepareOperands(l, array.getDefiningOp());
}

std::optional<View> placeOfShared(Lowering &l, Value array) {
  Operation *op = array.getDefiningOp();
  // The code of a program computes arrays as tasks, each of which has one result.
  if (!arrayType(array) || viewOf(l, array) || !op || array.hasOneUse() || !isElementwise(op) ||
      l.isOrchestrating())
    return std::nullopt;
  Value base;
  Operation *product = nullptr;
  Type element = arrayType(array).getElementType();
  // Registers may hold more than memory does, and all uses of an element should see the same.
  if (isProductInto(op, base, product) || storageType(element) != registerType(element))
    return std::nullopt;
  prepareInside(l, array);
  if (settledCost(l, array) < kCostlyToRepeat)
    return std::nullopt;
  return allocate(l, element, extentsOf(l, array));
}

// The place of what a slice drops nothing of but axes of extent 1, where that has no other use: it is written where the slice goes.
static std::optional<View> placeBeforeDrop(Lowering &l, ir::SliceOp slice, const View &dest) {
  ir::AxisMap axes(dest.extents.size());
  std::iota(axes.begin(), axes.end(), 0);
  auto source = ir::axesBeforeDrop(slice, axes);
  if (!source || !slice.getSource().hasOneUse())
    return std::nullopt;
  View place{dest.element, dest.data, {}, {}};
  for (int64_t axis : *source) {
    place.extents.push_back(axis == ir::kWhole ? l.index(1) : dest.extents[axis]);
    place.strides.push_back(axis == ir::kWhole ? l.index(0) : dest.strides[axis]);
  }
  return place;
}

void evaluateInto(Lowering &l, Value array, const View &dest, Value streamed) {
  if (auto view = viewOf(l, array)) {
    // What a loop carries may be there already.
    if (sameView(*view, dest))
      return;
    // Plain loops over a transposed copy would touch a line of the cache for each element.
    if (copyTransposed(l, *view, dest, streamed))
      return;
    return storeAsOneRow(l, array, dest, 1, [&](ArrayRef<View> to) {
      storeAll(l, to[0], streamed, 1, {}, [&](Coords &at) { return loadAt(l, *view, at); });
    });
  }
  if (auto cast = array.getDefiningOp<ir::CastOp>())
    return evaluateInto(l, cast.getSource(), dest, streamed);
  Operation *op = array.getDefiningOp();
  Value base;
  Operation *product = nullptr;
  // The summand is written first, and the product is then accumulated on top of it.
  if (isProductInto(op, base, product) && !viewOf(l, product->getResult(0))) {
    prepare(l, base);
    // The summand may lie in the target already: a loop keeps what it carries in one buffer.
    if (auto there = viewOf(l, base); !there || !sameView(*there, dest))
      forAll(l, dest.extents, costOf(l, base), base, [&](Coords &at) {
        storeAt(l, dest, at, elementAt(l, base, broadcastCoords(l, base, at)));
      });
    produceProduct(l, product, dest, true);
    return;
  }
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op);
      reshape && produceReshape(l, reshape, dest, streamed))
    return;
  if (auto slice = dyn_cast<ir::SliceOp>(op))
    if (auto place = placeBeforeDrop(l, slice, dest))
      return evaluateInto(l, slice.getSource(), *place, streamed);
  if (hasProducer(op)) {
    if (op->getNumResults() == 1)
      return produce(l, op, dest, streamed);
    // A producer of several results needs memory for all of them.
    materialise(l, array);
    return evaluateInto(l, array, dest, streamed);
  }
  prepareInside(l, array);
  int64_t cost = costOf(l, array);
  // Rows that follow each other in memory are one long row, with one tail instead of many.
  storeAsOneRow(l, array, dest, cost, [&](ArrayRef<View> to) {
    storeAll(l, to[0], streamed, cost, array, [&](Coords &at) { return elementAt(l, array, at); });
  });
}

} // namespace ptl::cpu

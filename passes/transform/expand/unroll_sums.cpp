// Loops of few rounds that go on with arrays element by element: each round would read and write the
// whole array. As one expression, all rounds are computed while a tile is on chip.
#include "passes/transform/expand/expand_tensors.h"

#include "ir/dialect/attributes.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ptl::ir {

/// Whether an operation of a loop computes an array element by element, or no array, and no schedule
/// says how.
static bool goesByElements(Operation *op) {
  bool isScheduled = attrs::tile.of(op) || attrs::cores.of(op) || attrs::split.isOn(op) ||
                     attrs::fuse.of(op) || attrs::item.of(op);
  if (isScheduled || op->getNumRegions() > 0 || !isMemoryEffectFree(op))
    return false;
  return isa<arith::ArithDialect>(op->getDialect()) || isa<DimOp>(op) || isElementwise(op) ||
         isFill(op) || isView(op);
}

/// How many rounds a loop has that can be written one after the other; nothing for others.
static std::optional<int64_t> roundsOf(scf::ForOp loop) {
  constexpr int64_t mostRounds = 4, mostOperations = 128;
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                         upper = getConstantIntValue(loop.getUpperBound()),
                         step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *upper <= *lower)
    return std::nullopt;
  int64_t rounds = (*upper - *lower + *step - 1) / *step;
  auto size = static_cast<int64_t>(loop.getBody()->getOperations().size());
  bool carriesArrays =
      llvm::any_of(loop.getResultTypes(), [](Type t) { return isa<ArrayType>(t); });
  if (rounds > mostRounds || rounds * size > mostOperations || !carriesArrays ||
      !llvm::all_of(loop.getBody()->without_terminator(),
                    [](Operation &op) { return goesByElements(&op); }))
    return std::nullopt;
  return rounds;
}

static void unroll(scf::ForOp loop, int64_t rounds) {
  OpBuilder b(loop);
  llvm::SmallVector<Value> carried(loop.getInitArgs());
  int64_t position = *getConstantIntValue(loop.getLowerBound());
  for (int64_t round = 0; round < rounds; ++round) {
    IRMapping map;
    map.map(loop.getInductionVar(), b.create<arith::ConstantIndexOp>(loop.getLoc(), position));
    map.map(loop.getRegionIterArgs(), carried);
    for (Operation &op : loop.getBody()->without_terminator())
      b.clone(op, map);
    for (auto [value, yielded] : llvm::zip(carried, loop.getBody()->getTerminator()->getOperands()))
      value = map.lookupOrDefault(yielded);
    position += *getConstantIntValue(loop.getStep());
  }
  loop.replaceAllUsesWith(carried);
  loop.erase();
}

void unrollSums(func::FuncOp function) {
  llvm::SmallVector<scf::ForOp> loops;
  // Inner loops come first.
  function.walk([&](scf::ForOp loop) {
    if (!loop->getParentOfType<ParallelOp>())
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    if (std::optional<int64_t> rounds = roundsOf(loop))
      unroll(loop, *rounds);
}

} // namespace ptl::ir

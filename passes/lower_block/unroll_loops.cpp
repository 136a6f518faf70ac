#include "passes/lower_block/unroll_loops.h"

#include "ir/dialect/attributes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

bool saysUnroll(ir::ParallelOp grid) {
  return grid
      ->walk([](scf::ForOp loop) {
        return attrs::unroll.isOn(loop) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Makes copies of the body. What a turn hands on that comes from outside of the loop gets a name
/// in the body first: MLIR's function knows no other values there.
static void makeCopies(scf::ForOp loop, uint64_t factor) {
  auto isName = [](UnrealizedConversionCastOp cast) {
    return cast->getNumOperands() == 1 && cast.getOperand(0).getType() == cast.getType(0);
  };
  Operation *around = loop->getParentOp();
  Operation *yield = loop.getBody()->getTerminator();
  OpBuilder builder(yield);
  for (OpOperand &handed : yield->getOpOperands())
    if (loop.isDefinedOutsideOfLoop(handed.get()))
      // The cast stands for the name, and is erased below.
      handed.set(builder
                     .create<UnrealizedConversionCastOp>(loop.getLoc(), handed.get().getType(),
                                                         handed.get())
                     .getResult(0));
  (void)loopUnrollByFactor(loop, factor);
  around->walk([&](UnrealizedConversionCastOp cast) {
    if (!isName(cast))
      return;
    cast.getResult(0).replaceAllUsesWith(cast.getOperand(0));
    cast.erase();
  });
}

bool unrollLoops(ir::ParallelOp grid, const Report &report) {
  constexpr int64_t mostCopies = 32;
  bool isWell = true;
  llvm::SmallVector<scf::ForOp> loops;
  grid.walk([&](scf::ForOp loop) { // inner ones first
    if (attrs::unroll.isOn(loop))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    int64_t factor = attrs::unroll.take(loop).getInt();
    bool multiplies =
        loop->walk([](ir::MatmulOp) { return WalkResult::interrupt(); }).wasInterrupted();
    IntegerAttr lower, upper, step;
    if (factor == 0 && matchPattern(loop.getLowerBound(), m_Constant(&lower)) &&
        matchPattern(loop.getUpperBound(), m_Constant(&upper)) &&
        matchPattern(loop.getStep(), m_Constant(&step)) && step.getInt() > 0)
      factor = (upper.getInt() - lower.getInt() + step.getInt() - 1) / step.getInt();
    auto at = attrs::unrollAt.take(loop);
    std::string why =
        multiplies ? "the loop computes products, and its iterations overlap without unrolling"
        : factor == 0
            ? "the number of iterations of the loop is unknown: give the factor as a number"
        : factor > mostCopies ? "at most " + std::to_string(mostCopies) + " copies are made"
                              : "";
    if (why.empty() && factor > 1)
      makeCopies(loop, static_cast<uint64_t>(factor));
    if (why.empty() || !at)
      continue;
    report(DiagId::ScheduleCannot, at,
           {factor ? "unroll " + std::to_string(factor) : "unroll", why});
    isWell = false;
  }
  return isWell;
}

} // namespace ptl::block

#include "codegen/pto/loops_as_blocks.h"

#include "ir/dialect/source_name.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace ptl::pto {

static bool isNested(scf::WhileOp loop) { return !isa<func::FuncOp>(loop->getParentOp()); }

static bool holdsOthers(scf::WhileOp loop) {
  return loop
      ->walk([&](Operation *op) {
        return op != loop && op->getNumRegions() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether results are used inside of other operations, or behind them: once those are blocks, that
/// is another block.
static bool isUsedElsewhere(scf::WhileOp loop, bool othersBecomeBlocks) {
  return llvm::any_of(loop->getUsers(), [&](Operation *user) {
    if (user->getBlock() != loop->getBlock())
      return true;
    for (Operation *op = loop->getNextNode(); othersBecomeBlocks && op && op != user;
         op = op->getNextNode())
      if (op->getNumRegions())
        return true;
    return false;
  });
}

static std::vector<scf::WhileOp> whilesOf(func::FuncOp function) {
  std::vector<scf::WhileOp> loops;
  function.walk([&](scf::WhileOp loop) { loops.push_back(loop); });
  return loops;
}

bool needsBlocks(func::FuncOp function) {
  std::vector<scf::WhileOp> loops = whilesOf(function);
  bool nested = llvm::any_of(loops, isNested);
  return llvm::any_of(loops, [&](scf::WhileOp loop) {
    return (nested && holdsOthers(loop)) || isUsedElsewhere(loop, nested);
  });
}

/// The name of a loop's variable goes by the loop.
static void keepName(Value variable) {
  if (std::string name = sourceName(variable); !name.empty())
    variable.setLoc(NameLoc::get(StringAttr::get(variable.getContext(), name), variable.getLoc()));
}

void makeBlocks(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  context->loadDialect<cf::ControlFlowDialect>();
  llvm::SmallPtrSet<Operation *, 8> inBlocks;
  for (scf::WhileOp loop : whilesOf(function))
    for (Operation *op = loop; op != function; op = op->getParentOp())
      if (auto around = dyn_cast<scf::ForOp>(op); inBlocks.insert(op).second && around)
        keepName(around.getInductionVar());
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([&](Operation *op) { return !inBlocks.contains(op); });
  // Operations without a pattern stay, and PTOAS reports them.
  (void)applyPartialConversion(function, target, std::move(patterns));
}

} // namespace ptl::pto

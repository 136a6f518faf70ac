#include "passes/lower_block/collapse_loops.h"

#include "ir/dialect/attributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ptl::block {

/// The loop that is all that a loop does beside scalars, and that goes on with its variables; null:
/// there is none.
static scf::ForOp loopInside(scf::ForOp loop) {
  scf::ForOp inner;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto own = dyn_cast<scf::ForOp>(op)) {
      if (inner)
        return {};
      inner = own;
      continue;
    }
    bool isScalar = op.getNumRegions() == 0 && isPure(&op) &&
                    llvm::none_of(op.getResultTypes(), llvm::IsaPred<ir::ArrayType, ir::RefType>);
    // What stands behind the inner loop would need its end.
    if (!isScalar || inner)
      return {};
  }
  if (!inner || inner.getInitArgs().size() != loop.getRegionIterArgs().size())
    return {};
  for (auto [init, argument] : llvm::zip(inner.getInitArgs(), loop.getRegionIterArgs()))
    // The inner loop begins with what the outer one carries, and nobody else may see that.
    if (init != argument || !argument.hasOneUse())
      return {};
  for (auto [next, result] :
       llvm::zip(loop.getBody()->getTerminator()->getOperands(), inner.getResults()))
    if (next != result || !result.hasOneUse())
      return {};
  return inner;
}

/// Whether all that a loop carries is a sum of products.
static bool addsProducts(scf::ForOp loop) {
  if (loop.getNumRegionIterArgs() != 1)
    return false;
  auto sum = loop.getBody()->getTerminator()->getOperand(0).getDefiningOp<ir::AddOp>();
  return sum && llvm::any_of(sum->getOperands(), [](Value each) {
           return each.getDefiningOp<ir::MatmulOp>() != nullptr;
         });
}

/// The loops from `outermost` in that can be one.
static llvm::SmallVector<scf::ForOp> nestFrom(scf::ForOp outermost) {
  llvm::SmallVector<scf::ForOp> nest{outermost};
  while (scf::ForOp inner = loopInside(nest.back())) {
    bool isKnown = llvm::all_of(
        llvm::ArrayRef<Value>{inner.getLowerBound(), inner.getUpperBound(), inner.getStep()},
        [&](Value bound) { return outermost.isDefinedOutsideOfLoop(bound); });
    if (!isKnown)
      break;
    nest.push_back(inner);
  }
  // Only where rounds overlap is there something to gain: at each end of an inner loop they would
  // not.
  auto pipeline = attrs::pipeline.of(nest.back());
  if (!pipeline || pipeline.getInt() < 2 || !addsProducts(nest.back()))
    nest.clear();
  return nest;
}

namespace {
/// Makes the one loop.
class Collapser {
public:
  explicit Collapser(llvm::ArrayRef<scf::ForOp> nest)
      : nest_(nest), b_(nest.front()), loc_(nest.front()->getLoc()) {}

  void run() {
    scf::ForOp outermost = nest_.front(), innermost = nest_.back();
    Value total = number(1);
    llvm::SmallVector<Value> counts;
    for (scf::ForOp loop : nest_) {
      counts.push_back(countOf(loop));
      total = b_.createOrFold<arith::MulIOp>(loc_, total, counts.back());
    }
    auto made = b_.create<scf::ForOp>(innermost.getLoc(), number(0), total, number(1),
                                      outermost.getInitArgs());
    made->setDiscardableAttrs(innermost->getDiscardableAttrDictionary());
    for (auto [argument, old] : llvm::zip(made.getRegionIterArgs(), innermost.getRegionIterArgs()))
      argument.setLoc(old.getLoc());
    if (!made.getBody()->empty())
      made.getBody()->back().erase();
    b_.setInsertionPointToEnd(made.getBody());
    IRMapping values;
    placeVariables(made.getInductionVar(), counts, values);
    values.map(innermost.getRegionIterArgs(), made.getRegionIterArgs());
    // Scalars of the outer loops are computed in each round, before what uses them.
    for (scf::ForOp loop : nest_)
      for (Operation &op : *loop.getBody())
        if (loop == innermost || (!isa<scf::ForOp>(op) && !op.hasTrait<OpTrait::IsTerminator>()))
          b_.clone(op, values);
    outermost.replaceAllUsesWith(made.getResults());
    outermost.erase();
  }

private:
  Value number(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }

  Value countOf(scf::ForOp loop) {
    Value length = b_.createOrFold<arith::SubIOp>(loc_, loop.getUpperBound(), loop.getLowerBound());
    // A loop whose end is before its begin has no rounds.
    if (std::optional<int64_t> known = getConstantIntValue(length))
      length = *known < 0 ? number(0) : length;
    else
      length = b_.create<arith::MaxSIOp>(loc_, length, number(0));
    return matchPattern(loop.getStep(), m_One())
               ? length
               : b_.createOrFold<arith::CeilDivSIOp>(loc_, length, loop.getStep());
  }

  /// The variables of the loops in a round of the one loop; the innermost one changes fastest.
  void placeVariables(Value round, llvm::ArrayRef<Value> counts, IRMapping &values) {
    // The round is a number whose digits are the rounds of the single loops; the outermost one needs no remainder.
    for (size_t i = nest_.size(); i-- > 0;) {
      scf::ForOp loop = nest_[i];
      Value own = i == 0 ? round : b_.createOrFold<arith::RemUIOp>(loc_, round, counts[i]);
      if (i > 0)
        round = b_.createOrFold<arith::DivUIOp>(loc_, round, counts[i]);
      if (!matchPattern(loop.getStep(), m_One()))
        own = b_.createOrFold<arith::MulIOp>(loc_, own, loop.getStep());
      if (!matchPattern(loop.getLowerBound(), m_Zero()))
        own = b_.createOrFold<arith::AddIOp>(loc_, own, loop.getLowerBound());
      values.map(loop.getInductionVar(), own);
    }
  }

  llvm::ArrayRef<scf::ForOp> nest_;
  OpBuilder b_;
  Location loc_;
};
} // namespace

void collapseLoops(ir::ParallelOp grid) {
  if (attrs::manual.isOn(grid))
    return;
  llvm::SmallVector<llvm::SmallVector<scf::ForOp>> nests;
  grid.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    llvm::SmallVector<scf::ForOp> nest = nestFrom(loop);
    if (nest.size() < 2)
      return WalkResult::advance();
    nests.push_back(std::move(nest));
    // The loops inside are parts of this nest.
    return WalkResult::skip();
  });
  for (llvm::ArrayRef<scf::ForOp> nest : nests)
    Collapser(nest).run();
}

} // namespace ptl::block

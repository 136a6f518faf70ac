#include "passes/transform/simplify.h"

#include "ir/dialect/ptl_dialect.h"
#include "passes/passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace ptl::ir {

#define GEN_PASS_DEF_SIMPLIFY
#include "passes/passes.h.inc"

/// `value` under another type of the same lengths.
static Value renamed(OpBuilder &b, Location loc, Value value, Type type) {
  return value.getType() == type ? value : b.create<CastOp>(loc, type, value);
}

namespace {
/// A transpose that leaves all axes where they are, and two of them that do so together. What comes
/// later takes a transpose of a matrix for one that turns it.
struct DropIdleTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto before = op->getOperand(0).getDefiningOp<TransposeOp>();
    bool idle = true, idleTogether = before != nullptr;
    for (auto [to, from] : llvm::enumerate(op.getAxes())) {
      idle &= from == static_cast<int64_t>(to);
      idleTogether =
          idleTogether && before.getAxes()[static_cast<size_t>(from)] == static_cast<int64_t>(to);
    }
    if (!idle && !idleTogether)
      return failure();
    Value source = idle ? op->getOperand(0) : before->getOperand(0);
    rewriter.replaceOp(op, renamed(rewriter, op.getLoc(), source, op.getType()));
    return success();
  }
};

/// Some of the positions in a range are the positions in a part of it, which nobody has to store or to load.
struct PositionsOfPart : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto positions = op.getSource().getDefiningOp<IndexOp>();
    if (!positions || op.getOutside() || !op.getSteps().empty() || !op.getDropped().empty())
      return failure();
    Value start = rewriter.createOrFold<arith::AddIOp>(op.getLoc(), positions.getStart(),
                                                       op.getOffsets().front());
    OperationState state(op.getLoc(), IndexOp::getOperationName());
    state.addOperands(start);
    // A constant extent is in the type.
    if (!extentsOf(op.getType()).front().isConstant())
      state.addOperands(op.getLengths().front());
    state.addTypes(op.getType());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

/// Parts that never have an element add nothing to what is joined, and no tile is made for them.
struct JoinWithoutEmptyParts : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    auto isEmpty = [&](Value part) { return extentsOf(part.getType())[op.getAxis()].length == 0; };
    llvm::SmallVector<Value> parts = llvm::to_vector(
        llvm::make_filter_range(op->getOperands(), [&](Value part) { return !isEmpty(part); }));
    if (parts.empty() || parts.size() == op->getNumOperands())
      return failure();
    if (parts.size() == 1)
      rewriter.replaceOp(op, renamed(rewriter, op.getLoc(), parts.front(), op.getType()));
    else
      rewriter.modifyOpInPlace(op, [&] { op->setOperands(parts); });
    return success();
  }
};

/// Storage that only the arms of one branch use, as when branches with the same condition became one:
/// each arm has its own, which is no variable that begins before the branch.
struct SinkStorage : OpRewritePattern<AllocOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AllocOp op, PatternRewriter &rewriter) const override {
    if (op->use_empty())
      return failure();
    Block *block = op->getBlock();
    auto branch =
        dyn_cast_or_null<scf::IfOp>(block->findAncestorOpInBlock(**op->getUsers().begin()));
    auto isInside = [&](Operation *user) { return branch->isProperAncestor(user); };
    if (!branch || !llvm::all_of(op->getUsers(), isInside))
      return failure();
    for (Region &arm : branch->getRegions()) {
      auto isInArm = [&](OpOperand &use) {
        return arm.isAncestor(use.getOwner()->getParentRegion());
      };
      if (llvm::none_of(op->getUses(), isInArm))
        continue;
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(&arm.front());
      // Only one arm runs and nothing behind the branch reads the storage, so the copies of the arms need not agree.
      rewriter.replaceUsesWithIf(op.getResult(), rewriter.clone(*op)->getResult(0), isInArm);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// Branches by one condition that storage and lengths alone stand between become neighbours, which
/// become one.
struct JoinBranches : OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::IfOp op, PatternRewriter &rewriter) const override {
    llvm::SmallVector<Operation *> between;
    Operation *before = op->getPrevNode();
    for (; before && (isa<AllocOp>(before) || isPure(before)) && before->getNumRegions() == 0;
         before = before->getPrevNode())
      between.push_back(before);
    auto other = dyn_cast_or_null<scf::IfOp>(before);
    if (!other || between.empty() || other.getCondition() != op.getCondition() ||
        other->getNumResults() > 0)
      return failure();
    for (Operation *each : llvm::reverse(between))
      rewriter.moveOpBefore(each, other);
    return success();
  }
};
} // namespace

static FrozenRewritePatternSet patternsOf(MLIRContext &context) {
  RewritePatternSet patterns(&context);
  patterns
      .add<DropIdleTranspose, PositionsOfPart, JoinWithoutEmptyParts, SinkStorage, JoinBranches>(
          &context);
  for (Dialect *dialect : context.getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context.getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, &context);
  return patterns;
}

namespace {
struct SimplifyPass : impl::SimplifyBase<SimplifyPass> {
  SimplifyPass() = default;
  explicit SimplifyPass(const Simplifier &simplifier) : simplifier(simplifier) {}
  LogicalResult initialize(MLIRContext *context) override {
    if (!simplifier)
      simplifier.emplace(*context);
    return success();
  }
  void runOnOperation() override { simplifier->run(getOperation()); }
  std::optional<Simplifier> simplifier;
};
} // namespace

Simplifier::Simplifier(MLIRContext &context) : patterns_(patternsOf(context)) {}

std::unique_ptr<Pass> Simplifier::pass() const { return std::make_unique<SimplifyPass>(*this); }

void Simplifier::run(Operation *op) const {
  GreedyRewriteConfig config;
  config.useTopDownTraversal = true;
  // Control flow is structured: there are no blocks to simplify.
  config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
  // Whether the patterns came to an end does not matter: what they leave is right.
  (void)applyPatternsAndFoldGreedily(op, patterns_, config);
  IRRewriter rewriter(op->getContext());
  DominanceInfo dominance(op);
  bool changed = false;
  eliminateCommonSubExpressions(rewriter, dominance, op, &changed);
  if (changed) // values that became one are what patterns look for
    (void)applyPatternsAndFoldGreedily(op, patterns_, config);
}

} // namespace ptl::ir

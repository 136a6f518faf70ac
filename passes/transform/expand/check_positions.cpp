#include "passes/transform/expand/check_positions.h"

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/affine_positions.h"
#include "passes/transform/sink_into.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

namespace {

/// `all(positions >= 0 and positions < end)`.
struct BoundCheck {
  ReduceAllOp all;
  Value positions, end;
};

} // namespace

static std::optional<BoundCheck> boundCheckOf(CheckOp check) {
  auto all = check.getCondition().getDefiningOp<ReduceAllOp>();
  auto both = all ? all->getOperand(0).getDefiningOp<AndOp>() : AndOp();
  auto least = both ? both->getOperand(0).getDefiningOp<GeOp>() : GeOp();
  auto most = both ? both->getOperand(1).getDefiningOp<LtOp>() : LtOp();
  if (!least || !most || !matchPattern(least->getOperand(1), m_Zero()) ||
      least->getOperand(0) != most->getOperand(0) || isa<ArrayType>(most->getOperand(1).getType()))
    return std::nullopt;
  return BoundCheck{all, most->getOperand(0), most->getOperand(1)};
}

/// Whether the first and the last number of each run, if it has any, are at least 0 and less than `end`.
static Value areInside(OpBuilder &b, Location loc, const AffinePositions &positions,
                       const Linear &end) {
  auto compare = [&](arith::CmpIPredicate how, const Linear &left, const Linear &right) {
    return b.createOrFold<arith::CmpIOp>(loc, how, valueOf(b, loc, left), valueOf(b, loc, right));
  };
  Value all = b.create<arith::ConstantIntOp>(loc, 1, b.getI1Type());
  for (auto [number, run] : llvm::enumerate(positions.runs)) {
    bool isLast = number + 1 == positions.runs.size();
    const Linear &behind = isLast ? positions.length : positions.runs[number + 1].begin;
    Value is = b.create<arith::ConstantIntOp>(loc, 1, b.getI1Type());
    for (const Linear &at : {run.begin, behind.plus(-1)}) {
      Linear place = run.base.plus(at, run.step);
      is = b.createOrFold<arith::AndIOp>(loc, is,
                                         compare(arith::CmpIPredicate::sge, place, Linear{}));
      is = b.createOrFold<arith::AndIOp>(loc, is, compare(arith::CmpIPredicate::slt, place, end));
    }
    Value isEmpty = compare(arith::CmpIPredicate::sle, behind, run.begin);
    all = b.createOrFold<arith::AndIOp>(loc, all, b.createOrFold<arith::OrIOp>(loc, isEmpty, is));
  }
  return all;
}

static void compareRuns(CheckOp check) {
  std::optional<BoundCheck> bounds = boundCheckOf(check);
  OpBuilder b(check);
  Location loc = check.getLoc();
  std::optional<AffinePositions> positions;
  if (bounds && bounds->all->hasOneUse())
    positions = affinePositionsOf(b, bounds->positions);
  if (!positions)
    return;
  Value isKnown = holds(b, loc, positions->needed);
  if (!isKnown) {
    check.getConditionMutable().assign(areInside(b, loc, *positions, linearOf(bounds->end)));
    return;
  }
  auto branch =
      b.create<scf::IfOp>(loc, TypeRange{b.getI1Type()}, isKnown, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  b.create<scf::YieldOp>(loc, areInside(b, loc, *positions, linearOf(bounds->end)));
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<scf::YieldOp>(loc, check.getCondition());
  check.getConditionMutable().assign(branch.getResult(0));
  sinkInto(bounds->all.getResult(), branch.elseBlock());
}

void checkPositions(func::FuncOp function) {
  llvm::SmallVector<CheckOp> checks;
  function.walk([&](CheckOp check) {
    if (!check->getParentOfType<ParallelOp>())
      checks.push_back(check);
  });
  for (CheckOp check : checks)
    compareRuns(check);
}

} // namespace ptl::ir

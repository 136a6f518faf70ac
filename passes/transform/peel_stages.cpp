#include "passes/transform/peel_stages.h"

#include "ir/dialect/attributes.h"
#include "passes/passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ptl::ir {
#define GEN_PASS_DEF_PEELSTAGES
#include "passes/passes.h.inc"
} // namespace ptl::ir

namespace ptl::pto {

namespace {

class Peeler {
public:
  Peeler(func::FuncOp function, scf::ForOp loop)
      : function_(function), loop_(loop), b_(loop), loc_(loop.getLoc()) {}

  void peel();

private:
  bool findStages();
  Value constant(TypedAttr value);
  Value index(int64_t value) { return constant(b_.getIndexAttr(value)); }
  void copy(Operation &op, IRMapping &copies);
  void copyTurn(Value variable, unsigned stage);
  void copyTurns(Value from, Value to, unsigned stage);
  Value peelTurns(Value begin, Value end, int64_t ahead);
  Value minimum(Value a, Value b) { return b_.createOrFold<arith::MinSIOp>(loc_, a, b); }
  Value maximum(Value a, Value b) { return b_.createOrFold<arith::MaxSIOp>(loc_, a, b); }
  Value behindLast(Value begin, Value end, Value step);
  void removeDead(Value value);

  func::FuncOp function_;
  scf::ForOp loop_;
  OpBuilder b_;
  Location loc_;
  std::array<scf::IfOp, 2> stages_;
};

bool Peeler::findStages() {
  for (auto branch : loop_.getBody()->getOps<scf::IfOp>())
    if (auto stage = attrs::stage.of(branch); stage && stage.getInt() >= 0 && stage.getInt() < 2)
      stages_[static_cast<size_t>(stage.getInt())] = branch;
  // The condition of the first stage holds the end of the loop, so it has to be a comparison.
  return stages_[0] && stages_[1] && stages_[0].getCondition().getDefiningOp<arith::CmpIOp>();
}

/// At the start of the function, where the others are.
Value Peeler::constant(TypedAttr value) {
  // A constant that exists is used again, so that equal ones do not pile up.
  for (auto known : function_.front().getOps<arith::ConstantOp>())
    if (known.getValue() == value)
      return known;
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(&function_.front());
  return b_.create<arith::ConstantOp>(function_.getLoc(), value);
}

/// A copy of an operation, or what it comes to.
void Peeler::copy(Operation &op, IRMapping &copies) {
  Operation *made = b_.clone(op, copies);
  llvm::SmallVector<OpFoldResult> known;
  // Only operations without effects may be replaced by what they fold to.
  if (made->getNumResults() != 1 || !isMemoryEffectFree(made) || failed(made->fold(known)) ||
      known.size() != 1)
    return;
  Value value = dyn_cast<Value>(known.front());
  if (!value)
    if (auto attribute = dyn_cast<TypedAttr>(cast<Attribute>(known.front())))
      value = constant(attribute);
  if (!value)
    return;
  copies.map(op.getResult(0), value);
  made->erase();
}

/// One turn of the loop, of which only one stage does something.
void Peeler::copyTurn(Value variable, unsigned stage) {
  IRMapping copies;
  copies.map(loop_.getInductionVar(), variable);
  Operation *other = stages_[1 - stage];
  for (Operation &op : loop_.getBody()->without_terminator()) {
    // Operations beside the stages are needed by both and copied, too.
    if (&op == other)
      continue;
    if (&op != stages_[stage]) {
      copy(op, copies);
      continue;
    }
    for (Operation &inner : stages_[stage].thenBlock()->without_terminator())
      copy(inner, copies);
  }
}

/// The first value of the variable that is no turn any more.
Value Peeler::behindLast(Value begin, Value end, Value step) {
  Value span =
      matchPattern(begin, m_Zero()) ? end : b_.createOrFold<arith::SubIOp>(loc_, end, begin);
  // The loop may end in the middle of a step, so the span is rounded up to whole steps.
  if (!matchPattern(step, m_One()))
    span = b_.createOrFold<arith::MulIOp>(
        loc_, b_.createOrFold<arith::CeilDivSIOp>(loc_, span, step), step);
  return matchPattern(begin, m_Zero()) ? span : b_.createOrFold<arith::AddIOp>(loc_, begin, span);
}

void Peeler::removeDead(Value value) {
  // Removing one operation may leave its operands without users.
  Operation *op = value.getDefiningOp();
  if (!op || !isOpTriviallyDead(op))
    return;
  llvm::SmallVector<Value> operands(op->operand_begin(), op->operand_end());
  op->erase();
  llvm::for_each(operands, [this](Value operand) { removeDead(operand); });
}

/// Some turns of which only one stage does something.
void Peeler::copyTurns(Value from, Value to, unsigned stage) {
  auto turns = b_.create<scf::ForOp>(loc_, from, to, loop_.getStep());
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(turns.getBody());
  copyTurn(turns.getInductionVar(), stage);
}

/// The turns before the loop and behind it; gives the first one of the loop.
Value Peeler::peelTurns(Value begin, Value end, int64_t ahead) {
  Value step = loop_.getStep();
  // With one turn ahead, prologue and epilogue are single turns and need no loops of their own.
  if (ahead == 1) {
    // Without any turn there is nothing to peel, which has to be checked unless it is known.
    Value some = b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::slt, begin, end);
    if (!matchPattern(some, m_One())) {
      auto branch = b_.create<scf::IfOp>(loc_, some, /*withElseRegion=*/false);
      loop_->moveBefore(branch.thenBlock()->getTerminator());
      b_.setInsertionPoint(loop_);
    }
    copyTurn(begin, 0);
    Value second = b_.createOrFold<arith::AddIOp>(loc_, begin, step);
    b_.setInsertionPointAfter(loop_);
    copyTurn(behindLast(begin, end, step), 1);
    return second;
  }
  // With several turns ahead, short loops may have fewer turns than that, which the bounds below
  // respect.
  Value lead = b_.createOrFold<arith::MulIOp>(loc_, step, index(ahead));
  Value first = b_.createOrFold<arith::AddIOp>(loc_, begin, lead);
  copyTurns(begin, minimum(end, first), 0);
  Value behind = behindLast(begin, end, step);
  // The second stage lags by the lead, so its first turn is `first` even if the loop ends before
  // that.
  Value from = maximum(behind, first);
  Value to = b_.createOrFold<arith::AddIOp>(loc_, behind, lead);
  b_.setInsertionPointAfter(loop_);
  copyTurns(from, to, 1);
  return first;
}

void Peeler::peel() {
  int64_t ahead = attrs::stage.take(loop_).getInt();
  // A loop that is no longer in the form that was marked keeps its branches, which is correct, too.
  if (!findStages())
    return;
  Value begin = loop_.getLowerBound(), longer = loop_.getUpperBound();
  // The loop ran longer by the turns ahead; the first stage's condition has the real end.
  Value end = stages_[0].getCondition().getDefiningOp<arith::CmpIOp>().getRhs();
  loop_.setLowerBound(peelTurns(begin, end, ahead));
  loop_.setUpperBound(end);
  for (scf::IfOp stage : stages_) {
    Value condition = stage.getCondition();
    stage.thenBlock()->getTerminator()->erase();
    // In the middle both stages always run, so their branches dissolve.
    loop_.getBody()->getOperations().splice(Block::iterator(stage),
                                            stage.thenBlock()->getOperations());
    stage.erase();
    removeDead(condition);
  }
  removeDead(longer);
}

struct PeelStagesPass : ir::impl::PeelStagesBase<PeelStagesPass> {
  void runOnOperation() override { peelStages(getOperation()); }
};

} // namespace

void peelStages(func::FuncOp function) {
  llvm::SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) {
    if (attrs::stage.isOn(loop))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    Peeler(function, loop).peel();
}

} // namespace ptl::pto

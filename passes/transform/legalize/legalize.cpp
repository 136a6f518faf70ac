// Rewrites what a machine has no instruction for into operations that it has.
#include "passes/transform/legalize/legalize.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/task_attribute.h"
#include "passes/transform/legalize/legalize_arithmetic.h"
#include "passes/transform/legalize/legalize_comparison.h"
#include "passes/transform/legalize/legalize_conversion.h"
#include "passes/transform/legalize/legalize_math.h"
#include "passes/transform/legalize/legalize_order.h"
#include "passes/transform/legalize/legalize_product.h"
#include "passes/transform/legalize/legalize_random.h"
#include "passes/transform/legalize/legalize_reduction.h"
#include "passes/transform/legalize/legalize_shape.h"
#include "passes/transform/legalize/legalize_trigonometry.h"

#include "passes/passes.h"
#include "passes/transform/expand/expand_tensors.h"
#include "passes/transform/groups/group_schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace ptl::ir {

#define GEN_PASS_DEF_LEGALIZE
#include "passes/passes.h.inc"

namespace legalize {
namespace {

using Table = llvm::StringMap<Rewrite>;

void addRows(Table &table, llvm::ArrayRef<Row> rows) {
  for (const Row &row : rows)
    table[(PtlDialect::getDialectNamespace() + "." + row.name).str()] = row.rewrite;
}

Table joinTables() {
  Table table;
  for (llvm::ArrayRef<Row> rows :
       {arithmeticRows(), comparisonRows(), conversionRows(), mathRows(), trigonometryRows(),
        reductionRows(), shapeRows(), productRows(), randomRows(), orderRows()})
    addRows(table, rows);
  return table;
}

/// Whether a conversion to floats says a rounding that the scalar unit lacks.
bool roundsInDirection(Operation *op) {
  auto convert = dyn_cast<ConvertOp>(op);
  return convert && convert.getRound() != "even" && isReal(elem(convert.getResult())) &&
         !elem(convert.getX()).isIndex() && !isBool(elem(convert.getX()));
}

/// Functions of the vector unit on scalars of a kernel: the scalar unit lacks them.
bool needsVectorUnit(Operation *op) {
  if (op->getNumResults() != 1 || !op->getParentOfType<ParallelOp>())
    return false;
  if (roundsInDirection(op) || isa<FmaOp, CopysignOp>(op))
    return true;
  // Only the functions that scalars lack are computed on a tile of one element.
  for (llvm::ArrayRef<Row> rows : {mathRows(), trigonometryRows()})
    for (const Row &row : rows)
      if (op->getName().stripDialect() == row.name)
        return isReal(elem(op->getOperand(0)));
  return false;
}

/// A scalar operation as one on a tile of one element.
Value onOneElement(const Tiles &t, Operation *op) {
  llvm::SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(t.full(operand, {Extent::constant(1)}, {}));
  Value result = t.make(op->getName().getStringRef(), elem(op->getResult(0)), operands,
                        llvm::SmallVector<NamedAttribute>(op->getAttrs()));
  return t.dropAxes(result, {0});
}

bool concerns(Operation *op) {
  // What was made as an instruction already is left alone, or rewriting would not end.
  if (op->getNumResults() != 1 || attrs::instruction.isOn(op))
    return false;
  return llvm::any_of(op->getOperands(), isArray) || isArray(op->getResult(0));
}

/// Rewrites one operation by its row, if it has one and that applies. What was made stands before
/// it.
class RewriteByTable {
public:
  RewriteByTable(PatternRewriter &rewriter, const Table &table, const Target &target)
      : rewriter_(rewriter), table_(table), target_(target) {}

  /// The value that replaces the result; null: the operation stays.
  FailureOr<Value> rewrite(Operation *op) {
    auto row = table_.find(op->getName().getStringRef());
    bool onTiles = concerns(op);
    if (row == table_.end() || (!onTiles && !needsVectorUnit(op)))
      return Value();
    rewriter_.setInsertionPoint(op);
    Tiles tiles(rewriter_, op, target_);
    Operation *previous = op->getPrevNode();
    Value result = onTiles ? row->getValue()(tiles, op) : onOneElement(tiles, op);
    // The row did not apply, so what it has made up to there is removed again.
    if (!result) {
      while (op->getPrevNode() != previous)
        rewriter_.eraseOp(op->getPrevNode());
      return Value();
    }
    // What is said of the pipe that it goes through, and the task that it belongs to.
    for (llvm::StringRef name : {attrs::slots.key(), attrs::hold.key(), attrs::task.key()})
      if (Attribute attribute = op->getAttr(name); attribute && result.getDefiningOp())
        result.getDefiningOp()->setAttr(name, attribute);
    Type wanted = op->getResult(0).getType();
    if (result.getType() == wanted)
      return result;
    if (!isArray(result) || elem(result) != elementTypeOf(wanted) ||
        rankOf(result.getType()) != rankOf(wanted))
      return op->emitOpError("was rewritten to the type ") << result.getType();
    // Names of extents may differ although lengths are equal, so the value is described anew.
    return rewriter_.create<CastOp>(op->getLoc(), wanted, result).getResult();
  }

private:
  PatternRewriter &rewriter_;
  const Table &table_;
  const Target &target_;
};

/// Rewrites all operations, and those that rewriting made.
LogicalResult rewriteAll(Operation *root, const Table &table, const Target &target) {
  PatternRewriter rewriter(root->getContext());
  RewriteByTable rewrite(rewriter, table, target);
  llvm::SmallVector<Operation *> work;
  root->walk([&](Operation *op) { work.push_back(op); });
  // The list is a stack, so operations are rewritten in program order, and new ones at once.
  std::reverse(work.begin(), work.end());
  // Rewritings that undo each other are a fault of theirs, not a hang.
  constexpr size_t kMost = 1 << 20;
  for (size_t count = 0; !work.empty(); ++count) {
    if (count == kMost)
      return root->emitError("legalization did not reach a fixed point");
    Operation *op = work.pop_back_val();
    Operation *previous = op->getPrevNode();
    FailureOr<Value> result = rewrite.rewrite(op);
    if (failed(result))
      return failure();
    if (!*result)
      continue;
    // All that was made stands between the former neighbour and the operation.
    for (Operation *made = op->getPrevNode(); made != previous; made = made->getPrevNode())
      made->walk([&](Operation *inner) { work.push_back(inner); });
    rewriter.replaceOp(op, *result);
  }
  return success();
}

struct Legalize : impl::LegalizeBase<Legalize> {
  using LegalizeBase::LegalizeBase;
  explicit Legalize(Machine own) : own_(std::move(own)) {}

  void runOnOperation() override {
    std::optional<Machine> found = own_ ? own_ : findMachine(machine);
    if (!found) {
      getOperation()->emitError("there is no machine `") << machine << '`';
      return signalPassFailure();
    }
    Target target(*found);
    Table table = joinTables();
    llvm::SmallVector<Operation *> tops;
    // `topk` has two results, which the table of rewritings does not handle.
    getOperation()->walk([&](TopkOp op) { tops.push_back(op); });
    PatternRewriter rewriter(getOperation()->getContext());
    for (Operation *op : tops) {
      rewriter.setInsertionPoint(op);
      rewriteTopk(Tiles(rewriter, op, target), op);
    }
    if (failed(rewriteAll(getOperation(), table, target)))
      return signalPassFailure();
    // The marks only speak to rewritings.
    getOperation()->walk([](Operation *op) {
      attrs::instruction.remove(op);
      attrs::narrowed.remove(op);
    });
  }

  std::optional<Machine> own_; ///< instead of the one that the option names
};

} // namespace
} // namespace legalize

/// What a schedule says of a product is about the product of matrices that it becomes.
static void passOnSchedule(Operation *from, Operation *to) {
  for (NamedAttribute attribute : from->getDiscardableAttrs())
    if (!to->hasAttr(attribute.getName()))
      to->setAttr(attribute.getName(), attribute.getValue());
}

void expandProducts(func::FuncOp function) {
  llvm::SmallVector<Operation *> products;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Inside grids the machine decides, and the pass itself does that.
    if (isa<ParallelOp>(op))
      return WalkResult::skip();
    if (isa<EinsumOp, MatmulOp>(op))
      products.push_back(op);
    return WalkResult::advance();
  });
  legalize::Table table;
  legalize::addRows(table, legalize::productRows());
  Machine none; // products become products of matrices whatever the machine
  legalize::Target target(none);
  PatternRewriter rewriter(function.getContext());
  legalize::RewriteByTable rewrite(rewriter, table, target);
  for (Operation *op : products)
    keepingMarks(op, [&] {
      Operation *previous = op->getPrevNode();
      FailureOr<Value> result = rewrite.rewrite(op);
      if (failed(result) || !*result)
        return;
      for (Operation *made = op->getPrevNode(); made != previous; made = made->getPrevNode())
        if (isa<MatmulOp>(made))
          passOnSchedule(op, made);
      rewriter.replaceOp(op, *result);
    });
}

std::unique_ptr<mlir::Pass> createLegalizeFor(Machine machine) {
  return std::make_unique<legalize::Legalize>(std::move(machine));
}

} // namespace ptl::ir

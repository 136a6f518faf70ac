// Task statements, and tasks in another order than they are written.
#include "ir/build/build_task.h"
#include "ir/build/build_stmt.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/task_attribute.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ptl::ir {

void buildTask(BuildContext &c, const TaskStmt &stmt) {
  mlir::Block *block = c.b.getInsertionBlock();
  bool atStart = c.b.getInsertionPoint() == block->begin();
  Operation *before = atStart ? nullptr : &*std::prev(c.b.getInsertionPoint());
  buildBlock(c, *stmt.body);
  auto mark = c.b.getArrayAttr(
      {c.b.getStringAttr(stmt.name), c.b.getI64IntegerAttr(int64_t(stmt.span.begin))});
  auto first = before ? std::next(mlir::Block::iterator(before)) : block->begin();
  auto last = c.b.getInsertionBlock() == block ? c.b.getInsertionPoint() : block->end();
  bool isOrdered = c.frame->schedule &&
                   llvm::any_of(c.frame->schedule->orders, [&](const ScheduleLabels &labels) {
                     return llvm::is_contained(labels.names, stmt.name);
                   });
  for (Operation &op : llvm::make_range(first, last)) {
    if (isOrdered)
      attrs::order.set(&op, stmt.name);
    op.walk([&](Operation *inner) {
      bool isOther = attrs::task.isOn(inner); // of a task in it
      if (!isOther && !inner->hasTrait<mlir::OpTrait::ConstantLike>())
        attrs::task.set(inner, mark);
    });
  }
}

namespace {
/// The operations that compute the value of one label, and their operands, as one block.
class Unit {
public:
  explicit Unit(llvm::ArrayRef<Operation *> ops) : block_(ops.front()->getBlock()) {
    for (Operation *op : ops)
      add(op);
    // A value that is only stored is computed where it is stored.
    for (Operation *op : ops)
      if (op->getNumResults() == 1 && op->getResult(0).hasOneUse())
        if (auto store = dyn_cast<StoreOp>(*op->getResult(0).user_begin());
            store && store->getBlock() == block_)
          add(store);
    // Outputs of kernels are written by the grids before.
    for (size_t i = 0; i < ops_.size(); ++i)
      if (auto load = dyn_cast<LoadOp>(ops_[i]))
        for (Operation *writer : writersOf(load.getRef(), load))
          add(writer);
  }

  Operation *first() const {
    return *llvm::min_element(ops_,
                              [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  }
  bool contains(Operation *op) const { return ops_.contains(op); }

  /// All that must come before it, of what stands behind `start`.
  void addNeeds(Operation *start) {
    auto isBehind = [&](Operation *op) {
      return op && op->getBlock() == block_ && !op->isBeforeInBlock(start);
    };
    for (size_t i = 0; i < ops_.size(); ++i) {
      llvm::SetVector<mlir::Value> used(ops_[i]->operand_begin(), ops_[i]->operand_end());
      getUsedValuesDefinedAbove(ops_[i]->getRegions(), used);
      for (mlir::Value value : used) {
        if (isBehind(value.getDefiningOp()))
          add(value.getDefiningOp());
        if (isa<RefType>(value.getType()))
          for (Operation *writer : writersOf(value, ops_[i]))
            if (isBehind(writer))
              add(writer);
      }
    }
  }

  /// Whether what it writes is used by others between `start` and itself.
  bool isEntangled(Operation *start) const {
    auto isOther = [&](Operation *user) {
      Operation *here = block_->findAncestorOpInBlock(*user);
      return here && !ops_.contains(here) && !isa<DimOp>(user) && !here->isBeforeInBlock(start);
    };
    for (Operation *op : ops_)
      for (mlir::Value ref : written(op))
        for (Operation *user : ref.getUsers())
          if (isOther(user) && block_->findAncestorOpInBlock(*user)->isBeforeInBlock(op))
            return true;
    return false;
  }

  void moveBefore(Operation *start) {
    llvm::SmallVector<Operation *> sorted(ops_.begin(), ops_.end());
    llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *op : sorted)
      if (!op->isBeforeInBlock(start))
        op->moveBefore(start);
  }

private:
  void add(Operation *op) { ops_.insert(op); }

  static llvm::SmallVector<mlir::Value> written(Operation *op) {
    llvm::SmallVector<mlir::Value> refs;
    op->walk([&](StoreOp store) { refs.push_back(store.getRef()); });
    op->walk([&](PointerOp pointer) {
      if (pointer.getRole() != "in")
        refs.push_back(pointer.getArray());
    });
    return refs;
  }

  llvm::SmallVector<Operation *> writersOf(mlir::Value ref, Operation *before) const {
    llvm::SmallVector<Operation *> writers;
    for (Operation *user : ref.getUsers())
      if (Operation *here = block_->findAncestorOpInBlock(*user);
          here && here->isBeforeInBlock(before) && llvm::is_contained(written(here), ref))
        writers.push_back(here);
    return writers;
  }

  mlir::Block *block_;
  llvm::SetVector<Operation *> ops_;
};
} // namespace

void orderTasks(BuildContext &c, mlir::Block &in) {
  if (!c.frame->schedule || c.frame->schedule->orders.empty())
    return;
  llvm::MapVector<StringRef, llvm::SmallVector<Operation *>> ordered;
  in.walk([&](Operation *op) {
    if (auto label = attrs::order.take(op))
      ordered[label.getValue()].push_back(op);
  });
  for (const ScheduleLabels &labels : c.frame->schedule->orders)
    for (size_t i = 1; i < labels.names.size(); ++i) {
      const auto &earlier = ordered[labels.names[i - 1]], &later = ordered[labels.names[i]];
      std::string item = "order " + labels.names[i - 1] + ", " + labels.names[i];
      auto refuse = [&](const std::string &why) {
        c.fail(DiagId::ScheduleCannot, labels.spans[i], {item, why});
      };
      if (earlier.empty() || later.empty()) {
        refuse("`" + labels.names[earlier.empty() ? i - 1 : i] + "` is no task");
        continue;
      }
      if (earlier.front()->getBlock() != later.front()->getBlock()) {
        refuse("they stand in different loops or branches");
        continue;
      }
      Unit first(earlier), second(later);
      Operation *start = second.first();
      if (first.first()->isBeforeInBlock(start))
        continue;
      // The earlier task moves up in front of the later one, together with what it needs from in between.
      first.addNeeds(start);
      if (first.contains(start) || first.contains(later.back()))
        refuse("`" + labels.names[i - 1] + "` needs `" + labels.names[i] + "`");
      else if (first.isEntangled(start))
        refuse("what `" + labels.names[i - 1] + "` writes is used in between");
      else
        first.moveBefore(start);
    }
}

} // namespace ptl::ir

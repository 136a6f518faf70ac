#include "passes/transform/store_parts.h"

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/lengths.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/groups/root_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ptl::ir {

namespace {

/// The stores of the parts of one value, in the place of its own.
class PartStores {
public:
  PartStores(Operation *whole, StoreOp into)
      : b_(into), whole_(whole), into_(into), offsets_(into.getOffsets()), steps_(into.getSteps()) {
    for (size_t base = 0; base < offsets_.size(); ++base)
      if (!llvm::is_contained(into.getDropped(), static_cast<int64_t>(base)))
        kept_.push_back(base);
  }

  void concat(ConcatOp op);
  void interleave(InterleaveOp op);

private:
  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(into_.getLoc(), value); }
  Value multiply(Value a, Value b) { return b_.createOrFold<arith::MulIOp>(into_.getLoc(), a, b); }
  void moveOn(size_t base, Value count);
  void store(Value part, int64_t along);
  void finish();

  OpBuilder b_;
  Operation *whole_;
  StoreOp into_;
  llvm::SmallVector<Value> offsets_, steps_; ///< of the next part
  llvm::SmallVector<size_t> kept_;           ///< the axes of storage that those of the value are
};

} // namespace

/// The next part begins so many elements later.
void PartStores::moveOn(size_t base, Value count) {
  Value shift = steps_.empty() ? count : multiply(count, steps_[base]);
  offsets_[base] = b_.createOrFold<arith::AddIOp>(into_.getLoc(), offsets_[base], shift);
}

/// The array of which a value is all elements in the same form.
static Value wholeOf(Value value) {
  auto slice = value.getDefiningOp<SliceOp>();
  bool isWhole = slice && slice.getSteps().empty() && slice.getDropped().empty() &&
                 !slice.getOutside() &&
                 llvm::all_of(slice.getOffsets(),
                              [](Value offset) { return isConstantIntValue(offset, 0); }) &&
                 extentsOf(slice.getSource().getType()) == extentsOf(slice.getType());
  return isWhole ? slice.getSource() : value;
}

/// What has one position along an axis, where a `new` axis stands for it; null for others.
static Value withoutAxis(Value part, int64_t axis) {
  auto expand = part.getDefiningOp<NewAxisOp>();
  bool isIt = expand && expand.getAxes() == llvm::ArrayRef<int64_t>(axis);
  return isIt ? wholeOf(expand.getSource()) : Value();
}

/// Erases operations that nobody uses, and what only these use: a value with one user more would be stored for that one.
static void eraseUnused(Operation *op) {
  llvm::SmallVector<Operation *> waiting = {op};
  llvm::DenseSet<Operation *> erased;
  while (!waiting.empty()) {
    Operation *next = waiting.pop_back_val();
    if (erased.contains(next) || !next->use_empty() || !isPure(next))
      continue;
    for (Value operand : next->getOperands())
      if (Operation *made = operand.getDefiningOp())
        waiting.push_back(made);
    erased.insert(next);
    next->erase();
  }
}

void PartStores::store(Value part, int64_t along) {
  llvm::SmallVector<int64_t> dropped(into_.getDropped());
  // Along the other axes parts are as long as the whole.
  llvm::SmallVector<Value> lengths(into_.getLengths());
  size_t base = kept_[static_cast<size_t>(along)];
  lengths[base] = lengthOf(b_, part, along);
  // Parts of one position are arrays without that axis, which more of their neighbours have the shape of.
  if (Value inner = withoutAxis(part, along)) {
    part = inner;
    dropped.push_back(static_cast<int64_t>(base));
    llvm::sort(dropped);
  }
  auto store =
      b_.create<StoreOp>(into_.getLoc(), part, into_.getRef(), offsets_, lengths, steps_, Value(),
                         b_.getDenseI64ArrayAttr(dropped), IntegerAttr(), StringAttr());
  takeMarks(store.getOperation(), into_.getOperation());
}

void PartStores::concat(ConcatOp op) {
  auto axis = static_cast<int64_t>(op.getAxis());
  for (Value part : op.getXs()) {
    Value length = lengthOf(b_, part, axis);
    store(part, axis);
    moveOn(kept_[static_cast<size_t>(axis)], length);
  }
  finish();
}

void PartStores::interleave(InterleaveOp op) {
  size_t last = kept_.back();
  if (steps_.empty())
    steps_.assign(offsets_.size(), constant(1));
  Value apart = steps_[last];
  steps_[last] = multiply(apart, constant(2));
  for (Value part : {op.getA(), op.getB()}) {
    store(part, static_cast<int64_t>(kept_.size()) - 1);
    offsets_[last] = b_.createOrFold<arith::AddIOp>(into_.getLoc(), offsets_[last], apart);
  }
  finish();
}

void PartStores::finish() {
  into_.erase();
  eraseUnused(whole_);
}

// More would be much code for little.
static constexpr unsigned kMostParts = 16;

void storeParts(func::FuncOp function) {
  llvm::SmallVector<Operation *> wholes;
  function.walk([&](Operation *op) {
    if (isa<ConcatOp, InterleaveOp>(op) && op->getNumOperands() <= kMostParts &&
        !op->getParentOfType<ParallelOp>())
      wholes.push_back(op);
  });
  for (Operation *whole : wholes) {
    StoreOp into = onlyStore(whole);
    // What a schedule speaks of stays one value.
    bool isScheduled = attrs::tile.of(whole) || attrs::split.isOn(whole) || attrs::fuse.of(whole) ||
                       attrs::item.of(whole);
    if (!into || isScheduled)
      continue;
    PartStores stores(whole, into);
    if (auto concat = dyn_cast<ConcatOp>(whole))
      stores.concat(concat);
    else
      stores.interleave(cast<InterleaveOp>(whole));
  }
}

} // namespace ptl::ir

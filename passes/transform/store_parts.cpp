#include "passes/transform/store_parts.h"

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/axis_map.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/groups/root_storage.h"
#include "passes/transform/whole_storage.h"

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
    // The length is asked before the part is stored: `store` may take the axis away from it.
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
  // Elements of one operand lie twice as far apart as those of the result, and the other one begins one of the old steps later.
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

/// Whether all that becomes of a value are operands of products, which have to stand in memory whole.
static bool isForProducts(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (user->getBlock() != value.getParentBlock())
      return false;
    bool looksThrough = isView(user) || isa<ReshapeOp>(user);
    return looksThrough ? isForProducts(user->getResult(0)) : isa<MatmulOp, DimOp>(user);
  });
}

/// Whether all parts are computed: what is only there already is copied with its neighbours.
static bool isComputed(ConcatOp op) {
  return llvm::all_of(op.getXs(), [&](Value part) {
    Value inner = withoutAxis(part, static_cast<int64_t>(op.getAxis()));
    Operation *made = (inner ? inner : part).getDefiningOp();
    // Views and arguments have no grid of their own into which a store of the part could go.
    return made && isTiled(made);
  });
}

/// Parts of parts along the same axis are parts.
static ConcatOp withPartsOfParts(ConcatOp op) {
  llvm::SmallVector<Value> parts;
  llvm::SmallVector<Operation *> joined;
  for (Value part : op.getXs()) {
    auto inner = part.getDefiningOp<ConcatOp>();
    if (!inner || inner.getAxis() != op.getAxis() || !part.hasOneUse() || isInSchedule(inner)) {
      parts.push_back(part);
      continue;
    }
    // The innermost parts come first, so that one level is left however deep they were nested.
    inner = withPartsOfParts(inner);
    parts.append(inner.getXs().begin(), inner.getXs().end());
    joined.push_back(inner);
  }
  if (joined.empty() || parts.size() > kMostParts)
    return op;
  OpBuilder builder(op);
  auto flat = builder.create<ConcatOp>(op.getLoc(), op.getType(), parts, op.getAxis());
  takeMarks(flat.getOperation(), op.getOperation());
  op.replaceAllUsesWith(flat.getResult());
  op.erase();
  for (Operation *inner : joined)
    inner->erase();
  return flat;
}

namespace {

/// Storage for what is put together for products, which is there before the first of its parts is made, so that each is stored where it
/// is made and shares the grid of its neighbours.
class EarlyStorage {
public:
  explicit EarlyStorage(ConcatOp op) : op_(op), axis_(static_cast<int64_t>(op.getAxis())) {
    first_ = op;
    for (Value part : op.getXs())
      if (Operation *made = madeBy(part); made && made->isBeforeInBlock(first_))
        first_ = made;
  }

  /// False, with nothing changed, where lengths are not known that early.
  bool take();

private:
  /// What makes a part in the block.
  Operation *madeBy(Value part) const {
    Operation *made = part.getDefiningOp();
    return made && made->getBlock() == op_->getBlock() ? made : nullptr;
  }
  bool isEarly(Value length) const {
    Operation *made = length.getDefiningOp();
    return !made || made->getBlock() != op_->getBlock() || made->isBeforeInBlock(first_);
  }

  ConcatOp op_;
  int64_t axis_;
  Operation *first_; ///< the storage is made in front of it
};

} // namespace

bool EarlyStorage::take() {
  auto type = cast<ArrayType>(op_.getType());
  // Other lengths that are not the same by their names are compared later than parts are made.
  auto isCounted = [&](Value part) {
    llvm::SmallVector<Extent> extents(extentsOf(part.getType())), all(type.getExtents());
    bool isConstant = extents[axis_].isConstant();
    // Along the axis the parts differ by nature, so only the other axes are compared.
    extents[axis_] = all[axis_];
    return isConstant && extents == all;
  };
  if (!llvm::all_of(op_.getXs(), isCounted))
    return false;
  OpBuilder builder(first_);
  llvm::SmallVector<Value> lengths(static_cast<size_t>(type.getRank())), named;
  for (auto [axis, length] : llvm::enumerate(lengths)) {
    const Extent &extent = type.getExtents()[axis];
    if (extent.isConstant())
      continue;
    length = findLength(op_.getXs().front(), static_cast<int64_t>(axis));
    if (!length || !isEarly(length))
      return false;
    named.push_back(length);
  }
  Location loc = op_.getLoc();
  auto constant = [&](int64_t value) {
    return builder.create<arith::ConstantIndexOp>(loc, value).getResult();
  };
  for (auto [axis, length] : llvm::enumerate(lengths))
    if (!length)
      length = constant(type.getExtents()[axis].length);
  Value ref = allocateStorage(builder, loc, type, named);
  int64_t begin = 0;
  for (Value part : op_.getXs()) {
    builder.setInsertionPoint(first_);
    int64_t count = extentsOf(part.getType())[axis_].length;
    llvm::SmallVector<Value> offsets(lengths.size(), constant(0)), box(lengths);
    offsets[axis_] = constant(begin);
    box[axis_] = constant(count);
    begin += count;
    llvm::SmallVector<int64_t> dropped;
    // What the block does not make is there from the beginning, and is stored at once.
    if (Operation *made = madeBy(part))
      builder.setInsertionPointAfter(made);
    if (Value inner = withoutAxis(part, axis_)) {
      part = inner;
      dropped.push_back(axis_);
    }
    builder.create<StoreOp>(loc, part, ref, offsets, box, ValueRange(), Value(),
                            builder.getDenseI64ArrayAttr(dropped), IntegerAttr(), StringAttr());
  }
  builder.setInsertionPoint(op_);
  op_.replaceAllUsesWith(loadWhole(builder, loc, ref, type));
  eraseUnused(op_);
  return true;
}

/// Gives what is put together for products storage of its own, which it would get anyway, so that its parts are computed there.
static void storeForProducts(ConcatOp op) {
  if (!isForProducts(op.getResult()) || !isComputed(op) || isInSchedule(op) ||
      EarlyStorage(op).take())
    return;
  OpBuilder builder(op);
  auto type = cast<ArrayType>(op.getType());
  auto along = static_cast<int64_t>(op.getAxis());
  llvm::SmallVector<Value> named;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (type.getExtents()[static_cast<size_t>(axis)].isConstant())
      continue;
    Value length;
    // Along the axis of the concatenation the lengths add up; along the others all parts are equally long.
    for (Value part : op.getXs().take_front(axis == along ? op.getXs().size() : 1)) {
      Value own = lengthOf(builder, part, axis);
      length = length ? builder.createOrFold<arith::AddIOp>(op.getLoc(), length, own) : own;
    }
    named.push_back(length);
  }
  builder.setInsertionPointAfter(op);
  Value ref = allocateStorage(builder, op.getLoc(), type, named), whole = op.getResult();
  StoreOp store = storeWhole(builder, op.getLoc(), whole, ref);
  Value load = loadWhole(builder, op.getLoc(), ref, type);
  whole.replaceAllUsesExcept(load, store);
}

/// Arrays outside of grids that are put together of a few parts.
template <class... Ops> static llvm::SmallVector<Operation *> wholesIn(func::FuncOp function) {
  llvm::SmallVector<Operation *> wholes;
  function.walk([&](Operation *op) {
    if (isa<Ops...>(op) && op->getNumOperands() <= kMostParts && !isInSchedule(op) &&
        !op->getParentOfType<ParallelOp>())
      wholes.push_back(op);
  });
  return wholes;
}

void storeParts(func::FuncOp function) {
  // The last ones have the others as parts.
  llvm::SmallVector<Operation *> nested = wholesIn<ConcatOp>(function);
  auto isPart = [](Operation *op) {
    auto outer = op->hasOneUse() ? dyn_cast<ConcatOp>(*op->getUsers().begin()) : ConcatOp();
    return outer && outer.getAxis() == cast<ConcatOp>(op).getAxis();
  };
  llvm::erase_if(nested, isPart);
  for (Operation *op : nested)
    storeForProducts(withPartsOfParts(cast<ConcatOp>(op)));
  for (Operation *whole : wholesIn<ConcatOp, InterleaveOp>(function)) {
    StoreOp into = onlyStore(whole);
    if (!into)
      continue;
    PartStores stores(whole, into);
    if (auto concat = dyn_cast<ConcatOp>(whole))
      stores.concat(concat);
    else
      stores.interleave(cast<InterleaveOp>(whole));
  }
}

/// Whether nothing but a store goes through the elements of a value: it is an argument, or a part of one of which no tiles are known.
static bool isOnlyCopied(Value value) {
  Operation *made = value.getDefiningOp();
  if (auto slice = dyn_cast_or_null<SliceOp>(made))
    return !slice.getOutside() &&
           !axesBeforeDrop(slice, AxisMap(static_cast<size_t>(rankOf(value.getType())), kWhole)) &&
           isOnlyCopied(slice.getSource());
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

void divideCopies(func::FuncOp function) {
  function.walk([](StoreOp store) {
    Value value = store.getValue();
    if (!isa<ArrayType>(value.getType()) || rankOf(value.getType()) == 0 || isInSchedule(store) ||
        store.getIndex() || store.getAtomic() || store->getParentOfType<ParallelOp>() ||
        !isOnlyCopied(value))
      return;
    OpBuilder builder(store);
    Value copy = builder.create<CastOp>(store.getLoc(), value.getType(), value);
    store.getValueMutable().assign(copy);
  });
}

} // namespace ptl::ir

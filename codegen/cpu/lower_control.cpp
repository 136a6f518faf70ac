// Statements: blocks, loops, branches, grids, checks.
#include "codegen/cpu/lowering.h"
#include "codegen/cpu/program_storage.h"

#include "runtime/abi/check_status.h"
#include "runtime/abi/kernel_abi.h"

using namespace mlir;

namespace ptl::cpu {

void Lowering::lowerBlock(Block &block) {
  if (isOrchestrating())
    return lowerProgramBlock(block);
  for (Operation &op : block.without_terminator()) {
    e.loc = op.getLoc();
    lowerOp(&op);
  }
}

// Canonicalisation turns an `if` that only chooses between arrays into a selection.
static void lowerArrayChoice(Lowering &l, arith::SelectOp op) {
  Value condition = l.scalarOf(op.getCondition());
  View yes = l.carriedBuffer(op, op.getTrueValue()), no = l.carriedBuffer(op, op.getFalseValue());
  Values extents;
  for (auto [one, other] : llvm::zip(yes.extents, no.extents))
    extents.push_back(l.e.select(condition, one, other));
  Value data = l.e.select(condition, yes.data, no.data);
  auto type = cast<ir::ArrayType>(op.getType());
  l.bindView(op.getResult(), l.denseView(type.getElementType(), data, extents));
}

void Lowering::lowerOp(Operation *op) {
  if (auto store = dyn_cast<ir::StoreOp>(op))
    return lowerStore(store);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lowerIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return lowerWhile(loop);
  if (auto grid = dyn_cast<ir::ParallelOp>(op))
    return lowerParallel(grid);
  if (auto check = dyn_cast<ir::CheckOp>(op))
    return lowerCheck(check);
  if (auto print = dyn_cast<ir::PrintOp>(op)) {
    Value values = valueArray(print.getMessage(), print.getXs());
    auto count = static_cast<int64_t>(print.getXs().size() + !print.getMessage().empty());
    e.call("ptl_rt_print", {}, {context, values, e.i32(count)});
    return;
  }
  if (auto alloc = dyn_cast<ir::AllocOp>(op)) {
    auto type = alloc.getResult().getType();
    Values extents;
    size_t next = 0;
    for (const ir::Extent &extent : type.getExtents())
      extents.push_back(extent.isConstant() ? index(extent.length)
                                            : scalarOf(alloc.getLengths()[next++]));
    return bindView(alloc.getResult(), allocateShared(type.getElementType(), extents));
  }
  if (auto choice = dyn_cast<arith::SelectOp>(op); choice && isa<ir::ArrayType>(choice.getType()))
    return lowerArrayChoice(*this, choice);
  if (op->getNumResults() == 0)
    return fail(op, "this operation has no lowering to the CPU");
  if (llvm::any_of(op->getResults(), [&](Value v) { return !isScalar(v); }))
    return define(op);
  lowerScalarOp(op);
}

static Value constantRegister(Lowering &l, TypedAttr value) {
  Type type = value.getType(), reg = registerType(type);
  if (auto real = dyn_cast<FloatAttr>(value))
    return l.e.real(reg, real.getValueAsDouble());
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return l.e.integer(reg, integer.getValue().getSExtValue());
  return {};
}

static Value scalarBox(Lowering &l, Operation *op) {
  if (auto load = dyn_cast<ir::LoadOp>(op)) {
    View base = *l.viewOf(load.getRef());
    if (load.getOutside())
      return l.boxElementOutside(op, base, load.getOffsets(), load.getSteps(), load.getDropped(),
                                 load.getOutside(), {});
    return l.loadAt(
        l.boxView(base, load.getOffsets(), load.getLengths(), load.getSteps(), load.getDropped()),
        {});
  }
  auto slice = dyn_cast<ir::SliceOp>(op);
  if (!slice)
    return {};
  if (slice.getOutside())
    return l.boxElementOutside(op, l.requireView(slice.getSource()), slice.getOffsets(),
                               slice.getSteps(), slice.getDropped(), slice.getOutside(), {});
  l.prepare(slice.getSource());
  Coords at;
  for (Value offset : slice.getOffsets())
    at.push_back(Coord{l.scalarOf(offset)});
  Lowering::Scope scope(l);
  return l.elementAt(slice.getSource(), at);
}

void Lowering::lowerScalarOp(Operation *op) {
  Value value;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    value = constantRegister(*this, constant.getValue());
  else if (auto constant = dyn_cast<ir::ConstantOp>(op))
    value = constantRegister(*this, constant.getValue());
  else if (auto dim = dyn_cast<ir::DimOp>(op))
    value = lengthOf(dim.getSource(), dim.getAxis());
  else if (isElementwise(op)) {
    Values operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalarOf(operand));
    value = combine(op, operands);
  } else if (isa<ir::LoadOp, ir::SliceOp>(op))
    value = scalarBox(*this, op);
  else if (auto philox = dyn_cast<ir::PhiloxOp>(op)) {
    Type i64 = e.b.getI64Type();
    Value counter =
        convertElem(e, scalarOf(philox.getCounter()), philox.getCounter().getType(), i64);
    value = emitPhilox(e, counter, e.indexCast(scalarOf(philox.getSeed()), i64));
  } else if (op->getDialect()->getNamespace() == "ptl")
    value = scalarResult(op);
  else {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, scalarOf(operand));
    Operation *copy = e.b.clone(*op, mapping);
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults())) {
      to.setType(registerType(from.getType()));
      bindScalar(from, to);
    }
    return;
  }
  if (!value)
    return fail(op, "this operation has no lowering to the CPU");
  bindScalar(op->getResult(0), value);
}

// --- carried values ------------------------------------------------------------------------------

View Lowering::carriedBuffer(Operation *op, Value initial) {
  auto type = cast<ir::ArrayType>(initial.getType());
  View buffer = allocate(type.getElementType(), extentsOf(initial));
  tellBytes(buffer.data, type);
  asTask(op, [&] { evaluateInto(initial, buffer); });
  return buffer;
}

// What an address was computed from.
static Value memoryOf(Value pointer) {
  while (auto step = pointer.getDefiningOp<LLVM::GEPOp>())
    pointer = step.getBase();
  return pointer;
}

static bool sameView(const View &a, const View &b) {
  auto same = [](auto pair) {
    auto [x, y] = pair;
    return x == y || (constantOf(x) && constantOf(x) == constantOf(y));
  };
  return a.data == b.data && a.rank() == b.rank() &&
         llvm::all_of(llvm::zip(a.extents, b.extents), same) &&
         llvm::all_of(llvm::zip(a.strides, b.strides), same);
}

// Whether each element of the op comes from the element of the operand at the same place.
static bool staysInPlace(Operation *op, Value operand) {
  auto from = dyn_cast<ir::ArrayType>(operand.getType());
  auto to = dyn_cast<ir::ArrayType>(op->getResult(0).getType());
  if (!from || !to || !(Lowering::isElementwise(op) || isa<ir::CastOp>(op)))
    return false;
  return from.getRank() == to.getRank() &&
         llvm::all_of(llvm::zip(from.getExtents(), to.getExtents()), [](auto extents) {
           auto [x, y] = extents;
           return !x.isOne() || y.isOne();
         });
}

namespace {
/// What a value that is still to be computed reads of a carried buffer.
class BufferReads {
public:
  BufferReads(Lowering &lowering, const View &buffer) : l_(lowering), buffer_(buffer) {}
  /// No element of the buffer at all.
  bool none(Value value) { return onlyAllowed(value, false); }
  /// No element but the one at the place that is computed. What permutes, shifts, folds or repeats
  /// elements reads others, even where it is a view that costs nothing.
  bool onlyInPlace(Value value) { return onlyAllowed(value, true); }

private:
  bool onlyAllowed(Value value, bool inPlace) {
    if (l_.isScalar(value) || !seen_.insert({value, inPlace ? 1 : 0}).second)
      return true;
    if (l_.isMaterialised(value)) {
      View view = *l_.viewOf(value);
      return memoryOf(view.data) != memoryOf(buffer_.data) || (inPlace && sameView(view, buffer_));
    }
    Operation *op = value.getDefiningOp();
    return op && llvm::all_of(op->getOperands(), [&](Value operand) {
             return onlyAllowed(operand, inPlace && staysInPlace(op, operand));
           });
  }

  Lowering &l_;
  const View &buffer_;
  llvm::DenseSet<std::pair<Value, unsigned>> seen_;
};
} // namespace

void Lowering::yieldInto(Operation *yield, ValueRange values, ArrayRef<std::optional<View>> buffers,
                         Values &scalars) {
  SmallVector<std::pair<View, View>> copies;
  SmallVector<size_t> inPlace; // in this order, so none reads what one before it has changed
  auto isCarried = [&](const View &view) {
    return llvm::any_of(buffers, [&](const std::optional<View> &buffer) {
      return buffer && memoryOf(buffer->data) == memoryOf(view.data);
    });
  };
  for (size_t k = 0; k < values.size(); ++k) {
    if (!buffers[k]) {
      scalars.push_back(scalarOf(values[k]));
      continue;
    }
    auto view = viewOf(values[k]);
    if (view && sameView(*view, *buffers[k]))
      continue;
    bool keepsOthers = llvm::all_of(
        inPlace, [&](size_t i) { return BufferReads(*this, *buffers[i]).none(values[k]); });
    if (!view && keepsOthers && BufferReads(*this, *buffers[k]).onlyInPlace(values[k])) {
      inPlace.push_back(k);
      continue;
    }
    // A part of what is carried may be changed by the copies below.
    View from = view && !isCarried(*view) ? *view : carriedBuffer(yield, values[k]);
    copies.push_back({from, *buffers[k]});
  }
  for (size_t k : inPlace)
    asTask(yield, [&] { evaluateInto(values[k], *buffers[k]); });
  for (auto &[from, to] : copies)
    asTask(yield, [&, &from = from, &to = to] {
      forAll(to.extents, 1, {}, [&](Coords &at) { storeAt(to, at, loadAt(from, at)); });
    });
}

void Lowering::withScratchScope(llvm::function_ref<void()> body) {
  bool outer = std::exchange(usedScratch_, false);
  Value mark = emitScratchMark(e, context);
  body();
  if (usedScratch_)
    emitScratchRelease(e, context, mark);
  else
    mark.getDefiningOp()->erase();
  usedScratch_ = outer;
}

void Lowering::lowerFor(scf::ForOp op) {
  SmallVector<std::optional<View>> buffers;
  Values initial;
  for (Value value : op.getInitArgs()) {
    if (isScalar(value)) {
      buffers.push_back(std::nullopt);
      initial.push_back(scalarOf(value));
    } else {
      asHost([&] { buffers.push_back(carriedBuffer(op, value)); });
    }
  }
  auto bind = [&](ValueRange keys, ValueRange scalars) {
    size_t next = 0;
    for (auto [key, buffer] : llvm::zip(keys, buffers))
      buffer ? bindView(key, *buffer) : bindScalar(key, scalars[next++]);
  };
  auto results =
      e.loop(scalarOf(op.getLowerBound()), scalarOf(op.getUpperBound()), scalarOf(op.getStep()),
             initial, [&](const Emit &, Value i, ValueRange carried) {
               Scope scope(*this);
               bindScalar(op.getInductionVar(), i);
               bind(op.getRegionIterArgs(), carried);
               Values next;
               size_t owned = ownedCount();
               withScratchScope([&] {
                 lowerBlock(*op.getBody());
                 Operation *yield = op.getBody()->getTerminator();
                 asHost([&] { yieldInto(yield, yield->getOperands(), buffers, next); });
               });
               releaseOwned(owned);
               return SmallVector<Value>(next.begin(), next.end());
             });
  bind(op.getResults(), results);
}

// Each arm makes its arrays in memory of its own; address and extents meet behind the arms.
void Lowering::lowerIf(scf::IfOp op) {
  SmallVector<Type> types;
  Type pointer = pointerType(e.b.getContext()), index = e.b.getIndexType();
  for (Value result : op.getResults()) {
    if (isScalar(result)) {
      types.push_back(registerType(result.getType()));
      continue;
    }
    types.push_back(pointer);
    types.append(cast<ir::ArrayType>(result.getType()).getRank(), index);
  }
  auto arm = [&](Region &region) -> SmallVector<Value> {
    if (region.empty())
      return {};
    Scope scope(*this);
    size_t owned = ownedCount();
    lowerBlock(region.front());
    size_t inner = ownedCount();
    SmallVector<Value> values;
    for (Value value : region.front().getTerminator()->getOperands()) {
      if (isScalar(value)) {
        values.push_back(scalarOf(value));
        continue;
      }
      asHost([&] {
        View view = carriedBuffer(op, value);
        values.push_back(view.data);
        llvm::append_range(values, view.extents);
      });
    }
    disown(inner);
    releaseOwned(owned);
    return values;
  };
  auto merged = e.branch(
      scalarOf(op.getCondition()), types, [&](const Emit &) { return arm(op.getThenRegion()); },
      [&](const Emit &) { return arm(op.getElseRegion()); });
  size_t next = 0;
  for (Value result : op.getResults()) {
    if (isScalar(result)) {
      bindScalar(result, merged[next++]);
      continue;
    }
    auto type = cast<ir::ArrayType>(result.getType());
    Value data = merged[next++];
    if (isOrchestrating())
      own(data);
    Values extents(merged.begin() + next, merged.begin() + next + type.getRank());
    next += type.getRank();
    for (auto [axis, extent] : llvm::enumerate(type.getExtents()))
      if (extent.isConstant())
        extents[axis] = this->index(extent.length);
    bindView(result, denseView(type.getElementType(), data, extents));
  }
}

void Lowering::lowerWhile(scf::WhileOp op) {
  SmallVector<std::optional<View>> buffers;
  SmallVector<Value> initial;
  for (Value value : op.getInits()) {
    if (isScalar(value)) {
      buffers.push_back(std::nullopt);
      initial.push_back(scalarOf(value));
    } else {
      asHost([&] { buffers.push_back(carriedBuffer(op, value)); });
    }
  }
  Region *region = e.b.getInsertionBlock()->getParent();
  auto newBlock = [&](Block *previous) {
    OpBuilder::InsertionGuard guard(e.b);
    return e.b.createBlock(region, std::next(Region::iterator(previous)));
  };
  Block *header = newBlock(e.b.getInsertionBlock());
  for (Value value : initial)
    header->addArgument(value.getType(), e.loc);
  e.b.create<cf::BranchOp>(e.loc, header, initial);
  e.b.setInsertionPointToEnd(header);
  Block *before = op.getBeforeBody(), *after = op.getAfterBody();
  size_t next = 0;
  for (auto [argument, buffer] : llvm::zip(before->getArguments(), buffers))
    buffer ? bindView(argument, *buffer) : bindScalar(argument, header->getArgument(next++));
  // The first region is left only behind the loop: what it gives has a name there.
  SmallVector<std::pair<Value, View>> left;
  std::optional<Scope> scope(std::in_place, *this);
  size_t owned = ownedCount();
  lowerBlock(*before);
  auto condition = cast<scf::ConditionOp>(before->getTerminator());
  for (auto [value, inside, result] :
       llvm::zip(condition.getArgs(), after->getArguments(), op.getResults())) {
    if (isScalar(value)) {
      bindScalar(inside, scalarOf(value));
      bindScalar(result, scalarOf(value));
      continue;
    }
    asHost([&] { requireView(value); });
    View view = requireView(value);
    bindView(inside, view);
    left.push_back({result, view});
  }
  Value go = scalarOf(condition.getCondition());
  size_t first = ownedCount();
  Block *body = newBlock(e.b.getInsertionBlock());
  Block *done = newBlock(body);
  e.b.create<cf::CondBranchOp>(e.loc, go, body, done);
  e.b.setInsertionPointToEnd(body);
  Values scalars;
  {
    Scope inner(*this);
    withScratchScope([&] {
      lowerBlock(*after);
      Operation *yield = after->getTerminator();
      asHost([&] { yieldInto(yield, yield->getOperands(), buffers, scalars); });
    });
    // What the first region has made is still in use where the loop is left.
    SmallVector<Value> made(ArrayRef<Value>(owned_).slice(owned, first - owned));
    releaseOwned(owned);
    owned_.append(made);
  }
  e.b.create<cf::BranchOp>(e.loc, header, SmallVector<Value>(scalars.begin(), scalars.end()));
  e.b.setInsertionPointToEnd(done);
  scope.reset();
  for (auto &[result, view] : left)
    bindView(result, view);
}

// --- checks --------------------------------------------------------------------------------------

void Lowering::lowerCheck(ir::CheckOp op) {
  Value condition = scalarOf(op.getCondition());
  if (constantOf(condition).value_or(0) != 0)
    return;
  Region *region = e.b.getInsertionBlock()->getParent();
  Block *current = e.b.getInsertionBlock();
  Block *bad = e.b.createBlock(region, std::next(Region::iterator(current)));
  Block *good = e.b.createBlock(region, std::next(Region::iterator(bad)));
  e.b.setInsertionPointToEnd(current);
  e.b.create<cf::CondBranchOp>(e.loc, condition, good, bad);
  e.b.setInsertionPointToEnd(bad);
  emitFailure(op.getLoc(), rt::statusOfCheck(op.getStatus()), op.getMessage(), op.getValues());
  e.b.create<cf::BranchOp>(e.loc, exitBlock());
  e.b.setInsertionPointToEnd(good);
}

} // namespace ptl::cpu

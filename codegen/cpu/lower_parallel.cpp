// Grids: the body becomes a function that the runtime calls on ranges of the flattened grid.
#include "codegen/cpu/lowering.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ptl::cpu {

void Lowering::lowerPoint(ir::ParallelOp op, Value linear, ArrayRef<Value> counts) {
  Scope scope(*this);
  Value rest = linear;
  for (int64_t axis = static_cast<int64_t>(counts.size()) - 1; axis >= 0; --axis) {
    Value position = rest;
    if (axis > 0) {
      position = e.b.create<arith::RemUIOp>(e.loc, rest, counts[axis]);
      rest = e.b.create<arith::DivUIOp>(e.loc, rest, counts[axis]);
    }
    Value step = scalarOf(op.getSteps()[axis]), lower = scalarOf(op.getLower()[axis]);
    bindScalar(op.getBody().getArgument(axis), e.add(lower, e.mul(position, step)));
  }
  withScratchScope([&] { lowerBlock(op.getBody().front()); });
}

static Value productOf(const Emit &e, ArrayRef<Value> counts) {
  Value total = e.index(1);
  for (Value count : counts)
    total = e.mul(total, count);
  return total;
}

static SmallVector<Value> gridCounts(Lowering &l, ir::ParallelOp op) {
  SmallVector<Value> counts;
  const Emit &e = l.e;
  for (auto [lower, upper, step] : llvm::zip(op.getLower(), op.getUpper(), op.getSteps())) {
    Value span = e.sub(l.scalarOf(upper), l.scalarOf(lower));
    span = e.b.createOrFold<arith::MaxSIOp>(e.loc, span, e.index(0));
    Value size = l.scalarOf(step);
    Value up = e.add(span, e.sub(size, e.index(1)));
    counts.push_back(e.b.createOrFold<arith::DivUIOp>(e.loc, up, size));
  }
  return counts;
}

// A grid inside of a grid runs where it is.
void Lowering::lowerGridInPlace(ir::ParallelOp op) {
  SmallVector<Value> counts = gridCounts(*this, op);
  e.loop(index(0), productOf(e, counts), index(1), {}, [&](const Emit &, Value i, ValueRange) {
    lowerPoint(op, i, counts);
    return SmallVector<Value>();
  });
}

func::FuncOp Lowering::bodyFunction(ir::ParallelOp op, ArrayRef<Value> counts) {
  OpBuilder::InsertionGuard guard(e.b);
  Type pointer = pointerType(e.b.getContext()), i64 = e.b.getI64Type();
  e.b.setInsertionPointToEnd(target.getBody());
  std::string name = (function.getName() + "_body" + Twine(bodies_++)).str();
  auto type = e.b.getFunctionType({pointer, i64, i64, pointer}, {});
  auto body = e.b.create<func::FuncOp>(e.loc, name, type);
  body.setPrivate();
  body->setAttr("llvm.linkage", LLVM::LinkageAttr::get(e.b.getContext(), LLVM::Linkage::Internal));
  Block *entry = body.addEntryBlock();
  e.b.setInsertionPointToStart(entry);
  Block *outerExit = std::exchange(exit_, nullptr);
  Value outerContext = std::exchange(context, entry->getArgument(0));
  auto outerFunction = std::exchange(function, body);
  inBody = true;
  Type index = e.b.getIndexType();
  Value begin = e.indexCast(entry->getArgument(1), index);
  Value end = e.indexCast(entry->getArgument(2), index);
  {
    Scope scope(*this);
    e.loop(begin, end, this->index(1), {}, [&](const Emit &, Value i, ValueRange) {
      lowerPoint(op, i, counts);
      return SmallVector<Value>();
    });
  }
  e.b.create<func::ReturnOp>(e.loc);
  inBody = false;
  exit_ = outerExit;
  context = outerContext;
  function = outerFunction;
  return body;
}

// Captured values sit in cells of 64 bytes, enough for any vector.
static constexpr int64_t CellBytes = 64;

Lowering::Captured Lowering::captureInto(func::FuncOp body) {
  llvm::MapVector<Value, Value> captured;
  Block *entry = &body.getBody().front();
  OpBuilder inside(entry, entry->begin());
  Emit in(inside, e.loc);
  Value closure = entry->getArgument(3);
  // The runtime has done with the cells, or has copied them, when the next grid fills them.
  if (!cells_)
    cells_ = stackBuffer(e, e.b.getI8Type(), CellBytes * 256);
  Value cells = cells_;
  auto capture = [&](Value value) -> Value {
    if (Value known = captured.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (op && op->hasTrait<OpTrait::ConstantLike>())
      return captured[value] = inside.clone(*op)->getResult(0);
    int64_t offset = static_cast<int64_t>(captured.size()) * CellBytes;
    bool isIndex = value.getType().isIndex();
    Value stored = isIndex ? e.indexCast(value, e.b.getI64Type()) : value;
    auto store = e.b.create<LLVM::StoreOp>(e.loc, stored, bytePointer(e, cells, e.i64(offset)));
    store->setAttr("ptl.task", e.b.getUnitAttr());
    Value loaded = inside.create<LLVM::LoadOp>(e.loc, stored.getType(),
                                               bytePointer(in, closure, in.i64(offset)));
    return captured[value] = isIndex ? in.indexCast(loaded, value.getType()) : loaded;
  };
  SmallVector<OpOperand *> foreign;
  body.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (!body.getBody().isAncestor(operand.get().getParentRegion()))
        foreign.push_back(&operand);
  });
  for (OpOperand *operand : foreign)
    operand->set(capture(operand->get()));
  if (captured.size() > 256)
    fail(function, "the body of this grid uses too many values from outside");
  Captured result{cells, static_cast<int64_t>(captured.size()) * CellBytes, {}};
  for (auto [outside, loaded] : captured)
    result.values.push_back({outside, loaded});
  return result;
}

void Lowering::lowerParallel(ir::ParallelOp op) {
  if (inBody)
    return lowerGridInPlace(op);
  SmallVector<Value> counts = gridCounts(*this, op);
  Value total = e.indexCast(productOf(e, counts), e.b.getI64Type());
  func::FuncOp body = bodyFunction(op, counts);
  Captured captured = captureInto(body);
  if (isOrchestrating()) {
    submitTask(op, body, total, captured);
  } else {
    Type pointer = pointerType(e.b.getContext());
    Value address = e.b.create<LLVM::AddressOfOp>(e.loc, pointer, body.getName());
    e.call("ptl_rt_parallel_for", {}, {context, address, total, captured.cells, e.i64(0)});
  }
  Value status = e.b.create<LLVM::LoadOp>(e.loc, e.b.getI32Type(), context);
  leaveUnless(e.cmpi(arith::CmpIPredicate::eq, status, 0));
}

} // namespace ptl::cpu

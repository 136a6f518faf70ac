// Grids: the body becomes a function that the runtime calls on ranges of the flattened grid.
#include "codegen/cpu/task_regions.h"
#include "ir/dialect/task_attribute.h"

#include "passes/analysis/source_place.h"
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

func::FuncOp Lowering::bodyFunction(llvm::function_ref<void(Value begin, Value end)> emit) {
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
    emit(begin, end);
  }
  e.b.create<func::ReturnOp>(e.loc);
  inBody = false;
  exit_ = outerExit;
  context = outerContext;
  function = outerFunction;
  return body;
}

// Room for what a grid captures: every cell is as large as its value, and aligned to that.
static constexpr int64_t RoomForCells = 16384;

static int64_t cellBytes(Type type) {
  if (LLVM::isCompatibleVectorType(type)) {
    int64_t lanes = LLVM::getVectorNumElements(type).getKnownMinValue();
    return static_cast<int64_t>(llvm::PowerOf2Ceil(
        static_cast<uint64_t>(lanes * cellBytes(LLVM::getVectorElementType(type)))));
  }
  if (isa<LLVM::LLVMPointerType>(type) || type.isIndex())
    return 8;
  return static_cast<int64_t>(llvm::PowerOf2Ceil((type.getIntOrFloatBitWidth() + 7) / 8));
}

Lowering::Captured Lowering::captureInto(func::FuncOp body) {
  llvm::MapVector<Value, Value> captured;
  Block *entry = &body.getBody().front();
  OpBuilder inside(entry, entry->begin());
  Emit in(inside, e.loc);
  Value closure = entry->getArgument(3);
  // The runtime has done with the cells, or has copied them, when the next grid fills them.
  if (!cells_)
    cells_ = stackBuffer(e, e.b.getI8Type(), RoomForCells);
  Value cells = cells_;
  int64_t end = 0;
  auto capture = [&](Value value) -> Value {
    if (Value known = captured.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (op && op->hasTrait<OpTrait::ConstantLike>())
      return captured[value] = inside.clone(*op)->getResult(0);
    int64_t bytes = cellBytes(value.getType());
    int64_t offset = static_cast<int64_t>(llvm::alignTo(end, std::min<int64_t>(bytes, 64)));
    end = offset + bytes;
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
  if (end > RoomForCells)
    fail(function, "the body of this grid uses too many values from outside");
  Captured result{cells, end, {}};
  for (auto [outside, loaded] : captured)
    result.values.push_back({outside, loaded});
  return result;
}

/// The name of an argument that a task writes; else what it does.
static std::string nameOfResult(Operation *op) {
  std::string name;
  op->walk([&](ir::StoreOp store) {
    auto argument = dyn_cast<BlockArgument>(store.getRef());
    auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
    for (StringRef attribute : {"ptl.output", "ptl.name"})
      if (auto text =
              function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attribute)
                       : StringAttr())
        name = text.str();
  });
  if (name.empty())
    name = isa<ir::ParallelOp>(op) ? "grid" : op->getName().stripDialect().str();
  return name;
}

Value Lowering::placeOfTask(Operation *op) {
  LedgerPlace place = block::placeOf(op->getLoc());
  std::string name = ir::taskOf(op).str();
  if (name.empty())
    name = block::nameOf(op->getLoc());
  if (name.empty())
    name = nameOfResult(op);
  MLIRContext *context = e.b.getContext();
  Type pointer = pointerType(context), i32 = e.b.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(context, {pointer, pointer, i32, i32});
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(target.getBody());
    global = e.b.create<LLVM::GlobalOp>(e.loc, type, true, LLVM::Linkage::Internal,
                                        "ptl_place" + std::to_string(places_++), Attribute());
    e.b.createBlock(&global.getInitializerRegion());
    Value null = e.b.create<LLVM::ZeroOp>(e.loc, pointer);
    Value fields[] = {textConstant(name), place.file.empty() ? null : textConstant(place.file),
                      e.i32(place.line), e.i32(place.column)};
    Value all = e.b.create<LLVM::UndefOp>(e.loc, type);
    for (auto [number, field] : llvm::enumerate(fields))
      all = e.b.create<LLVM::InsertValueOp>(e.loc, all, field, static_cast<int64_t>(number));
    e.b.create<LLVM::ReturnOp>(e.loc, all);
  }
  return e.b.create<LLVM::AddressOfOp>(e.loc, global);
}

void Lowering::lowerParallel(ir::ParallelOp op) {
  if (inBody)
    return lowerGridInPlace(op);
  SmallVector<Value> counts = gridCounts(*this, op);
  Value total = e.indexCast(productOf(e, counts), e.b.getI64Type());
  func::FuncOp body = bodyFunction([&](Value begin, Value end) {
    e.loop(begin, end, index(1), {}, [&](const Emit &, Value i, ValueRange) {
      lowerPoint(op, i, counts);
      return SmallVector<Value>();
    });
  });
  Captured captured = captureInto(body);
  if (isOrchestrating()) {
    EmittedPositions positions(*this);
    ir::GridRegions regions(positions, ir::OutsideArrays::Computed, op);
    submitTask(op, body, total, captured, [&](Value ref) { return regions.of(ref); });
  } else {
    Type pointer = pointerType(e.b.getContext());
    Value address = e.b.create<LLVM::AddressOfOp>(e.loc, pointer, body.getName());
    e.call("ptl_rt_grid", {}, {context, address, total, captured.cells, placeOfTask(op)});
  }
  Value status = e.b.create<LLVM::LoadOp>(e.loc, e.b.getI32Type(), context);
  leaveUnless(e.cmpi(arith::CmpIPredicate::eq, status, 0));
}

} // namespace ptl::cpu

// Bodies of grids and tasks as functions, and what they capture.
#include "codegen/cpu/outline_body.h"
#include "codegen/cpu/streamed_store.h"

#include "ir/dialect/attributes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ptl::cpu {

func::FuncOp bodyFunction(Lowering &l, llvm::function_ref<void(Value begin, Value end)> emit) {
  const Emit &e = l.e;
  OpBuilder::InsertionGuard guard(e.b);
  Type pointer = pointerType(e.b.getContext()), i64 = e.b.getI64Type();
  e.b.setInsertionPointToEnd(l.target.getBody());
  std::string name = (l.function.getName() + "_body" + Twine(l.bodies++)).str();
  auto type = e.b.getFunctionType({pointer, i64, i64, pointer}, {});
  auto body = e.b.create<func::FuncOp>(e.loc, name, type);
  body.setPrivate();
  body->setAttr("llvm.linkage", LLVM::LinkageAttr::get(e.b.getContext(), LLVM::Linkage::Internal));
  Block *entry = body.addEntryBlock();
  e.b.setInsertionPointToStart(entry);
  // A body leaves by its own exit and uses the context of the thread that runs it.
  Block *outerExit = std::exchange(l.exit, nullptr);
  Value outerContext = std::exchange(l.context, entry->getArgument(0));
  auto outerFunction = std::exchange(l.function, body);
  l.inBody = true;
  Type index = e.b.getIndexType();
  Value begin = e.indexCast(entry->getArgument(1), index);
  Value end = e.indexCast(entry->getArgument(2), index);
  {
    // Values of this body must not be found by the code of another function.
    Scope scope(l);
    emit(begin, end);
  }
  // Stores past the caches have to be visible before the runtime takes the body as done.
  fenceStreams(l, body);
  e.b.create<func::ReturnOp>(e.loc);
  l.inBody = false;
  l.exit = outerExit;
  l.context = outerContext;
  l.function = outerFunction;
  return body;
}

// Room for what a grid captures: every cell is as large as its value, and aligned to that.
static constexpr int64_t RoomForCells = 16384;

static int64_t cellBytes(Type type) {
  if (LLVM::isCompatibleVectorType(type)) {
    // LLVM aligns vectors to their size, rounded up to a power of two.
    int64_t lanes = LLVM::getVectorNumElements(type).getKnownMinValue();
    return static_cast<int64_t>(llvm::PowerOf2Ceil(
        static_cast<uint64_t>(lanes * cellBytes(LLVM::getVectorElementType(type)))));
  }
  if (isa<LLVM::LLVMPointerType>(type) || type.isIndex())
    return 8;
  return static_cast<int64_t>(llvm::PowerOf2Ceil((type.getIntOrFloatBitWidth() + 7) / 8));
}

Captured captureInto(Lowering &l, func::FuncOp body) {
  const Emit &e = l.e;
  llvm::MapVector<Value, Value> captured;
  Block *entry = &body.getBody().front();
  OpBuilder inside(entry, entry->begin());
  Emit in(inside, e.loc, e.unit);
  Value closure = entry->getArgument(3);
  // The runtime has done with the cells, or has copied them, when the next grid fills them.
  if (!l.cells)
    l.cells = stackBuffer(e, e.b.getI8Type(), RoomForCells);
  Value cells = l.cells;
  int64_t end = 0;
  auto capture = [&](Value value) -> Value {
    if (Value known = captured.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    // A constant is made anew inside, where it can be folded.
    if (op && op->hasTrait<OpTrait::ConstantLike>())
      return captured[value] = inside.clone(*op)->getResult(0);
    int64_t bytes = cellBytes(value.getType());
    int64_t offset = static_cast<int64_t>(llvm::alignTo(end, std::min<int64_t>(bytes, 64)));
    end = offset + bytes;
    bool isIndex = value.getType().isIndex();
    Value stored = isIndex ? e.indexCast(value, e.b.getI64Type()) : value;
    auto store = e.b.create<LLVM::StoreOp>(e.loc, stored, bytePointer(e, cells, e.i64(offset)));
    // The mark tells the scan of accesses that this store touches no array.
    attrs::captures.set(store);
    Value loaded = inside.create<LLVM::LoadOp>(e.loc, stored.getType(),
                                               bytePointer(in, closure, in.i64(offset)));
    return captured[value] = isIndex ? in.indexCast(loaded, value.getType()) : loaded;
  };
  // Operands are collected first, because capturing adds operations to the body.
  SmallVector<OpOperand *> foreign;
  body.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (!body.getBody().isAncestor(operand.get().getParentRegion()))
        foreign.push_back(&operand);
  });
  for (OpOperand *operand : foreign)
    operand->set(capture(operand->get()));
  // The memory was reserved before the number of captured values was known.
  if (end > RoomForCells)
    l.fail(l.function, "the body of this grid uses too many values from outside");
  Captured result{cells, end, {}};
  for (auto [outside, loaded] : captured)
    result.values.push_back({outside, loaded});
  return result;
}

} // namespace ptl::cpu

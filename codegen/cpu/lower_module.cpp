// Functions: the entry's interface, its arguments, and the public way in.
#include "codegen/cpu/lower_module.h"

#include "codegen/cpu/lower_control.h"
#include "codegen/cpu/lower_program.h"
#include "codegen/cpu/program_storage.h"
#include "codegen/cpu/storage.h"
#include "ir/dialect/attributes.h"

#include "runtime/abi/kernel_abi.h"

#include <cstddef>

using namespace mlir;

namespace ptl::cpu {

// --- arguments -----------------------------------------------------------------------------------

static Value loadField(const Emit &e, Value base, Type type, int64_t offset) {
  return e.b.create<LLVM::LoadOp>(e.loc, type, bytePointer(e, base, e.i64(offset)));
}

static Value loadIndex(const Emit &e, Value base, int64_t number) {
  return e.indexCast(loadField(e, base, e.b.getI64Type(), number * 8), e.b.getIndexType());
}

/// The array of a descriptor. `declared` is the argument's `ptl.strides`; no attribute says that the
/// array is dense.
static View argumentView(Lowering &l, Value descriptor, Type element, ArrayRef<ir::Extent> extents,
                         StringAttr declared) {
  const Emit &e = l.e;
  Value data = loadField(e, descriptor, pointerType(e.b.getContext()), offsetof(PtlArray, data));
  Value lengths = loadField(e, descriptor, data.getType(), offsetof(PtlArray, extents));
  View view{element, data, {}, {}};
  for (auto [axis, extent] : llvm::enumerate(extents))
    view.extents.push_back(extent.isConstant() ? l.index(extent.length)
                                               : loadIndex(e, lengths, axis));
  // An array declared without strides is dense, which the caller has checked. Strides that are seen
  // to be products of lengths let reshapes be views.
  if (!declared)
    return denseView(l, element, data, view.extents);
  Value strides = loadField(e, descriptor, data.getType(), offsetof(PtlArray, strides));
  for (size_t axis = 0; axis < extents.size(); ++axis)
    view.strides.push_back(loadIndex(e, strides, axis));
  // A stride that is seen to be 1 makes loads of vectors of neighbours.
  if (!view.strides.empty() && declared.getValue() == "rows")
    view.strides.back() = l.index(1);
  return view;
}

static Value argumentScalar(const Emit &e, Value scalars, int64_t number, Type type) {
  return fromStorage(e, loadField(e, scalars, storageType(type), number * 8), type);
}

/// A program whose only grid runs once has nothing to run beside it.
static bool hasSeveralTasks(func::FuncOp op) {
  auto kind = attrs::kind.of(op);
  if (!kind || kind.getValue() != "program")
    return false;
  int tasks = 0;
  op.walk<WalkOrder::PreOrder>([&](ir::ParallelOp grid) {
    // A grid in a loop counts as several, because its rounds are submitted one after the other.
    tasks += grid->getParentOfType<LoopLikeOpInterface>() ? 2 : 1;
    // Grids within a grid are no tasks of their own.
    return WalkResult::skip();
  });
  return tasks > 1;
}

static void lowerFunction(Lowering &l, func::FuncOp op) {
  Emit &e = l.e;
  e.loc = op.getLoc();
  l.builder.setInsertionPointToEnd(l.target.getBody());
  Type pointer = pointerType(l.builder.getContext()), i32 = l.builder.getI32Type();
  l.isProgram = hasSeveralTasks(op);
  SmallVector<Type> results;
  // A program's own code reports through the runtime, which has its status.
  if (!l.isProgram)
    results.push_back(i32);
  auto type = l.builder.getFunctionType({pointer, pointer, pointer, pointer}, results);
  std::string name = op.getName().str() + (l.isProgram ? "_program" : "");
  l.function = l.builder.create<func::FuncOp>(e.loc, name, type);
  l.cells = l.program.taskWords = {};
  l.program.owned.clear();
  // This holds until code of the program is seen to touch an array.
  l.program.isStatic = l.isProgram;
  if (l.isProgram) {
    l.function.setPrivate();
    attrs::program.set(l.function);
    l.function->setAttr("llvm.linkage",
                        LLVM::LinkageAttr::get(l.builder.getContext(), LLVM::Linkage::Internal));
  }
  Block *entry = l.function.addEntryBlock();
  l.builder.setInsertionPointToStart(entry);
  l.context = entry->getArgument(0);
  l.exit = nullptr;
  int64_t arrays = 0, scalars = 0, dims = 0;
  bool pastResults = false;
  for (auto [number, argument] : llvm::enumerate(op.getArguments())) {
    Type argumentType = argument.getType();
    // Parameters have names; outputs and, behind them, dimensions have none.
    bool isParameter = attrs::name.isOn(op, number);
    if (auto array = dyn_cast<ir::ArrayType>(argumentType)) {
      StringAttr strides = attrs::strides.of(op, number);
      Value descriptor = loadField(e, entry->getArgument(1), pointer, 8 * arrays++);
      l.bindView(argument,
                 argumentView(l, descriptor, array.getElementType(), array.getExtents(), strides));
    } else if (auto ref = dyn_cast<ir::RefType>(argumentType)) {
      StringAttr strides = attrs::strides.of(op, number);
      Value descriptor = loadField(e, entry->getArgument(1), pointer, 8 * arrays++);
      View view = argumentView(l, descriptor, ref.getElementType(), ref.getExtents(), strides);
      l.bindView(argument, view);
      // Any storage may be written, even one that is a parameter.
      l.program.writtenArguments.insert(view.data);
      pastResults |= !isParameter;
    } else if (isParameter && !pastResults) {
      l.bindScalar(argument, argumentScalar(e, entry->getArgument(3), scalars++, argumentType));
    } else {
      l.bindScalar(argument, loadIndex(e, entry->getArgument(2), dims++));
    }
  }
  // The arguments are all bound by now, in the order in which the caller lays them out.
  lowerBlock(l, op.getBody().front());
  if (l.isProgram) {
    e.b.create<func::ReturnOp>(e.loc);
    return emitProgramEntry(l, l.function, op.getName(), dims, scalars);
  }
  Value status = e.b.create<LLVM::LoadOp>(e.loc, i32, l.context);
  e.b.create<func::ReturnOp>(e.loc, status);
}

OwningOpRef<ModuleOp> lowerToBlocks(ModuleOp source, const Processor &processor,
                                    DeferredFunctions *deferred) {
  OwningOpRef<ModuleOp> target = ModuleOp::create(source.getLoc());
  Lowering lowering(source, *target, processor.vectors);
  ProductBodies none;
  if (deferred)
    lowering.e.bodies = &none;
  for (auto op : source.getOps<func::FuncOp>())
    if (!op.isExternal())
      lowerFunction(lowering, op);
  if (deferred)
    *deferred = none.finish(*target);
  // A failure was reported where it is. The module is not handed on, because values that could not
  // be lowered are undefined in it.
  return lowering.failed ? OwningOpRef<ModuleOp>() : std::move(target);
}

} // namespace ptl::cpu

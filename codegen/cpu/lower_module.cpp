// Functions: the entry's interface, its arguments, failures, and the public way in.
#include "codegen/cpu/lower.h"
#include "codegen/cpu/lowering.h"
#include "codegen/cpu/program_storage.h"

#include "runtime/abi/kernel_abi.h"

#include <cstddef>

using namespace mlir;

namespace ptl::cpu {

Lowering::Lowering(ModuleOp source, ModuleOp target, int vectorBytes)
    : e(builder, source.getLoc()), builder(source.getContext()), source(source), target(target),
      vectorBytes(vectorBytes), maxLanes(vectorBytes / 4) {}

void Lowering::fail(Operation *op, const Twine &message) {
  failed_ = true;
  if (op)
    op->emitError() << message << ": " << op->getName();
  else
    source.emitError() << message;
}

bool Lowering::run() {
  for (auto op : source.getOps<func::FuncOp>())
    if (!op.isExternal())
      lowerFunction(op);
  return !failed_;
}

Block *Lowering::exitBlock() {
  if (exit_)
    return exit_;
  OpBuilder::InsertionGuard guard(e.b);
  Region &region = function.getBody();
  exit_ = e.b.createBlock(&region, region.end());
  if (function.getNumResults() == 0) {
    e.b.create<func::ReturnOp>(e.loc);
  } else {
    Value status = e.b.create<LLVM::LoadOp>(e.loc, e.b.getI32Type(), context);
    e.b.create<func::ReturnOp>(e.loc, status);
  }
  return exit_;
}

// --- arguments -----------------------------------------------------------------------------------

static Value loadField(const Emit &e, Value base, Type type, int64_t offset) {
  return e.b.create<LLVM::LoadOp>(e.loc, type, bytePointer(e, base, e.i64(offset)));
}

static Value loadIndex(const Emit &e, Value base, int64_t number) {
  return e.indexCast(loadField(e, base, e.b.getI64Type(), number * 8), e.b.getIndexType());
}

static View argumentView(Lowering &l, Value descriptor, Type element, ArrayRef<ir::Extent> extents,
                         bool strided) {
  const Emit &e = l.e;
  Type pointer = pointerType(e.b.getContext());
  View view{element, loadField(e, descriptor, pointer, offsetof(PtlArray, data)), {}, {}};
  Value lengths = loadField(e, descriptor, pointer, offsetof(PtlArray, extents));
  Value strides = loadField(e, descriptor, pointer, offsetof(PtlArray, strides));
  for (auto [axis, extent] : llvm::enumerate(extents)) {
    bool last = axis + 1 == extents.size();
    view.extents.push_back(extent.isConstant() ? l.index(extent.length)
                                               : loadIndex(e, lengths, axis));
    // An array declared without strides is dense, so its last axis is consecutive.
    view.strides.push_back(last && !strided ? l.index(1) : loadIndex(e, strides, axis));
  }
  return view;
}

static Value argumentScalar(const Emit &e, Value scalars, int64_t number, Type type) {
  return fromStorage(e, loadField(e, scalars, storageType(type), number * 8), type);
}

/// A program whose only grid runs once has nothing to run beside it.
static bool hasSeveralTasks(func::FuncOp op) {
  auto kind = op->getAttrOfType<StringAttr>("ptl.kind");
  if (!kind || kind.getValue() != "program")
    return false;
  int tasks = 0;
  op.walk<WalkOrder::PreOrder>([&](ir::ParallelOp grid) {
    tasks += grid->getParentOfType<LoopLikeOpInterface>() ? 2 : 1;
    return WalkResult::skip();
  });
  return tasks > 1;
}

void Lowering::lowerFunction(func::FuncOp op) {
  e.loc = op.getLoc();
  builder.setInsertionPointToEnd(target.getBody());
  Type pointer = pointerType(builder.getContext()), i32 = builder.getI32Type();
  isProgram_ = hasSeveralTasks(op);
  SmallVector<Type> results;
  if (!isProgram_)
    results.push_back(i32);
  auto type = builder.getFunctionType({pointer, pointer, pointer, pointer}, results);
  std::string name = op.getName().str() + (isProgram_ ? "_program" : "");
  function = builder.create<func::FuncOp>(e.loc, name, type);
  cells_ = taskWords_ = {};
  owned_.clear();
  isStatic_ = isProgram_;
  if (isProgram_) {
    function.setPrivate();
    function->setAttr(kProgramAttribute, builder.getUnitAttr());
    function->setAttr("llvm.linkage",
                      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  }
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  context = entry->getArgument(0);
  exit_ = nullptr;
  int64_t arrays = 0, scalars = 0, dims = 0;
  bool pastResults = false;
  for (auto [number, argument] : llvm::enumerate(op.getArguments())) {
    Type argumentType = argument.getType();
    // Parameters have names; outputs and, behind them, dimensions have none.
    bool isParameter = static_cast<bool>(op.getArgAttr(number, "ptl.name"));
    if (auto array = dyn_cast<ir::ArrayType>(argumentType)) {
      bool strided = static_cast<bool>(op.getArgAttr(number, "ptl.strides"));
      Value descriptor = loadField(e, entry->getArgument(1), pointer, 8 * arrays++);
      bindView(argument, argumentView(*this, descriptor, array.getElementType(), array.getExtents(),
                                      strided));
    } else if (auto ref = dyn_cast<ir::RefType>(argumentType)) {
      bool strided = static_cast<bool>(op.getArgAttr(number, "ptl.strides"));
      Value descriptor = loadField(e, entry->getArgument(1), pointer, 8 * arrays++);
      View view = argumentView(*this, descriptor, ref.getElementType(), ref.getExtents(), strided);
      bindView(argument, view);
      writtenArguments_.insert(view.data);
      pastResults |= !isParameter;
    } else if (isParameter && !pastResults) {
      bindScalar(argument, argumentScalar(e, entry->getArgument(3), scalars++, argumentType));
    } else {
      bindScalar(argument, loadIndex(e, entry->getArgument(2), dims++));
    }
  }
  lowerBlock(op.getBody().front());
  if (isProgram_) {
    e.b.create<func::ReturnOp>(e.loc);
    return emitProgramEntry(function, op.getName(), dims, scalars);
  }
  Value status = e.b.create<LLVM::LoadOp>(e.loc, i32, context);
  e.b.create<func::ReturnOp>(e.loc, status);
}

// --- texts and failures --------------------------------------------------------------------------

Value Lowering::textConstant(StringRef text) {
  LLVM::GlobalOp &global = texts_[text];
  if (!global) {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(target.getBody());
    std::string bytes = text.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(e.b.getI8Type(), bytes.size());
    std::string name = "ptl_text" + std::to_string(texts_.size());
    global = e.b.create<LLVM::GlobalOp>(e.loc, type, true, LLVM::Linkage::Internal, name,
                                        e.b.getStringAttr(bytes));
  }
  return e.b.create<LLVM::AddressOfOp>(e.loc, global);
}

static int32_t elemCode(Type type) {
  if (type.isIndex())
    return PTL_INT;
  if (type.isF64())
    return PTL_F64;
  if (type.isF32())
    return PTL_F32;
  if (type.isF16())
    return PTL_F16;
  if (type.isBF16())
    return PTL_BF16;
  if (isa<FloatType>(type))
    return isa<Float8E5M2Type>(type) ? PTL_F8E5M2 : PTL_F8E4M3;
  bool isUnsignedType = type.isUnsignedInteger();
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return PTL_BOOL;
  case 8:
    return isUnsignedType ? PTL_U8 : PTL_I8;
  case 16:
    return isUnsignedType ? PTL_U16 : PTL_I16;
  case 32:
    return isUnsignedType ? PTL_U32 : PTL_I32;
  default:
    return isUnsignedType ? PTL_U64 : PTL_I64;
  }
}

static void storeField(const Emit &e, Value value, Value base, int64_t offset) {
  e.b.create<LLVM::StoreOp>(e.loc, value, bytePointer(e, base, e.i64(offset)));
}

Value Lowering::arrayDescriptor(const View &view) {
  Type i8 = e.b.getI8Type();
  Value descriptor = stackBuffer(e, i8, sizeof(PtlArray));
  Value numbers = stackBuffer(e, i8, 16 * std::max<int64_t>(view.rank(), 1));
  auto i64 = [&](Value value) { return e.indexCast(value, e.b.getI64Type()); };
  for (int64_t axis = 0; axis < view.rank(); ++axis) {
    storeField(e, i64(view.extents[axis]), numbers, 8 * axis);
    storeField(e, i64(view.strides[axis]), numbers, 8 * (view.rank() + axis));
  }
  storeField(e, view.data, descriptor, offsetof(PtlArray, data));
  storeField(e, e.i64(view.rank()), descriptor, offsetof(PtlArray, rank));
  storeField(e, numbers, descriptor, offsetof(PtlArray, extents));
  storeField(e, bytePointer(e, numbers, e.i64(8 * view.rank())), descriptor,
             offsetof(PtlArray, strides));
  storeField(e, e.i32(elemCode(view.element)), descriptor, offsetof(PtlArray, elem));
  return descriptor;
}

Value Lowering::valueArray(StringRef text, ValueRange values) {
  auto count = static_cast<int64_t>(values.size() + !text.empty());
  Value cells = stackBuffer(e, e.b.getI8Type(), sizeof(PtlValue) * std::max<int64_t>(count, 1));
  int64_t at = 0;
  auto put = [&](int32_t kind, int32_t elem, Value value) {
    storeField(e, e.i32(kind), cells, at + offsetof(PtlValue, kind));
    storeField(e, e.i32(elem), cells, at + offsetof(PtlValue, elem));
    storeField(e, value, cells, at + offsetof(PtlValue, as));
    at += sizeof(PtlValue);
  };
  if (!text.empty())
    put(PTL_VALUE_TEXT, 0, textConstant(text));
  for (Value value : values) {
    Type type = value.getType();
    if (isScalar(value))
      put(PTL_VALUE_SCALAR, elemCode(type), toStorage(e, scalarOf(value), type));
    else
      put(PTL_VALUE_ARRAY, 0, arrayDescriptor(requireView(value)));
  }
  return cells;
}

static FileLineColLoc fileLocation(Location loc) {
  FileLineColLoc found;
  loc->walk([&](Location inner) {
    if (auto file = dyn_cast<FileLineColLoc>(inner)) {
      found = file;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}

void Lowering::emitFailure(Location loc, int32_t status, StringRef message, ValueRange values) {
  Value cells = valueArray("", values);
  FileLineColLoc file = fileLocation(loc);
  Value name = file ? textConstant(file.getFilename())
                    : e.b.create<LLVM::ZeroOp>(e.loc, pointerType(e.b.getContext())).getResult();
  e.call("ptl_rt_fail", {},
         {context, e.i32(status), name, e.i32(file ? file.getLine() : 0), textConstant(message),
          cells, e.i32(static_cast<int64_t>(values.size()))});
}

OwningOpRef<ModuleOp> lowerToBlocks(ModuleOp source, const Processor &processor) {
  OwningOpRef<ModuleOp> target = ModuleOp::create(source.getLoc());
  Lowering lowering(source, *target, processor.vectorBytes);
  return lowering.run() ? std::move(target) : OwningOpRef<ModuleOp>();
}

} // namespace ptl::cpu

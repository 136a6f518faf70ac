// Texts, scalars and arrays as the runtime reads them.
#include "codegen/cpu/runtime_values.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/lower_value.h"

#include "runtime/abi/kernel_abi.h"

#include <cstddef>

using namespace mlir;

namespace ptl::cpu {

Value textConstant(Lowering &l, StringRef text) {
  const Emit &e = l.e;
  LLVM::GlobalOp &global = l.texts[text];
  // Equal texts are stored once; messages of checks occur many times in a program.
  if (!global) {
    OpBuilder::InsertionGuard guard(e.b);
    // Texts stand in front of all functions, where they are found whichever function is emitted.
    e.b.setInsertionPointToStart(l.target.getBody());
    std::string bytes = text.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(e.b.getI8Type(), bytes.size());
    std::string name = "ptl_text" + std::to_string(l.texts.size());
    global = e.b.create<LLVM::GlobalOp>(e.loc, type, true, LLVM::Linkage::Internal, name,
                                        e.b.getStringAttr(bytes));
  }
  return e.b.create<LLVM::AddressOfOp>(e.loc, global);
}

int32_t elemCode(Type type) {
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

static Value arrayDescriptor(Lowering &l, const View &view) {
  const Emit &e = l.e;
  Type i8 = e.b.getI8Type();
  Value descriptor = stackBuffer(e, i8, sizeof(PtlArray));
  // Extents and strides share one buffer, eight bytes each.
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

Value valueArray(Lowering &l, StringRef text, ValueRange values, ArrayAttr texts) {
  const Emit &e = l.e;
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
    put(PTL_VALUE_TEXT, 0, textConstant(l, text));
  for (auto [number, value] : llvm::enumerate(values)) {
    Type type = value.getType();
    if (auto among = texts ? dyn_cast<StringAttr>(texts[number]) : StringAttr())
      put(PTL_VALUE_TEXT, 0, textConstant(l, among));
    else if (isScalar(value))
      // The runtime reads a scalar in the form in which an array would hold it.
      put(PTL_VALUE_SCALAR, elemCode(type), toStorage(e, scalarOf(l, value), type));
    else
      put(PTL_VALUE_ARRAY, 0, arrayDescriptor(l, requireView(l, value)));
  }
  return cells;
}

} // namespace ptl::cpu

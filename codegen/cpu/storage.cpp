// Memory for arrays.
#include "codegen/cpu/storage.h"
#include "codegen/cpu/lower_check.h"
#include "codegen/cpu/positions.h"

using namespace mlir;

namespace ptl::cpu {

View denseView(Lowering &l, Type element, Value data, const Values &extents) {
  View view{element, data, extents, Values(extents.size())};
  Value stride = l.index(1);
  for (int64_t axis = view.rank() - 1; axis >= 0; --axis) {
    view.strides[axis] = stride;
    stride = memoMul(l, extents[axis], stride);
  }
  return view;
}

static Value byteCount(Lowering &l, Type element, const Values &extents) {
  Value bytes = l.index(storageBytes(element));
  for (Value extent : extents)
    bytes = l.e.mul(bytes, extent);
  return bytes;
}

static Value isNotNull(const Emit &e, Value pointer) {
  Value null = e.b.create<LLVM::ZeroOp>(e.loc, pointer.getType());
  return e.b.create<LLVM::ICmpOp>(e.loc, LLVM::ICmpPredicate::ne, pointer, null);
}

View allocate(Lowering &l, Type element, const Values &extents) {
  // Tasks may still use what a program is done with, but not what a loop of its own code makes.
  if (l.isOrchestrating() && l.scopeDepth == l.program.allocationDepth)
    return allocateShared(l, element, extents);
  Value data = emitScratch(l.e, l.context, byteCount(l, element, extents));
  l.usedScratch = true;
  // The runtime has recorded that memory has run out.
  leaveUnless(l, isNotNull(l.e, data));
  return denseView(l, element, data, extents);
}

View allocateShared(Lowering &l, Type element, const Values &extents) {
  const Emit &e = l.e;
  Value bytes = e.indexCast(byteCount(l, element, extents), e.b.getI64Type());
  Value data = e.call("ptl_rt_alloc", pointerType(e.b.getContext()), {l.context, bytes});
  leaveUnless(l, isNotNull(e, data));
  if (l.isOrchestrating())
    l.program.owned.push_back(data);
  return denseView(l, element, data, extents);
}

void withScratchScope(Lowering &l, llvm::function_ref<void()> body) {
  bool outer = std::exchange(l.usedScratch, false);
  Value mark = emitScratchMark(l.e, l.context);
  body();
  if (l.usedScratch)
    emitScratchRelease(l.e, l.context, mark);
  else
    // Scopes that used no scratch memory, among them most inner loops, cost nothing.
    mark.getDefiningOp()->erase();
  l.usedScratch = outer;
}

void releaseOwned(Lowering &l, size_t from) {
  for (Value data : ArrayRef<Value>(l.program.owned).drop_front(from))
    l.e.call("ptl_rt_release", {}, {l.context, data});
  l.program.owned.truncate(from);
}

} // namespace ptl::cpu

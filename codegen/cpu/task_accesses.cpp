// Writes the accesses of tasks as words that the runtime reads.
#include "codegen/cpu/task_accesses.h"
#include "codegen/cpu/follow_uses.h"
#include "codegen/cpu/task_regions.h"

using namespace mlir;

namespace ptl::cpu {

bool isPointer(Type type) {
  if (LLVM::isCompatibleVectorType(type))
    type = LLVM::getVectorElementType(type);
  return isa<LLVM::LLVMPointerType>(type);
}

static bool isAddressComputation(Operation *op) {
  return isa<LLVM::GEPOp, LLVM::BitcastOp, arith::SelectOp, vector::SplatOp, cf::BranchOp,
             cf::CondBranchOp>(op);
}

void rootsOf(Lowering &l, Value pointer, llvm::SetVector<Value> &roots, bool &onStack) {
  if (auto argument = dyn_cast<BlockArgument>(pointer)) {
    // The function's own arguments are descriptors; others are memory that an `if` has chosen.
    if (!argument.getOwner()->isEntryBlock())
      roots.insert(pointer);
    return;
  }
  Operation *op = pointer.getDefiningOp();
  if (isa<LLVM::AllocaOp>(op)) {
    onStack = true;
  } else if (isa<LLVM::LoadOp>(op)) {
    // An address that was loaded is that of an argument, and one that nobody writes needs no order.
    if (l.program.writtenArguments.count(pointer))
      roots.insert(pointer);
  } else if (isAddressComputation(op)) {
    for (Value operand : op->getOperands())
      if (isPointer(operand.getType()))
        rootsOf(l, operand, roots, onStack);
  } else if (!isa<LLVM::AddressOfOp, LLVM::ZeroOp>(op)) {
    roots.insert(pointer);
  }
}

bool isWrittenThrough(Value pointer) {
  return !followUses(pointer, [](Operation *user, SmallVectorImpl<Value> &next) {
    if (isa<LLVM::LoadOp, LLVM::MaskedLoadOp, LLVM::masked_gather>(user))
      return true;
    if (!isAddressComputation(user) || isa<cf::BranchOp, cf::CondBranchOp>(user))
      // A branch, a call or a store may write, and the walk does not follow them further.
      return false;
    llvm::append_range(next, user->getResults());
    return true;
  });
}

Value taskWords(Lowering &l) {
  if (!l.program.taskWords)
    l.program.taskWords = stackBuffer(l.e, l.e.b.getI64Type(), kSubmissionWords);
  return l.program.taskWords;
}

static void storeWord(const Emit &e, Value words, int64_t position, Value value) {
  if (value.getType().isIndex())
    value = e.indexCast(value, e.b.getI64Type());
  e.b.create<LLVM::StoreOp>(e.loc, value, bytePointer(e, words, e.i64(8 * position)));
}

int64_t storeAccess(Lowering &l, int64_t position, Value root, bool isWritten,
                    const RegionBounds *box) {
  const Emit &e = l.e;
  Value words = taskWords(l);
  Value address = e.b.create<LLVM::PtrToIntOp>(e.loc, e.b.getI64Type(), root);
  storeWord(e, words, position++, address);
  storeWord(e, words, position++, e.i64(isWritten));
  storeWord(e, words, position++, e.i64(box ? static_cast<int64_t>(box->axes.size()) : -1));
  if (!box)
    return position;
  for (const AxisBounds &axis : box->axes) {
    // An axis without known bounds counts from 0 without end; the quarter leaves room to add to it.
    bool isKnown = static_cast<bool>(axis.start);
    auto word = [&](OpFoldResult number, int64_t unknown) {
      storeWord(e, words, position++, isKnown ? EmittedPositions::valueOf(number) : e.i64(unknown));
    };
    word(axis.start, 0);
    word(axis.count, INT64_MAX / 4);
    word(axis.step, 1);
  }
  return position;
}

void emitAwait(Lowering &l, Value root, bool isWritten, const RegionBounds *box) {
  // A program that waits has code of its own between its tasks, which a replay would leave out.
  l.program.isStatic = false;
  storeAccess(l, 0, root, isWritten, box);
  l.e.call("ptl_rt_await", {}, {l.context, taskWords(l)});
}

} // namespace ptl::cpu

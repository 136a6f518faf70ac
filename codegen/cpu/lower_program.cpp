// Programs: their grids become tasks; code between the grids runs at once, after the tasks that
// touch the same memory.
#include "codegen/cpu/lower_program.h"
#include "codegen/cpu/follow_uses.h"
#include "codegen/cpu/lower_control.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/task_accesses.h"
#include "codegen/cpu/task_regions.h"
#include "ir/dialect/attributes.h"

#include "runtime/abi/kernel_abi.h"
#include "llvm/ADT/MapVector.h"

#include <cstddef>

using namespace mlir;

namespace ptl::cpu {

// --- code between the grids -------------------------------------------------------------------

static bool touchesMemory(Operation *op) {
  return isa<LLVM::LoadOp, LLVM::StoreOp, LLVM::MaskedLoadOp, LLVM::MaskedStoreOp,
             LLVM::masked_gather, LLVM::masked_scatter, LLVM::AtomicCmpXchgOp, LLVM::AtomicRMWOp>(
      op);
}

static bool onlyReads(Operation *op) {
  return isa<LLVM::LoadOp, LLVM::MaskedLoadOp, LLVM::masked_gather>(op);
}

/// The operations emitted since `before`, which stands in `block`, up to the end of `last`.
static void forEmitted(Block *block, Operation *before, Block *last,
                       llvm::function_ref<void(Operation *)> visit) {
  for (Region::iterator at(block);; ++at) {
    // The first block also has operations from before, which are passed over.
    auto op = &*at == block && before ? std::next(Block::iterator(before)) : at->begin();
    while (op != at->end())
      visit(&*op++);
    if (&*at == last)
      return;
  }
}

void asHost(Lowering &l, llvm::function_ref<void()> body, bool inTasks) {
  const Emit &e = l.e;
  if (!l.isOrchestrating())
    return body();
  Block *block = e.b.getInsertionBlock();
  Operation *before = block->empty() ? nullptr : &block->back();
  // Only code directly in this scope becomes tasks; loops within it stay the program's own code.
  int outerDepth = std::exchange(l.program.hostDepth, inTasks ? l.scopeDepth : -1);
  int outerAllocations = std::exchange(l.program.allocationDepth, l.scopeDepth);
  unsigned tasks = l.program.submissions;
  // What memory the code touches is known only when it has been emitted, so the waits are put in
  // afterwards.
  body();
  l.program.hostDepth = outerDepth;
  l.program.allocationDepth = outerAllocations;
  // The code may have opened blocks of its own.
  Block *last = e.b.getInsertionBlock();
  llvm::SmallMapVector<Value, bool, 4> touched;
  llvm::DenseSet<Operation *> emitted;
  SmallVector<std::pair<Operation *, Value>> after;
  auto isFromOutside = [&](Value root) {
    if (Operation *op = root.getDefiningOp())
      return !emitted.count(op);
    for (Region::iterator at(block); &*at != last;)
      if (&*++at == root.getParentBlock())
        return false;
    return true;
  };
  forEmitted(block, before, last, [&](Operation *op) {
    emitted.insert(op);
    // A value that a branch passes on is accessed under the name of a block argument.
    bool handsOn = isa<cf::BranchOp, cf::CondBranchOp>(op);
    if (attrs::captures.isOn(op) || !(handsOn || touchesMemory(op) || isa<func::CallOp>(op)))
      return;
    for (Value operand : op->getOperands()) {
      if (!isPointer(operand.getType()))
        continue;
      llvm::SetVector<Value> roots;
      bool onStack = false;
      rootsOf(l, operand, roots, onStack);
      // A static program reads no memory at all, not even what never changes.
      l.program.isStatic &= onStack || !touchesMemory(op);
      for (Value root : roots)
        // Memory from outside may be in use by earlier tasks. Memory that was made here is only
        // used by tasks that were submitted here, after which the wait has to stand.
        if (isFromOutside(root))
          touched[root] |= !onlyReads(op);
        else if (l.program.submissions != tasks && touchesMemory(op))
          after.push_back({op, root});
    }
  });
  OpBuilder::InsertionGuard guard(e.b);
  for (auto [op, root] : after) {
    e.b.setInsertionPoint(op);
    emitAwait(l, root, !onlyReads(op), nullptr);
  }
  // Nothing of this code may run ahead of the waits.
  if (before)
    e.b.setInsertionPointAfter(before);
  else
    e.b.setInsertionPointToStart(block);
  for (auto [root, isWritten] : touched)
    emitAwait(l, root, isWritten, nullptr);
}

static void lowerHostOp(Lowering &l, Operation *op) {
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, ir::ParallelOp>(op))
    return lowerOp(l, op);
  auto load = dyn_cast<ir::LoadOp>(op);
  // The box of one element lets tasks that write elsewhere in the array go on.
  if (load && isScalar(load.getResult()) && !load.getOutside()) {
    llvm::SetVector<Value> roots;
    bool onStack = false;
    rootsOf(l, viewOf(l, load.getRef())->data, roots, onStack);
    EmittedPositions positions(l);
    RegionBounds box = ir::GridRegions::ofLoad(positions, load);
    for (Value root : roots)
      emitAwait(l, root, false, l.program.refs.count(root) ? &box : nullptr);
    return lowerOp(l, op);
  }
  if (isa<ir::PrintOp>(op))
    // The context stands for the output, so that prints keep their order.
    emitAwait(l, l.context, true, nullptr);
  // Scalars are computed at once; arrays become tasks.
  bool inTasks = isa<ir::StoreOp>(op) ||
                 (op->getNumResults() != 0 && llvm::all_of(op->getResults(), [](Value result) {
                    return isa<ir::ArrayType>(result.getType());
                  }));
  asHost(l, [&] { lowerOp(l, op); }, inTasks);
}

// --- lifetimes ----------------------------------------------------------------------------------

/// The last operation of the block that may read or write what an allocation holds: users, and
/// users of what is computed from it, since values are computed where they are used. The terminator
/// if it leaves the block.
static Operation *lastUse(ir::AllocOp alloc) {
  Block *block = alloc->getBlock();
  Operation *last = alloc;
  bool stays = followUses(alloc.getResult(), [&](Operation *user, SmallVectorImpl<Value> &next) {
    Operation *here = block->findAncestorOpInBlock(*user);
    if (!here)
      return false;
    if (last->isBeforeInBlock(here))
      last = here;
    // What a region passes on comes out as a result of the operation around it.
    Operation *carrier = user->hasTrait<OpTrait::IsTerminator>() ? user->getParentOp() : user;
    for (Value result : carrier->getResults())
      if (isa<ir::ArrayType>(result.getType()))
        next.push_back(result);
    for (Region &region : user->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (isa<ir::ArrayType>(argument.getType()))
          next.push_back(argument);
    return true;
  });
  return stays ? last : block->getTerminator();
}

void lowerProgramBlock(Lowering &l, Block &block) {
  llvm::DenseMap<Operation *, SmallVector<ir::AllocOp, 2>> dying;
  for (auto alloc : block.getOps<ir::AllocOp>())
    dying[lastUse(alloc)].push_back(alloc);
  for (Operation &op : block.without_terminator()) {
    l.e.loc = op.getLoc();
    lowerHostOp(l, &op);
    for (ir::AllocOp alloc : dying.lookup(&op)) {
      Value data = viewOf(l, alloc.getResult())->data;
      // The end of the block must not release it a second time.
      llvm::erase(l.program.owned, data);
      l.e.call("ptl_rt_release", {}, {l.context, data});
    }
  }
}

// --- the program --------------------------------------------------------------------------------

void emitProgramEntry(Lowering &l, func::FuncOp body, StringRef name, int64_t dims,
                      int64_t scalars) {
  const Emit &e = l.e;
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToEnd(l.target.getBody());
  Type pointer = pointerType(e.b.getContext()), i32 = e.b.getI32Type(), i64 = e.b.getI64Type();
  // The runtime numbers programs when they are first called, and keeps their task graphs under that
  // number, which stands beside the code.
  auto number = e.b.create<LLVM::GlobalOp>(e.loc, i64, false, LLVM::Linkage::Internal,
                                           (name + "_number").str(), e.b.getI64IntegerAttr(0), 8);
  auto type = e.b.getFunctionType({pointer, pointer, pointer, pointer}, i32);
  auto entry = e.b.create<func::FuncOp>(e.loc, name, type);
  Block *block = entry.addEntryBlock();
  e.b.setInsertionPointToStart(block);
  Value program = stackBuffer(e, e.b.getI8Type(), sizeof(PtlProgram));
  auto set = [&](size_t offset, Value value) {
    e.b.create<LLVM::StoreOp>(e.loc, value,
                              bytePointer(e, program, e.i64(static_cast<int64_t>(offset))));
  };
  set(offsetof(PtlProgram, body), e.b.create<LLVM::AddressOfOp>(e.loc, pointer, body.getName()));
  set(offsetof(PtlProgram, number), e.b.create<LLVM::AddressOfOp>(e.loc, number));
  set(offsetof(PtlProgram, dim_count), e.i32(dims));
  set(offsetof(PtlProgram, scalar_count), e.i32(scalars));
  set(offsetof(PtlProgram, is_static), e.i32(l.program.isStatic));
  Value status = e.call("ptl_rt_program", i32,
                        {block->getArgument(0), program, block->getArgument(1),
                         block->getArgument(2), block->getArgument(3)});
  e.b.create<func::ReturnOp>(e.loc, status);
}

} // namespace ptl::cpu

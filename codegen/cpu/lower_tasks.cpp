// Programs: their grids become tasks that the runtime executes as soon as what they read is there;
// code between the grids runs at once, after the tasks that touch the same memory.
#include "codegen/cpu/task_regions.h"

#include "runtime/kernel_abi.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ptl::cpu {

// Words of one submission; more accesses are told as whole storages.
static constexpr int64_t SubmissionWords = 1024;

// --- where a pointer points -------------------------------------------------------------------

static bool isPointer(Type type) {
  if (LLVM::isCompatibleVectorType(type))
    type = LLVM::getVectorElementType(type);
  return isa<LLVM::LLVMPointerType>(type);
}

static bool isAddressComputation(Operation *op) {
  return isa<LLVM::GEPOp, LLVM::BitcastOp, arith::SelectOp, vector::SplatOp, cf::BranchOp,
             cf::CondBranchOp>(op);
}

/// The storages that a pointer may point into: memory of the runtime, and arguments that the
/// program may write. Memory on the stack is told apart; all else never changes.
void Lowering::rootsOf(Value pointer, llvm::SetVector<Value> &roots, bool &onStack) {
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
    if (writtenArguments_.count(pointer))
      roots.insert(pointer);
  } else if (isAddressComputation(op)) {
    for (Value operand : op->getOperands())
      if (isPointer(operand.getType()))
        rootsOf(operand, roots, onStack);
  } else if (!isa<LLVM::AddressOfOp, LLVM::ZeroOp>(op)) {
    roots.insert(pointer);
  }
}

/// Whether something may be written through a pointer.
static bool isWrittenThrough(Value pointer) {
  SmallVector<Value> work = {pointer};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      if (isa<LLVM::LoadOp, LLVM::MaskedLoadOp, LLVM::masked_gather>(user))
        continue;
      if (!isAddressComputation(user) || isa<cf::BranchOp, cf::CondBranchOp>(user))
        return true;
      llvm::append_range(work, user->getResults());
    }
  }
  return false;
}

// --- code between the grids -------------------------------------------------------------------

Value Lowering::taskWords() {
  if (!taskWords_)
    taskWords_ = stackBuffer(e, e.b.getI64Type(), SubmissionWords);
  return taskWords_;
}

static void storeWord(const Emit &e, Value words, int64_t position, Value value) {
  if (value.getType().isIndex())
    value = e.indexCast(value, e.b.getI64Type());
  e.b.create<LLVM::StoreOp>(e.loc, value, bytePointer(e, words, e.i64(8 * position)));
}

/// Writes one access at `position` of the words; gives the position behind it.
int64_t Lowering::storeAccess(int64_t position, Value root, bool isWritten,
                              const RegionBounds *box) {
  Value words = taskWords();
  Value address = e.b.create<LLVM::PtrToIntOp>(e.loc, e.b.getI64Type(), root);
  storeWord(e, words, position++, address);
  storeWord(e, words, position++, e.i64(isWritten));
  storeWord(e, words, position++, e.i64(box ? static_cast<int64_t>(box->axes.size()) : -1));
  if (!box)
    return position;
  for (const AxisBounds &axis : box->axes) {
    bool isKnown = static_cast<bool>(axis.start);
    storeWord(e, words, position++, isKnown ? axis.start : e.i64(0));
    storeWord(e, words, position++, isKnown ? axis.count : e.i64(INT64_MAX / 4));
    storeWord(e, words, position++, isKnown ? axis.step : e.i64(1));
  }
  return position;
}

void Lowering::emitAwait(Value root, bool isWritten, const RegionBounds *box) {
  storeAccess(0, root, isWritten, box);
  e.call("ptl_rt_await", {}, {context, taskWords()});
}

/// Emits what `body` does as code of the program itself: in front of it, it waits for the tasks
/// that conflict with what it touches.
void Lowering::asHost(llvm::function_ref<void()> body) {
  if (!isOrchestrating())
    return body();
  Block *block = e.b.getInsertionBlock();
  Operation *before = block->empty() ? nullptr : &block->back();
  int outer = std::exchange(hostDepth_, scopeDepth_);
  body();
  hostDepth_ = outer;
  llvm::SmallMapVector<Value, bool, 4> touched;
  llvm::DenseSet<Block *> made;
  llvm::DenseSet<Operation *> emitted;
  auto isFromOutside = [&](Value root) {
    return root.getDefiningOp() ? !emitted.count(root.getDefiningOp())
                                : !made.count(root.getParentBlock());
  };
  auto visit = [&](Operation *op) {
    emitted.insert(op);
    // What a branch hands on is touched under another name.
    bool handsOn = isa<cf::BranchOp, cf::CondBranchOp>(op);
    if ((isAddressComputation(op) && !handsOn) || op->hasAttr("ptl.task"))
      return;
    bool onlyReads = isa<LLVM::LoadOp, LLVM::MaskedLoadOp, LLVM::masked_gather>(op);
    for (Value operand : op->getOperands()) {
      if (!isPointer(operand.getType()))
        continue;
      llvm::SetVector<Value> roots;
      bool onStack = false;
      rootsOf(operand, roots, onStack);
      for (Value root : roots)
        if (isFromOutside(root))
          touched[root] |= !onlyReads;
    }
  };
  Region::iterator last(e.b.getInsertionBlock());
  for (Region::iterator at(block);; ++at) {
    if (&*at != block)
      made.insert(&*at);
    for (auto op = &*at == block && before ? std::next(Block::iterator(before)) : at->begin();
         op != at->end(); ++op)
      visit(&*op);
    if (at == last)
      break;
  }
  if (touched.empty())
    return;
  OpBuilder::InsertionGuard guard(e.b);
  if (before)
    e.b.setInsertionPointAfter(before);
  else
    e.b.setInsertionPointToStart(block);
  for (auto [root, isWritten] : touched)
    emitAwait(root, isWritten, nullptr);
}

void Lowering::lowerHostOp(Operation *op) {
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, ir::ParallelOp>(op))
    return lowerOp(op);
  auto load = dyn_cast<ir::LoadOp>(op);
  if (load && isScalar(load.getResult()) && !load.getOutside()) {
    llvm::SetVector<Value> roots;
    bool onStack = false;
    rootsOf(viewOf(load.getRef())->data, roots, onStack);
    RegionBounds box = TaskRegions::ofLoad(*this, load);
    for (Value root : roots)
      emitAwait(root, false, refs_.count(root) ? &box : nullptr);
    return lowerOp(op);
  }
  if (isa<ir::PrintOp>(op))
    emitAwait(context, true, nullptr);
  asHost([&] { lowerOp(op); });
}

// --- tasks --------------------------------------------------------------------------------------

static bool prints(func::FuncOp body) {
  auto result = body.walk([](func::CallOp call) {
    return call.getCallee() == "ptl_rt_print" ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

void Lowering::submitTask(ir::ParallelOp grid, func::FuncOp body, Value count,
                          const Captured &captured) {
  struct Touched {
    bool isWritten = false;
  };
  llvm::SmallMapVector<Value, Touched, 8> touched;
  bool usesStack = false;
  for (auto [outside, inside] : captured.values) {
    if (!isPointer(outside.getType()))
      continue;
    llvm::SetVector<Value> roots;
    rootsOf(outside, roots, usesStack);
    for (Value root : roots)
      touched[root].isWritten |= isWrittenThrough(inside);
  }
  TaskRegions regions(*this, grid);
  int64_t position = 0;
  int32_t accesses = 0;
  auto add = [&](Value root, bool isWritten, const RegionBounds *box) {
    position = storeAccess(position, root, isWritten, box);
    ++accesses;
  };
  for (auto &[root, use] : touched) {
    Value ref = refs_.lookup(root);
    auto boxes = ref ? regions.of(ref) : std::nullopt;
    int64_t room = SubmissionWords - position - 3 * static_cast<int64_t>(touched.size() + 1);
    bool fits = boxes && static_cast<int64_t>(boxes->size()) *
                                 (3 + 3 * static_cast<int64_t>(boxes->front().axes.size())) <
                             room;
    if (!fits) {
      add(root, use.isWritten, nullptr);
      continue;
    }
    for (const RegionBounds &box : *boxes)
      add(root, box.isWritten, &box);
  }
  if (prints(body))
    add(context, true, nullptr);
  Type pointer = pointerType(e.b.getContext());
  Value address = e.b.create<LLVM::AddressOfOp>(e.loc, pointer, body.getName());
  e.call("ptl_rt_submit", {},
         {context, address, count, captured.cells, e.i64(captured.bytes), taskWords(),
          e.i32(accesses)});
  if (usesStack)
    for (auto &[root, use] : touched)
      emitAwait(root, true, nullptr);
}

// --- lifetimes
// ------------------------------------------------------------------------------------

/// The last operation of the block that may read or write what an allocation holds: users, and
/// users of what is computed from it, since values are computed where they are used. The terminator
/// if it leaves the block.
static Operation *lastUse(ir::AllocOp alloc) {
  Block *block = alloc->getBlock();
  Operation *last = alloc;
  SmallVector<Value> work = {alloc.getResult()};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      if (!here)
        return block->getTerminator();
      if (last->isBeforeInBlock(here))
        last = here;
      Operation *carrier = user->hasTrait<OpTrait::IsTerminator>() ? user->getParentOp() : user;
      for (Value result : carrier->getResults())
        if (isa<ir::ArrayType>(result.getType()))
          work.push_back(result);
      for (Region &region : user->getRegions())
        for (BlockArgument argument : region.getArguments())
          if (isa<ir::ArrayType>(argument.getType()))
            work.push_back(argument);
    }
  }
  return last;
}

void Lowering::lowerProgramBlock(Block &block) {
  llvm::DenseMap<Operation *, SmallVector<ir::AllocOp, 2>> dying;
  for (auto alloc : block.getOps<ir::AllocOp>())
    dying[lastUse(alloc)].push_back(alloc);
  for (Operation &op : block.without_terminator()) {
    e.loc = op.getLoc();
    lowerHostOp(&op);
    for (ir::AllocOp alloc : dying.lookup(&op)) {
      Value data = viewOf(alloc.getResult())->data;
      llvm::erase(owned_, data);
      e.call("ptl_rt_release", {}, {context, data});
    }
  }
}

void Lowering::releaseOwned(size_t from) {
  for (Value data : ArrayRef<Value>(owned_).drop_front(from))
    e.call("ptl_rt_release", {}, {context, data});
  owned_.truncate(from);
}

// --- the program
// ------------------------------------------------------------------------------------

/// The entry hands its arguments to the runtime, which calls the program's body.
void Lowering::emitProgramEntry(func::FuncOp body, StringRef name) {
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToEnd(target.getBody());
  Type pointer = pointerType(e.b.getContext()), i32 = e.b.getI32Type();
  auto type = e.b.getFunctionType({pointer, pointer, pointer, pointer}, i32);
  auto entry = e.b.create<func::FuncOp>(e.loc, name, type);
  Block *block = entry.addEntryBlock();
  e.b.setInsertionPointToStart(block);
  Value address = e.b.create<LLVM::AddressOfOp>(e.loc, pointer, body.getName());
  Value status = e.call("ptl_rt_program", i32,
                        {block->getArgument(0), address, block->getArgument(1),
                         block->getArgument(2), block->getArgument(3)});
  e.b.create<func::ReturnOp>(e.loc, status);
}

} // namespace ptl::cpu

// Programs: their grids become tasks that the runtime executes as soon as what they read is there;
// code between the grids runs at once, after the tasks that touch the same memory.
#include "codegen/cpu/task_regions.h"

#include "runtime/abi/kernel_abi.h"
#include "llvm/ADT/MapVector.h"

#include <cstddef>

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
    auto word = [&](OpFoldResult number, int64_t unknown) {
      storeWord(e, words, position++, isKnown ? EmittedPositions::valueOf(number) : e.i64(unknown));
    };
    word(axis.start, 0);
    word(axis.count, INT64_MAX / 4);
    word(axis.step, 1);
  }
  return position;
}

void Lowering::emitAwait(Value root, bool isWritten, const RegionBounds *box) {
  isStatic_ = false;
  storeAccess(0, root, isWritten, box);
  e.call("ptl_rt_await", {}, {context, taskWords()});
}

static bool touchesMemory(Operation *op) {
  return isa<LLVM::LoadOp, LLVM::StoreOp, LLVM::MaskedLoadOp, LLVM::MaskedStoreOp,
             LLVM::masked_gather, LLVM::masked_scatter, LLVM::AtomicCmpXchgOp>(op);
}

static bool onlyReads(Operation *op) {
  return isa<LLVM::LoadOp, LLVM::MaskedLoadOp, LLVM::masked_gather>(op);
}

/// The operations emitted since `before`, which stands in `block`, up to the end of `last`.
static void forEmitted(Block *block, Operation *before, Block *last,
                       llvm::function_ref<void(Operation *)> visit) {
  for (Region::iterator at(block);; ++at) {
    auto op = &*at == block && before ? std::next(Block::iterator(before)) : at->begin();
    while (op != at->end())
      visit(&*op++);
    if (&*at == last)
      return;
  }
}

/// Emits what `body` does as code of the program itself: in front of it, it waits for the tasks
/// that conflict with what it touches. With `inTasks` what computes arrays becomes tasks.
void Lowering::asHost(llvm::function_ref<void()> body, bool inTasks) {
  if (!isOrchestrating())
    return body();
  Block *block = e.b.getInsertionBlock();
  Operation *before = block->empty() ? nullptr : &block->back();
  int outerDepth = std::exchange(hostDepth_, inTasks ? scopeDepth_ : -1);
  int outerAllocations = std::exchange(allocationDepth_, scopeDepth_);
  unsigned tasks = submissions_;
  body();
  hostDepth_ = outerDepth;
  allocationDepth_ = outerAllocations;
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
    // What a branch hands on is touched under another name.
    bool handsOn = isa<cf::BranchOp, cf::CondBranchOp>(op);
    if (op->hasAttr("ptl.task") || !(handsOn || touchesMemory(op) || isa<func::CallOp>(op)))
      return;
    for (Value operand : op->getOperands()) {
      if (!isPointer(operand.getType()))
        continue;
      llvm::SetVector<Value> roots;
      bool onStack = false;
      rootsOf(operand, roots, onStack);
      // Even of what never changes a static program reads nothing.
      isStatic_ &= onStack || !touchesMemory(op);
      for (Value root : roots)
        if (isFromOutside(root))
          touched[root] |= !onlyReads(op);
        else if (submissions_ != tasks && touchesMemory(op))
          after.push_back({op, root});
    }
  });
  OpBuilder::InsertionGuard guard(e.b);
  for (auto [op, root] : after) {
    e.b.setInsertionPoint(op);
    emitAwait(root, !onlyReads(op), nullptr);
  }
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
    EmittedPositions positions(*this);
    RegionBounds box = ir::GridRegions::ofLoad(positions, load);
    for (Value root : roots)
      emitAwait(root, false, refs_.count(root) ? &box : nullptr);
    return lowerOp(op);
  }
  if (isa<ir::PrintOp>(op))
    emitAwait(context, true, nullptr);
  // Scalars are computed at once; arrays become tasks.
  bool inTasks = isa<ir::StoreOp>(op) ||
                 (op->getNumResults() != 0 && llvm::all_of(op->getResults(), [](Value result) {
                    return isa<ir::ArrayType>(result.getType());
                  }));
  asHost([&] { lowerOp(op); }, inTasks);
}

// --- tasks --------------------------------------------------------------------------------------

static bool prints(func::FuncOp body) {
  auto result = body.walk([](func::CallOp call) {
    return call.getCallee() == "ptl_rt_print" ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

void Lowering::submitTask(Operation *op, func::FuncOp body, Value count, const Captured &captured,
                          RegionsOf regionsOf) {
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
  int64_t position = 0;
  int32_t accesses = 0;
  auto add = [&](Value root, bool isWritten, const RegionBounds *box) {
    position = storeAccess(position, root, isWritten, box);
    ++accesses;
  };
  for (auto &[root, use] : touched) {
    Value ref = refs_.lookup(root);
    auto boxes = ref ? regionsOf(ref) : std::nullopt;
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
  if (prints(body)) {
    add(context, true, nullptr);
    // When it fails, what was printed before is there.
    isStatic_ = false;
  }
  ++submissions_;
  Type pointer = pointerType(e.b.getContext());
  Value address = e.b.create<LLVM::AddressOfOp>(e.loc, pointer, body.getName());
  e.call("ptl_rt_submit", {},
         {context, address, count, captured.cells, e.i64(captured.bytes), taskWords(),
          e.i32(accesses), placeOfTask(op)});
  if (usesStack)
    for (auto &[root, use] : touched)
      emitAwait(root, true, nullptr);
}

void Lowering::asTask(Operation *op, llvm::function_ref<void()> emit) {
  // Code inside of loops of the program's own code stays there.
  if (!isOrchestrating() || scopeDepth_ != hostDepth_ || !op)
    return emit();
  std::vector<std::pair<Value, Values>> own;
  func::FuncOp body = bodyFunction([&](Value, Value) {
    ownViews_ = &own;
    withScratchScope(emit);
    ownViews_ = nullptr;
  });
  for (auto &[key, extents] : llvm::reverse(own)) {
    views_.erase(key);
    extents_[key] = extents;
  }
  Captured captured = captureInto(body);
  auto store = dyn_cast<ir::StoreOp>(op);
  submitTask(op, body, e.i64(1), captured,
             [&](Value ref) -> std::optional<SmallVector<RegionBounds, 4>> {
               if (!store || store.getRef() != ref)
                 return std::nullopt;
               EmittedPositions positions(*this);
               return ir::GridRegions::ofStore(positions, store, ref);
             });
}

// --- lifetimes ----------------------------------------------------------------------------------

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

// --- the program --------------------------------------------------------------------------------

/// The entry hands its arguments to the runtime, which calls the program's body.
void Lowering::emitProgramEntry(func::FuncOp body, StringRef name, int64_t dims, int64_t scalars) {
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToEnd(target.getBody());
  Type pointer = pointerType(e.b.getContext()), i32 = e.b.getI32Type(), i64 = e.b.getI64Type();
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
  set(offsetof(PtlProgram, is_static), e.i32(isStatic_));
  Value status = e.call("ptl_rt_program", i32,
                        {block->getArgument(0), program, block->getArgument(1),
                         block->getArgument(2), block->getArgument(3)});
  e.b.create<func::ReturnOp>(e.loc, status);
}

} // namespace ptl::cpu

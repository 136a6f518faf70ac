// Tasks of a program: what they touch, and how they are submitted.
#include "codegen/cpu/lower_tasks.h"
#include "codegen/cpu/storage.h"
#include "codegen/cpu/task_accesses.h"
#include "codegen/cpu/task_place.h"
#include "codegen/cpu/task_regions.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ptl::cpu {

static bool prints(func::FuncOp body) {
  auto result = body.walk([](func::CallOp call) {
    return call.getCallee() == "ptl_rt_print" ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

void submitTask(Lowering &l, Operation *op, func::FuncOp body, Value count,
                const Captured &captured, RegionsOf regionsOf) {
  const Emit &e = l.e;
  struct Touched {
    bool isWritten = false;
  };
  // Several captured addresses may lie in one array, so accesses are merged by the memory they
  // belong to.
  llvm::SmallMapVector<Value, Touched, 8> touched;
  bool usesStack = false;
  for (auto [outside, inside] : captured.values) {
    if (!isPointer(outside.getType()))
      continue;
    llvm::SetVector<Value> roots;
    rootsOf(l, outside, roots, usesStack);
    for (Value root : roots)
      touched[root].isWritten |= isWrittenThrough(inside);
  }
  int64_t position = 0;
  int32_t accesses = 0;
  auto add = [&](Value root, bool isWritten, const RegionBounds *box) {
    position = storeAccess(l, position, root, isWritten, box);
    ++accesses;
  };
  for (auto &[root, use] : touched) {
    Value ref = l.program.refs.lookup(root);
    auto boxes = ref ? regionsOf(ref) : std::nullopt;
    // Every array that is still to come needs room for at least one access as a whole.
    int64_t room = kSubmissionWords - position - 3 * static_cast<int64_t>(touched.size() + 1);
    bool fits = boxes && static_cast<int64_t>(boxes->size()) *
                                 (3 + 3 * static_cast<int64_t>(boxes->front().axes.size())) <
                             room;
    // The whole array is a safe answer: it only orders more tasks than necessary.
    if (!fits) {
      add(root, use.isWritten, nullptr);
      continue;
    }
    for (const RegionBounds &box : *boxes)
      add(root, box.isWritten, &box);
  }
  if (prints(body)) {
    // The context stands for the output, so that prints keep their order.
    add(l.context, true, nullptr);
    // A program that prints is no static one: where it fails, all that comes before has to be printed and nothing behind it.
    l.program.isStatic = false;
  }
  ++l.program.submissions;
  Type pointer = pointerType(e.b.getContext());
  Value address = e.b.create<LLVM::AddressOfOp>(e.loc, pointer, body.getName());
  e.call("ptl_rt_submit", {},
         {l.context, address, count, captured.cells, e.i64(captured.bytes), taskWords(l),
          e.i32(accesses), placeOfTask(l, op)});
  if (usesStack)
    // Memory on the stack is gone when the function returns, so the task must be over before.
    for (auto &[root, use] : touched)
      emitAwait(l, root, true, nullptr);
}

void asTask(Lowering &l, Operation *op, llvm::function_ref<void()> emit) {
  // Code inside of loops of the program's own code stays there.
  if (!l.isOrchestrating() || l.scopeDepth != l.program.hostDepth || !op)
    return emit();
  std::vector<std::pair<Value, Values>> own;
  func::FuncOp body = bodyFunction(l, [&](Value, Value) {
    l.program.ownViews = &own;
    withScratchScope(l, emit);
    l.program.ownViews = nullptr;
  });
  // Views that were made in the task are values of its function, which the program cannot use.
  for (auto &[key, extents] : llvm::reverse(own)) {
    l.views.erase(key);
    l.extents[key] = extents;
  }
  Captured captured = captureInto(l, body);
  auto store = dyn_cast<ir::StoreOp>(op);
  submitTask(l, op, body, l.e.i64(1), captured,
             [&](Value ref) -> std::optional<SmallVector<RegionBounds, 4>> {
               if (!store || store.getRef() != ref)
                 return std::nullopt;
               EmittedPositions positions(l);
               return ir::GridRegions::ofStore(positions, store, ref);
             });
}

} // namespace ptl::cpu

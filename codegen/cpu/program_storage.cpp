// Finds in the code of a program which arrays it allocates and which of them are live at once.
#include "codegen/cpu/program_storage.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <deque>
#include <set>

using namespace mlir;

namespace ptl::cpu {

static bool calls(Operation &op, llvm::StringRef name) {
  auto call = dyn_cast<func::CallOp>(op);
  return call && call.getCallee() == name;
}

void recordBytes(Value address, Type array) {
  Operation *call = address.getDefiningOp();
  // Only memory of a program counts, and its size is recorded once.
  if (!call || !calls(*call, "ptl_rt_alloc") || attrs::storage.isOn(call) ||
      !ir::isArrayLike(array))
    return;
  OpBuilder b(array.getContext());
  ir::ArrayBytes bytes = ir::bytesOf(array);
  SmallVector<Attribute> factors = {b.getI64IntegerAttr(bytes.factor)};
  for (const std::string &length : bytes.lengths)
    factors.push_back(b.getStringAttr(length));
  attrs::storage.set(call, factors);
}

namespace {

/// Calls of the runtime in the code of a program, which is blocks with branches.
class AllocationScan {
public:
  explicit AllocationScan(func::FuncOp program);
  std::optional<ir::ProgramStorage> storage();

private:
  using Live = std::set<unsigned>;
  Live after(mlir::Block &block, Live live, llvm::function_ref<void(const Live &)> onLive);
  void number(func::CallOp call);
  static bool isInLoop(mlir::Block &block);

  func::FuncOp program_;
  llvm::DenseMap<Value, std::vector<unsigned>> numbers_; ///< by address
  std::vector<ir::ArrayBytes> arrays_;
  bool inLoops_ = false, isKnown_ = true;
};

} // namespace

bool AllocationScan::isInLoop(mlir::Block &block) {
  llvm::DenseSet<mlir::Block *> seen;
  llvm::SmallVector<mlir::Block *> work(block.getSuccessors());
  while (!work.empty()) {
    mlir::Block *next = work.pop_back_val();
    if (next == &block)
      return true;
    if (seen.insert(next).second)
      // A block is in a loop if it can reach itself.
      work.append(next->succ_begin(), next->succ_end());
  }
  return false;
}

void AllocationScan::number(func::CallOp call) {
  auto factors = attrs::storage.of(call);
  // Memory of an unknown size makes the whole answer unknown.
  if (!factors) {
    isKnown_ = false;
    return;
  }
  ir::ArrayBytes bytes{cast<IntegerAttr>(factors[0]).getInt(), {}};
  for (Attribute length : factors.getValue().drop_front())
    bytes.lengths.push_back(cast<StringAttr>(length).str());
  // A value that a branch passes on may exist twice: from the round before, and from this one.
  Value address = call.getResult(0);
  bool isHandedOn = llvm::any_of(address.getUsers(), [](Operation *user) {
    return isa<cf::BranchOp, cf::CondBranchOp>(user);
  });
  for (int i = 0; i <= isHandedOn; ++i) {
    numbers_[address].push_back(static_cast<unsigned>(arrays_.size()));
    arrays_.push_back(bytes);
  }
  inLoops_ |= isInLoop(*call->getBlock());
}

AllocationScan::AllocationScan(func::FuncOp program) : program_(program) {
  program.walk([&](func::CallOp call) {
    if (calls(*call, "ptl_rt_alloc"))
      number(call);
  });
}

AllocationScan::Live AllocationScan::after(mlir::Block &block, Live live,
                                           llvm::function_ref<void(const Live &)> onLive) {
  for (Operation &op : block) {
    if (calls(op, "ptl_rt_alloc")) {
      const std::vector<unsigned> &made = numbers_[op.getResult(0)];
      live.insert(made.begin(), made.end());
      onLive(live);
    } else if (calls(op, "ptl_rt_release")) {
      // A release by the name that a branch has given is not matched, so the array counts as live
      // for longer.
      for (unsigned number : numbers_.lookup(op.getOperand(1)))
        live.erase(number);
    }
  }
  return live;
}

std::optional<ir::ProgramStorage> AllocationScan::storage() {
  if (!isKnown_)
    return std::nullopt;
  llvm::DenseMap<mlir::Block *, Live> before;
  std::deque<mlir::Block *> work = {&program_.getBody().front()};
  llvm::DenseSet<mlir::Block *> seen;
  // Live sets only grow, so this ends; it takes the union over all ways to a block.
  while (!work.empty()) {
    mlir::Block *block = work.front();
    work.pop_front();
    Live live = after(*block, before.lookup(block), [](const Live &) {});
    for (mlir::Block *next : block->getSuccessors()) {
      Live &known = before[next];
      size_t count = known.size();
      known.insert(live.begin(), live.end());
      if (known.size() != count || seen.insert(next).second)
        work.push_back(next);
    }
  }
  std::vector<ir::LiveSet> sets;
  for (mlir::Block &block : program_.getBody())
    // The sets are complete only now, so the peaks are read in a second walk.
    after(block, before.lookup(&block),
          [&](const Live &live) { ir::keepLarger(sets, ir::LiveSet(live.begin(), live.end())); });
  return ir::storageOf(arrays_, sets, {}, inLoops_);
}

std::optional<ir::ProgramStorage> storageOf(ModuleOp blocks) {
  for (auto function : blocks.getOps<func::FuncOp>())
    if (attrs::program.isOn(function))
      return AllocationScan(function).storage();
  return ir::ProgramStorage();
}

} // namespace ptl::cpu

// Tensor level to tile level for chips: groups of operations become grids over tiles of two axes,
// and long axes are gone along in chunks.
#include "passes/passes.h"
#include "passes/transform/groups/group_schedule.h"

#include "passes/analysis/lengths.h"
#include "passes/transform/expand/expand_tensors.h"
#include "passes/transform/expand/whole_values.h"
#include "passes/transform/forward_storage.h"
#include "passes/transform/groups/chunk_emit.h"
#include "passes/transform/groups/root_storage.h"
#include "passes/transform/groups/schedule_effects.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

#define GEN_PASS_DEF_CHUNK
#include "passes/passes.h.inc"

namespace {

/// Finds the groups of one block and replaces each by its grid.
class BlockChunker {
public:
  /// `sizesOf`: the sizes of the group with that number.
  using SizesOf = llvm::function_ref<ChunkSizes(unsigned number)>;
  BlockChunker(Block &block, SizesOf sizesOf, unsigned &number)
      : block_(block), sizesOf_(sizesOf), number_(number) {}
  void run();

private:
  bool isCandidate(Operation &op) const { return isTiled(&op) || isView(&op) || isFill(&op); }
  bool mustBeStored(Operation &op) const;
  bool collectUsers(Operation &op, ChunkGroup *&group) const;
  void emitGroups();

  Block &block_;
  SizesOf sizesOf_;
  unsigned &number_;
  std::vector<std::unique_ptr<ChunkGroup>> groups_; ///< in reverse program order
  llvm::DenseMap<Operation *, ChunkGroup *> groupOf_;
};

/// Views and constants are looked through, unless somebody wants them in memory.
bool BlockChunker::mustBeStored(Operation &op) const {
  if (isTiled(&op))
    return true;
  return llvm::any_of(op.getUsers(), [](Operation *user) {
    if (isa<DimOp>(user))
      return false;
    // Grids that are there already read what is in memory.
    bool looksThrough = (isTiled(user) || isView(user)) && !user->getParentOfType<ParallelOp>();
    return !looksThrough;
  });
}

/// The group of all users, those of views of the value included; false if there is none.
bool BlockChunker::collectUsers(Operation &op, ChunkGroup *&group) const {
  for (Operation *user : op.getUsers()) {
    ChunkGroup *own = groupOf_.lookup(user);
    if (!own && !isView(user))
      return false;
    if (own && group && own != group)
      return false;
    if (own)
      group = own;
    if (isView(user) && !collectUsers(*user, group))
      return false;
  }
  return true;
}

/// Whether two groups can share a grid: the same tiles along the same lengths, or the same
/// positions one by one.
static bool sameGrid(const ChunkGroup &a, const ChunkGroup &b) {
  AxisMap own = a.mapOf(a.root()), other = b.mapOf(b.root());
  if (own.size() != other.size() || a.hasProduct() != b.hasProduct())
    return false;
  for (auto [left, right] : llvm::zip(own, other)) {
    if ((left == kWhole) != (right == kWhole))
      return false;
    if (left != kWhole &&
        (a.isParallel(left) != b.isParallel(right) || a.isBatch(left) != b.isBatch(right) ||
         !sameLength(a.axis(left).extent, b.axis(right).extent)))
      return false;
  }
  return true;
}

void BlockChunker::emitGroups() {
  auto mayFuse = [](const ChunkGroup &a, const ChunkGroup &b) {
    return b.isFeasible() && sameGrid(a, b);
  };
  llvm::DenseSet<ChunkGroup *> done;
  for (auto &group : llvm::reverse(groups_)) {
    if (!group->isFeasible() || done.count(group.get()))
      continue;
    std::vector<ChunkGroup *> fused = fusedWith(group.get(), groups_, block_, mayFuse);
    done.insert(fused.begin(), fused.end());
    ChunkEmitter(fused, sizesOf_(number_), number_).emit();
    ++number_;
  }
}

void BlockChunker::run() {
  for (Operation &op : llvm::reverse(block_)) {
    if (!isCandidate(op) || op.use_empty() || !mustBeStored(op))
      continue;
    ChunkGroup *group = nullptr;
    if (isTiled(&op) && collectUsers(op, group) && group && !keptApart(&op, group->root()) &&
        group->tryJoin(&op)) {
      groupOf_[&op] = group;
      continue;
    }
    groups_.push_back(std::make_unique<ChunkGroup>(&op));
    groupOf_[&op] = groups_.back().get();
  }
  emitGroups();
  // What only the grids' copies replaced is dead now.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block_)))
    if (isCandidate(op) && op.use_empty())
      op.erase();
}

/// Lengths are asked of what made them, so that no array stays for its length alone.
void forwardLengths(func::FuncOp function) {
  llvm::SmallVector<DimOp> dims;
  function.walk([&](DimOp dim) { dims.push_back(dim); });
  for (DimOp dim : dims) {
    if (!dim.getSource().getDefiningOp() || isa<RefType>(dim.getSource().getType()))
      continue;
    OpBuilder builder(dim);
    Value length = lengthOf(builder, dim.getSource(), static_cast<int64_t>(dim.getAxis()));
    if (auto other = length.getDefiningOp<DimOp>(); other && other.getSource() == dim.getSource()) {
      if (other != dim)
        other.erase();
      continue;
    }
    dim.replaceAllUsesWith(length);
    dim.erase();
  }
}

/// A box without elements, as an empty part of a `concat`, has no tiles.
void dropEmptyStores(func::FuncOp function) {
  llvm::SmallVector<StoreOp> empty;
  function.walk([&](StoreOp store) {
    bool isEmpty =
        llvm::any_of(store.getLengths(), [](Value v) { return matchPattern(v, m_Zero()); });
    if (isEmpty && !store->getParentOfType<ParallelOp>())
      empty.push_back(store);
  });
  for (StoreOp store : empty)
    store.erase();
}

struct ChunkPass : impl::ChunkBase<ChunkPass> {
  using ChunkBase::ChunkBase;

  void runOnOperation() override {
    ScheduleEffects effects(getOperation());
    serialiseAtomics(getOperation());
    forwardStorage(getOperation());
    storeCarried(getOperation());
    forwardStorage(getOperation()); // of what loops carry
    auto halvingsOf = [&](size_t group) { return group < halvings.size() ? halvings[group] : 0; };
    ChunkSizes sizes{productM, productN, tileBytes};
    expandTensors(getOperation(), sizes.halved(halvingsOf(0)).bytes);
    forwardStorage(getOperation()); // of what boxes are replaced in
    dropEmptyStores(getOperation());
    bringIntoGrids(getOperation());
    forwardLengths(getOperation());
    llvm::SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) {
      if (!block->getParentOp()->getParentOfType<ParallelOp>() &&
          !isa<ParallelOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    auto sizesOf = [&](unsigned number) { return sizes.halved(halvingsOf(number + 1)); };
    unsigned number = 0;
    for (Block *block : blocks)
      BlockChunker(*block, sizesOf, number).run();
    forwardLengths(getOperation());
    effects.check();
  }
};

} // namespace
} // namespace ptl::ir

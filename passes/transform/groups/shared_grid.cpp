#include "passes/transform/groups/shared_grid.h"

#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/groups/root_storage.h"

using namespace mlir;

namespace ptl::ir {

void sortByRoots(llvm::MutableArrayRef<OpGroup *> groups) {
  llvm::sort(groups, [](OpGroup *a, OpGroup *b) { return a->root()->isBeforeInBlock(b->root()); });
}

bool haveSameTiles(const OpGroup &a, const OpGroup &b) {
  bool areMatrices = a.limits().tilesAreMatrices;
  AxisMap own = a.mapOf(a.root()), other = b.mapOf(b.root());
  // A grid of products and one of other tiles have different sizes.
  if (areMatrices && (own.size() != other.size() || a.hasProduct() != b.hasProduct()))
    return false;
  size_t rank = std::max(own.size(), other.size());
  // Groups of different rank compare with whole axes added.
  own.resize(rank, kWhole);
  other.resize(rank, kWhole);
  return llvm::all_of(llvm::zip(own, other), [&](auto pair) {
    auto [left, right] = pair;
    if (left == kWhole || right == kWhole)
      return left == right;
    return a.isParallel(left) == b.isParallel(right) &&
           (!areMatrices || a.isBatch(left) == b.isBatch(right)) &&
           sameLength(a.axis(left).extent, b.axis(right).extent);
  });
}

bool maySettleTogether(llvm::ArrayRef<OpGroup *> groups) {
  llvm::SmallVector<OpGroup *> ordered(groups);
  sortByRoots(ordered);
  Operation *last = ordered.back()->root();
  auto takes = [&](Operation *user) {
    return llvm::any_of(groups, [&](OpGroup *group) { return group->contains(user); });
  };
  llvm::SmallVector<Value> results;
  for (OpGroup *group : ordered) {
    results.push_back(group->root()->getResult(0));
    for (Operation *member : group->stored())
      results.push_back(member->getResult(0));
  }
  llvm::sort(results, [](Value a, Value b) {
    return a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
  });
  llvm::SmallVector<StoreOp> stores;
  for (Value result : results)
    if (StoreOp store = storeToReadBack(result, takes))
      stores.push_back(store);
  // They go behind the last root in the order of the roots, which has to be that of stores to one array already.
  for (size_t later = 0; later < stores.size(); ++later)
    for (size_t earlier = 0; earlier < later; ++earlier)
      if (stores[earlier].getRef() == stores[later].getRef() &&
          stores[later]->isBeforeInBlock(stores[earlier]))
        return false;
  return llvm::all_of(results, [&](Value result) {
    StoreOp store = storeToReadBack(result, takes);
    // Something that needs a stored value in the middle would keep the grids from being one.
    bool isNeeded = llvm::any_of(result.getUsers(), [&](Operation *user) {
      Operation *inBlock = last->getBlock()->findAncestorOpInBlock(*user);
      return !takes(user) && user != store && inBlock && inBlock->isBeforeInBlock(last);
    });
    return !isNeeded && mayStoreBehind(result, last, takes, stores);
  });
}

/// Whether results are as large, or, on a CPU, one has a single position where the other one has whole rows: what is known of rows is computed with
/// what is made of them.
static bool haveAlikeRoots(const OpGroup &a, const OpGroup &b) {
  llvm::ArrayRef<Extent> own = extentsOf(a.root()->getResult(0).getType()),
                         other = extentsOf(b.root()->getResult(0).getType());
  if (own == other || a.limits().tilesAreMatrices)
    return own == other;
  // `haveSameTiles` compares the axes that are not whole.
  return llvm::all_of(llvm::zip(own, other), [](auto pair) {
    auto [left, right] = pair;
    return left.isOne() || right.isOne() || sameLength(left, right);
  });
}

bool mayShareGrid(llvm::ArrayRef<OpGroup *> groups) {
  const OpGroup &first = *groups.front();
  return llvm::all_of(groups,
                      [&](const OpGroup *group) {
                        Operation *root = group->root();
                        return group->isFeasible() && root->getNumResults() == 1 &&
                               !group->hasProduct() && group->stored().empty() &&
                               root->getBlock() == first.root()->getBlock() &&
                               !keptApart(root, first.root()) && haveAlikeRoots(first, *group) &&
                               llvm::none_of(group->members(), isInSchedule) &&
                               haveSameTiles(first, *group);
                      }) &&
         maySettleTogether(groups);
}

} // namespace ptl::ir

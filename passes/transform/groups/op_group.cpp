#include "passes/transform/groups/op_group.h"

#include "passes/transform/groups/repeated_work.h"

using namespace mlir;

namespace ptl::ir {

OpGroup::OpGroup(Operation *root, const GroupLimits &limits, const AxisMap &like)
    : root_(root), limits_(&limits) {
  // Axes of the root are the first axes of the group's space.
  Value result = root->getResult(0);
  AxisMap map;
  for (auto [axis, extent] : llvm::enumerate(extentsOf(result.getType())))
    map.push_back(extent.isOne() ? kWhole : newAxis(result, static_cast<int64_t>(axis)));
  if (limits.isMember(root)) {
    add(root, map);
  } else { // a view or constants that are stored as they are
    members_[root] = map;
    use(result, map);
  }
  // The root's own uses are no join that could be taken back.
  newUses_.clear();
  if (!ownsAllAxes())
    for (auto [own, other] : llvm::zip(map, like))
      if (other == kWhole)
        keepWhole(own);
}

bool OpGroup::isFeasible() const {
  return contains(root_) && !(limits_->needsIndependentTiles && parallel().empty());
}

// ---- the space ----------------------------------------------------------------------------------

int64_t OpGroup::newAxis(Value like, int64_t axis) {
  axes_.push_back({extentsOf(like.getType())[static_cast<size_t>(axis)], like, axis});
  parents_.push_back(static_cast<int64_t>(parents_.size()));
  return parents_.back();
}

int64_t OpGroup::find(int64_t id) const {
  // This is a union-find structure without path compression, so that a copy of it restores an
  // earlier state.
  while (id >= 0 && parents_[static_cast<size_t>(id)] != id)
    id = parents_[static_cast<size_t>(id)];
  return id;
}

int64_t OpGroup::resolved(int64_t id) const {
  id = find(id);
  // In the space of the root, a whole axis is no axis of the tile.
  return id != kWhole && axis(id).isWhole && !ownsAllAxes() ? kWhole : id;
}

AxisMap OpGroup::resolved(const AxisMap &map) const {
  AxisMap ids = map;
  for (int64_t &id : ids)
    id = resolved(id);
  return ids;
}

void OpGroup::keepWhole(int64_t id) {
  if (id != kWhole)
    axes_[static_cast<size_t>(find(id))].isWhole = true;
}

/// The earlier axis stands for both.
bool OpGroup::unify(int64_t a, int64_t b) {
  a = find(a);
  b = find(b);
  if (a == b)
    return true;
  if (a == kWhole || b == kWhole)
    return false;
  // The smaller number wins, so the root's axes keep their identity.
  if (a > b)
    std::swap(a, b);
  SpaceAxis &kept = axes_[static_cast<size_t>(a)];
  const SpaceAxis &gone = axes_[static_cast<size_t>(b)];
  // Two different constants cannot be one axis.
  if (kept.extent.isConstant() && gone.extent.isConstant() && !sameLength(kept.extent, gone.extent))
    return false;
  // A known bound is worth more than none, so the axis takes over the description that has one.
  if (kept.extent.capacity == Extent::kUnknown && gone.extent.capacity != Extent::kUnknown) {
    kept.extent = gone.extent;
    kept.like = gone.like;
    kept.axis = gone.axis;
  }
  kept.isReduced |= gone.isReduced;
  kept.isWhole |= gone.isWhole;
  // What holds of one axis holds of the axis that stands for both.
  parents_[static_cast<size_t>(b)] = a;
  return true;
}

bool OpGroup::unify(const AxisMap &a, const AxisMap &b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [&](auto pair) {
           return unify(std::get<0>(pair), std::get<1>(pair));
         });
}

// ---- members ------------------------------------------------------------------------------------

/// A scan has all of its axis, or what comes before a chunk, folded.
OpGroup::Maps OpGroup::scanMaps(Operation *scan, const AxisMap &map) {
  if (int64_t along = find(map[axisAlong(scan)]); along != kWhole) {
    SpaceAxis &own = axes_[static_cast<size_t>(along)];
    // A cumulative scan can go on chunk by chunk; a sort needs its axis whole.
    (ownsAllAxes() && isCumulative(scan) ? own.isReduced : own.isWhole) = true;
  }
  Maps maps;
  for (Value operand : scan->getOperands())
    maps.push_back(isa<ArrayType>(operand.getType()) ? map : AxisMap());
  return maps;
}

void OpGroup::addFoldedAxes(Operation *reduction, AxisMap &operand) {
  Value value = reduction->getOperand(0);
  for (int64_t axis : foldedAxesOf(reduction)) {
    // An axis of extent 1 needs no loop.
    if (extentsOf(value.getType())[static_cast<size_t>(axis)].isOne())
      continue;
    operand[static_cast<size_t>(axis)] = newAxis(value, axis);
    axes_.back().isReduced = true;
  }
}

void OpGroup::addContractedAxis(Operation *product, Maps &operands) {
  AxisMap &a = operands[0], &b = operands[1];
  int64_t last = static_cast<int64_t>(a.size()) - 1;
  if (extentsOf(product->getOperand(0).getType())[static_cast<size_t>(last)].isOne())
    return;
  // The contracted axis is one for both operands: the last of the left one, and of the right one the last but one, or the only one of a
  // vector. It is whole in each tile, since products accumulate inside.
  a[a.size() - 1] = b[b.size() - std::min<size_t>(b.size(), 2)] =
      newAxis(product->getOperand(0), last);
  axes_.back().isWhole = true;
}

std::optional<OpGroup::Maps> OpGroup::operandMapsOf(Operation *op, const AxisMap &map) {
  if (isScan(op) || isa<TopkOp>(op))
    return scanMaps(op, map);
  // What drops axes of extent 1 is computed with what it drops them from, which would be stored otherwise.
  if (auto slice = dyn_cast<SliceOp>(op); slice && (op == root_ || dropsFromTiles(op)))
    if (std::optional<AxisMap> source = axesBeforeDrop(slice, map)) {
      Maps maps(op->getNumOperands());
      maps.front() = *source;
      return maps;
    }
  std::optional<Maps> maps = operandAxes(op, map);
  if (maps && ownsAllAxes() && isReduction(op))
    addFoldedAxes(op, maps->front());
  if (maps && ownsAllAxes() && isProduct(op))
    addContractedAxis(op, *maps);
  return maps;
}

Access OpGroup::accessOf(Value value, const AxisMap &map) const {
  return limits_->looksThroughViews ? originOf(value, map) : accessTo(value, map);
}

void OpGroup::use(Value value, const AxisMap &map) {
  Access access = accessOf(value, map);
  accesses_[access.origin].push_back(access);
  newUses_.push_back(access);
}

bool OpGroup::add(Operation *op, const AxisMap &map) {
  std::optional<Maps> maps = operandMapsOf(op, map);
  if (!maps)
    return false;
  members_[op] = map;
  operands_[op] = *maps;
  if (isProduct(op))
    products_.push_back(op);
  if (isScan(op))
    scans_.push_back(op);
  // Scalars have no axes and need no access.
  for (auto [operand, own] : llvm::zip(op->getOperands(), *maps))
    if (isa<ArrayType>(operand.getType()))
      use(operand, own);
  return true;
}

void OpGroup::takeBack() {
  Operation *op = members_.back().first;
  members_.pop_back();
  operands_.erase(op);
  // Only the last member's accesses are taken back, which `newUses_` remembers.
  for (const Access &access : newUses_) {
    auto uses = accesses_.find(access.origin);
    uses->second.pop_back();
    if (uses->second.empty())
      accesses_.erase(uses);
  }
  // The last join has put the member behind all others in these lists.
  if (isProduct(op))
    products_.pop_back();
  if (isScan(op))
    scans_.pop_back();
  if (!stored_.empty() && stored_.back() == op)
    stored_.pop_back();
  axes_ = axesBefore_;
  parents_ = parentsBefore_;
}

/// Where all of these need a value; nothing if there is no such place.
std::optional<AxisMap> OpGroup::mergedUses(llvm::ArrayRef<Access> uses) {
  AxisMap merged = uses.front().map();
  for (const Access &other : uses.drop_front()) {
    AxisMap map = other.map();
    if (ownsAllAxes()) {
      if (!unify(merged, map))
        return std::nullopt;
      continue;
    }
    for (auto [own, id] : llvm::zip(merged, map)) {
      // Two users need the value along different axes, so a tile has all of both.
      if (resolved(own) == resolved(id))
        continue;
      keepWhole(own);
      keepWhole(id);
      own = kWhole;
    }
  }
  return merged;
}

/// Whether the axes of a value that are axes of the root are those of the root in the same places, counted from the end.
static bool alignWithRoot(const AxisMap &value, const AxisMap &root) {
  for (size_t back = 1; back <= value.size(); ++back)
    if (int64_t id = value[value.size() - back];
        id != kWhole && (back > root.size() || root[root.size() - back] != id))
      return false;
  return true;
}

/// What is computed from the result of a reduction goes along the folded axes once more: these are
/// axes of the group that the result lacks, as far as lengths allow. In the space of the root they
/// are its axes in the same places, counted from the end.
void OpGroup::foldAxes(Operation *member, Operation *reduction) {
  // What is computed from the result has its axes, so that both have the same places.
  if (extentsOf(member->getResult(0).getType()) != extentsOf(reduction->getResult(0).getType()))
    return;
  // In the space of the root, axes of the root that are folded are needed whole.
  if (!ownsAllAxes()) {
    // A root that drops axes has fewer than what it is computed from.
    AxisMap map = isa<SliceOp>(root_) ? operandMap(root_, 0) : mapOf(root_);
    int64_t rank = rankOf(reduction->getOperand(0).getType());
    // Behind what drops or turns axes the places differ, and what would be folded again for other tiles is found unsound.
    if (!alignWithRoot(mapOf(member), map))
      return;
    for (int64_t axis : foldedAxesOf(reduction))
      if (int64_t at = static_cast<int64_t>(map.size()) + axis - rank; at >= 0)
        keepWhole(map[static_cast<size_t>(at)]);
    return;
  }
  // What joins later is folded when it does.
  if (member != reduction)
    return;
  AxisMap map = mapOf(reduction);
  llvm::SmallVector<int64_t> lacking;
  auto isLacking = [&](int64_t id) {
    return !llvm::is_contained(map, id) && !llvm::is_contained(lacking, id);
  };
  llvm::copy_if(parallel(), std::back_inserter(lacking), isLacking);
  // What another reduction folds may be an axis of the same tiles.
  for (const auto &[op, member] : members_)
    if (op != reduction && isReduction(op))
      llvm::copy_if(foldedBy(op), std::back_inserter(lacking), isLacking);
  // Axes are matched from the end, as shapes align.
  for (int64_t id : llvm::reverse(lacking))
    for (int64_t folded : foldedBy(reduction))
      if (!llvm::is_contained(lacking, folded) &&
          sameLength(axis(id).extent, axis(folded).extent) && unify(id, folded))
        break;
}

/// Values from elsewhere that are read alike are read in one loop, if their axes can be one.
void OpGroup::shareWithEarlierUses(const Access &access) {
  for (const Access &earlier : llvm::SmallVector<Access, 2>(accesses_[access.origin])) {
    // A box begins elsewhere or takes every n-th position, so one position along the axis is another element for each of the two.
    if (earlier.isBox || access.isBox)
      continue;
    // Each pair of axes is tried by itself and taken back if the group becomes unsound.
    for (auto [own, other] : llvm::zip(access.axes, earlier.axes)) {
      int64_t a = find(own.id), b = find(other.id);
      if (a == b || a == kWhole || b == kWhole || !sameLength(axis(a).extent, axis(b).extent))
        continue;
      std::vector<SpaceAxis> axes = axes_;
      std::vector<int64_t> parents = parents_;
      if (!unify(a, b) || !isSound()) {
        axes_ = std::move(axes);
        parents_ = std::move(parents);
      }
    }
  }
}

/// Whether some member chooses elements of a value by positions: each tile would compute it whole to
/// read a few of its elements, so it is stored first.
static bool isChosenFrom(const OpGroup &group, Value value) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return group.contains(user) && ((isTaken(user) && use.getOperandNumber() == 0) ||
                                    (isView(user) && isChosenFrom(group, user->getResult(0))));
  });
}

/// Whether somebody behind the root of a group reads a value, too, so that it is stored in any case.
static bool isReadBehind(Value value, Operation *root) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *inBlock = root->getBlock()->findAncestorOpInBlock(*user);
    return inBlock && (isa<StoreOp>(user) || root->isBeforeInBlock(inBlock));
  });
}

/// Whether a value is computed from a product in the group of `root`, in the tensor operations before it.
static bool comesFromProduct(Value value, Operation *root, int &steps) {
  Operation *op = value.getDefiningOp();
  // Far away it would not join the group, and what is stored is no product to the group.
  if (!op || isa<LoadOp>(op) || --steps < 0 || isReadBehind(value, root))
    return false;
  return isProduct(op) || llvm::any_of(op->getOperands(), [&](Value operand) {
           return isa<ArrayType>(operand.getType()) && comesFromProduct(operand, root, steps);
         });
}

/// Whether a reduction may be folded in a group of that root that has a product.
static bool mayFold(Operation *reduction, Operation *root, const GroupLimits &limits) {
  constexpr int kMostSteps = 64;
  int steps = kMostSteps;
  return !limits.foldsOnlyProducts || comesFromProduct(reduction->getOperand(0), root, steps);
}

bool OpGroup::tryJoin(Operation *op) {
  // All conditions that cost nothing come first, before the state is copied.
  auto found = accesses_.find(op->getResult(0));
  if (!isFeasible() || found == accesses_.end() || members_.size() >= limits_->mostMembers ||
      op->getNumResults() != 1 || (isScan(op) && !limits_->joinsScans) ||
      isLoadedByProduct(op->getResult(0)) ||
      (isReduction(op) && hasProduct() && !mayFold(op, root(), *limits_)) ||
      (!isView(op) && isChosenFrom(*this, op->getResult(0))) ||
      llvm::any_of(found->second, [](const Access &a) { return a.isBox; }))
    return false;
  // The copies restore the axes if the join turns out to be impossible.
  axesBefore_ = axes_;
  parentsBefore_ = parents_;
  newUses_.clear();
  // A join must not take away the last parallel axis that the group had.
  bool hadParallel = !parallel().empty();
  std::optional<AxisMap> map = mergedUses(found->second);
  bool isAdded = map && add(op, *map);
  if (isAdded && isReduction(op))
    foldAxes(op, op);
  // An unsound group is undone completely: member, uses and axes.
  if (!isAdded || !isSound() || parallel().empty() == hadParallel ||
      (limits_->storesRepeatedWork && isWorthStoring(*this, op))) {
    if (isAdded) {
      takeBack();
    } else {
      axes_ = axesBefore_;
      parents_ = parentsBefore_;
    }
    return false;
  }
  if (ownsAllAxes())
    for (const Access &access : llvm::SmallVector<Access, 4>(newUses_))
      shareWithEarlierUses(access);
  return true;
}

AxisMap OpGroup::mapOf(Operation *member) const { return resolved(members_.find(member)->second); }

AxisMap OpGroup::operandMap(Operation *member, unsigned operand) const {
  return resolved(operands_.find(member)->second[operand]);
}

llvm::SmallVector<int64_t> OpGroup::foldedBy(Operation *reduction) const {
  llvm::SmallVector<int64_t> ids;
  AxisMap map = operandMap(reduction, 0);
  for (int64_t axis : foldedAxesOf(reduction))
    if (int64_t id = map[static_cast<size_t>(axis)]; id != kWhole)
      ids.push_back(id);
  return ids;
}

llvm::SmallVector<Operation *> OpGroup::members() const {
  llvm::SmallVector<Operation *> all;
  for (const auto &[op, map] : members_)
    all.push_back(op);
  return all;
}

llvm::SmallVector<int64_t> OpGroup::parallel() const {
  llvm::SmallVector<int64_t> ids;
  for (int64_t id : mapOf(root_))
    // An axis that the root has twice counts once.
    if (id != kWhole && !axis(id).isReduced && !axis(id).isWhole && !llvm::is_contained(ids, id))
      ids.push_back(id);
  return ids;
}

bool OpGroup::isBatch(int64_t id) const {
  return llvm::any_of(products_, [&](Operation *product) {
    AxisMap map = mapOf(product);
    return llvm::is_contained(llvm::drop_end(map, 2), id);
  });
}

// ---- rules --------------------------------------------------------------------------------------

bool OpGroup::isLoadedByProduct(Value value) const {
  return limits_->loadsProductOperands && llvm::any_of(products_, [&](Operation *product) {
           return llvm::any_of(product->getOperands(), [&](Value operand) {
             AxisMap all(static_cast<size_t>(rankOf(operand.getType())), kWhole);
             return accessOf(operand, all).origin == value;
           });
         });
}

static bool runsTwiceAlongOne(AxisMap map) {
  // Whole axes do not run, so only the others count.
  llvm::erase(map, kWhole);
  llvm::sort(map);
  return std::adjacent_find(map.begin(), map.end()) != map.end();
}

/// Whether each use reads a box along different axes of the space. A use that goes along one axis twice reads a diagonal, as `x[i, i]`,
/// which is no box.
bool OpGroup::runsAlongAxesOnce() const {
  auto once = [&](llvm::ArrayRef<Access> uses) {
    return llvm::none_of(
        uses, [&](const Access &access) { return runsTwiceAlongOne(resolved(access.map())); });
  };
  if (!ownsAllAxes()) // no two axes have become one since
    return once(newUses_);
  return llvm::all_of(accesses_, [&](const auto &uses) { return once(uses.second); });
}

/// A tile of something costly is computed once: the tiles of the group are cut along no axis that
/// it lacks, and no loop folds one that it has.
static bool isComputedOnce(const OpGroup &group, Operation *op,
                           llvm::ArrayRef<int64_t> independent) {
  if (!isCostly(op))
    return true;
  AxisMap map = group.mapOf(op);
  bool folds =
      llvm::any_of(map, [&](int64_t id) { return id != kWhole && group.axis(id).isReduced; });
  bool again = llvm::any_of(independent, [&](int64_t id) { return !llvm::is_contained(map, id); });
  // A scan carries what comes before along its own axis, so a loop along that repeats nothing. An operation that lacks an axis of the grid
  // would be done again for every tile along it.
  return !again && (!folds || isScan(op));
}

/// Tiles have the rows and columns of a product, and one position along any other axis that is not
/// whole in them: a scan or a sort along such an axis would go along the product's.
static bool scanFitsProducts(const OpGroup &group, Operation *scan,
                             llvm::ArrayRef<Operation *> products) {
  int64_t along = group.mapOf(scan)[axisAlong(scan)];
  return along == kWhole || llvm::all_of(products, [&](Operation *product) {
           return llvm::is_contained(llvm::ArrayRef(group.mapOf(product)).take_back(2), along);
         });
}

AxisMap longestMap(const OpGroup &group) {
  AxisMap longest;
  auto consider = [&](AxisMap map) {
    llvm::erase(map, kWhole);
    if (map.size() > longest.size())
      longest = map;
  };
  llvm::SmallVector<Operation *> members = group.members();
  // A product's matrix decides, since the cube core needs its rows and columns.
  for (Operation *op : members)
    if (isProduct(op))
      consider(group.mapOf(op));
  if (group.hasProduct())
    return longest;
  consider(group.mapOf(group.root()));
  for (Operation *op : members)
    // Reductions and scans may have more axes than the result.
    if (isReduction(op) || isScan(op))
      consider(group.operandMap(op, 0));
  return longest;
}

/// Whether what reductions read comes in tiles: an axis that is neither their rows nor their columns
/// is gone along by single positions, and memory has none of it in a row.
static bool foldsFitTiles(const OpGroup &group) {
  AxisMap longest = longestMap(group);
  return llvm::all_of(group.members(), [&](Operation *op) {
    if (!isReduction(op) || group.foldedBy(op).empty())
      return true;
    AxisMap map = group.operandMap(op, 0);
    llvm::erase(map, kWhole);
    return llvm::is_contained(llvm::ArrayRef(longest).take_back(2), map.back());
  });
}

/// Whether one product has a matrix for each position of an axis along which the matrices of
/// another one lie: tiles have several positions of that axis, or one.
static bool differInMatrices(llvm::ArrayRef<AxisMap> products) {
  llvm::SmallDenseSet<int64_t, 4> inMatrix, ofBatch;
  for (const AxisMap &map : products)
    for (auto [axis, id] : llvm::enumerate(map))
      if (id != kWhole)
        (axis + 2 >= map.size() ? inMatrix : ofBatch).insert(id);
  // An axis must be inside the matrices of all products or of none.
  return llvm::any_of(ofBatch, [&](int64_t id) { return inMatrix.contains(id); });
}

bool storesOnce(const OpGroup &group, Operation *member) {
  AxisMap map = group.mapOf(member);
  if (group.hasProduct() || map == group.mapOf(group.root()))
    return !group.hasProduct();
  llvm::SmallVector<int64_t> independent = group.parallel();
  return llvm::all_of(
             map,
             [&](int64_t id) { return id == kWhole || llvm::is_contained(independent, id); }) &&
         llvm::all_of(independent, [&](int64_t id) { return llvm::is_contained(map, id); });
}

/// Whether the tiles of the group give what its operations do. The rules hold on all targets; what
/// has been judged stays so while axes only become whole, as in the space of the root, so that what
/// was added last is judged there.
bool OpGroup::isSound() const {
  if (!runsAlongAxesOnce())
    return false;
  llvm::SmallVector<int64_t> independent = parallel();
  bool reduces = false;
  // Only what was added last can have become unsound in the space of the root.
  for (const auto &[op, map] : llvm::reverse(members_)) {
    if (runsTwiceAlongOne(resolved(map)) || !isComputedOnce(*this, op, independent))
      return false;
    reduces |= isReduction(op) && !foldedBy(op).empty();
    if (!ownsAllAxes())
      break;
  }
  if (reduces && hasProduct() && !limits_->foldsBesideProducts)
    return false;
  if (!llvm::all_of(scans_,
                    [&](Operation *scan) { return scanFitsProducts(*this, scan, products_); }))
    return false;
  if (!limits_->tilesAreMatrices)
    return true;
  if (!hasProduct() && !foldsFitTiles(*this))
    return false;
  llvm::SmallVector<AxisMap, 2> products;
  for (Operation *product : products_)
    products.push_back(mapOf(product));
  return !differInMatrices(products);
}

} // namespace ptl::ir

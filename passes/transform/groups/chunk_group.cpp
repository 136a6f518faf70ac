#include "passes/transform/groups/chunk_group.h"

#include "passes/analysis/op_info.h"

using namespace mlir;

namespace ptl::ir {

static bool isOfClass(Operation *op, OpClass wanted) {
  const OpRecord *record = recordOf(op);
  return record && record->opClass == wanted && op->getNumResults() == 1 &&
         isa<ArrayType>(op->getResult(0).getType());
}

bool isReduction(Operation *op) {
  return isOfClass(op, OpClass::Reduction) && (op->hasAttr("axes") || op->hasAttr("axis"));
}
bool isScan(Operation *op) {
  return (isOfClass(op, OpClass::Scan) || isOfClass(op, OpClass::Sort)) &&
         rankOf(op->getOperand(0).getType()) == rankOf(op->getResult(0).getType());
}
bool isCumulative(Operation *op) { return isa<CumsumOp, CumprodOp, CummaxOp, CumminOp>(op); }
bool isProduct(Operation *op) { return isa<MatmulOp>(op); }
bool isCostly(Operation *op) { return isReduction(op) || isScan(op) || isProduct(op); }

bool isTiled(Operation *op) {
  if (op->getNumResults() != 1 || !isa<ArrayType>(op->getResult(0).getType()))
    return false;
  return isElementwise(op) || isCostly(op);
}

llvm::SmallVector<int64_t> foldedAxesOf(Operation *reduction) {
  if (auto axes = reduction->getAttrOfType<DenseI64ArrayAttr>("axes"))
    return llvm::SmallVector<int64_t>(axes.asArrayRef());
  if (auto axis = reduction->getAttrOfType<IntegerAttr>("axis"))
    return {axis.getInt()};
  return {};
}

ChunkGroup::ChunkGroup(Operation *root) : root_(root) {
  Value result = root->getResult(0);
  AxisMap map;
  for (auto [axis, extent] : llvm::enumerate(extentsOf(result.getType())))
    map.push_back(extent.isOne() ? kWhole : newAxis(result, static_cast<int64_t>(axis)));
  if (isTiled(root)) {
    add(root, map);
  } else { // a view or constants that are stored as they are
    members_[root] = map;
    use(result, map);
  }
  newUses_.clear();
}

int64_t ChunkGroup::newAxis(Value like, int64_t axis) {
  axes_.push_back({extentsOf(like.getType())[static_cast<size_t>(axis)], like, axis});
  parents_.push_back(static_cast<int64_t>(parents_.size()));
  return parents_.back();
}

int64_t ChunkGroup::find(int64_t id) const {
  while (id >= 0 && parents_[static_cast<size_t>(id)] != id)
    id = parents_[static_cast<size_t>(id)];
  return id;
}

/// The earlier axis stands for both.
bool ChunkGroup::unify(int64_t a, int64_t b) {
  a = find(a);
  b = find(b);
  if (a == b)
    return true;
  if (a == kWhole || b == kWhole)
    return false;
  if (a > b)
    std::swap(a, b);
  SpaceAxis &kept = axes_[static_cast<size_t>(a)];
  const SpaceAxis &gone = axes_[static_cast<size_t>(b)];
  if (kept.extent.isConstant() && gone.extent.isConstant() && !sameLength(kept.extent, gone.extent))
    return false;
  if (kept.extent.capacity == Extent::kUnknown && gone.extent.capacity != Extent::kUnknown) {
    kept.extent = gone.extent;
    kept.like = gone.like;
    kept.axis = gone.axis;
  }
  kept.isReduced |= gone.isReduced;
  kept.isWhole |= gone.isWhole;
  parents_[static_cast<size_t>(b)] = a;
  return true;
}

bool ChunkGroup::unify(const AxisMap &a, const AxisMap &b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [&](auto pair) {
           return unify(std::get<0>(pair), std::get<1>(pair));
         });
}

void ChunkGroup::markFolded(Operation *op, AxisMap &operand, bool whole) {
  Value value = op->getOperand(0);
  for (int64_t axis : foldedAxesOf(op)) {
    if (extentsOf(value.getType())[static_cast<size_t>(axis)].isOne())
      continue;
    int64_t id = newAxis(value, axis);
    (whole ? axes_.back().isWhole : axes_.back().isReduced) = true;
    operand[static_cast<size_t>(axis)] = id;
  }
}

/// The axis that a scan or a sort goes along.
static size_t axisAlong(Operation *scan, size_t rank) {
  auto axis = scan->getAttrOfType<IntegerAttr>("axis");
  return axis ? static_cast<size_t>(axis.getInt()) : rank - 1;
}

std::optional<ChunkGroup::Maps> ChunkGroup::operandMapsOf(Operation *op, const AxisMap &map) {
  if (isScan(op)) {
    size_t along = axisAlong(op, map.size());
    if (map[along] != kWhole) {
      SpaceAxis &own = axes_[static_cast<size_t>(find(map[along]))];
      (isCumulative(op) ? own.isReduced : own.isWhole) = true;
    }
    Maps maps;
    for (Value operand : op->getOperands())
      maps.push_back(isa<ArrayType>(operand.getType()) ? map : AxisMap());
    return maps;
  }
  std::optional<Maps> maps = operandAxes(op, map);
  if (!maps)
    return std::nullopt;
  if (isReduction(op))
    markFolded(op, maps->front(), /*whole=*/false);
  if (isProduct(op)) {
    AxisMap &a = (*maps)[0], &b = (*maps)[1];
    if (a.size() < 2 || b.size() < 2)
      return std::nullopt;
    int64_t rank = static_cast<int64_t>(a.size());
    if (!extentsOf(op->getOperand(0).getType())[a.size() - 1].isOne()) {
      int64_t contracted = newAxis(op->getOperand(0), rank - 1);
      axes_.back().isWhole = true;
      a[a.size() - 1] = b[b.size() - 2] = contracted;
    }
  }
  return maps;
}

/// Values from elsewhere that are read alike are read in one loop, if their axes can be one.
void ChunkGroup::shareWithEarlierUses(const Access &access) {
  for (const Access &earlier : llvm::SmallVector<Access, 2>(accesses_[access.origin])) {
    if (earlier.isBox || access.isBox)
      continue;
    for (auto [own, other] : llvm::zip(access.axes, earlier.axes)) {
      int64_t a = find(own.id), b = find(other.id);
      if (a == b || a == kWhole || b == kWhole || !sameLength(axis(a).extent, axis(b).extent))
        continue;
      ChunkGroup saved = *this;
      if (!unify(a, b) || !isSound())
        *this = std::move(saved);
    }
  }
}

void ChunkGroup::use(Value value, const AxisMap &map) {
  Access access = originOf(value, map);
  accesses_[access.origin].push_back(access);
  newUses_.push_back(access);
}

bool ChunkGroup::add(Operation *op, const AxisMap &map) {
  std::optional<Maps> maps = operandMapsOf(op, map);
  if (!maps)
    return false;
  members_[op] = map;
  operands_[op] = *maps;
  hasProduct_ |= isProduct(op);
  for (auto [operand, own] : llvm::zip(op->getOperands(), *maps))
    if (isa<ArrayType>(operand.getType())) {
      use(operand, own);
      if (isProduct(op))
        productOperands_.insert(newUses_.back().origin);
    }
  return true;
}

/// The axes that a reduction folds are those of the group that its result lacks, as far as lengths
/// allow: what is computed from the result goes along them once more.
void ChunkGroup::foldOwnAxes(Operation *reduction) {
  AxisMap map = mapOf(reduction);
  llvm::SmallVector<int64_t> lacking;
  llvm::copy_if(parallel(), std::back_inserter(lacking),
                [&](int64_t id) { return !llvm::is_contained(map, id); });
  for (int64_t id : llvm::reverse(lacking))
    for (int64_t folded : foldedBy(reduction))
      if (!llvm::is_contained(lacking, folded) &&
          sameLength(axis(id).extent, axis(folded).extent) && unify(id, folded))
        break;
}

bool ChunkGroup::tryJoin(Operation *op) {
  auto found = accesses_.find(op->getResult(0));
  if (isScan(op) || found == accesses_.end() || productOperands_.contains(op->getResult(0)) ||
      llvm::any_of(found->second, [](const Access &a) { return a.isBox; }))
    return false;
  ChunkGroup saved = *this;
  newUses_.clear();
  bool hadParallel = !parallel().empty();
  llvm::SmallVector<Access, 2> uses = found->second;
  AxisMap map = uses.front().map();
  bool fits = llvm::all_of(uses, [&](const Access &other) { return unify(map, other.map()); }) &&
              add(op, map);
  if (fits && isReduction(op))
    foldOwnAxes(op);
  fits = fits && isSound() && parallel().empty() != hadParallel;
  if (!fits) {
    *this = std::move(saved);
    return false;
  }
  for (const Access &access : llvm::SmallVector<Access, 4>(newUses_))
    shareWithEarlierUses(access);
  return true;
}

AxisMap ChunkGroup::resolved(const AxisMap &map) const {
  AxisMap ids = map;
  for (int64_t &id : ids)
    id = find(id);
  return ids;
}

AxisMap ChunkGroup::mapOf(Operation *member) const {
  return resolved(members_.find(member)->second);
}

AxisMap ChunkGroup::operandMap(Operation *member, unsigned operand) const {
  return resolved(operands_.find(member)->second[operand]);
}

llvm::SmallVector<int64_t> ChunkGroup::foldedBy(Operation *reduction) const {
  llvm::SmallVector<int64_t> ids;
  AxisMap map = operandMap(reduction, 0);
  for (int64_t axis : foldedAxesOf(reduction))
    if (int64_t id = map[static_cast<size_t>(axis)]; id != kWhole)
      ids.push_back(id);
  return ids;
}

llvm::SmallVector<Operation *> ChunkGroup::members() const {
  llvm::SmallVector<Operation *> all;
  for (const auto &[op, map] : members_)
    all.push_back(op);
  return all;
}

llvm::SmallVector<int64_t> ChunkGroup::parallel() const {
  llvm::SmallVector<int64_t> ids;
  for (int64_t id : mapOf(root_))
    if (id != kWhole && !axis(id).isReduced && !axis(id).isWhole && !llvm::is_contained(ids, id))
      ids.push_back(id);
  return ids;
}

bool ChunkGroup::isBatch(int64_t id) const {
  return llvm::any_of(members_, [&](const auto &member) {
    AxisMap map = resolved(member.second);
    return isProduct(member.first) && llvm::is_contained(llvm::drop_end(map, 2), id);
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
  return llvm::any_of(ofBatch, [&](int64_t id) { return inMatrix.contains(id); });
}

/// No value runs along one axis twice, and nothing costly is computed again for other tiles.
bool ChunkGroup::isSound() const {
  auto isRepeated = [&](AxisMap map) {
    llvm::erase(map, kWhole);
    llvm::sort(map);
    return std::adjacent_find(map.begin(), map.end()) != map.end();
  };
  for (const auto &[origin, uses] : accesses_)
    for (const Access &access : uses)
      if (isRepeated(resolved(access.map())))
        return false;
  llvm::SmallVector<int64_t> independent = parallel();
  bool reduces = false;
  llvm::SmallVector<AxisMap, 2> products;
  llvm::SmallVector<int64_t, 2> scanned;
  for (const auto &[op, raw] : members_) {
    AxisMap map = resolved(raw);
    if (isRepeated(map))
      return false;
    if (isProduct(op))
      products.push_back(map);
    reduces |= isReduction(op) && !foldedBy(op).empty();
    if (isScan(op))
      scanned.push_back(map[axisAlong(op, map.size())]);
    if (!isCostly(op) || isScan(op))
      continue;
    bool folds = llvm::any_of(map, [&](int64_t id) { return id != kWhole && axis(id).isReduced; });
    bool again =
        llvm::any_of(independent, [&](int64_t id) { return !llvm::is_contained(map, id); });
    if (folds || again)
      return false;
  }
  // Tiles have the rows and columns of the product: along any other axis there is one position.
  for (int64_t along : scanned)
    for (const AxisMap &product : products)
      if (along != kWhole && !llvm::is_contained(llvm::ArrayRef(product).take_back(2), along))
        return false;
  return !(reduces && hasProduct_) && !differInMatrices(products);
}

} // namespace ptl::ir

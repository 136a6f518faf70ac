// Which axes of a group are the rows and columns of its tiles, and how long chunks are.
#include "passes/transform/groups/chunk_sizes.h"

#include "passes/transform/groups/chunk_pieces.h"

#include "passes/transform/groups/group_schedule.h"

#include "ir/dialect/attributes.h"
#include "passes/analysis/fix_pipe.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

static int64_t roundDown(int64_t value, int64_t to) { return value / to * to; }

namespace {
class ChunkChooser {
public:
  ChunkChooser(llvm::ArrayRef<OpGroup *> groups, OpGroup &group, const TileSizes &sizes,
               std::vector<TileAxis> &axes)
      : groups_(groups), group_(&group), sizes_(sizes), axes_(axes) {}

  void chooseRoles();

private:
  void chooseSteps(int64_t row, int64_t col);
  void chooseProductSteps(int64_t row, int64_t col);
  bool readsTransposed(int64_t row, int64_t col) const;
  int64_t rowsBesideReads(int64_t row, int64_t col) const;
  bool isScannedAlong(int64_t id) const;
  int64_t elementBudget() const;
  TileAxis &axis(int64_t id) { return axes_[static_cast<size_t>(id)]; }

  llvm::ArrayRef<OpGroup *> groups_;
  OpGroup *group_;
  const TileSizes &sizes_;
  std::vector<TileAxis> &axes_;
};
} // namespace

/// Elements of the widest type in a tile.
int64_t ChunkChooser::elementBudget() const {
  // The widest element decides, since all tiles of a group have the same extents.
  int64_t bits = 8;
  auto consider = [&](Value value) {
    Type elem = elementTypeOf(value.getType());
    bits = std::max<int64_t>(bits, elem.isIndex() ? 64 : elem.getIntOrFloatBitWidth());
  };
  for (const OpGroup *group : groups_)
    for (Operation *op : group->members())
      for (Value value : llvm::concat<Value>(llvm::to_vector(op->getOperands()),
                                             llvm::to_vector(op->getResults())))
        if (isa<ArrayType>(value.getType()))
          consider(value);
  // At least 64 elements make a tile worth an instruction; narrow types count as 32 bits.
  return std::max<int64_t>(64, sizes_.bytes * 8 / std::max<int64_t>(bits, 32));
}

/// Whether something has the columns before the rows in memory.
bool ChunkChooser::readsTransposed(int64_t row, int64_t col) const {
  auto isTransposed = [&](const AxisMap &map) {
    // Columns before rows in memory mean that the tile is transposed on chip.
    const auto *r = llvm::find(map, row), *c = llvm::find(map, col);
    return r != map.end() && c != map.end() && c < r;
  };
  for (Operation *op : group_->members()) {
    if (isTransposed(group_->mapOf(op)))
      return true;
    if (!isTiled(op) || isProduct(op))
      continue;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      if (!isa<ArrayType>(operand.getType()))
        continue;
      AxisMap ids = originOf(operand, group_->operandMap(op, static_cast<unsigned>(i))).map();
      for (int64_t &id : ids)
        id = group_->find(id);
      if (isTransposed(ids))
        return true;
    }
  }
  Operation *root = group_->root();
  if (isTiled(root))
    return false;
  AxisMap ids = originOf(root->getResult(0), group_->mapOf(root)).map();
  return isTransposed(ids);
}

/// Whether a running sum or the like goes along that axis.
bool ChunkChooser::isScannedAlong(int64_t id) const {
  return llvm::any_of(group_->members(), [&](Operation *op) {
    return isCumulative(op) && group_->find(group_->mapOf(op)[axisAlong(op)]) == id;
  });
}

/// The axis along which elements of an array in memory lie side by side; `kWhole` if it is none of the group's.
static int64_t innermostOf(const OpGroup &group, const Access &access) {
  AxisMap ids = access.map();
  llvm::ArrayRef<Extent> extents = extentsOf(access.origin.getType());
  for (size_t at = ids.size(); at > 0; --at)
    if (!extents[at - 1].isOne())
      return ids[at - 1] == kWhole ? kWhole : group.find(ids[at - 1]);
  return kWhole;
}

/// The axis of rows: where elements of what is read lie side by side along another axis than those of the tiles, each would be moved alone,
/// so that axis becomes the rows, and the tile is turned on chip.
int64_t ChunkChooser::rowsBesideReads(int64_t row, int64_t col) const {
  int64_t other = kWhole;
  bool isFree = row != kWhole && col != kWhole && group_->isParallel(row) &&
                !group_->axis(row).isWhole && !isScan(group_->root());
  auto see = [&](const Access &access) {
    Operation *origin = access.origin.getDefiningOp();
    int64_t inner = innermostOf(*group_, access);
    // A column of a tile is one number of what lacks its axis, as a bias for each channel.
    bool hasCols = llvm::any_of(
        access.map(), [&](int64_t id) { return id != kWhole && group_->find(id) == col; });
    if (!hasCols || (origin && (group_->contains(origin) || isFill(origin))) || inner == kWhole ||
        inner == col)
      return;
    // What lies along the rows already is turned, too, and others would need several axes there.
    isFree &= inner != row && (other == kWhole || other == inner) && group_->isParallel(inner) &&
              !group_->axis(inner).isWhole;
    other = inner;
  };
  for (Operation *op : group_->members())
    if (isTiled(op))
      for (auto [i, operand] : llvm::enumerate(op->getOperands()))
        if (isa<ArrayType>(operand.getType()))
          see(originOf(operand, group_->operandMap(op, static_cast<unsigned>(i))));
  if (Operation *root = group_->root(); !isTiled(root))
    see(originOf(root->getResult(0), group_->mapOf(root)));
  return isFree && other != kWhole ? other : row;
}

/// The last two axes of the value with the most axes are columns and rows.
void ChunkChooser::chooseRoles() {
  AxisMap longest = longestMap(*group_);
  int64_t col = longest.empty() ? kWhole : longest.back();
  int64_t row = longest.size() < 2 ? kWhole : longest[longest.size() - 2];
  if (group_->hasProduct()) // extents of 1 are rows and columns, too
    for (Operation *op : group_->members())
      if (isProduct(op)) {
        AxisMap map = group_->mapOf(op);
        col = map.back();
        row = map[map.size() - 2];
      }
  // An axis that cannot be cut has to be in the tile.
  for (int64_t id : longest) // what has to be whole cannot be gone along, and scans are of tiles
    if ((group_->axis(id).isWhole || isScan(group_->root())) && !group_->isParallel(id) &&
        id != col)
      row = id;
  if (!group_->hasProduct())
    row = rowsBesideReads(row, col);
  if (col != kWhole)
    axis(col).role = TileAxis::Col;
  if (row != kWhole)
    axis(row).role = TileAxis::Row;
  // Products have the tile of the machine, other tiles are cut by bytes.
  if (group_->hasProduct())
    chooseProductSteps(row, col);
  else
    chooseSteps(row, col);
}

void ChunkChooser::chooseProductSteps(int64_t row, int64_t col) {
  if (row != kWhole)
    axis(row).step = scheduledStep(*group_, row).value_or(sizes_.productM);
  if (col != kWhole)
    axis(col).step = scheduledStep(*group_, col).value_or(sizes_.productN);
}

/// Rows are whole where one fits; else a tile has a few rows, so that a chunk is a long run of
/// memory and still each row's partial results fill a block. Scans move whole blocks of rows, so
/// that one row alone would be gone along by elements.
void ChunkChooser::chooseSteps(int64_t row, int64_t col) {
  constexpr int64_t kUnknown = Extent::kUnknown, kFewRows = 8;
  // Small memories get shorter runs.
  int64_t budget = elementBudget(), least = budget < 512 ? 16 : 64;
  int64_t square = budget < 4096 ? least : 64;
  auto boundOf = [&](int64_t id) { return id == kWhole ? 1 : group_->axis(id).extent.capacity; };
  int64_t rows = boundOf(row), cols = boundOf(col);
  // A transposed tile is kept near a square, so that both sides have runs of memory.
  bool isTransposed = row != kWhole && col != kWhole && readsTransposed(row, col);
  int64_t most = isTransposed ? square : budget;
  int64_t beside = rows == kUnknown ? kFewRows : std::min(rows, kFewRows);
  beside = std::max<int64_t>(beside, 1);
  if (col != kWhole && isScannedAlong(col))
    most = std::min(most, budget / beside);
  if (col != kWhole) {
    std::optional<int64_t> fixed = scheduledStep(*group_, col);
    // What fits, is fixed by a schedule, or cannot be cut, is taken whole.
    if (fixed || group_->axis(col).isWhole || (cols != kUnknown && cols <= most)) {
      axis(col).step = fixed.value_or(cols);
    } else {
      int64_t step = isTransposed ? square : budget / beside;
      axis(col).step = std::max<int64_t>(least, roundDown(step, least));
    }
  }
  if (row == kWhole)
    return;
  // The width counts in units of 16 elements.
  int64_t width = col == kWhole ? 1 : std::max<int64_t>(axis(col).step, 1);
  int64_t step = budget / ((width + 15) / 16 * 16);
  step = std::min(step, isTransposed ? square : budget);
  // Rows come in multiples of 16 or 8 where there are that many.
  step = step >= 16 ? roundDown(step, 16) : step >= 8 ? 8 : std::max<int64_t>(step, 1);
  if (rows != kUnknown)
    step = std::min(step, rows);
  if (group_->axis(row).isWhole)
    step = rows;
  axis(row).step = scheduledStep(*group_, row).value_or(std::max<int64_t>(step, 1));
}

void chooseChunks(llvm::ArrayRef<OpGroup *> groups, OpGroup &group, const TileSizes &sizes,
                  std::vector<TileAxis> &axes) {
  ChunkChooser(groups, group, sizes, axes).chooseRoles();
}

/// The product that alone decides about the tiles of the grid and whose result the cube core stores
/// itself, with what the fix pipe does on the way; null if there is none.
static MatmulOp storedProduct(llvm::ArrayRef<OpGroup *> groups, const OpGroup &group,
                              const Machine *machine) {
  Operation *root = group.root();
  if (!machine || groups.size() > 1)
    return {};
  FixedOnTheWay way = throughFixPipe(root->getResult(0));
  auto product = way.source.getDefiningOp<MatmulOp>();
  if (!product || !isProductOf(product, *machine))
    return {};
  Type from = elementTypeOf(product.getType()), to = elementTypeOf(root->getResult(0).getType());
  const Move *store = machine->move("acc", "gm");
  if (from != to && (!store || !store->carries("f32", to.isF16() ? "f16" : "bf16")))
    return {};
  // Zeros are made where they are used, and no member.
  llvm::SmallVector<Operation *> done(way.ops.begin(), way.ops.end());
  done.push_back(product);
  bool isAll = llvm::all_of(
      group.members(), [&](Operation *op) { return llvm::is_contained(done, op) || isFill(op); });
  return isAll && llvm::all_of(done, [&](Operation *op) { return group.contains(op); })
             ? product
             : MatmulOp();
}

/// A product of a group that the vector cores go on with, element by element: they take slices of its
/// rows while the cube core makes the next tile, so that tiles need not fit their memory. If there
/// are several, they have the same rows and columns. Null if there is none.
static MatmulOp slicedProduct(llvm::ArrayRef<OpGroup *> groups, const OpGroup &group,
                              const Machine *machine) {
  // Slices are of what stands in global memory.
  if (!machine || groups.size() > 1 || machine->exchange.throughBuffer)
    return {};
  MatmulOp product;
  for (Operation *op : group.members()) {
    auto own = dyn_cast<MatmulOp>(op);
    bool isAlike = !own || (isProductOf(own, *machine) &&
                            (!product || group.mapOf(own) == group.mapOf(product)));
    if (!isAlike || (!own && !isElementwise(op)))
      return {};
    product = own ? own : product;
  }
  return product && product != group.root() ? product : MatmulOp();
}

/// Whether steps may be computed from this length: a dimension of the entry or a product of such.
/// Others make formulas that nobody can read where tiles are written out as source.
static bool isPlainLength(Value length) {
  if (auto times = length.getDefiningOp<arith::MulIOp>())
    return isPlainLength(times.getLhs()) && isPlainLength(times.getRhs());
  if (auto dim = length.getDefiningOp<DimOp>())
    return isa<BlockArgument>(dim.getSource());
  return getConstantIntValue(length) || isa<BlockArgument>(length);
}

/// Takes larger tiles than usual for a product where they take less time, and has the tiles deal
/// its result evenly to the cores where its lengths are not known to fit one tile.
void ChunkEmitter::fitTiles(MatmulOp product, bool isStored) {
  int64_t groups = machine_ ? coreGroupsOf(*machine_) : 0;
  if (auto cores = attrs::cores.of(group_->root()))
    groups = std::min(groups, cores.getInt());
  if (!product || groups <= 1)
    return;
  AxisMap map = group_->mapOf(product);
  int64_t row = map[map.size() - 2], col = map.back();
  if (row == kWhole || col == kWhole)
    return;
  ProductGrid grid{axis(row).length, axis(col).length, constant(1), false, false};
  for (int64_t id : group_->parallel()) // the others are gone along by single positions
    if (id != row && id != col && !group_->axis(id).isWhole)
      grid.others = b_.createOrFold<arith::MulIOp>(loc_, grid.others, axis(id).length);
  std::optional<int64_t> rows = getConstantIntValue(grid.rows),
                         cols = getConstantIntValue(grid.cols),
                         others = getConstantIntValue(grid.others);
  if (!isPlainLength(grid.rows) || !isPlainLength(grid.cols) || !others ||
      (*others != 1 && !(rows && cols)))
    return;
  bool isScheduled = scheduledStep(*group_, row) || scheduledStep(*group_, col);
  // An accumulator is handed over as it is, and stored as the result.
  Operation *made = isStored ? group_->root() : product;
  int64_t storedBytes = elementTypeOf(made->getResult(0).getType()).getIntOrFloatBitWidth() / 8;
  ProductTile most{axis(row).step, axis(col).step};
  if (!isScheduled)
    most = largestTile(product, storedBytes, most, *machine_);
  axis(row).step = most.rows;
  axis(col).step = most.cols;
  auto mayCut = [&](int64_t id) {
    const SpaceAxis &space = group_->axis(id);
    bool fits = space.extent.capacity != Extent::kUnknown && space.extent.capacity <= axis(id).step;
    return group_->isParallel(id) && !space.isWhole && !fits && !scheduledStep(*group_, id);
  };
  grid.mayCutRows = mayCut(row);
  grid.mayCutCols = mayCut(col);
  if (!grid.mayCutRows && !grid.mayCutCols)
    return;
  auto [rowStep, colStep] = balancedSteps(b_, loc_, grid, most, groups);
  auto take = [&](int64_t id, Value step, bool isCut) {
    if (!isCut)
      return;
    // Rows that are cut into slices have the bound of the largest tile, which slices divide.
    std::optional<int64_t> known = getConstantIntValue(step);
    if (known && (isStored || id != row || *known == axis(id).step))
      axis(id).step = *known;
    else
      axis(id).stepValue = step;
  };
  take(row, rowStep, grid.mayCutRows);
  take(col, colStep, grid.mayCutCols);
}

/// Whether the elements along an axis lie apart from each other in the array that an access reads: a column of a matrix.
static bool liesApart(const OpGroup &group, const Access &access, int64_t along) {
  AxisMap ids = access.map();
  llvm::ArrayRef<Extent> extents = extentsOf(access.origin.getType());
  bool isBehind = false;
  for (size_t at = 0; at < ids.size(); ++at) {
    if (isBehind && !extents[at].isOne())
      return true;
    isBehind |= ids[at] != kWhole && group.find(ids[at]) == along;
  }
  return false;
}

/// Whether some of what a group reads lies apart along an axis.
static bool readsApart(const OpGroup &group, int64_t along) {
  auto readsSo = [&](Operation *op) {
    if (!isTiled(op) || isProduct(op))
      return false;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (isa<ArrayType>(operand.getType()) &&
          liesApart(group, originOf(operand, group.operandMap(op, static_cast<unsigned>(i))),
                    along))
        return true;
    return false;
  };
  Operation *root = group.root();
  if (llvm::any_of(group.members(), readsSo))
    return true;
  return !isTiled(root) && liesApart(group, originOf(root->getResult(0), group.mapOf(root)), along);
}

/// All cores take their part of what is one row or column of a matrix: of few such rows, tiles as long as fit would leave most cores idle, and
/// each element of a column is moved alone, which takes long.
void ChunkEmitter::dealStrip() {
  int64_t cores = machine_ ? vectorCoresOf(*machine_) : 1, along = kWhole;
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].role == TileAxis::Row)
      return;
    if (axes_[i].role == TileAxis::Col)
      along = static_cast<int64_t>(i);
  }
  bool isCut = cores > 1 && along != kWhole && group_->isParallel(along) && axis(along).isChunked &&
               !axis(along).stepValue && !scheduledStep(*group_, along);
  constexpr int64_t kFewElements = 64, kFewInRow = 512;
  bool isColumn = isCut && readsApart(*group_, along);
  int64_t least = isColumn ? kFewElements : kFewInRow;
  bool isStrip = isColumn || rankOf(group_->root()->getResult(0).getType()) > 1;
  if (!isCut || !isStrip || axis(along).step <= least)
    return;
  if (!isPlainLength(axis(along).length)) {
    if (isColumn)
      axis(along).step = least;
    return;
  }
  // Texts have the quotient in this form when they are compiled again.
  Value own = b_.createOrFold<arith::AddIOp>(loc_, axis(along).length, constant(cores - 1));
  own = b_.createOrFold<arith::FloorDivSIOp>(loc_, own, constant(cores));
  own = b_.createOrFold<arith::MaxSIOp>(loc_, own, constant(least));
  own = b_.createOrFold<arith::MinSIOp>(loc_, own, constant(axis(along).step));
  if (std::optional<int64_t> known = getConstantIntValue(own))
    axis(along).step = *known;
  else
    axis(along).stepValue = own;
}

/// All cores take their rows of a product that vector cores compute, as of whole numbers: its time is that of its rows, and tiles as large as
/// those of the cube core would leave most cores idle.
static void dealProductRows(OpBuilder &b, Location loc, const OpGroup &group,
                            const Machine *machine, std::vector<TileAxis> &axes) {
  auto axis = [&](int64_t id) -> TileAxis & { return axes[static_cast<size_t>(id)]; };
  auto constant = [&](int64_t value) -> Value {
    return b.create<arith::ConstantIndexOp>(loc, value);
  };
  MatmulOp product;
  for (Operation *op : group.members())
    if (auto own = dyn_cast<MatmulOp>(op)) {
      if (!machine || isProductOf(own, *machine))
        return;
      product = own;
    }
  if (!product || attrs::cores.of(group.root()))
    return;
  AxisMap map = group.mapOf(product);
  int64_t row = map.size() < 2 ? kWhole : map[map.size() - 2], cores = vectorCoresOf(*machine);
  if (row == kWhole || !group.isParallel(row) || group.axis(row).isWhole ||
      scheduledStep(group, row) || !isPlainLength(axis(row).length))
    return;
  Value tiles = axis(row).length;
  for (int64_t id : group.parallel()) {
    if (id == row || group.axis(id).isWhole)
      continue;
    if (!isPlainLength(axis(id).length))
      return;
    Value count = b.createOrFold<arith::AddIOp>(loc, axis(id).length, constant(axis(id).step - 1));
    count = b.createOrFold<arith::FloorDivSIOp>(loc, count, constant(axis(id).step));
    tiles = b.createOrFold<arith::MulIOp>(loc, tiles, count);
  }
  // Texts have the quotient in this form when they are compiled again.
  Value own = b.createOrFold<arith::AddIOp>(loc, tiles, constant(cores - 1));
  own = b.createOrFold<arith::FloorDivSIOp>(loc, own, constant(cores));
  own = b.createOrFold<arith::MaxSIOp>(loc, own, constant(1));
  own = b.createOrFold<arith::MinSIOp>(loc, own, constant(axis(row).step));
  if (std::optional<int64_t> known = getConstantIntValue(own))
    axis(row).step = *known;
  else
    axis(row).stepValue = own;
}

/// Also the lengths of all axes, before the grid.
void ChunkEmitter::chooseSizes(bool) {
  axes_.assign(group_->numAxes(), {});
  MatmulOp stored = storedProduct(groups_, *group_, machine_),
           product = stored ? stored : slicedProduct(groups_, *group_, machine_);
  dealsRows_ = machine_ && group_->hasProduct() && !stored;
  // What did not fit once gets the usual tiles, halved; slices begin with larger ones.
  int64_t times = stored || !product ? halvings_ : std::max<int64_t>(0, halvings_ - 1);
  TileSizes sizes = sizes_.halved(times);
  chooseChunks(groups_, *group_, sizes, axes_);
  // Only the axis that stands for a class has a size.
  llvm::SmallVector<int64_t> ids;
  for (size_t i = 0; i < axes_.size(); ++i)
    if (auto id = static_cast<int64_t>(i); group_->find(id) == id)
      ids.push_back(id);
  for (int64_t id : ids)
    axis(id).length = lengthOf(b_, group_->axis(id).like, group_->axis(id).axis);
  if (product && halvings_ == 0)
    fitTiles(product, static_cast<bool>(stored));
  if (!product)
    dealProductRows(b_, loc_, *group_, machine_, axes_);
  for (int64_t id : ids) {
    const SpaceAxis &space = group_->axis(id);
    TileAxis &own = axis(id);
    // What is gone along by single positions has a loop unless there is one: there may be none.
    bool fits = own.role == TileAxis::Single ? space.extent.isOne()
                                             : space.extent.capacity != Extent::kUnknown &&
                                                   space.extent.capacity <= own.step;
    own.isChunked = !space.isWhole && !fits;
    // A chunked axis gets position and length from its loop.
    if (own.isChunked)
      continue;
    own.step = space.extent.capacity;
    own.position = constant(0);
    own.tile = own.length;
    own.extent = space.extent;
    // A new name, since a tile's length is not the length of the array.
    if (!space.isWhole && (isNamed(id) || !space.extent.isConstant()))
      own.extent = Extent::named(b_.getStringAttr(tileName(id)), space.extent.capacity);
  }
  dealStrip();
}

} // namespace ptl::ir

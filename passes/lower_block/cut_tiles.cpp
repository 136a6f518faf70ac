#include "passes/lower_block/cut_tiles.h"

#include "frontend/base/round_up.h"
#include "ir/dialect/attributes.h"
#include "passes/analysis/axis_map.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ptl::ir;

namespace ptl::block {

static bool hasAxis(Type type, StringAttr axis) {
  return llvm::any_of(extentsOf(type), [&](const Extent &e) { return e.symbol == axis; });
}

/// Whether a value has parts. Values from outside the grid are in global memory and stay whole.
static bool isCut(Value value, ParallelOp grid, StringAttr axis) {
  return hasAxis(value.getType(), axis) && grid->isAncestor(value.getParentRegion()->getParentOp());
}

// ---- boxes --------------------------------------------------------------------------------------

namespace {
/// The operands of a load, slice or store that hold the offset and length of one axis of its box.
struct BoxAxis {
  unsigned offset = 0, length = 0; ///< operand indices
  bool moves = true;               ///< the offset counts from the start of the axis
};
} // namespace

/// The operands of the box axis that becomes axis `name` of `tile`; nullopt if no axis of the box
/// does, or if the box has steps.
static std::optional<BoxAxis> boxAxis(Operation *op, Type tile, StringAttr name) {
  auto find = [&](auto box, Value base, int64_t indexAxis) -> std::optional<BoxAxis> {
    llvm::SmallVector<int64_t> kept;
    for (int64_t axis = 0; axis < rankOf(base.getType()); ++axis)
      if (!llvm::is_contained(box.getDropped(), axis))
        kept.push_back(axis);
    llvm::ArrayRef<Extent> extents = extentsOf(tile);
    if (extents.size() > kept.size() || !box.getSteps().empty())
      return std::nullopt;
    for (auto [i, extent] : llvm::enumerate(extents)) {
      if (extent.symbol != name)
        continue;
      int64_t axis = kept[kept.size() - extents.size() + i]; // a stored value broadcasts
      return BoxAxis{box.getOffsets().getBeginOperandIndex() + static_cast<unsigned>(axis),
                     box.getLengths().getBeginOperandIndex() + static_cast<unsigned>(axis),
                     axis != indexAxis};
    }
    return std::nullopt;
  };
  if (auto load = dyn_cast<LoadOp>(op))
    return find(load, load.getRef(), -1);
  if (auto slice = dyn_cast<SliceOp>(op))
    return find(slice, slice.getSource(), -1);
  if (auto store = dyn_cast<StoreOp>(op)) {
    bool scatters = store.getIndex() && store.getIndexAxis();
    return find(store, store.getRef(),
                scatters ? static_cast<int64_t>(*store.getIndexAxis()) : int64_t(-1));
  }
  return std::nullopt;
}

/// The index of the operand that is the length `name`, if the operands are lengths.
static std::optional<unsigned> madeLength(Operation *op, StringAttr name) {
  if (!isa<ZerosOp, OnesOp, FullOp, IndexOp, BroadcastOp, RandomOp>(op))
    return std::nullopt;
  llvm::SmallVector<unsigned> lengths;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (isa<IndexType>(operand.getType()))
      lengths.push_back(static_cast<unsigned>(i));
  llvm::SmallVector<StringAttr> names;
  for (const Extent &extent : extentsOf(op->getResult(0).getType()))
    if (!extent.isConstant())
      names.push_back(extent.symbol);
  if (lengths.size() < names.size())
    return std::nullopt;
  auto found = llvm::find(names, name);
  if (found == names.end())
    return std::nullopt;
  // They are counted from the end, because `index` has its start before them.
  return lengths[lengths.size() - names.size() + static_cast<size_t>(found - names.begin())];
}

// ---- what may be cut ----------------------------------------------------------------------------

/// Whether the operation computes a part of its result from the same part of its operands.
static bool mapsAxis(Operation *op, StringAttr axis) {
  if (op->getNumResults() != 1)
    return false;
  AxisMap map;
  for (const Extent &extent : extentsOf(op->getResult(0).getType()))
    map.push_back(extent.symbol == axis ? 0 : kWhole);
  if (llvm::count(map, 0) != 1)
    return false;
  auto operands = operandAxes(op, map);
  if (!operands || operands->size() != op->getNumOperands())
    return false;
  for (auto [operand, own] : llvm::zip(op->getOperands(), *operands))
    for (auto [i, extent] : llvm::enumerate(extentsOf(operand.getType())))
      if ((extent.symbol == axis) != (own[i] != kWhole))
        return false;
  return true;
}

static bool keepsApart(Operation *op, ParallelOp grid, StringAttr axis) {
  if (isa<scf::ForOp, scf::IfOp, scf::YieldOp, DimOp>(op))
    return true;
  if (isa<LoadOp, SliceOp>(op)) {
    Value base = op->getOperand(0);
    std::optional<BoxAxis> box = boxAxis(op, op->getResult(0).getType(), axis);
    if (!isCut(base, grid, axis))
      return box.has_value();
    // A slice of a cut tile must take the whole axis: a position may be in any part.
    return box && matchPattern(op->getOperand(box->offset), m_Zero()) &&
           extentsOf(base.getType())[box->offset - 1].symbol == axis;
  }
  if (auto store = dyn_cast<StoreOp>(op))
    return !isCut(store.getRef(), grid, axis) &&
           (!hasAxis(store.getValue().getType(), axis) ||
            boxAxis(op, store.getValue().getType(), axis).has_value()) &&
           (!store.getIndex() ||
            hasAxis(store.getIndex().getType(), axis) == hasAxis(store.getValue().getType(), axis));
  if (isa<ZerosOp, OnesOp, FullOp, IndexOp, RandomOp>(op))
    // Random numbers depend on the position in the whole tile.
    return !isa<RandomOp>(op) && madeLength(op, axis).has_value();
  if (auto take = dyn_cast<TakeOp>(op))
    return !isCut(take.getSource(), grid, axis);
  return mapsAxis(op, axis);
}

/// Whether `op` concatenates the parts of what it reads to a value that stays whole.
static bool joins(Operation *op, const WholeValues &whole) {
  return isa<ConcatOp>(op) && whole.contains(op->getResult(0));
}

/// Whether every operation of the grid on tiles with the axis, except on those that stay whole,
/// computes each position along the axis separately.
static bool keepsApart(ParallelOp grid, StringAttr axis, const WholeValues &whole) {
  auto cut = [&](Value value) { return isCut(value, grid, axis) && !whole.contains(value); };
  bool all = true;
  grid.walk([&](Operation *op) {
    if (op != grid && !joins(op, whole) &&
        (llvm::any_of(op->getOperands(), cut) || llvm::any_of(op->getResults(), cut)))
      all &= keepsApart(op, grid, axis);
  });
  return all;
}

bool keepsApart(ParallelOp grid, StringAttr axis) { return keepsApart(grid, axis, {}); }

// ---- cutting ------------------------------------------------------------------------------------

namespace {
/// One part: its name in types, offset and length, and the values in place of the old ones.
struct Part {
  StringAttr name;
  Value offset, length;
  llvm::DenseMap<Value, Value> values;
};

class Cutter {
public:
  /// With `parts` 0 a loop over the parts surrounds everything.
  Cutter(ParallelOp grid, const TileAxis &axis, int64_t size, int64_t parts, int64_t buffers = 1,
         const WholeValues &whole = {})
      : grid_(grid), axis_(axis.name), size_(size), numParts_(parts), buffers_(buffers),
        whole_(whole), b_(grid) {}

  ParallelOp run();

private:
  bool findLength();
  StringAttr unusedName(int64_t number);
  Type partType(Type type, const Part &part) const;
  Value mapped(Value value, const Part *part) const;
  void makeParts();
  void makeLoop();
  void cutBlock(Block &block);
  void cutOp(Operation *op);
  void keepOp(Operation *op);
  void copyForPart(Operation *op, Part &part, size_t number);
  void moveToPart(Operation *op, Operation *copy, const Part &part);
  void cutFor(scf::ForOp loop);
  void cutIf(scf::IfOp branch);
  void cutTerminator(Operation *op);
  llvm::SmallVector<Value> spread(ValueRange values);
  llvm::SmallVector<int64_t> gather(ValueRange values, ValueRange copies);
  void flush();
  bool mustFollow(Operation *op) const;
  void join(Operation *op);
  /// Whether a value has one copy for each part of the axis.
  bool isSpread(Value value) const {
    return hasAxis(value.getType(), axis_) && !whole_.contains(value);
  }
  bool cuts(Value value) const { return isCut(value, grid_, axis_) && !whole_.contains(value); }
  bool touches(Operation *op) const {
    auto cut = [&](Value value) { return cuts(value); };
    return llvm::any_of(op->getOperands(), cut) || llvm::any_of(op->getResults(), cut);
  }
  bool touchesInside(Operation *op) const {
    bool found = false;
    op->walk([&](Operation *inner) { found |= touches(inner); });
    return found;
  }
  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc(), value); }
  Location loc() { return grid_.getLoc(); }

  ParallelOp grid_, made_;
  StringAttr axis_;
  int64_t size_, numParts_, buffers_;
  WholeValues whole_;
  OpBuilder b_;
  Value length_; ///< of the whole axis, in the old grid
  IRMapping kept_;
  llvm::SmallVector<Part> parts_;
  llvm::SmallVector<Operation *> pending_; ///< done part by part when something else follows
  int64_t groups_ = 0;
};
} // namespace

/// Finds the value that is the length of the axis wherever the axis occurs.
bool Cutter::findLength() {
  llvm::SmallVector<Value> candidates;
  llvm::SmallVector<Operation *> users;
  grid_.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == grid_)
      return;
    if (touches(op))
      users.push_back(op);
    if (op->getNumResults() == 1 && hasAxis(op->getResult(0).getType(), axis_)) {
      if (auto box = boxAxis(op, op->getResult(0).getType(), axis_);
          box && isa<LoadOp, SliceOp>(op))
        candidates.push_back(op->getOperand(box->length));
      else if (auto made = madeLength(op, axis_))
        candidates.push_back(op->getOperand(*made));
    }
  });
  DominanceInfo dominance(grid_);
  for (Value candidate : candidates) {
    Operation *op = candidate.getDefiningOp();
    if (op && touches(op)) // It is the extent of a tile, which would itself have to be cut.
      continue;
    if (llvm::all_of(users,
                     [&](Operation *user) { return dominance.dominates(candidate, user); })) {
      length_ = candidate;
      return true;
    }
  }
  return false;
}

StringAttr Cutter::unusedName(int64_t number) {
  for (std::string name = axis_.str() + std::to_string(number);; name += "_") {
    auto attribute = b_.getStringAttr(name);
    bool used = false;
    auto note = [&](Value value) { used |= hasAxis(value.getType(), attribute); };
    for (ParallelOp grid : {grid_, made_})
      grid.walk([&](Operation *op) {
        llvm::for_each(op->getOperands(), note);
        llvm::for_each(op->getResults(), note);
      });
    if (!used)
      return attribute;
  }
}

Type Cutter::partType(Type type, const Part &part) const {
  auto array = dyn_cast<ArrayType>(type);
  if (!array || !hasAxis(type, axis_))
    return type;
  llvm::SmallVector<Extent> extents(array.getExtents());
  for (Extent &extent : extents)
    if (extent.symbol == axis_)
      extent = Extent::named(part.name, size_);
  return ArrayType::get(type.getContext(), array.getElementType(), extents, array.getPlace());
}

Value Cutter::mapped(Value value, const Part *part) const {
  if (part)
    if (Value own = part->values.lookup(value))
      return own;
  return kept_.lookupOrDefault(value);
}

/// Computes the offset and length of each part; parts behind the end of the axis have length 0.
void Cutter::makeParts() {
  if (numParts_ == 0)
    return makeLoop();
  Value whole = kept_.lookupOrDefault(length_), zero = constant(0), size = constant(size_);
  for (int64_t i = 0; i < numParts_; ++i) {
    Part &part = parts_.emplace_back();
    part.name = unusedName(i);
    part.offset = constant(i * size_);
    Value rest = i == 0 ? whole : b_.createOrFold<arith::SubIOp>(loc(), whole, part.offset);
    part.length = b_.createOrFold<arith::MinSIOp>(loc(), rest, size);
    if (i > 0)
      part.length = b_.createOrFold<arith::MaxSIOp>(loc(), part.length, zero);
  }
}

/// Puts everything that follows into a loop over the parts.
void Cutter::makeLoop() {
  Value whole = kept_.lookupOrDefault(length_), size = constant(size_);
  auto loop = b_.create<scf::ForOp>(loc(), constant(0), whole, size);
  attrs::pipeline.set(loop, buffers_);
  b_.setInsertionPointToStart(loop.getBody());
  Part &part = parts_.emplace_back();
  part.name = unusedName(0);
  part.offset = loop.getInductionVar();
  part.length =
      b_.create<arith::MinSIOp>(loc(), b_.create<arith::SubIOp>(loc(), whole, part.offset), size);
}

void Cutter::copyForPart(Operation *op, Part &part, size_t number) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, mapped(operand, &part));
  Operation *copy = b_.clone(*op, mapping);
  for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults())) {
    to.setType(partType(from.getType(), part));
    part.values[from] = to;
  }
  if (numParts_ > 0)
    attrs::part.set(copy, {groups_, static_cast<int64_t>(number)});
  moveToPart(op, copy, part);
}

/// Replaces the length and offset of the whole axis by those of the part.
void Cutter::moveToPart(Operation *op, Operation *copy, const Part &part) {
  Type tile = isa<StoreOp>(op)      ? op->getOperand(0).getType()
              : op->getNumResults() ? op->getResult(0).getType()
                                    : Type();
  if (!tile || !hasAxis(tile, axis_))
    return;
  if (std::optional<BoxAxis> box = boxAxis(op, tile, axis_)) {
    copy->setOperand(box->length, part.length);
    bool ofTile = isa<LoadOp, SliceOp>(op) && cuts(op->getOperand(0));
    if (box->moves && !ofTile) {
      b_.setInsertionPoint(copy);
      copy->setOperand(box->offset, b_.createOrFold<arith::AddIOp>(
                                        op->getLoc(), copy->getOperand(box->offset), part.offset));
      b_.setInsertionPointAfter(copy);
    }
  } else if (std::optional<unsigned> made = madeLength(op, axis_)) {
    copy->setOperand(*made, part.length);
    if (isa<IndexOp>(op)) {
      b_.setInsertionPoint(copy);
      copy->setOperand(
          0, b_.createOrFold<arith::AddIOp>(op->getLoc(), copy->getOperand(0), part.offset));
      b_.setInsertionPointAfter(copy);
    }
  }
}

void Cutter::flush() {
  for (auto [number, part] : llvm::enumerate(parts_)) {
    int64_t first = groups_;
    for (Operation *op : pending_) {
      copyForPart(op, part, number);
      ++groups_;
    }
    // An operation has one number in all parts, so the count begins anew with each part but the last.
    if (number + 1 < parts_.size())
      groups_ = first;
  }
  pending_.clear();
}

/// Whether the parts of what is pending must all be done before: a product of what they compute, so
/// that all parts are handed to the other core first; and what may not pass them in memory.
bool Cutter::mustFollow(Operation *op) const {
  auto isPending = [&](Value value) {
    return value.getDefiningOp() && llvm::is_contained(pending_, value.getDefiningOp());
  };
  if (isa<MatmulOp>(op))
    return llvm::any_of(op->getOperands(), isPending);
  auto refOf = [](Operation *access) -> Value {
    if (auto load = dyn_cast<LoadOp>(access))
      return load.getRef();
    auto store = dyn_cast<StoreOp>(access);
    return store ? store.getRef() : Value();
  };
  Value ref = refOf(op);
  return ref && llvm::any_of(pending_, [&](Operation *other) {
           return refOf(other) == ref && (isa<StoreOp>(other) || isa<StoreOp>(op));
         });
}

void Cutter::keepOp(Operation *op) {
  if (mustFollow(op))
    flush();
  if (auto dim = dyn_cast<DimOp>(op); dim && cuts(dim.getSource())) {
    bool own = extentsOf(dim.getSource().getType())[dim.getAxis()].symbol == axis_;
    if (!own)
      flush();
    Value length = own ? kept_.lookupOrDefault(length_)
                       : b_.create<DimOp>(dim.getLoc(), b_.getIndexType(),
                                          mapped(dim.getSource(), &parts_.front()), dim.getAxis())
                             .getResult();
    kept_.map(dim.getResult(), length);
    return;
  }
  b_.clone(*op, kept_);
}

/// Concatenates the parts in their order.
void Cutter::join(Operation *op) {
  flush();
  llvm::SmallVector<Value> parts;
  for (Part &part : parts_)
    parts.push_back(mapped(op->getOperand(0), &part));
  Operation *made = b_.clone(*op, kept_);
  made->setOperands(parts);
  kept_.map(op->getResult(0), made->getResult(0));
}

void Cutter::cutOp(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && touchesInside(op))
    return cutFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && touchesInside(op))
    return cutIf(branch);
  if (joins(op, whole_))
    return join(op);
  if (!touches(op) || isa<DimOp>(op)) {
    if (op->getNumRegions())
      flush();
    keepOp(op);
  } else {
    if (mustFollow(op))
      flush();
    pending_.push_back(op);
  }
}

void Cutter::cutBlock(Block &block) {
  auto isHere = [&](Value value) { return value.getParentBlock() == &block; };
  bool lengthIsHere = parts_.empty() && isHere(length_);
  if (lengthIsHere && isa<BlockArgument>(length_))
    makeParts();
  for (Operation &op : block.without_terminator()) {
    cutOp(&op);
    if (lengthIsHere && length_.getDefiningOp() == &op)
      makeParts();
  }
  flush();
  // The block ends behind the loop over the parts that began in it.
  if (lengthIsHere && numParts_ == 0)
    b_.setInsertionPointAfter(b_.getInsertionBlock()->getParentOp());
  cutTerminator(block.getTerminator());
}

/// For each value with the axis one value per part.
llvm::SmallVector<Value> Cutter::spread(ValueRange values) {
  llvm::SmallVector<Value> all;
  for (Value value : values)
    if (isSpread(value))
      for (Part &part : parts_)
        all.push_back(mapped(value, &part));
    else
      all.push_back(mapped(value, nullptr));
  return all;
}

/// The reverse of `spread`: assigns the results of a copy to the parts of the values. Returns their
/// groups and parts in the form of `ptl.part`.
llvm::SmallVector<int64_t> Cutter::gather(ValueRange values, ValueRange copies) {
  llvm::SmallVector<int64_t> parts;
  size_t next = 0;
  for (Value value : values) {
    if (!isSpread(value)) {
      kept_.map(value, copies[next++]);
      parts.append({-1, 0});
      continue;
    }
    for (auto [number, part] : llvm::enumerate(parts_)) {
      part.values[value] = copies[next++];
      parts.append({groups_, static_cast<int64_t>(number)});
    }
    ++groups_;
  }
  return parts;
}

void Cutter::cutTerminator(Operation *op) {
  if (isa<scf::YieldOp>(op))
    b_.create<scf::YieldOp>(op->getLoc(), spread(op->getOperands()));
}

void Cutter::cutFor(scf::ForOp loop) {
  flush();
  auto made = b_.create<scf::ForOp>(loop.getLoc(), mapped(loop.getLowerBound(), nullptr),
                                    mapped(loop.getUpperBound(), nullptr),
                                    mapped(loop.getStep(), nullptr), spread(loop.getInitArgs()));
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  for (auto [argument, init] : llvm::zip(made.getRegionIterArgs(), made.getInitArgs()))
    argument.setLoc(init.getLoc());
  kept_.map(loop.getInductionVar(), made.getInductionVar());
  gather(loop.getRegionIterArgs(), made.getRegionIterArgs());
  {
    OpBuilder::InsertionGuard guard(b_);
    if (!made.getBody()->empty())
      made.getBody()->back().erase();
    b_.setInsertionPointToEnd(made.getBody());
    cutBlock(*loop.getBody());
  }
  llvm::SmallVector<int64_t> parts = gather(loop.getResults(), made.getResults());
  if (numParts_ > 0)
    attrs::part.set(made, parts);
}

void Cutter::cutIf(scf::IfOp branch) {
  flush();
  llvm::SmallVector<Type> types;
  for (Value result : branch.getResults())
    if (isSpread(result))
      for (const Part &part : parts_)
        types.push_back(partType(result.getType(), part));
    else
      types.push_back(result.getType());
  auto made = b_.create<scf::IfOp>(branch.getLoc(), types, mapped(branch.getCondition(), nullptr),
                                   /*addThenBlock=*/true,
                                   /*addElseBlock=*/!branch.getElseRegion().empty());
  for (unsigned arm = 0; arm < 2 && !branch->getRegion(arm).empty(); ++arm) {
    OpBuilder::InsertionGuard guard(b_);
    Block &block = made->getRegion(arm).front();
    block.clear();
    b_.setInsertionPointToEnd(&block);
    cutBlock(branch->getRegion(arm).front());
  }
  gather(branch.getResults(), made.getResults());
}

ParallelOp Cutter::run() {
  if (!findLength())
    return {};
  // What a loop or a branch yields would not be defined behind a loop over parts inside it.
  bool isInLoop = numParts_ == 0 && length_.getParentBlock() != &grid_.getBody().front() &&
                  grid_->isProperAncestor(length_.getParentRegion()->getParentOp());
  if (isInLoop && length_.getParentRegion()->getParentOp()->getNumResults())
    return {};
  made_ = cast<ParallelOp>(b_.cloneWithoutRegions(*grid_));
  Block &old = grid_.getBody().front();
  Block *body = b_.createBlock(&made_.getBody());
  for (BlockArgument argument : old.getArguments())
    kept_.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
  b_.setInsertionPointToStart(body);
  b_.setInsertionPoint(b_.create<YieldOp>(loc()));
  if (!grid_->isProperAncestor(length_.getParentRegion()->getParentOp()) &&
      length_.getParentBlock() != &old)
    makeParts();
  cutBlock(old);
  llvm::SmallVector<Attribute> names;
  for (const Part &part : parts_)
    names.push_back(part.name);
  if (numParts_ > 0)
    attrs::parts.set(made_, names);
  grid_.erase();
  return made_;
}

// ---- entries ------------------------------------------------------------------------------------

/// The length of one part, in whole units.
static int64_t sizeOf(const TileAxis &axis, int64_t parts, int64_t unit) {
  return roundUp(countCovering(axis.capacity, parts), unit);
}

ParallelOp cutInsideLoops(ParallelOp grid, const TileAxis &axis, int64_t parts, int64_t unit,
                          const WholeValues &whole) {
  int64_t size = sizeOf(axis, parts, unit), count = countCovering(axis.capacity, size);
  if (count < 2 || !keepsApart(grid, axis.name, whole))
    return {};
  return Cutter(grid, axis, size, count, /*buffers=*/1, whole).run();
}

/// Whether all stored values have the axis: a store without it would be repeated by every part.
static bool storesApart(ParallelOp grid, StringAttr axis) {
  bool all = true;
  grid.walk([&](StoreOp store) { all &= hasAxis(store.getValue().getType(), axis); });
  return all;
}

ParallelOp cutPoints(ParallelOp grid, const TileAxis &axis, int64_t parts, int64_t unit,
                     int64_t buffers) {
  int64_t size = sizeOf(axis, parts, unit);
  if (size >= axis.capacity || !keepsApart(grid, axis.name) || !storesApart(grid, axis.name))
    return {};
  return Cutter(grid, axis, size, 0, buffers).run();
}

} // namespace ptl::block

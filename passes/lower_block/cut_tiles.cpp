#include "passes/lower_block/cut_tiles.h"

#include "frontend/base/round_up.h"
#include "ir/dialect/attributes.h"
#include "passes/lower_block/cut_axes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ptl::ir;

namespace ptl::block {

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
  ParallelOp openGrid(ParallelOp grid);
  void cutNestedGrid(ParallelOp grid);
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
  if (auto grid = dyn_cast<ParallelOp>(op); grid && touchesInside(op))
    return cutNestedGrid(grid);
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

/// A copy of a grid without what it does, which is inserted next.
ParallelOp Cutter::openGrid(ParallelOp grid) {
  auto made = cast<ParallelOp>(b_.cloneWithoutRegions(*grid, kept_));
  Block *body = b_.createBlock(&made.getBody());
  for (BlockArgument argument : grid.getBody().front().getArguments())
    kept_.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
  b_.setInsertionPoint(b_.create<YieldOp>(grid.getLoc()));
  return made;
}

/// A grid whose points run one after the other is cut like a loop that carries nothing.
void Cutter::cutNestedGrid(ParallelOp grid) {
  flush();
  OpBuilder::InsertionGuard guard(b_);
  openGrid(grid);
  cutBlock(grid.getBody().front());
}

ParallelOp Cutter::run() {
  if (!findLength())
    return {};
  // What a loop or a branch yields would not be defined behind a loop over parts inside it.
  bool isInLoop = numParts_ == 0 && length_.getParentBlock() != &grid_.getBody().front() &&
                  grid_->isProperAncestor(length_.getParentRegion()->getParentOp());
  if (isInLoop && length_.getParentRegion()->getParentOp()->getNumResults())
    return {};
  made_ = openGrid(grid_);
  Block &old = grid_.getBody().front();
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

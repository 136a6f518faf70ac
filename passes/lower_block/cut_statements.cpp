#include "passes/lower_block/cut_statements.h"

#include "frontend/base/round_up.h"
#include "ir/dialect/attributes.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/source_place.h"
#include "passes/lower_block/assign_cores.h"
#include "passes/lower_block/part_of_value.h"
#include "passes/transform/combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace mlir;
using namespace ptl::ir;

namespace ptl::block {

namespace {
/// An axis to compute something in parts along, and how long they are.
struct Cut {
  int64_t axis = -1, size = 0;
  PartCost cost;
  explicit operator bool() const { return axis >= 0; }
};

class StatementCutter {
public:
  StatementCutter(ParallelOp grid, int64_t bytes, int64_t buffers)
      : grid_(grid), bytes_(bytes), buffers_(buffers), cores_(assignCores(grid)),
        b_(grid.getContext()) {}

  void run();

private:
  bool narrow(SliceOp slice);
  void tell(Operation *statement, Operation *inParts, scf::ForOp loop, const Cut &cut,
            const Extent &extent);
  void cutStore(StoreOp store);
  bool cutReduction(Operation *reduction);
  bool cutReductions();
  Cut choose(Operation *anchor, Value value, llvm::ArrayRef<int64_t> axes);
  int64_t sizeOf(const Extent &extent, int64_t most, bool isLast, int64_t rank) const;
  scf::ForOp openLoop(Operation *anchor, Value length, const Extent &extent, int64_t size,
                      ValueRange carried, PartLength &part);
  StringAttr unusedName();
  void eraseDead();
  template <typename Op> llvm::SmallVector<Op> all() {
    llvm::SmallVector<Op> found;
    grid_.walk([&](Op op) { found.push_back(op); });
    return found;
  }
  Value constant(Location loc, int64_t value) {
    return b_.create<arith::ConstantIndexOp>(loc, value);
  }

  ParallelOp grid_;
  int64_t bytes_, buffers_;
  CoreAssignment cores_;
  OpBuilder b_;
  int64_t names_ = 0;
  llvm::DenseMap<Operation *, scf::ForOp> outerLoops_; ///< by what is left of a statement
};
} // namespace

// ---- what is read in part -----------------------------------------------------------------------

/// If only such boxes are read from a tile, the box alone is computed, axis by axis.
bool StatementCutter::narrow(SliceOp slice) {
  Value source = slice.getSource();
  if (!slice.getSteps().empty() || slice.getOutside() || isGlobal(source))
    return false;
  std::optional<int64_t> bytes = tileBytes(source.getType());
  // A tile that fits is cheaper to compute as a whole.
  if (bytes && *bytes <= bytes_)
    return false;
  // Another reader needs the whole tile in any case.
  if (!llvm::all_of(source.getUsers(), [](Operation *user) { return isa<SliceOp, DimOp>(user); }))
    return false;
  llvm::ArrayRef<Extent> extents = extentsOf(source.getType());
  llvm::SmallVector<Extent> own(extentsOf(slice.getType()));
  for (int64_t axis : slice.getDropped())
    // Dropped axes have length 1 in the box, so that axes of both count alike.
    own.insert(own.begin() + axis, Extent::constant(1));
  for (int64_t axis = 0; axis < static_cast<int64_t>(extents.size()); ++axis) {
    const Extent &part = own[static_cast<size_t>(axis)];
    PartMaker maker(grid_, slice);
    if (part == extents[static_cast<size_t>(axis)] || extents[static_cast<size_t>(axis)].isOne() ||
        !maker.isMade(source, axis))
      continue;
    auto number = static_cast<unsigned>(axis);
    b_.setInsertionPoint(slice);
    Value made = maker.make(b_, source, axis, slice.getOffsets()[number],
                            {slice.getLengths()[number], part});
    slice->setOperand(0, made);
    // The tile begins where the box began.
    slice->setOperand(slice.getOffsets().getBeginOperandIndex() + number,
                      constant(slice.getLoc(), 0));
    return true;
  }
  return false;
}

// ---- along which axis ---------------------------------------------------------------------------

/// Positions in a part of an axis, at most so many: whole parts of an axis of constant length where
/// these are not much shorter.
int64_t StatementCutter::sizeOf(const Extent &extent, int64_t most, bool isLast,
                                int64_t rank) const {
  // Memory is fast in runs, so parts of rows have at least 64 elements.
  int64_t unit = isLast && rank > 1 ? 64 : 1;
  most = std::max(unit, most / unit * unit);
  if (extent.isConstant())
    // Below half of the most, twice as many parts would cost more than a shorter last part does.
    for (int64_t size = most; size * 2 > most; --size)
      if (extent.length % size == 0)
        return size;
  return most;
}

/// Along which axis of `value` the anchor works in parts: the one that leaves least as a whole.
Cut StatementCutter::choose(Operation *anchor, Value value, llvm::ArrayRef<int64_t> axes) {
  Cut best;
  llvm::ArrayRef<Extent> extents = extentsOf(value.getType());
  auto rank = static_cast<int64_t>(extents.size());
  for (int64_t axis : axes) {
    const Extent &extent = extents[static_cast<size_t>(axis)];
    // A dealt axis is divided among cores already.
    if (extent.isOne() || extent.capacity == Extent::kUnknown || cores_.deals(extent.symbol))
      continue;
    PartCost cost = PartMaker(grid_, anchor).costOf(value, axis);
    // Masks are packed bits, which cannot be cut at any position.
    if (cost.count == 0 || cost.cutsConditions || cost.largest <= bytes_)
      continue;
    // What one position of the axis takes in the largest tile says how many positions fit.
    int64_t each = std::max<int64_t>(1, cost.largest / extent.capacity);
    int64_t size = sizeOf(extent, std::max<int64_t>(1, bytes_ / each), axis + 1 == rank, rank);
    // Inner axes that are partly filled are no boxes.
    if (axis > 0 && !extent.isConstant() && axis + 1 < rank)
      size = 1;
    // One part would be the whole.
    if (size >= extent.capacity)
      continue;
    if (!best || cost.kept < best.cost.kept)
      best = {axis, size, cost};
  }
  return best;
}

StringAttr StatementCutter::unusedName() {
  for (;;) {
    auto name = b_.getStringAttr("part" + std::to_string(names_++));
    bool used = false;
    auto note = [&](Value value) {
      used |= llvm::any_of(extentsOf(value.getType()),
                           [&](const Extent &extent) { return extent.symbol == name; });
    };
    grid_->walk([&](Operation *op) {
      llvm::for_each(op->getOperands(), note);
      llvm::for_each(op->getResults(), note);
    });
    if (!used)
      return name;
  }
}

/// A loop over parts before the anchor; what follows is built in it.
scf::ForOp StatementCutter::openLoop(Operation *anchor, Value length, const Extent &extent,
                                     int64_t size, ValueRange carried, PartLength &part) {
  Location loc = anchor->getLoc();
  b_.setInsertionPoint(anchor);
  Value step = constant(loc, size);
  auto loop = b_.create<scf::ForOp>(loc, constant(loc, 0), length, step, carried);
  attrs::pipeline.set(loop, buffers_);
  // A loop that carries nothing has its terminator already.
  if (carried.empty())
    b_.setInsertionPoint(loop.getBody()->getTerminator());
  else
    b_.setInsertionPointToStart(loop.getBody());
  // All parts are whole, so their length is a constant.
  if (size == 1 || (extent.isConstant() && extent.length % size == 0)) {
    part = {step, Extent::constant(size)};
    return loop;
  }
  Value rest = b_.create<arith::SubIOp>(loc, length, loop.getInductionVar());
  part = {b_.create<arith::MinSIOp>(loc, rest, step), Extent::named(unusedName(), size)};
  return loop;
}

/// The type of a tile as it is at most.
static std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << elementTypeOf(type) << '[';
  llvm::interleaveComma(extentsOf(type), out, [&](const Extent &e) { out << e.capacity; });
  out << ']';
  return text;
}

/// `inParts` is what is left of a statement in the loop over its parts; that may be cut again.
void StatementCutter::tell(Operation *statement, Operation *inParts, scf::ForOp loop,
                           const Cut &cut, const Extent &extent) {
  int64_t parts = countCovering(extent.capacity, cut.size);
  auto known = outerLoops_.find(statement);
  if (known != outerLoops_.end()) {
    // The statement was cut before along another axis; the outermost loop tells of both.
    loop = known->second;
    parts *= attrs::inParts.of(loop).getAs<IntegerAttr>("parts").getInt();
    outerLoops_.erase(known);
  }
  outerLoops_[inParts] = loop;
  Value tile = cut.cost.tile;
  NamedAttrList attributes = attrs::inParts.of(loop);
  if (attributes.empty()) {
    attributes.append("fold", b_.getBoolAttr(!isa<StoreOp>(statement)));
    attributes.append("tile", b_.getStringAttr(nameOf(tile.getLoc())));
    attributes.append("type", b_.getStringAttr(typeText(tile.getType())));
    attributes.append("bytes", b_.getI64IntegerAttr(tileBytes(tile.getType()).value_or(0)));
  }
  attributes.set("parts", b_.getI64IntegerAttr(parts));
  attrs::inParts.set(loop, attributes.getDictionary(b_.getContext()));
}

std::vector<StatementParts> statementsInParts(Operation *root) {
  std::vector<StatementParts> all;
  root->walk([&](scf::ForOp loop) {
    auto record = attrs::inParts.of(loop);
    if (!record)
      return;
    // The attributes were written when the tile still existed.
    StatementParts &each = all.emplace_back();
    each.place = placeOf(loop.getLoc());
    each.isFold = record.getAs<BoolAttr>("fold").getValue();
    each.tile = record.getAs<StringAttr>("tile").str();
    each.type = record.getAs<StringAttr>("type").str();
    each.bytes = record.getAs<IntegerAttr>("bytes").getInt();
    each.parts = record.getAs<IntegerAttr>("parts").getInt();
  });
  return all;
}

// ---- stores -------------------------------------------------------------------------------------

void StatementCutter::cutStore(StoreOp store) {
  Value value = store.getValue();
  if (!isa<ArrayType>(value.getType()) || !store.getSteps().empty())
    return;
  llvm::SmallVector<int64_t> kept, axes;
  for (int64_t axis = 0; axis < rankOf(store.getRef().getType()); ++axis)
    if (!llvm::is_contained(store.getDropped(), axis))
      kept.push_back(axis);
  int64_t rank = rankOf(value.getType());
  auto baseOf = [&](int64_t axis) { // a stored value broadcasts
    return kept[kept.size() - static_cast<size_t>(rank) + static_cast<size_t>(axis)];
  };
  if (rank > static_cast<int64_t>(kept.size()))
    return;
  for (int64_t axis = 0; axis < rank; ++axis)
    // Rows that go to listed places are not where the loop's counter says.
    if (!store.getIndex() || !store.getIndexAxis() ||
        baseOf(axis) != static_cast<int64_t>(*store.getIndexAxis()))
      axes.push_back(axis);
  Cut cut = choose(store, value, axes);
  if (!cut)
    return;
  auto base = static_cast<unsigned>(baseOf(cut.axis));
  PartLength part;
  scf::ForOp loop = openLoop(store, store.getLengths()[base], extentsOf(value.getType())[cut.axis],
                             cut.size, {}, part);
  Value offset = loop.getInductionVar();
  Value made = PartMaker(grid_, store).make(b_, value, cut.axis, offset, part);
  // The part is stored where the whole would have had it.
  Value begin = b_.createOrFold<arith::AddIOp>(store.getLoc(), store.getOffsets()[base], offset);
  auto copy = cast<StoreOp>(b_.clone(*store));
  copy->setOperand(0, made);
  copy->setOperand(store.getOffsets().getBeginOperandIndex() + base, begin);
  copy->setOperand(store.getLengths().getBeginOperandIndex() + base, part.length);
  tell(store, copy, loop, cut, extentsOf(value.getType())[cut.axis]);
  store.erase();
  cutStore(copy); // along another axis, where one position is too large
}

// ---- reductions ---------------------------------------------------------------------------------

/// Sums round once, so what is added up in parts has to be exact enough in its own type.
static bool foldsInParts(Operation *reduction) {
  Type element = elementTypeOf(reduction->getResult(0).getType());
  if (isa<ReduceMaxOp, ReduceMinOp>(reduction))
    // Reductions of conditions are made on packed bits.
    return !element.isInteger(1);
  return isa<ReduceSumOp>(reduction) && (element.isF32() || element.isInteger());
}

bool StatementCutter::cutReduction(Operation *reduction) {
  Value value = reduction->getOperand(0), result = reduction->getResult(0);
  auto axes = reduction->getAttrOfType<DenseI64ArrayAttr>("axes");
  if (!foldsInParts(reduction) || !axes || axes.empty() || !isa<ArrayType>(result.getType()) ||
      elementTypeOf(result.getType()) != elementTypeOf(value.getType()))
    return false;
  Cut cut = choose(reduction, value, axes.asArrayRef());
  if (!cut)
    return false;
  Location loc = reduction->getLoc();
  b_.setInsertionPoint(reduction);
  llvm::SmallVector<Value> lengths;
  for (int64_t axis = 0; axis < rankOf(result.getType()); ++axis)
    if (!extentsOf(result.getType())[axis].isConstant())
      lengths.push_back(ir::lengthOf(b_, value, axis));
  // The loop begins with the identity element, so that an axis of length 0 gives it.
  lengths.push_back(identityValue(b_, loc, combinerOf(reduction), elementTypeOf(result.getType())));
  Value begin = b_.create<FullOp>(loc, TypeRange(result.getType()), lengths)->getResult(0);
  Value length = ir::lengthOf(b_, value, cut.axis);
  PartLength part;
  scf::ForOp loop =
      openLoop(reduction, length, extentsOf(value.getType())[cut.axis], cut.size, {begin}, part);
  Value made = PartMaker(grid_, reduction).make(b_, value, cut.axis, loop.getInductionVar(), part);
  Operation *folded = b_.clone(*reduction);
  folded->setOperand(0, made);
  // The running result is combined with that of each part.
  OperationState state(loc, combinerOf(reduction));
  state.addOperands({loop.getRegionIterArgs()[0], folded->getResult(0)});
  state.addTypes(result.getType());
  b_.create<scf::YieldOp>(loc, b_.create(state)->getResults());
  result.replaceAllUsesWith(loop.getResult(0));
  tell(reduction, folded, loop, cut, extentsOf(value.getType())[cut.axis]);
  reduction->erase();
  return true;
}

/// The last one that is too large: it may compute others part by part that come before it.
bool StatementCutter::cutReductions() {
  llvm::SmallVector<Operation *> reductions;
  grid_.walk([&](Operation *op) {
    if (const OpRecord *record = recordOf(op); record && record->opClass == OpClass::Reduction)
      reductions.push_back(op);
  });
  // Each cut changes what is left, so the search begins anew after it.
  return llvm::any_of(llvm::reverse(reductions), [&](Operation *op) { return cutReduction(op); });
}

// ---- all ----------------------------------------------------------------------------------------

void StatementCutter::eraseDead() {
  bool changed = true;
  while (changed) {
    changed = false;
    llvm::SmallVector<Operation *> dead;
    grid_.walk([&](Operation *op) {
      if (op != grid_ && isOpTriviallyDead(op))
        dead.push_back(op);
    });
    // Users come behind what they use, so they are erased first.
    for (Operation *op : llvm::reverse(dead)) {
      op->erase();
      changed = true;
    }
  }
}

void StatementCutter::run() {
  for (bool changed = true; changed;) {
    changed = false;
    // A narrowed tile may have operands of which only a part is read now.
    for (SliceOp slice : all<SliceOp>())
      changed |= narrow(slice);
    eraseDead();
  }
  for (StoreOp store : all<StoreOp>())
    cutStore(store);
  eraseDead();
  while (cutReductions())
    eraseDead();
  eraseDead();
}

void cutStatements(ParallelOp grid, int64_t bytes, int64_t buffers) {
  StatementCutter(grid, bytes, buffers).run();
}

} // namespace ptl::block

// Orderings of whole arrays along an axis of any length: parts are sorted on chip, and sorted parts
// are merged through storage.
#include "passes/transform/expand/expand_order.h"

#include "ir/dialect/attributes.h"

#include "ir/dialect/make_op.h"
#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_kinds.h"
#include "passes/analysis/source_place.h"
#include "passes/analysis/unused_extent.h"
#include "passes/transform/legalize/legalize.h"
#include "passes/transform/make_grid.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ptl::ir {

namespace {

/// Rows of a tile of several rows that are ordered whole.
constexpr int64_t kMostRows = 32;

/// What is sorted at once: the instructions sort 32 elements and merge four times as many each
/// time. A tile of that many keys and places.
int64_t sortedAtOnce(int64_t bytes) {
  int64_t count = 32;
  // A key and a place take four bytes each.
  while (4 * count * 8 <= bytes)
    count *= 4;
  return count;
}

/// A run of sorted parts in storage: keys and where they were.
struct Runs {
  Value keys, places;
};

/// Rewrites one ordering along the last axis; what is made stands before it.
class Ordering {
public:
  Ordering(Operation *op, int64_t bytes)
      : b_(op), bytes_(bytes), sorted_(sortedAtOnce(bytes)), op_(op),
        loc_(block::withoutName(op->getLoc())), x_(op->getOperand(0)),
        elem_(elementTypeOf(x_.getType())), rank_(rankOf(x_.getType())) {
    // `topk` always takes the largest first.
    auto flag = op->getAttrOfType<BoolAttr>("descending");
    descending_ = isa<TopkOp>(op) || (flag && flag.getValue());
  }
  void run();

private:
  const Extent &along() const { return extentsOf(x_.getType()).back(); }
  bool isShort() const {
    // An axis of unknown bound may be too long.
    return along().capacity != Extent::kUnknown && along().capacity <= sorted_;
  }

  void turn(int64_t axis);
  Runs sortAll();
  void sortParts(const Runs &into);
  void merge(const Runs &from, const Runs &into, Value run, Value steps, bool again);
  void mergeTile(const Runs &from, const Runs &into, Value run, Value steps, Value start);
  Value baseOf(Value run, Value start);
  Value startOfSecond(Value run, Value base);
  std::pair<Value, Value> fromFirst(const Runs &from, Value run, Value steps, Value start,
                                    Value length);
  void largestOfRows();
  void largestOfParts(int64_t kept);

  // grids and boxes: one row, a part of its last axis
  void inGrid(int64_t rowsAtOnce, int64_t step, llvm::function_ref<void(Value)> body);
  Value read(Value from, Value offset, Value length, const Extent &extent);
  Value readElement(Value from, Value offset);
  void write(Value tile, Value ref, Value offset, Value length);
  Value storage(Type elem, const Extent &last, Value length);

  // tiles of one axis
  ArrayType tile(Type elem, const Extent &extent) const { return arrayTypeOf(elem, {extent}); }
  Extent named(llvm::StringRef name, int64_t capacity) {
    return unusedExtent(b_.getInsertionBlock()->getParentOp(), name, capacity);
  }
  Value order(Value keys);
  Value gather(Value x, Value places);
  Value join(Value a, Value b, const Extent &extent);
  Value first(Value x, int64_t count);
  Value positions(Value start, Value length, const Extent &extent);
  Value comesFirst(Value a, Value b);
  /// An operation on scalars that gives a condition.
  Value ofFlags(llvm::StringRef name, ValueRange operands);

  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }
  template <typename OpT> Value make(Value a, Value b) { return b_.createOrFold<OpT>(loc_, a, b); }
  Value plus(Value a, Value b) { return make<arith::AddIOp>(a, b); }
  Value minus(Value a, Value b) { return make<arith::SubIOp>(a, b); }
  Value least(Value a, Value b) { return make<arith::MinSIOp>(a, b); }
  Value most(Value a, Value b) { return make<arith::MaxSIOp>(a, b); }
  NamedAttribute axis(int64_t value) {
    return b_.getNamedAttr("axis", b_.getI64IntegerAttr(value));
  }
  void replace(llvm::ArrayRef<Value> results) {
    for (auto [result, value] : llvm::zip(op_->getResults(), results))
      if (value)
        result.replaceAllUsesWith(value);
    op_->erase();
  }

  OpBuilder b_;
  int64_t bytes_, sorted_; ///< of a tile; elements that are sorted at once
  Operation *op_;
  Location loc_;
  Value x_, length_; ///< what is ordered, and how long its last axis is
  Type elem_;
  int64_t rank_;
  bool descending_;
  llvm::SmallVector<Value> row_, rowLengths_; ///< the leading axes of the point of the grid
};

// ---- boxes --------------------------------------------------------------------------------------

/// A grid over the leading axes, one position of each, or `rowsAtOnce` of the last one, and over
/// the last axis in steps; 0: not over that one.
void Ordering::inGrid(int64_t rowsAtOnce, int64_t step, llvm::function_ref<void(Value)> body) {
  llvm::SmallVector<Value> upper, steps;
  for (int64_t lead = 0; lead + 1 < rank_; ++lead) {
    upper.push_back(lengthOf(b_, x_, lead));
    steps.push_back(constant(lead + 2 == rank_ ? rowsAtOnce : 1));
  }
  // A grid needs at least one axis.
  if (step || upper.empty()) {
    upper.push_back(step ? length_ : constant(1));
    steps.push_back(constant(std::max<int64_t>(step, 1)));
  }
  OpBuilder::InsertionGuard guard(b_);
  ParallelOp grid = openGrid(b_, loc_, upper, steps, loc_);
  Block::BlockArgListType positions = grid.getBody().getArguments();
  row_.assign(positions.begin(), positions.begin() + (rank_ - 1));
  rowLengths_.assign(row_.size(), constant(1));
  // The last tile of rows may be short.
  if (rowsAtOnce > 1)
    rowLengths_.back() = least(minus(upper[row_.size() - 1], row_.back()), constant(rowsAtOnce));
  body(positions.back());
  b_.create<YieldOp>(loc_);
}

/// A part of a row of an array value or of storage.
Value Ordering::read(Value from, Value offset, Value length, const Extent &extent) {
  llvm::SmallVector<Value> offsets(row_), lengths(rowLengths_);
  offsets.push_back(offset);
  lengths.push_back(length);
  auto dropped = llvm::to_vector(llvm::seq<int64_t>(0, rank_ - 1));
  auto type = tile(elementTypeOf(from.getType()), extent);
  // Storage is loaded from and an array value is sliced.
  if (isa<RefType>(from.getType()))
    return b_.create<LoadOp>(loc_, type, from, offsets, lengths, ValueRange(), Value(),
                             b_.getDenseI64ArrayAttr(dropped));
  return b_.create<SliceOp>(loc_, type, from, offsets, lengths, ValueRange(), Value(),
                            b_.getDenseI64ArrayAttr(dropped));
}

Value Ordering::readElement(Value from, Value offset) {
  llvm::SmallVector<Value> offsets(row_), lengths(rowLengths_);
  offsets.push_back(offset);
  lengths.push_back(constant(1));
  auto dropped = llvm::to_vector(llvm::seq<int64_t>(0, rank_));
  return b_.create<LoadOp>(loc_, elementTypeOf(from.getType()), from, offsets, lengths,
                           ValueRange(), Value(), b_.getDenseI64ArrayAttr(dropped));
}

void Ordering::write(Value tile, Value ref, Value offset, Value length) {
  llvm::SmallVector<Value> offsets(row_), lengths(rowLengths_);
  offsets.push_back(offset);
  lengths.push_back(length);
  auto dropped = llvm::to_vector(llvm::seq<int64_t>(0, rank_ - rankOf(tile.getType())));
  b_.create<StoreOp>(loc_, tile, ref, offsets, lengths, ValueRange(), Value(),
                     b_.getDenseI64ArrayAttr(dropped), IntegerAttr(), StringAttr());
}

/// Storage like `x`, but for its last axis.
Value Ordering::storage(Type elem, const Extent &last, Value length) {
  llvm::SmallVector<Extent> extents(extentsOf(x_.getType()));
  extents.back() = last;
  llvm::SmallVector<Value> lengths;
  for (int64_t lead = 0; lead + 1 < rank_; ++lead)
    if (!extents[static_cast<size_t>(lead)].isConstant())
      lengths.push_back(lengthOf(b_, x_, lead));
  if (!last.isConstant())
    lengths.push_back(length);
  auto type = arrayTypeOf(elem, extents);
  return allocateStorage(b_, loc_, type, lengths);
}

// ---- tiles --------------------------------------------------------------------------------------

/// The positions of keys in order; equal ones keep theirs.
Value Ordering::order(Value keys) {
  // Sorting positions instead of values is stable and serves keys and places alike.
  return makeOp<ArgsortOp>(b_, loc_, tile(b_.getI32Type(), extentsOf(keys.getType()).front()), keys,
                           {axis(0), b_.getNamedAttr("descending", b_.getBoolAttr(descending_))});
}

Value Ordering::gather(Value x, Value places) {
  return makeOp<GatherOp>(b_, loc_,
                          tile(elementTypeOf(x.getType()), extentsOf(places.getType()).front()),
                          {x, places}, {axis(0)});
}

Value Ordering::join(Value a, Value b, const Extent &extent) {
  return makeOp<ConcatOp>(b_, loc_, tile(elementTypeOf(a.getType()), extent), {a, b}, {axis(0)});
}

Value Ordering::first(Value x, int64_t count) {
  return b_.create<SliceOp>(loc_, tile(elementTypeOf(x.getType()), Extent::constant(count)), x,
                            ValueRange(constant(0)), ValueRange(constant(count)), ValueRange(),
                            Value(), b_.getDenseI64ArrayAttr({}));
}

Value Ordering::positions(Value start, Value length, const Extent &extent) {
  OperationState state(loc_, IndexOp::getOperationName());
  state.addOperands(start);
  if (!extent.isConstant())
    state.addOperands(length);
  state.addTypes(tile(b_.getI32Type(), extent));
  return b_.create(state)->getResult(0);
}

Value Ordering::ofFlags(llvm::StringRef name, ValueRange operands) {
  return makeOp(b_, loc_, name, b_.getI1Type(), operands);
}

/// Whether a scalar stands before another one of a later position only because of its value.
Value Ordering::comesFirst(Value a, Value b) {
  // Strictly before: equal elements keep their order.
  Value before = ofFlags(descending_ ? GtOp::getOperationName() : LtOp::getOperationName(), {a, b});
  if (!isa<FloatType>(elem_))
    return before;
  // NaN stands behind all numbers, whichever way they are ordered.
  Value nanBehind = make<arith::AndIOp>(ofFlags(NeOp::getOperationName(), {b, b}),
                                        ofFlags(EqOp::getOperationName(), {a, a}));
  return make<arith::OrIOp>(before, nanBehind);
}

// ---- sorted parts -------------------------------------------------------------------------------

void Ordering::sortParts(const Runs &into) {
  inGrid(1, sorted_, [&](Value start) {
    // The last part may be short.
    Value length = least(minus(length_, start), constant(sorted_));
    Extent extent = named("sorted", sorted_);
    Value keys = read(x_, start, length, extent), places = order(keys);
    write(gather(keys, places), into.keys, start, length);
    OperationState state(loc_, AddOp::getOperationName());
    // Positions in the part become positions in the row.
    state.addOperands({places, b_.createOrFold<arith::IndexCastOp>(loc_, b_.getI32Type(), start)});
    state.addTypes(places.getType());
    write(b_.create(state)->getResult(0), into.places, start, length);
  });
}

/// Where the two runs of a tile begin.
Value Ordering::baseOf(Value run, Value start) {
  // Each tile of the merged run lies in one pair of runs.
  Value pair = make<arith::MulIOp>(run, constant(2));
  return make<arith::MulIOp>(make<arith::DivUIOp>(start, pair), pair);
}

Value Ordering::startOfSecond(Value run, Value base) { return least(plus(run, base), length_); }

/// How many of what a tile of the merged run holds, and of what stands before it, come from the first of the two runs: the merge path
/// search (co-ranking), a binary search along a diagonal of the merge matrix. Both are found side by side in one loop.
std::pair<Value, Value> Ordering::fromFirst(const Runs &from, Value run, Value steps, Value start,
                                            Value length) {
  Value base = baseOf(run, start), startB;
  Value last = minus(length_, constant(1)), zero = constant(0);
  llvm::SmallVector<Value> ends = {start, plus(start, length)}, bounds;
  // Two diagonals are searched, at the begin and at the end of the tile.
  for (Value end : ends) {
    Value count = minus(end, base);
    startB = startOfSecond(run, base);
    // The first run can give no more than it has, and no fewer than the second cannot give.
    bounds.push_back(most(minus(count, least(run, minus(length_, startB))), zero));
    bounds.push_back(least(least(run, count), minus(length_, base)));
  }
  // The number of steps is fixed, so that the loop needs no branch on data; closed searches change
  // nothing.
  auto loop = b_.create<scf::ForOp>(loc_, zero, steps, constant(1), bounds);
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    struct Search {
      Value low, high, open, middle, fewer;
    };
    llvm::SmallVector<Search> searches;
    for (unsigned i = 0; i < 2; ++i) {
      Value low = loop.getRegionIterArg(2 * i), high = loop.getRegionIterArg(2 * i + 1);
      Value open = b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::slt, low, high);
      Value middle = make<arith::DivUIOp>(plus(low, high), constant(2));
      // Positions are kept inside of the row, since a closed search still reads.
      Value a = readElement(from.keys, least(most(plus(base, middle), zero), last));
      // The element of the second run that stands just before the diagonal, if `middle` elements come from the first one.
      Value atB = i == 0 ? minus(start, constant(1)) : plus(minus(start, constant(1)), length);
      atB = minus(plus(minus(atB, base), startB), middle);
      Value b = readElement(from.keys, least(most(atB, zero), last));
      // If the second run's element comes before it, fewer elements of the first run are taken.
      Value fewer = make<arith::AndIOp>(open, comesFirst(b, a));
      searches.push_back({low, high, open, middle, fewer});
    }
    llvm::SmallVector<Value> next;
    for (const Search &each : searches) {
      Value more = make<arith::AndIOp>(each.open, ofFlags(NotOp::getOperationName(), {each.fewer}));
      Value behind = plus(each.middle, constant(1));
      next.push_back(b_.createOrFold<arith::SelectOp>(loc_, more, behind, each.low));
      next.push_back(b_.createOrFold<arith::SelectOp>(loc_, each.fewer, each.middle, each.high));
    }
    b_.create<scf::YieldOp>(loc_, next);
  }
  return {loop.getResult(0), loop.getResult(2)};
}

/// A tile of the merged run: what it takes from both, sorted again. Elements of the first run stand
/// before those of the second, so that equal ones keep their order.
void Ordering::mergeTile(const Runs &from, const Runs &into, Value run, Value steps, Value start) {
  Value length = least(minus(length_, start), constant(sorted_));
  auto [before, upTo] = fromFirst(from, run, steps, start, length);
  Value base = baseOf(run, start);
  // Both parts lie within the tile and the runs, which the data does not say; the bounds keep every box inside of the row.
  Value zero = constant(0), lengthA = most(least(minus(upTo, before), length), zero);
  Value fromA = least(most(plus(base, before), zero), minus(length_, lengthA));
  Value atB = plus(startOfSecond(run, base), minus(minus(start, base), before));
  Value fromB = least(most(atB, zero), plus(minus(length_, length), lengthA));
  Value lengthB = minus(length, lengthA);
  Extent a = named("merged 1", sorted_), b = named("merged 2", sorted_),
         both = named("merged", sorted_);
  auto joined = [&](Value ref) {
    Value first = read(ref, fromA, lengthA, a);
    return join(first, read(ref, fromB, lengthB, b), both);
  };
  Value keys = joined(from.keys), places = joined(from.places), order = this->order(keys);
  write(gather(keys, order), into.keys, start, length);
  write(gather(places, order), into.places, start, length);
}

/// The two storages take turns, so that no merge overwrites what it reads.
/// `again`: runs of twice the length.
void Ordering::merge(const Runs &from, const Runs &into, Value run, Value steps, bool again) {
  inGrid(1, sorted_, [&](Value start) {
    Value length = again ? make<arith::MulIOp>(run, constant(2)) : run;
    mergeTile(from, into, length, again ? plus(steps, constant(1)) : steps, start);
  });
}

/// Parts, then runs of two parts, of four and so on; an even number of times, so that the first
/// storage has the result.
Runs Ordering::sortAll() {
  auto place = [&] {
    return Runs{storage(elem_, along(), length_), storage(b_.getI32Type(), along(), length_)};
  };
  Runs one = place(), other = place();
  sortParts(one);
  // A search in a run of `n` elements takes log2(n) + 1 steps until nothing is open.
  int64_t firstSteps =
      llvm::Log2_64_Ceil(static_cast<uint64_t>(sorted_)) + 1; // halve a run to nothing
  llvm::SmallVector<Value> inits = {constant(sorted_), constant(firstSteps)};
  llvm::SmallVector<Type> types(2, b_.getIndexType());
  llvm::SmallVector<Location> locs(2, loc_);
  auto loop = b_.create<scf::WhileOp>(loc_, types, inits);
  OpBuilder::InsertionGuard guard(b_);
  Block *before = b_.createBlock(&loop.getBefore(), {}, types, locs);
  Value more =
      // A run as long as the row is sorted.
      b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::slt, before->getArgument(0), length_);
  b_.create<scf::ConditionOp>(loc_, more, before->getArguments());
  Block *after = b_.createBlock(&loop.getAfter(), {}, types, locs);
  Value run = after->getArgument(0), steps = after->getArgument(1);
  merge(one, other, run, steps, /*again=*/false);
  merge(other, one, run, steps, /*again=*/true);
  // Two merges make runs four times as long, and each search two steps longer.
  b_.create<scf::YieldOp>(
      loc_, ValueRange{make<arith::MulIOp>(run, constant(4)), plus(steps, constant(2))});
  return one;
}

// ---- the largest --------------------------------------------------------------------------------

/// Rows that fit are ordered whole, some at a time.
void Ordering::largestOfRows() {
  const Extent &kept = extentsOf(op_->getResult(0).getType()).back();
  Value count = kept.isConstant() ? constant(kept.length) : op_->getOperand(1);
  Value values = storage(elem_, kept, count), places = storage(b_.getI32Type(), kept, count);
  // Several short rows share a tile, as long as it stays within what is sorted at once.
  int64_t rows = std::clamp<int64_t>(2 * sorted_ / std::max<int64_t>(along().capacity, 1), 1,
                                     rank_ > 1 ? kMostRows : 1);
  inGrid(rows, 0, [&](Value) {
    llvm::SmallVector<Extent> extents = {along()};
    if (rows > 1)
      extents.insert(extents.begin(), named("rows", rows));
    llvm::SmallVector<Value> offsets(row_), lengths(rowLengths_);
    offsets.push_back(constant(0));
    lengths.push_back(length_);
    auto dropped =
        llvm::to_vector(llvm::seq<int64_t>(0, rank_ - static_cast<int64_t>(extents.size())));
    auto type = arrayTypeOf(elem_, extents);
    Value tile = b_.create<SliceOp>(loc_, type, x_, offsets, lengths, ValueRange(), Value(),
                                    b_.getDenseI64ArrayAttr(dropped));
    OperationState state(loc_, TopkOp::getOperationName());
    state.addOperands(tile);
    state.addOperands(op_->getOperands().drop_front());
    extents.back() = kept;
    for (Type each : {elem_, Type(b_.getI32Type())})
      state.addTypes(arrayTypeOf(each, extents));
    Operation *top = b_.create(state);
    write(top->getResult(0), values, constant(0), count);
    write(top->getResult(1), places, constant(0), count);
  });
  replace({loadWhole(b_, loc_, values, op_->getResult(0).getType()),
           loadWhole(b_, loc_, places, op_->getResult(1).getType())});
}

/// Each part of a row is ordered together with the largest of the parts before it.
void Ordering::largestOfParts(int64_t kept) {
  // A tile holds the largest so far and a part of the row.
  int64_t sorted = kept <= sorted_ / 32 ? sorted_ / 4 : sorted_, size = sorted - kept;
  Extent few = Extent::constant(kept);
  Value count = constant(kept);
  Value values = storage(elem_, few, count), places = storage(b_.getI32Type(), few, count);
  inGrid(1, 0, [&](Value) {
    // The first part has no earlier ones to be joined with.
    Value step = constant(size);
    Value tile = read(x_, constant(0), least(length_, step), named("first", size));
    Value top = first(order(tile), kept);
    llvm::SmallVector<Value> best = {gather(tile, top), top};
    auto loop = b_.create<scf::ForOp>(loc_, step, length_, step, best);
    // The next part is loaded while this one is sorted.
    attrs::pipeline.set(loop, 2);
    {
      OpBuilder::InsertionGuard guard(b_);
      b_.setInsertionPointToStart(loop.getBody());
      Value start = loop.getInductionVar(), length = least(minus(length_, start), step);
      Extent part = named("part", size), both = named("both", sorted);
      // Those found before stand first, so that of equal elements the earlier ones win.
      Value keys = join(loop.getRegionIterArg(0), read(x_, start, length, part), both);
      Value from = join(loop.getRegionIterArg(1), positions(start, length, part), both);
      Value next = first(order(keys), kept);
      b_.create<scf::YieldOp>(loc_, ValueRange{gather(keys, next), gather(from, next)});
    }
    write(loop.getResult(0), values, constant(0), count);
    write(loop.getResult(1), places, constant(0), count);
  });
  replace({loadWhole(b_, loc_, values, op_->getResult(0).getType()),
           loadWhole(b_, loc_, places, op_->getResult(1).getType())});
}

// ---- entry --------------------------------------------------------------------------------------

/// The same along the last axis of the transposed array.
void Ordering::turn(int64_t axis) {
  llvm::SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank_));
  std::swap(axes[static_cast<size_t>(axis)], axes.back());
  auto turned = [&](Value value) {
    llvm::SmallVector<Extent> extents(extentsOf(value.getType()));
    std::swap(extents[static_cast<size_t>(axis)], extents.back());
    auto type = arrayTypeOf(elementTypeOf(value.getType()), extents);
    return b_.create<TransposeOp>(loc_, type, value, b_.getDenseI64ArrayAttr(axes)).getResult();
  };
  Value x = turned(x_);
  OperationState state(loc_, op_->getName());
  state.addOperands(x);
  state.addAttributes(op_->getAttrs());
  state.attributes.set("axis", b_.getI64IntegerAttr(rank_ - 1));
  state.addTypes(arrayTypeOf(elementTypeOf(op_->getResult(0).getType()), extentsOf(x.getType())));
  Operation *last = b_.create(state);
  Value result = turned(last->getResult(0));
  replace({result});
  // The last axis of the turned array is what the other functions order.
  Ordering(last, bytes_).run();
}

void Ordering::run() {
  bool isTopk = isa<TopkOp>(op_);
  if (auto axis = op_->getAttrOfType<IntegerAttr>("axis"); axis && !isTopk)
    if (axis.getInt() + 1 != rank_) {
      // A short axis is ordered in a tile of its group, whatever axis it is.
      if (extentsOf(x_.getType())[static_cast<size_t>(axis.getInt())].capacity > sorted_ ||
          extentsOf(x_.getType())[static_cast<size_t>(axis.getInt())].capacity == Extent::kUnknown)
        turn(axis.getInt());
      return;
    }
  if (isShort() && !isTopk)
    return; // a tile of a group has it whole
  Operation *maker = x_.getDefiningOp();
  // What is a view or a constant would be made again for each part of a row, so it is stored once.
  if (maker && !isa<LoadOp>(maker) && !isTiled(maker)) {
    Value ref = storageLike(b_, loc_, x_);
    storeWhole(b_, loc_, x_, ref);
    x_ = loadWhole(b_, loc_, ref, x_.getType());
  }
  length_ = lengthOf(b_, x_, rank_ - 1);
  const Extent &kept = extentsOf(op_->getResult(0).getType()).back();
  if (isTopk && isShort())
    return largestOfRows();
  // With many kept, too little of a tile is left for new elements, so all are sorted.
  if (isTopk && kept.isConstant() && kept.length <= sorted_ / 2 && kept.length > 0)
    return largestOfParts(kept.length);
  Runs all = sortAll();
  Value keys = loadWhole(b_, loc_, all.keys, x_.getType());
  auto placesType = arrayTypeOf(b_.getI32Type(), extentsOf(x_.getType()));
  Value places = loadWhole(b_, loc_, all.places, placesType);
  if (!isTopk)
    return replace({isa<SortOp>(op_) ? keys : places});
  // The largest are the first of all in order.
  llvm::SmallVector<Value> offsets(static_cast<size_t>(rank_), constant(0)), lengths;
  for (int64_t lead = 0; lead + 1 < rank_; ++lead)
    lengths.push_back(lengthOf(b_, x_, lead));
  lengths.push_back(kept.isConstant() ? constant(kept.length) : op_->getOperand(1));
  auto cut = [&](Value value, unsigned result) {
    return b_.create<SliceOp>(loc_, op_->getResult(result).getType(), value, offsets, lengths,
                              ValueRange(), Value(), b_.getDenseI64ArrayAttr({}));
  };
  Value top[] = {cut(keys, 0), cut(places, 1)};
  replace(top);
}

} // namespace

void expandOrder(Operation *op, int64_t tileBytes) { Ordering(op, tileBytes).run(); }

} // namespace ptl::ir

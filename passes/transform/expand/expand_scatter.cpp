// `scatter` of whole arrays. The scalar unit would read each position and each element, which takes it
// as long as a vector unit takes for a thousand. So positions are sorted first, together with their
// elements, and each element of the result finds those that go to it by halving: all elements of a tile
// at the same time. Equal positions keep their order in a sort, so that elements meet in the order of
// the list.
#include "passes/transform/expand/expand_scatter.h"

#include "ir/dialect/make_op.h"
#include "ir/dialect/op_facts.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/machine_types.h"
#include "passes/analysis/unused_extent.h"
#include "passes/transform/combiners.h"
#include "passes/transform/expand/expand_gather.h"
#include "passes/transform/expand/expand_order.h"
#include "passes/transform/make_grid.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace ptl::ir {

namespace {

/// Positions that are on chip together are followed by at least so many that none is equal to.
constexpr int64_t kSpare = 64;

class Scatter {
public:
  Scatter(ScatterOp op, int64_t tileBytes)
      : b_(op), loc_(op.getLoc()), op_(op), tile_(std::max<int64_t>(tileBytes / 16, kSpare)),
        listed_(std::max<int64_t>(
            static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(tileBytes / 8))),
            2 * kSpare)) {}

  static bool isFor(ScatterOp op, const Machine *machine);
  void run(int64_t tileBytes, const Machine *machine);

private:
  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }
  Value plus(Value a, Value b) { return b_.createOrFold<arith::AddIOp>(loc_, a, b); }
  Value minus(Value a, Value b) { return b_.createOrFold<arith::SubIOp>(loc_, a, b); }
  Value asNumber(Value index) {
    return b_.createOrFold<arith::IndexCastOp>(loc_, b_.getI32Type(), index);
  }
  DenseI64ArrayAttr firstAxes(int64_t count) {
    return b_.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(0, count)));
  }
  Value make(StringRef name, Type type, ValueRange operands,
             llvm::ArrayRef<NamedAttribute> attributes = {});
  /// An elementwise operation on tiles like the first operand, of another element type or the same.
  Value each(StringRef name, ValueRange operands, Type elem = {});
  Value chosen(Value where, Value a, Value b) {
    return make(SelectOp::getOperationName(), b.getType(), {where, a, b});
  }
  Value gathered(Value from, Value at) {
    auto type = ArrayType::get(b_.getContext(), elementTypeOf(from.getType()),
                               extentsOf(at.getType()), Place::Inferred);
    return make(GatherOp::getOperationName(), type, {from, at},
                {b_.getNamedAttr("axis", b_.getI64IntegerAttr(0))});
  }
  Value turned(Value value);
  Value inOrder(Value value, Value order);
  Value partOfRow(Value array, ValueRange at, Value end, const Extent &part);
  Value fewerThan(ValueRange row, Value bound);
  Value padded(Value list, Value rest);
  std::pair<Value, Value> rangesOf(Value places, Value positions);
  Value met(Value list, Value values, Value positions, Value before);
  Value metOneByOne(Value values, Value first, Value end, Value before);
  Value tileOf(ValueRange at, Value part);
  void emitGrid(Value ref);
  Value ordered(Value ids);
  scf::IfOp reachedByWords(Value ref);

  OpBuilder b_;
  Location loc_;
  ScatterOp op_;
  int64_t tile_, listed_; ///< elements of the result, and of the list, that are on chip together
  Value x_, places_, values_, count_;
};

} // namespace

Value Scatter::make(StringRef name, Type type, ValueRange operands,
                    llvm::ArrayRef<NamedAttribute> attributes) {
  return makeOp(b_, loc_, name, type, operands, attributes);
}

Value Scatter::each(StringRef name, ValueRange operands, Type elem) {
  auto type = cast<ArrayType>(operands.front().getType());
  return make(name,
              ArrayType::get(b_.getContext(), elem ? elem : type.getElementType(),
                             type.getExtents(), Place::Inferred),
              operands);
}

/// A few elements are written sooner by themselves, since most of the array may be there already.
bool Scatter::isFor(ScatterOp op, const Machine *machine) {
  constexpr int64_t kFew = 16;
  Type elem = elementTypeOf(op.getX().getType()), position = elementTypeOf(op.getIdx().getType());
  const Extent &count = extentsOf(op.getIdx().getType())[op.getAxis()];
  bool isPosition = position.isSignlessInteger(32) ||
                    (machine && position.isSignlessInteger(64) && hasWideWords(*machine));
  return machine && isPosition && machine->supports("tgather", {machineTypeName(elem), "i32"}) &&
         machine->supports("tgather", {"i32", "i32"}) &&
         machine->supports("tsel", {machineTypeName(elem)}) &&
         !(count.isConstant() && count.length < kFew);
}

/// With the axis of the positions as the last one.
Value Scatter::turned(Value value) {
  auto type = cast<ArrayType>(value.getType());
  auto axis = static_cast<size_t>(op_.getAxis());
  llvm::SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  if (axis + 1 == axes.size())
    return value;
  llvm::SmallVector<Extent> extents(type.getExtents());
  std::swap(axes[axis], axes.back());
  std::swap(extents[axis], extents.back());
  return make(TransposeOp::getOperationName(),
              ArrayType::get(b_.getContext(), type.getElementType(), extents, Place::Inferred),
              value, {b_.getNamedAttr("axes", b_.getDenseI64ArrayAttr(axes))});
}

/// The elements of a row in the order of its positions.
Value Scatter::inOrder(Value value, Value order) {
  auto type = ArrayType::get(b_.getContext(), elementTypeOf(value.getType()),
                             extentsOf(order.getType()), Place::Inferred);
  return make(GatherOp::getOperationName(), type, {value, order},
              {b_.getNamedAttr("axis", b_.getI64IntegerAttr(type.getRank() - 1))});
}

/// Elements of a row, as many as fit into `part`, from a position on and before another one.
Value Scatter::partOfRow(Value array, ValueRange at, Value end, const Extent &part) {
  llvm::SmallVector<Value> lengths(at.size(), constant(1));
  lengths.back() =
      b_.createOrFold<arith::MinSIOp>(loc_, minus(end, at.back()), constant(part.capacity));
  auto type =
      ArrayType::get(b_.getContext(), elementTypeOf(array.getType()), {part}, Place::Inferred);
  return b_.create<SliceOp>(loc_, type, array, at, lengths, ValueRange(), Value(),
                            firstAxes(static_cast<int64_t>(at.size()) - 1));
}

/// How many positions of a sorted row are smaller than a bound.
Value Scatter::fewerThan(ValueRange row, Value bound) {
  constexpr int64_t kMostSteps = 32; // lists are no longer than positions reach
  llvm::SmallVector<Value> start = {constant(0), count_};
  auto loop = b_.create<scf::ForOp>(loc_, constant(0), constant(kMostSteps), constant(1), start);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  Value low = loop.getRegionIterArg(0), high = loop.getRegionIterArg(1);
  Value isOpen = b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::slt, low, high);
  // A search that has ended reads nothing more, which takes the scalar unit long.
  auto branch = b_.create<scf::IfOp>(loc_, TypeRange{low.getType(), low.getType()}, isOpen,
                                     /*withElseRegion=*/true);
  b_.create<scf::YieldOp>(loc_, branch.getResults());
  b_.setInsertionPointToStart(branch.thenBlock());
  Value middle = b_.create<arith::DivUIOp>(loc_, plus(low, high), constant(2));
  llvm::SmallVector<Value> at(row), ones(row.size(), constant(1));
  at.back() = middle;
  Value place = b_.create<SliceOp>(loc_, b_.getI32Type(), places_, at, ones, ValueRange(), Value(),
                                   firstAxes(static_cast<int64_t>(at.size())));
  place = b_.create<arith::IndexCastOp>(loc_, b_.getIndexType(), place);
  Value isLess = b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::slt, place, bound);
  // The bound itself is not counted: `low` ends at the first position that is not smaller.
  Value nextLow = b_.create<arith::SelectOp>(loc_, isLess, plus(middle, constant(1)), low);
  Value nextHigh = b_.create<arith::SelectOp>(loc_, isLess, high, middle);
  b_.create<scf::YieldOp>(loc_, ValueRange{nextLow, nextHigh});
  b_.setInsertionPointToStart(branch.elseBlock());
  b_.create<scf::YieldOp>(loc_, ValueRange{low, high});
  return loop.getResult(0);
}

/// A part of a list, and something behind it.
Value Scatter::padded(Value list, Value rest) {
  auto type = ArrayType::get(b_.getContext(), elementTypeOf(list.getType()),
                             {Extent::constant(listed_)}, Place::Inferred);
  Value room = make(FullOp::getOperationName(), type, rest);
  return b_.create<InsertOp>(loc_, type, list, room, ValueRange(constant(0)),
                             ValueRange(lengthOf(b_, list, 0)), ValueRange(), Value(),
                             b_.getDenseI64ArrayAttr({}), IntegerAttr());
}

/// For each of some positions, where those begin and end in a sorted list that are equal to it. As
/// many are smaller as there are before the first, and each step of a search either takes a number of
/// further ones or leaves the next half.
std::pair<Value, Value> Scatter::rangesOf(Value places, Value positions) {
  auto type = cast<ArrayType>(positions.getType());
  Value zero = b_.create<arith::ConstantIntOp>(loc_, 0, b_.getI32Type()),
        one = b_.create<arith::ConstantIntOp>(loc_, 1, b_.getI32Type());
  Value before = each(SubOp::getOperationName(), {positions, one});
  Value none = make(FullOp::getOperationName(), type, {lengthOf(b_, positions, 0), zero});
  // Each step halves how many further positions are tried, so the logarithm of the longest list is enough.
  auto steps = static_cast<int64_t>(llvm::Log2_64(static_cast<uint64_t>(listed_)));
  auto loop = b_.create<scf::ForOp>(loc_, constant(0), constant(steps), constant(1),
                                    ValueRange{none, none, constant(listed_ / 2)});
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  Value tried = loop.getRegionIterArg(2), more = asNumber(tried);
  llvm::SmallVector<Value> next;
  for (auto [found, largest] : {std::pair(loop.getRegionIterArg(0), before),
                                std::pair(loop.getRegionIterArg(1), positions)}) {
    Value further = each(AddOp::getOperationName(), {found, more});
    // The list is padded with the largest number, which is taken by no search, so reading behind it does no harm.
    Value place = gathered(places, each(SubOp::getOperationName(), {further, one}));
    // Not every machine compares integers by order.
    Value least = each(MinOp::getOperationName(), {place, largest});
    Value isTaken = each(EqOp::getOperationName(), {least, place}, b_.getI1Type());
    next.push_back(chosen(isTaken, further, found));
  }
  next.push_back(b_.create<arith::DivUIOp>(loc_, tried, constant(2)));
  b_.create<scf::YieldOp>(loc_, next);
  return {loop.getResult(0), loop.getResult(1)};
}

/// Combines each element with those of its range, one after the other.
Value Scatter::metOneByOne(Value values, Value first, Value end, Value before) {
  auto one =
      ArrayType::get(b_.getContext(), b_.getI32Type(), {Extent::constant(1)}, Place::Inferred);
  Value number = each(SubOp::getOperationName(), {end, first});
  Value most = make(ReduceMaxOp::getOperationName(), one, number,
                    {b_.getNamedAttr("axes", b_.getDenseI64ArrayAttr(0))});
  most = b_.create<SliceOp>(loc_, b_.getI32Type(), most, ValueRange(constant(0)),
                            ValueRange(constant(1)), ValueRange(), Value(),
                            b_.getDenseI64ArrayAttr(0));
  most = b_.create<arith::IndexCastOp>(loc_, b_.getIndexType(), most);
  auto loop = b_.create<scf::ForOp>(loc_, constant(0), most, constant(1), ValueRange(before));
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  Value sum = loop.getRegionIterArg(0);
  Value at = each(AddOp::getOperationName(), {first, asNumber(loop.getInductionVar())});
  Value last = b_.create<arith::ConstantIntOp>(loc_, listed_ - 1, b_.getI32Type());
  // Ranges have different lengths; where one has ended, its last element is read again and not used.
  Value inside = each(MinOp::getOperationName(), {at, last});
  // An element is one of the range if its position is not the end of it, or behind that.
  Value behind = each(MaxOp::getOperationName(), {at, end});
  Value isBehind = each(EqOp::getOperationName(), {behind, at}, b_.getI1Type());
  Value value = gathered(values, inside);
  Value with = each(operationName(*combinerNamed(op_.getCombine())), {sum, value});
  b_.create<scf::YieldOp>(loc_, chosen(isBehind, sum, with));
  return loop.getResult(0);
}

/// A tile after its elements met those of a part of the list.
Value Scatter::met(Value list, Value values, Value positions, Value before) {
  Value beyond =
      b_.create<arith::ConstantIntOp>(loc_, std::numeric_limits<int32_t>::max(), b_.getI32Type());
  Value none = numberOf(b_, loc_, elementTypeOf(values.getType()), 0);
  auto [first, end] = rangesOf(padded(list, beyond), positions);
  values = padded(values, none);
  if (combinerNamed(op_.getCombine()))
    return metOneByOne(values, first, end, before);
  // The last one replaces the element.
  Value zero = b_.create<arith::ConstantIntOp>(loc_, 0, b_.getI32Type()),
        one = b_.create<arith::ConstantIntOp>(loc_, 1, b_.getI32Type());
  Value last = each(SubOp::getOperationName(), {end, one});
  // An empty range at the beginning would ask for the element before the first one.
  last = each(MaxOp::getOperationName(), {last, zero});
  Value hasNone = each(EqOp::getOperationName(), {first, end}, b_.getI1Type());
  return chosen(hasNone, before, gathered(values, last));
}

/// The part of a row from `at` on, after everything that goes there.
Value Scatter::tileOf(ValueRange at, Value part) {
  Value length = lengthOf(b_, part, 0);
  // Only the part of the sorted list that has positions of this tile is read, whatever its length.
  Value first = fewerThan(at, at.back()), end = fewerThan(at, plus(at.back(), length));
  int64_t step = listed_ - kSpare;
  auto loop = b_.create<scf::ForOp>(loc_, first, end, constant(step), ValueRange(part));
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  llvm::SmallVector<Value> from(at);
  from.back() = loop.getInductionVar();
  auto type =
      ArrayType::get(b_.getContext(), b_.getI32Type(), extentsOf(part.getType()), Place::Inferred);
  Value positions = make(IndexOp::getOperationName(), type, {at.back(), length});
  Extent listed = unusedExtent(loop, "listed", step);
  Value list = partOfRow(places_, from, end, listed);
  Value values = partOfRow(values_, from, end, listed);
  b_.create<scf::YieldOp>(loc_, met(list, values, positions, loop.getRegionIterArg(0)));
  return loop.getResult(0);
}

/// A tile of a row per point.
void Scatter::emitGrid(Value ref) {
  int64_t last = rankOf(x_.getType()) - 1;
  llvm::SmallVector<Value> upper, steps;
  for (int64_t axis = 0; axis <= last; ++axis) {
    upper.push_back(lengthOf(b_, x_, axis));
    steps.push_back(constant(axis < last ? 1 : tile_));
  }
  count_ = lengthOf(b_, places_, last);
  OpBuilder::InsertionGuard guard(b_);
  ParallelOp grid = openGrid(b_, loc_, upper, steps, loc_);
  llvm::SmallVector<Value> at(grid.getBody().getArguments());
  Value part = partOfRow(x_, at, upper.back(), unusedExtent(grid, "part", tile_));
  llvm::SmallVector<Value> lengths(at.size(), constant(1));
  lengths.back() = lengthOf(b_, part, 0);
  b_.create<StoreOp>(loc_, tileOf(at, part), ref, at, lengths, ValueRange(), Value(),
                     firstAxes(last), IntegerAttr(), StringAttr());
  b_.create<YieldOp>(loc_);
}

/// Of positions of 64 bits: the branch in whose first arm words hold all of them. In the other one, for rows that words do not reach, elements
/// are written one by one. Null where no row is so long.
scf::IfOp Scatter::reachedByWords(Value ref) {
  int64_t last = rankOf(x_.getType()) - 1;
  const Extent &extent = extentsOf(x_.getType())[static_cast<size_t>(last)];
  bool isWide = elementTypeOf(op_.getIdx().getType()).isInteger(64);
  if (!isWide || (extent.capacity != Extent::kUnknown && extent.capacity <= kReach))
    return {};
  Value reaches = b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle, lengthOf(b_, x_, last),
                                           constant(kReach));
  auto branch = b_.create<scf::IfOp>(loc_, reaches, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(branch.elseBlock());
  auto apart = cast<ScatterOp>(b_.clone(*op_));
  storeWhole(b_, loc_, turned(apart.getResult()), ref);
  expandByPosition(apart, /*tileBytes=*/0, /*machine=*/nullptr);
  return branch;
}

/// The list and its elements in the order of the positions; the order itself.
Value Scatter::ordered(Value ids) {
  int64_t last = rankOf(ids.getType()) - 1;
  if (elementTypeOf(ids.getType()).isInteger(64))
    ids = asWords(b_, loc_, ids);
  auto orders =
      ArrayType::get(b_.getContext(), b_.getI32Type(), extentsOf(ids.getType()), Place::Inferred);
  Value order = make(ArgsortOp::getOperationName(), orders, ids,
                     {b_.getNamedAttr("axis", b_.getI64IntegerAttr(last)),
                      b_.getNamedAttr("descending", b_.getBoolAttr(false))});
  places_ = inOrder(ids, order);
  values_ = inOrder(turned(op_.getV()), order);
  return order;
}

void Scatter::run(int64_t tileBytes, const Machine *machine) {
  Value result = op_.getResult(), ids = turned(op_.getIdx());
  x_ = turned(op_.getX());
  Value ref = storageLike(b_, loc_, x_);
  scf::IfOp branch = reachedByWords(ref);
  if (branch)
    b_.setInsertionPointToStart(branch.thenBlock());
  Value order = ordered(ids);
  llvm::SmallVector<Operation *> parts = {places_.getDefiningOp(), values_.getDefiningOp()};
  emitGrid(ref);
  b_.setInsertionPoint(op_);
  auto type = cast<ArrayType>(x_.getType());
  Value made = turned(loadWhole(
      b_, loc_, ref,
      ArrayType::get(b_.getContext(), type.getElementType(), type.getExtents(), Place::Inferred)));
  if (made.getType() != result.getType())
    made = b_.create<CastOp>(loc_, result.getType(), made);
  result.replaceAllUsesWith(made);
  op_.erase();
  expandOrder(order.getDefiningOp(), tileBytes);
  for (Operation *part : parts)
    expandByPosition(part, tileBytes, machine);
}

bool expandScatterInOrder(ScatterOp scatter, int64_t tileBytes, const Machine *machine) {
  // A list is searched part by part as far as it does not fit on chip: with small parts the scalar unit
  // is sooner at the end.
  constexpr int64_t kShortestPart = 256;
  if (!Scatter::isFor(scatter, machine) || tileBytes / 8 < kShortestPart)
    return false;
  Scatter(scatter, tileBytes).run(tileBytes, machine);
  return true;
}

} // namespace ptl::ir

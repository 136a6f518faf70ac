// Orderings by the sort and merge instructions, and what goes through its elements in order: scans,
// and reductions and orderings of element types without instructions.
#include "passes/lower_block/lowering.h"
#include "passes/lower_block/scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

static int64_t axisOf(Operation *op, int64_t rank) {
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  return axis ? axis.getInt() : rank - 1;
}

// ---- scans and reductions by elements
// ------------------------------------------------------------------------------

/// What does not change a sum, a product, a largest or a smallest value.
Value KernelLowering::identityOf(llvm::StringRef how, Type element) {
  if (how == "add" || how == "mul")
    return scalarConstant(element, how == "add" ? 0 : 1);
  bool largest = how == "max";
  if (isa<FloatType>(element)) {
    double infinity = std::numeric_limits<double>::infinity();
    return scalarConstant(element, largest ? -infinity : infinity);
  }
  unsigned bits = element.getIntOrFloatBitWidth();
  bool isUnsigned = element.isUnsignedInteger();
  APInt limit = largest ? (isUnsigned ? APInt::getMinValue(bits) : APInt::getSignedMinValue(bits))
                        : (isUnsigned ? APInt::getMaxValue(bits) : APInt::getSignedMaxValue(bits));
  return scalarConstant(element, 0, &limit);
}

/// A constant of any element type; `bits` instead of the number for integers that it cannot hold.
Value KernelLowering::scalarConstant(Type element, double number, const APInt *bits) {
  if (!bits)
    return constantOf(element, number);
  Type word = b_.getIntegerType(element.getIntOrFloatBitWidth());
  Value plain = b_.create<arith::ConstantOp>(loc_, b_.getIntegerAttr(word, *bits));
  return element == word ? plain
                         : b_.create<UnrealizedConversionCastOp>(loc_, element, plain).getResult(0);
}

llvm::StringRef combinationOf(Operation *op) {
  return llvm::StringSwitch<llvm::StringRef>(op->getName().stripDialect())
      .Cases("cumsum", "reduce_sum", "add")
      .Cases("cumprod", "reduce_prod", "mul")
      .Cases("cummax", "reduce_max", "max")
      .Cases("cummin", "reduce_min", "min")
      .Default("");
}

void KernelLowering::lowerScan(Operation *op) {
  std::optional<ShapedTile> from = sourceOf(op, op->getOperand(0));
  std::optional<ShapedTile> to = from ? newResult(op) : std::nullopt;
  if (!to)
    return;
  loc_ = op->getLoc();
  auto axis = static_cast<size_t>(axisOf(op, static_cast<int64_t>(to->lengths.size())));
  IndexVector others = IndexVector(to->lengths);
  others[axis] = constant(1);
  forEach(others, [&](Indices outer) {
    Value start = identityOf(combinationOf(op), to->tile.element);
    auto loop =
        b_.create<scf::ForOp>(loc_, constant(0), to->lengths[axis], constant(1), ValueRange(start));
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    IndexVector at(outer.begin(), outer.end());
    at[axis] = loop.getInductionVar();
    Value sum = combineScalars(b_, loc_, combinationOf(op), loop.getRegionIterArg(0),
                               readElement(*from, at));
    writeElement(*to, at, sum);
    b_.create<scf::YieldOp>(loc_, sum);
  });
}

/// Reduces along axes by elements: `step` takes what was gathered, an element and its position, and
/// gives what is gathered then; `done` writes or binds it.
void KernelLowering::foldAxes(
    const ShapedTile &from, llvm::ArrayRef<int64_t> axes, ValueRange start,
    llvm::function_ref<llvm::SmallVector<Value>(ValueRange, Indices)> step,
    llvm::function_ref<void(Indices, ValueRange)> done) {
  IndexVector others = IndexVector(from.lengths);
  for (int64_t axis : axes)
    others[static_cast<size_t>(axis)] = constant(1);
  forEach(others, [&](Indices outer) {
    OpBuilder::InsertionGuard guard(b_);
    IndexVector at(outer.begin(), outer.end());
    llvm::SmallVector<scf::ForOp> loops;
    llvm::SmallVector<Value> carried(start.begin(), start.end());
    for (int64_t axis : axes) {
      auto loop = b_.create<scf::ForOp>(loc_, constant(0), from.lengths[static_cast<size_t>(axis)],
                                        constant(1), carried);
      if (!loops.empty())
        b_.create<scf::YieldOp>(loc_, loop.getResults());
      loops.push_back(loop);
      at[static_cast<size_t>(axis)] = loop.getInductionVar();
      carried.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
      b_.setInsertionPointToStart(loop.getBody());
    }
    llvm::SmallVector<Value> next = step(carried, at);
    b_.create<scf::YieldOp>(loc_, next);
    b_.setInsertionPointAfter(loops.front());
    done(outer, loops.front().getResults());
  });
}

static llvm::SmallVector<int64_t> reducedAxes(Operation *op, int64_t rank) {
  if (auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes"); axes && !axes.empty())
    return llvm::SmallVector<int64_t>(axes.asArrayRef());
  if (auto axis = op->getAttrOfType<IntegerAttr>("axis"))
    return {axis.getInt()};
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

void KernelLowering::reduceByElements(Operation *op) {
  loc_ = op->getLoc();
  Value x = op->getOperand(0), result = op->getResult(0);
  std::optional<ShapedTile> from = sourceOf(op, x);
  if (!from)
    return;
  std::optional<ShapedTile> to;
  if (!isScalar(result) && !(to = newResult(op)))
    return;
  auto done = [&](Indices outer, ValueRange values) {
    if (!to)
      scalars_[result] = values[0];
    else
      writeElement(*to, outer, values[0]);
  };
  llvm::SmallVector<int64_t> axes = reducedAxes(op, ir::rankOf(x.getType()));
  Type element = from->tile.element;
  if (isa<ir::ReduceArgmaxOp, ir::ReduceArgminOp>(op))
    return searchByElements(op, *from, axes, done);
  llvm::StringRef how = combinationOf(op);
  foldAxes(
      *from, axes, identityOf(how, element),
      [&](ValueRange old, Indices at) {
        return llvm::SmallVector<Value>{
            combineScalars(b_, loc_, how, old[0], readElement(*from, at))};
      },
      done);
}

/// The first of the largest or smallest elements: its position in row-major order.
void KernelLowering::searchByElements(Operation *op, const ShapedTile &from,
                                      llvm::ArrayRef<int64_t> axes,
                                      llvm::function_ref<void(Indices, ValueRange)> done) {
  bool largest = isa<ir::ReduceArgmaxOp>(op);
  Type word = b_.getI32Type();
  Value start[] = {constantOf(word, 0), identityOf(largest ? "max" : "min", from.tile.element)};
  foldAxes(
      from, axes, start,
      [&](ValueRange old, Indices at) {
        Value element = readElement(from, at), position = constant(0);
        for (int64_t axis : axes)
          position = plus(times(position, from.lengths[static_cast<size_t>(axis)]),
                          at[static_cast<size_t>(axis)]);
        Value better = comesBefore(element, old[1], largest);
        Value number = b_.createOrFold<arith::IndexCastOp>(loc_, word, position);
        return llvm::SmallVector<Value>{
            b_.createOrFold<arith::SelectOp>(loc_, better, number, old[0]),
            b_.createOrFold<arith::SelectOp>(loc_, better, element, old[1])};
      },
      done);
}

// ---- by the sort instruction
// ---------------------------------------------------------------------------------------

namespace {
constexpr int64_t kSortedAtOnce = 32, kMergedAtOnce = 4;
}

/// The rows of a tile in order, as keys and where they were. The instructions put the largest first
/// and keep the order of equal ones; rows are filled up with NaN, which comes last.
void KernelLowering::sortRows(Operation *op, const Tile &source, bool descending,
                              llvm::function_ref<void(Value, Value, Value)> give) {
  Location loc = op->getLoc();
  int64_t count = kSortedAtOnce;
  while (count < source.extents.cols)
    count *= kMergedAtOnce;
  Type f32 = b_.getF32Type(), i32 = b_.getI32Type(), u32 = b_.getIntegerType(32, false);
  auto row = [&](int64_t cols, Type element) {
    Tile tile;
    tile.extents = {1, cols, constant(1), constant(cols)};
    tile.element = element;
    tile.buffer = allocateLike(tile, loc);
    return tile;
  };
  Tile numbers = row(count, i32), keys = row(count, f32), first = row(2 * count, f32),
       second = row(2 * count, f32), values = row(count, f32), places = row(count, f32);
  emit(loc, InstructionId::TCi, {constantOf(i32, 0)}, {numbers.buffer},
       {b_.getNamedAttr("descending", b_.getBoolAttr(false))});
  Value positions = sameWidth(numbers, u32);
  Value length = source.extents.validCols;
  int64_t cols = std::min(cast<pto::TileBufType>(source.buffer.getType()).getCols(), count);
  forEach({source.extents.validRows}, [&](Indices at) {
    fillWith(keys, constantOf(f32, std::numeric_limits<double>::quiet_NaN()), loc);
    Value in = window(source.buffer, at[0], constant(0), 1, cols, constant(1), length),
          part = window(keys.buffer, constant(0), constant(0), 1, cols, constant(1), length);
    emit(loc, descending ? InstructionId::TMov : InstructionId::TNeg, {in}, {part});
    emit(loc, InstructionId::TSort32, {keys.buffer, positions}, {first.buffer});
    Value from = first.buffer, to = second.buffer;
    for (int64_t sorted = kSortedAtOnce; sorted < count; sorted *= kMergedAtOnce) {
      emit(loc, InstructionId::TMrgSort, {from, constantOf(i32, static_cast<double>(2 * sorted))},
           {to});
      std::swap(from, to);
    }
    auto every = [&](pto::MaskPattern pattern, const Tile &tile) {
      emit(loc, InstructionId::TGatherMask, {from}, {tile.buffer},
           {b_.getNamedAttr("maskPattern", pto::MaskPatternAttr::get(b_.getContext(), pattern))});
    };
    every(pto::MaskPattern::P0101, values);
    every(pto::MaskPattern::P1010, places);
    give(at[0], values.buffer, sameWidth(places, i32));
  });
}

void KernelLowering::lowerSort(Operation *op) {
  Location loc = op->getLoc();
  std::optional<ShapedTile> from = sourceOf(op, op->getOperand(0));
  if (!from)
    return;
  loc_ = loc;
  auto flag = op->getAttrOfType<BoolAttr>("descending");
  bool descending = isa<ir::TopkOp>(op) || (flag && flag.getValue());
  int64_t rank = static_cast<int64_t>(from->lengths.size());
  bool native = axisOf(op, rank) == rank - 1 && from->tile.element.isF32() &&
                takes(InstructionId::TSort32, {from->tile.element}) &&
                from->tile.form != Form::Column;
  from->tile = materialise(from->tile, loc);
  llvm::SmallVector<ShapedTile> to;
  for (unsigned number = 0; number < op->getNumResults(); ++number) {
    std::optional<ShapedTile> one = newResult(op, number);
    if (!one)
      return;
    to.push_back(*one);
  }
  bool wantsKeys = !isa<ir::ArgsortOp>(op), wantsPlaces = !isa<ir::SortOp>(op);
  const ShapedTile *keys = wantsKeys ? &to.front() : nullptr,
                   *places = wantsPlaces ? &to.back() : nullptr;
  if (!native)
    return sortByElements(op, *from, keys, places, descending);
  sortRows(op, from->tile, descending, [&](Value row, Value values, Value positions) {
    auto put = [&](const ShapedTile *shape, Value source, InstructionId id) {
      if (!shape)
        return;
      const Tile &tile = shape->tile;
      auto type = cast<pto::TileBufType>(tile.buffer.getType());
      int64_t cols = std::min(type.getCols(), cast<pto::TileBufType>(source.getType()).getCols());
      if (tile.form == Form::Column) { // one of each row
        Value best = b_.create<pto::TGetValOp>(loc, tile.element, source, constant(0));
        if (id == InstructionId::TNeg)
          best = b_.create<arith::NegFOp>(loc, best);
        writeElement(*shape, columnPosition(*shape, row), best);
        return;
      }
      emit(loc, id,
           {window(source, constant(0), constant(0), 1, cols, constant(1), tile.extents.validCols)},
           {window(tile.buffer, row, constant(0), 1, cols, constant(1), tile.extents.validCols)});
    };
    put(keys, values, descending ? InstructionId::TMov : InstructionId::TNeg);
    put(places, positions, InstructionId::TMov);
  });
}

/// The position of row `row` of a column, for `writeElement`.
IndexVector KernelLowering::columnPosition(const ShapedTile &shape, Value row) {
  IndexVector at(shape.lengths.size(), constant(0));
  // Rows are counted through all axes: that of the last but one may run over the others.
  if (at.size() > 1)
    at[at.size() - 2] = row;
  return at;
}

/// Whether `a` stands before `b` in an order; NaN stands behind everything.
Value KernelLowering::comesBefore(Value a, Value b, bool descending) {
  Type type = a.getType();
  if (isa<FloatType>(type)) {
    Value nan = b_.create<arith::CmpFOp>(loc_, arith::CmpFPredicate::UNO, b, b);
    Value number = b_.create<arith::CmpFOp>(loc_, arith::CmpFPredicate::ORD, a, a);
    Value before = b_.create<arith::CmpFOp>(
        loc_, descending ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, a, b);
    return b_.createOrFold<arith::OrIOp>(loc_, before,
                                         b_.createOrFold<arith::AndIOp>(loc_, nan, number));
  }
  using P = arith::CmpIPredicate;
  bool isUnsigned = type.isUnsignedInteger();
  auto plain = [&](Value value) {
    return isUnsigned ? b_.create<UnrealizedConversionCastOp>(
                              loc_, b_.getIntegerType(type.getIntOrFloatBitWidth()), value)
                            .getResult(0)
                      : value;
  };
  P predicate = descending ? (isUnsigned ? P::ugt : P::sgt) : (isUnsigned ? P::ult : P::slt);
  return b_.createOrFold<arith::CmpIOp>(loc_, predicate, plain(a), plain(b));
}

/// Each element goes to the number of those that stand before it.
void KernelLowering::sortByElements(Operation *op, const ShapedTile &from, const ShapedTile *keys,
                                    const ShapedTile *places, bool descending) {
  auto axis = static_cast<size_t>(axisOf(op, static_cast<int64_t>(from.lengths.size())));
  const ShapedTile &any = keys ? *keys : *places;
  Value length = from.lengths[axis], kept = any.lengths[axis];
  forEach(from.lengths, [&](Indices at) {
    Value element = readElement(from, at);
    auto loop =
        b_.create<scf::ForOp>(loc_, constant(0), length, constant(1), ValueRange(constant(0)));
    {
      OpBuilder::InsertionGuard guard(b_);
      b_.setInsertionPointToStart(loop.getBody());
      IndexVector other(at.begin(), at.end());
      other[axis] = loop.getInductionVar();
      Value that = readElement(from, other);
      Value earlier = b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::slt,
                                               loop.getInductionVar(), at[axis]);
      Value notBehind = b_.create<arith::XOrIOp>(loc_, comesBefore(element, that, descending),
                                                 b_.create<arith::ConstantIntOp>(loc_, 1, 1));
      Value before = b_.create<arith::SelectOp>(loc_, earlier, notBehind,
                                                comesBefore(that, element, descending));
      Value one = b_.create<arith::SelectOp>(loc_, before, constant(1), constant(0));
      b_.create<scf::YieldOp>(loc_, plus(loop.getRegionIterArg(0), one));
    }
    Value place = loop.getResult(0);
    OpBuilder::InsertionGuard guard(b_);
    Value wanted = b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::slt, place, kept);
    auto branch = b_.create<scf::IfOp>(loc_, wanted, /*withElseRegion=*/false);
    b_.setInsertionPointToStart(&branch.getThenRegion().front());
    IndexVector target(at.begin(), at.end());
    target[axis] = place;
    if (keys)
      writeElement(*keys, target, element);
    if (places)
      writeElement(*places, target, b_.create<arith::IndexCastOp>(loc_, b_.getI32Type(), at[axis]));
  });
}

// ---- facts
// -----------------------------------------------------------------------------------------------------

/// Whether values never decrease, or differ.
void KernelLowering::lowerFact(Operation *op) {
  std::optional<ShapedTile> from = sourceOf(op, op->getOperand(0));
  if (!from)
    return;
  loc_ = op->getLoc();
  from->tile = materialise(from->tile, loc_);
  bool sorted = isa<ir::SortedOp>(op);
  Value yes = b_.create<arith::ConstantIntOp>(loc_, 1, 1);
  Value length = from->lengths[0];
  OpBuilder::InsertionGuard guard(b_);
  auto outer = b_.create<scf::ForOp>(loc_, constant(0), length, constant(1), ValueRange(yes));
  b_.setInsertionPointToStart(outer.getBody());
  Value i = outer.getInductionVar(), here = readElement(*from, {i});
  // Sorted: the neighbour before; unique: all before.
  Value begin = constant(0);
  if (sorted)
    begin = b_.create<arith::MaxSIOp>(loc_, b_.create<arith::SubIOp>(loc_, i, constant(1)),
                                      constant(0));
  auto inner =
      b_.create<scf::ForOp>(loc_, begin, i, constant(1), ValueRange(outer.getRegionIterArg(0)));
  b_.setInsertionPointToStart(inner.getBody());
  Value other = readElement(*from, {inner.getInductionVar()});
  Value below = comesBefore(here, other, /*descending=*/false);
  Value bad =
      sorted
          ? below
          : b_.createOrFold<arith::XOrIOp>(
                loc_, b_.createOrFold<arith::OrIOp>(loc_, below, comesBefore(other, here, false)),
                yes);
  Value good = b_.createOrFold<arith::XOrIOp>(loc_, bad, yes);
  b_.create<scf::YieldOp>(loc_,
                          b_.createOrFold<arith::AndIOp>(loc_, inner.getRegionIterArg(0), good));
  b_.setInsertionPointAfter(inner);
  b_.create<scf::YieldOp>(loc_, inner.getResult(0));
  scalars_[op->getResult(0)] = outer.getResult(0);
}

bool KernelLowering::lowerOrder(Operation *op) {
  if (isa<ir::SortOp, ir::ArgsortOp, ir::TopkOp>(op)) {
    bindLengths(op);
    return lowerSort(op), true;
  }
  if (isa<ir::CumsumOp, ir::CumprodOp, ir::CummaxOp, ir::CumminOp>(op))
    return lowerScan(op), true;
  if (isa<ir::UniqueOp, ir::SortedOp>(op))
    return lowerFact(op), true;
  return false;
}

} // namespace ptl::block

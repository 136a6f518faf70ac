// Orderings by the sort and merge instructions, and what goes through its elements in order: scans,
// and reductions and orderings of element types without instructions.
#include "passes/lower_block/lower_order.h"
#include "ir/dialect/element_types.h"
#include "ir/dialect/op_facts.h"
#include "passes/analysis/op_kinds.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/scalars.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;

namespace ptl::block {

using Step = llvm::function_ref<llvm::SmallVector<Value>(mlir::ValueRange, Indices)>;
using Done = llvm::function_ref<void(Indices, mlir::ValueRange)>;

using Form = Tile::Form;

static int64_t axisOf(Operation *op, int64_t rank) {
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  return axis ? axis.getInt() : rank - 1;
}

// ---- scans and reductions by elements -----------------------------------------------------------

static Value scalarConstant(KernelContext &c, Type element, double number,
                            const llvm::APInt *bits = nullptr);
static void searchByElements(KernelContext &c, Operation *op, const ShapedTile &from,
                             llvm::ArrayRef<int64_t> axes, Done done);
static Value comesBefore(KernelContext &c, Value a, Value b, bool descending);
static IndexVector columnPosition(KernelContext &c, const ShapedTile &shape, Value row);
static void sortByElements(KernelContext &c, Operation *op, const ShapedTile &from,
                           const ShapedTile *keys, const ShapedTile *places, bool descending);

Value identityOf(KernelContext &c, OpId combiner, Type element) {
  Scalar identity = ptl::identityOf(combiner, ir::elemKindOf(element));
  Identity kind = opLowering(combiner).identity;
  if (isa<FloatType>(element) || kind == Identity::Zero || kind == Identity::One)
    return scalarConstant(c, element,
                          isa<FloatType>(element) ? identity.f : static_cast<double>(identity.i));
  // A double cannot hold the limits of 64-bit integers.
  APInt bits = APInt(64, static_cast<uint64_t>(identity.i)).trunc(element.getIntOrFloatBitWidth());
  return scalarConstant(c, element, 0, &bits);
}

/// A constant of any element type; `bits` instead of the number for integers that it cannot hold.
static Value scalarConstant(KernelContext &c, Type element, double number, const APInt *bits) {
  if (!bits)
    return constantOf(c, element, number);
  Type word = c.b.getIntegerType(element.getIntOrFloatBitWidth());
  Value plain = c.b.create<arith::ConstantOp>(c.loc, c.b.getIntegerAttr(word, *bits));
  return element == word
             ? plain
             : c.b.create<UnrealizedConversionCastOp>(c.loc, element, plain).getResult(0);
}

static void lowerScan(KernelContext &c, Operation *op) {
  std::optional<ShapedTile> from = sourceOf(c, op, op->getOperand(0));
  std::optional<ShapedTile> to = from ? newResult(c, op) : std::nullopt;
  if (!to)
    return;
  c.loc = op->getLoc();
  auto axis = static_cast<size_t>(axisOf(op, static_cast<int64_t>(to->lengths.size())));
  IndexVector others = IndexVector(to->lengths);
  // Each line along the axis is scanned on its own.
  others[axis] = constant(c, 1);
  forEach(c, others, [&](Indices outer) {
    OpId combiner = *ir::loweringOf(op)->combiner;
    Value start = identityOf(c, combiner, to->tile.element);
    // The running result is a scalar that the loop carries.
    auto loop = c.b.create<scf::ForOp>(c.loc, constant(c, 0), to->lengths[axis], constant(c, 1),
                                       ValueRange(start));
    OpBuilder::InsertionGuard guard(c.b);
    c.b.setInsertionPointToStart(loop.getBody());
    IndexVector at(outer.begin(), outer.end());
    at[axis] = loop.getInductionVar();
    Value sum =
        combineScalars(c.b, c.loc, combiner, loop.getRegionIterArg(0), readElement(c, *from, at));
    writeElement(c, *to, at, sum);
    c.b.create<scf::YieldOp>(c.loc, sum);
  });
}

/// Reduces along axes by elements: `step` takes what was gathered, an element and its position, and
/// gives what is gathered then; `done` writes or binds it.
static void foldAxes(KernelContext &c, const ShapedTile &from, llvm::ArrayRef<int64_t> axes,
                     ValueRange start,
                     llvm::function_ref<llvm::SmallVector<Value>(ValueRange, Indices)> step,
                     llvm::function_ref<void(Indices, ValueRange)> done) {
  IndexVector others = IndexVector(from.lengths);
  for (int64_t axis : axes)
    others[static_cast<size_t>(axis)] = constant(c, 1);
  forEach(c, others, [&](Indices outer) {
    OpBuilder::InsertionGuard guard(c.b);
    IndexVector at(outer.begin(), outer.end());
    llvm::SmallVector<scf::ForOp> loops;
    llvm::SmallVector<Value> carried(start.begin(), start.end());
    for (int64_t axis : axes) {
      auto loop = c.b.create<scf::ForOp>(
          c.loc, constant(c, 0), from.lengths[static_cast<size_t>(axis)], constant(c, 1), carried);
      // The loops are nested, and each hands on what the one within it gives.
      if (!loops.empty())
        c.b.create<scf::YieldOp>(c.loc, loop.getResults());
      loops.push_back(loop);
      at[static_cast<size_t>(axis)] = loop.getInductionVar();
      carried.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
      c.b.setInsertionPointToStart(loop.getBody());
    }
    // Only the innermost loop computes. It yields the new values, the loops around it what it gives them.
    llvm::SmallVector<Value> next = step(carried, at);
    c.b.create<scf::YieldOp>(c.loc, next);
    c.b.setInsertionPointAfter(loops.front());
    done(outer, loops.front().getResults());
  });
}

void reduceByElements(KernelContext &c, Operation *op) {
  c.loc = op->getLoc();
  Value x = op->getOperand(0), result = op->getResult(0);
  std::optional<ShapedTile> from = sourceOf(c, op, x);
  if (!from)
    return;
  // A scalar result has no tile: it is what the loops carry at their end.
  std::optional<ShapedTile> to;
  if (!isScalar(c, result) && !(to = newResult(c, op)))
    return;
  auto done = [&](Indices outer, ValueRange values) {
    if (!to)
      c.scalars[result] = values[0];
    else
      writeElement(c, *to, outer, values[0]);
  };
  llvm::SmallVector<int64_t> axes = ir::reducedAxesOf(op);
  Type element = from->tile.element;
  if (isa<ir::ReduceArgmaxOp, ir::ReduceArgminOp>(op))
    return searchByElements(c, op, *from, axes, done);
  OpId combiner = *ir::loweringOf(op)->combiner;
  foldAxes(
      c, *from, axes, identityOf(c, combiner, element),
      [&](ValueRange old, Indices at) {
        return llvm::SmallVector<Value>{
            combineScalars(c.b, c.loc, combiner, old[0], readElement(c, *from, at))};
      },
      done);
}

/// The first of the largest or smallest elements: its position in row-major order.
static void searchByElements(KernelContext &c, Operation *op, const ShapedTile &from,
                             llvm::ArrayRef<int64_t> axes,
                             llvm::function_ref<void(Indices, ValueRange)> done) {
  bool largest = isa<ir::ReduceArgmaxOp>(op);
  Type word = c.b.getI32Type();
  // Without anything better than the identity the first position is the answer.
  Value start[] = {constantOf(c, word, 0),
                   identityOf(c, *ir::loweringOf(op)->combiner, from.tile.element)};
  foldAxes(
      c, from, axes, start,
      [&](ValueRange old, Indices at) {
        Value element = readElement(c, from, at), position = constant(c, 0);
        for (int64_t axis : axes)
          position = plus(c, times(c, position, from.lengths[static_cast<size_t>(axis)]),
                          at[static_cast<size_t>(axis)]);
        Value better = comesBefore(c, element, old[1], largest);
        Value number = c.b.createOrFold<arith::IndexCastOp>(c.loc, word, position);
        return llvm::SmallVector<Value>{
            c.b.createOrFold<arith::SelectOp>(c.loc, better, number, old[0]),
            c.b.createOrFold<arith::SelectOp>(c.loc, better, element, old[1])};
      },
      done);
}

// ---- by the sort instruction --------------------------------------------------------------------

namespace {
constexpr int64_t kSortedAtOnce = 32, kMergedAtOnce = 4;
}

/// A copy of keys in which every NaN is `nan`.
static void unifyNaNs(KernelContext &c, Value from, Value to, const Tile &mask, Value nan,
                      Location loc) {
  auto equal =
      c.b.getNamedAttr("cmpMode", pto::CmpModeAttr::get(c.b.getContext(), pto::CmpMode::eq));
  emit(c, loc, InstructionId::TCmp, {from, from}, {mask.buffer}, {equal});
  Extents2 one{1, 32, constant(c, 1), constant(c, 32)};
  Value scratch = allocate(c, ir::Place::Vec, "nd", one, c.b.getI8Type(), loc);
  emit(c, loc, InstructionId::TSels, {mask.buffer, from, scratch, nan}, {to});
}

/// The rows of a tile in order, as keys and where they were. The instructions put the largest first
/// and keep the order of equal ones. Chips put a NaN last only if its sign is negative, so all of
/// the keys become such ones, and rows are filled up with them.
static void sortRows(KernelContext &c, Operation *op, const Tile &source, bool descending,
                     llvm::function_ref<void(Value, Value, Value)> give) {
  Location loc = op->getLoc();
  // Sorting gives runs of 32, and each merge joins four runs.
  int64_t count = kSortedAtOnce;
  while (count < source.extents.cols)
    count *= kMergedAtOnce;
  Type f32 = c.b.getF32Type(), i32 = c.b.getI32Type(), u32 = c.b.getIntegerType(32, false);
  auto row = [&](int64_t cols, Type element) {
    Tile tile;
    tile.extents = {1, cols, constant(c, 1), constant(c, cols)};
    tile.element = element;
    tile.buffer = allocateLike(c, tile, loc);
    return tile;
  };
  // Sorted elements come in pairs of a key and its position, which take rows of twice the length.
  Tile numbers = row(count, i32), keys = row(count, f32), first = row(2 * count, f32),
       second = row(2 * count, f32), values = row(count, f32), places = row(count, f32);
  Value last = constantOf(c, f32, -std::numeric_limits<double>::quiet_NaN());
  emit(c, loc, InstructionId::TCi, {constantOf(c, i32, 0)}, {numbers.buffer},
       {c.b.getNamedAttr("descending", c.b.getBoolAttr(false))});
  Value positions = sameWidth(c, numbers, u32);
  Value length = source.extents.validCols;
  int64_t cols = std::min(cast<pto::TileBufType>(source.buffer.getType()).getCols(), count);
  Tile mask;
  mask.form = Form::Mask;
  mask.element = c.b.getI1Type();
  mask.extents = {1, cols, constant(c, 1), length};
  mask.buffer = allocateLike(c, mask, loc);
  forEach(c, {source.extents.validRows}, [&](Indices at) {
    auto rowOf = [&](Value buffer, Value from) {
      return window(c, buffer, from, constant(c, 0), 1, cols, constant(c, 1), length);
    };
    fillWith(c, keys, last, loc);
    Value in = rowOf(source.buffer, at[0]), part = rowOf(keys.buffer, constant(c, 0));
    if (!descending) {
      // The instruction sorts downwards, so an ascending order sorts the negated keys.
      Value negated = rowOf(values.buffer, constant(c, 0));
      emit(c, loc, InstructionId::TNeg, {in}, {negated});
      in = negated;
    }
    unifyNaNs(c, in, part, mask, last, loc);
    emit(c, loc, InstructionId::TSort32, {keys.buffer, positions}, {first.buffer});
    Value from = first.buffer, to = second.buffer;
    for (int64_t sorted = kSortedAtOnce; sorted < count; sorted *= kMergedAtOnce) {
      emit(c, loc, InstructionId::TMrgSort,
           {from, constantOf(c, i32, static_cast<double>(2 * sorted))}, {to});
      // Merging cannot work in place, so two rows take turns.
      std::swap(from, to);
    }
    auto every = [&](pto::MaskPattern pattern, const Tile &tile) {
      emit(c, loc, InstructionId::TGatherMask, {from}, {tile.buffer},
           {c.b.getNamedAttr("maskPattern", pto::MaskPatternAttr::get(c.b.getContext(), pattern))});
    };
    // Keys are at even places, positions at odd ones.
    every(pto::MaskPattern::P0101, values);
    every(pto::MaskPattern::P1010, places);
    give(at[0], values.buffer, sameWidth(c, places, i32));
  });
}

static void lowerSort(KernelContext &c, Operation *op) {
  Location loc = op->getLoc();
  std::optional<ShapedTile> from = sourceOf(c, op, op->getOperand(0));
  if (!from)
    return;
  c.loc = loc;
  auto flag = op->getAttrOfType<BoolAttr>("descending");
  bool descending = isa<ir::TopkOp>(op) || (flag && flag.getValue());
  int64_t rank = static_cast<int64_t>(from->lengths.size());
  from->tile = materialise(c, from->tile, loc); // a splat may become a column
  // The instruction sorts f32 along rows.
  bool native = axisOf(op, rank) == rank - 1 && from->tile.element.isF32() &&
                takes(c, InstructionId::TSort32, {from->tile.element}) &&
                from->tile.form != Form::Column;
  llvm::SmallVector<ShapedTile> to;
  for (unsigned number = 0; number < op->getNumResults(); ++number) {
    std::optional<ShapedTile> one = newResult(c, op, number);
    if (!one)
      return;
    to.push_back(*one);
  }
  bool wantsKeys = !isa<ir::ArgsortOp>(op), wantsPlaces = !isa<ir::SortOp>(op);
  const ShapedTile *keys = wantsKeys ? &to.front() : nullptr,
                   *places = wantsPlaces ? &to.back() : nullptr;
  if (!native)
    return sortByElements(c, op, *from, keys, places, descending);
  sortRows(c, op, from->tile, descending, [&](Value row, Value values, Value positions) {
    auto put = [&](const ShapedTile *shape, Value source, InstructionId id) {
      if (!shape)
        return;
      const Tile &tile = shape->tile;
      auto type = cast<pto::TileBufType>(tile.buffer.getType());
      int64_t cols = std::min(type.getCols(), cast<pto::TileBufType>(source.getType()).getCols());
      if (tile.form == Form::Column) { // one of each row
        Value best = c.b.create<pto::TGetValOp>(loc, tile.element, source, constant(c, 0));
        if (id == InstructionId::TNeg)
          best = c.b.create<arith::NegFOp>(loc, best);
        writeElement(c, *shape, columnPosition(c, *shape, row), best);
        return;
      }
      emit(c, loc, id,
           {window(c, source, constant(c, 0), constant(c, 0), 1, cols, constant(c, 1),
                   tile.extents.validCols)},
           {window(c, tile.buffer, row, constant(c, 0), 1, cols, constant(c, 1),
                   tile.extents.validCols)});
    };
    put(keys, values, descending ? InstructionId::TMov : InstructionId::TNeg);
    put(places, positions, InstructionId::TMov);
  });
}

/// The position of row `row` of a column, for `writeElement`.
static IndexVector columnPosition(KernelContext &c, const ShapedTile &shape, Value row) {
  IndexVector at(shape.lengths.size(), constant(c, 0));
  // Rows are counted through all axes: that of the last but one may run over the others.
  if (at.size() > 1)
    at[at.size() - 2] = row;
  return at;
}

/// Whether `a` stands before `b` in an order; NaN stands behind everything.
static Value comesBefore(KernelContext &c, Value a, Value b, bool descending) {
  Type type = a.getType();
  if (isa<FloatType>(type)) {
    // A number stands before a NaN, which an ordered comparison would not say.
    Value nan = c.b.create<arith::CmpFOp>(c.loc, arith::CmpFPredicate::UNO, b, b);
    Value number = c.b.create<arith::CmpFOp>(c.loc, arith::CmpFPredicate::ORD, a, a);
    Value before = c.b.create<arith::CmpFOp>(
        c.loc, descending ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, a, b);
    return c.b.createOrFold<arith::OrIOp>(c.loc, before,
                                          c.b.createOrFold<arith::AndIOp>(c.loc, nan, number));
  }
  using P = arith::CmpIPredicate;
  bool isUnsigned = type.isUnsignedInteger();
  auto plain = [&](Value value) {
    return isUnsigned ? c.b.create<UnrealizedConversionCastOp>(
                               c.loc, c.b.getIntegerType(type.getIntOrFloatBitWidth()), value)
                            .getResult(0)
                      : value;
  };
  P predicate = descending ? (isUnsigned ? P::ugt : P::sgt) : (isUnsigned ? P::ult : P::slt);
  return c.b.createOrFold<arith::CmpIOp>(c.loc, predicate, plain(a), plain(b));
}

static bool isSameLength(Value a, Value b) {
  APInt one, other;
  return a == b || (matchPattern(a, m_ConstantInt(&one)) &&
                    matchPattern(b, m_ConstantInt(&other)) && one == other);
}

/// Each element goes to the number of those that stand before it.
static void sortByElements(KernelContext &c, Operation *op, const ShapedTile &from,
                           const ShapedTile *keys, const ShapedTile *places, bool descending) {
  auto axis = static_cast<size_t>(axisOf(op, static_cast<int64_t>(from.lengths.size())));
  const ShapedTile &any = keys ? *keys : *places;
  // Counting takes quadratic time but no memory, and every element type has it.
  Value length = from.lengths[axis], kept = any.lengths[axis];
  // Data decide which place an element takes, so the proof that all are written needs a value in each.
  forEach(c, any.lengths, [&](Indices at) {
    for (const ShapedTile *shape : {keys, places})
      if (shape)
        writeElement(c, *shape, at, constantOf(c, shape->tile.element, 0));
  });
  forEach(c, from.lengths, [&](Indices at) {
    Value element = readElement(c, from, at);
    auto loop = c.b.create<scf::ForOp>(c.loc, constant(c, 0), length, constant(c, 1),
                                       ValueRange(constant(c, 0)));
    {
      OpBuilder::InsertionGuard guard(c.b);
      c.b.setInsertionPointToStart(loop.getBody());
      IndexVector other(at.begin(), at.end());
      other[axis] = loop.getInductionVar();
      Value that = readElement(c, from, other);
      // Of equal elements the earlier one comes first, so that the order is stable.
      Value earlier = c.b.create<arith::CmpIOp>(c.loc, arith::CmpIPredicate::slt,
                                                loop.getInductionVar(), at[axis]);
      Value notBehind = c.b.create<arith::XOrIOp>(c.loc, comesBefore(c, element, that, descending),
                                                  c.b.create<arith::ConstantIntOp>(c.loc, 1, 1));
      Value before = c.b.create<arith::SelectOp>(c.loc, earlier, notBehind,
                                                 comesBefore(c, that, element, descending));
      Value one = c.b.create<arith::SelectOp>(c.loc, before, constant(c, 1), constant(c, 0));
      c.b.create<scf::YieldOp>(c.loc, plus(c, loop.getRegionIterArg(0), one));
    }
    Value place = loop.getResult(0);
    OpBuilder::InsertionGuard guard(c.b);
    if (!isSameLength(kept, length)) { // of a whole order every element has a place
      Value wanted = c.b.create<arith::CmpIOp>(c.loc, arith::CmpIPredicate::slt, place, kept);
      auto branch = c.b.create<scf::IfOp>(c.loc, wanted, /*withElseRegion=*/false);
      c.b.setInsertionPointToStart(&branch.getThenRegion().front());
    }
    IndexVector target(at.begin(), at.end());
    target[axis] = place;
    if (keys)
      writeElement(c, *keys, target, element);
    if (places)
      writeElement(c, *places, target,
                   c.b.create<arith::IndexCastOp>(c.loc, c.b.getI32Type(), at[axis]));
  });
}

// ---- facts --------------------------------------------------------------------------------------

/// Whether values never decrease, or differ.
static void lowerFact(KernelContext &c, Operation *op) {
  std::optional<ShapedTile> from = sourceOf(c, op, op->getOperand(0));
  if (!from)
    return;
  c.loc = op->getLoc();
  from->tile = materialise(c, from->tile, c.loc);
  bool sorted = isa<ir::SortedOp>(op);
  Value yes = c.b.create<arith::ConstantIntOp>(c.loc, 1, 1);
  Value length = from->lengths[0];
  OpBuilder::InsertionGuard guard(c.b);
  auto outer =
      c.b.create<scf::ForOp>(c.loc, constant(c, 0), length, constant(c, 1), ValueRange(yes));
  c.b.setInsertionPointToStart(outer.getBody());
  Value i = outer.getInductionVar(), here = readElement(c, *from, {i});
  // Sorted: the neighbour before; unique: all before.
  Value begin = constant(c, 0);
  if (sorted)
    begin = c.b.create<arith::MaxSIOp>(c.loc, c.b.create<arith::SubIOp>(c.loc, i, constant(c, 1)),
                                       constant(c, 0));
  auto inner = c.b.create<scf::ForOp>(c.loc, begin, i, constant(c, 1),
                                      ValueRange(outer.getRegionIterArg(0)));
  c.b.setInsertionPointToStart(inner.getBody());
  Value other = readElement(c, *from, {inner.getInductionVar()});
  Value below = comesBefore(c, here, other, /*descending=*/false);
  Value bad =
      sorted ? below
             : c.b.createOrFold<arith::XOrIOp>(
                   c.loc,
                   c.b.createOrFold<arith::OrIOp>(c.loc, below, comesBefore(c, other, here, false)),
                   yes);
  Value good = c.b.createOrFold<arith::XOrIOp>(c.loc, bad, yes);
  c.b.create<scf::YieldOp>(c.loc,
                           c.b.createOrFold<arith::AndIOp>(c.loc, inner.getRegionIterArg(0), good));
  c.b.setInsertionPointAfter(inner);
  c.b.create<scf::YieldOp>(c.loc, inner.getResult(0));
  c.scalars[op->getResult(0)] = outer.getResult(0);
}

InstructionPatterns orderPatterns() {
  static constexpr InstructionPattern patterns[] = {
      {[](Operation *op, const Machine &) -> llvm::StringRef {
         return isa<ir::SortOp, ir::ArgsortOp, ir::TopkOp>(op) ? "sort" : "";
       },
       [](KernelContext &c, Operation *op) {
         bindLengths(c, op);
         lowerSort(c, op);
       }},
      {[](Operation *op, const Machine &) -> llvm::StringRef {
         return isa<ir::CumsumOp, ir::CumprodOp, ir::CummaxOp, ir::CumminOp>(op) ? "scan" : "";
       },
       lowerScan},
      {[](Operation *op, const Machine &) -> llvm::StringRef {
         return isa<ir::UniqueOp, ir::SortedOp>(op) ? "compare" : "";
       },
       lowerFact}};
  return patterns;
}

} // namespace ptl::block

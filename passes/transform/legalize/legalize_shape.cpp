// Operations that move, repeat or make elements.

#include "passes/transform/legalize/legalize_shape.h"
#include "passes/transform/expand/join_axes.h"
#include "passes/transform/legalize/legalize_comparison.h"
#include "passes/transform/legalize/legalize_wide.h"

#include "ir/dialect/grid_scope.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir::legalize {

Merged mergeAxes(const Tiles &t, llvm::ArrayRef<Extent> extents, ValueRange lengths, int64_t begin,
                 int64_t end) {
  Merged merged;
  int64_t capacity = 1;
  Value length = t.index(1);
  for (int64_t axis = begin; axis < end; ++axis) {
    const Extent &extent = extents[static_cast<size_t>(axis)];
    // A named extent counts with its capacity, the most that it can be.
    int64_t own = extent.isConstant() ? extent.length : extent.capacity;
    capacity =
        own == Extent::kUnknown || capacity == Extent::kUnknown ? Extent::kUnknown : capacity * own;
    length = t.r.createOrFold<arith::MulIOp>(t.loc, length, lengths[static_cast<size_t>(axis)]);
  }
  // The name spells the product, so that equal products are known to be equal lengths.
  Extent joined = joinedExtent(t.r.getContext(), extents.slice(begin, end - begin));
  if (!joined.isConstant())
    joined = Extent::named(joined.symbol, capacity);
  for (int64_t axis = 0; axis < static_cast<int64_t>(extents.size()); ++axis) {
    if (axis >= begin && axis < end) {
      if (axis == begin) {
        merged.extents.push_back(joined);
        merged.lengths.push_back(length);
      }
      continue;
    }
    merged.extents.push_back(extents[static_cast<size_t>(axis)]);
    merged.lengths.push_back(lengths[static_cast<size_t>(axis)]);
  }
  return merged;
}

static Type arrayLike(Value result, Type elem) {
  auto type = cast<ArrayType>(result.getType());
  return arrayTypeOf(elem, type.getExtents());
}

/// Whether the first operand lies in global memory, where the host or a load takes parts of it.
static bool isOfStored(Operation *op) {
  Value first = op->getOperand(0);
  auto type = dyn_cast<ArrayType>(first.getType());
  return type && (type.getPlace() == Place::Gm || isOutsideGrid(op, first) ||
                  !op->getParentOfType<ParallelOp>());
}

// ---- truth values -------------------------------------------------------------------------------

/// Packed bits do not move one by one: numbers do, and are compared again. What is read from global
/// memory has a byte for each, and so has every array outside of grids, of which the host takes
/// parts.
static Value onNumbers(const Tiles &t, Operation *op) {
  if (!isBool(elem(op->getResult(0))) || isOfStored(op))
    return {};
  llvm::SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isBool(elem(operand)) ? maskToNumbers(t, operand) : operand);
  return numbersToMask(t, t.cloneWith(op, operands, t.f16()));
}

/// Elements that no instruction moves by themselves: truth values as numbers, 64 bits as words.
static Value onParts(const Tiles &t, Operation *op) {
  if (isWide(t, elem(op->getResult(0))) && !isOfStored(op))
    return onWords(t, op);
  return onNumbers(t, op);
}

// ---- repetition ---------------------------------------------------------------------------------

static Value rewriteBroadcast(const Tiles &t, Operation *op) {
  Value x = op->getOperand(0);
  if (Value result = onNumbers(t, op))
    return result;
  llvm::ArrayRef<Extent> extents = extentsOf(op->getResult(0).getType());
  llvm::ArrayRef<Extent> own = extentsOf(x.getType());
  int64_t repeated = 0;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    size_t behind = extents.size() - axis;
    repeated += !extents[axis].isOne() && (own.size() < behind || own[own.size() - behind].isOne());
  }
  // One repeated axis is what an instruction does. Rows repeat as words, whatever their elements are, but columns do not.
  bool isColumn = isArray(x) && own.back().isOne() && !extents.back().isOne();
  if (repeated == 1 && own.size() == extents.size())
    return isColumn && isWide(t, elem(x)) && !isOfStored(op) ? onWords(t, op) : Value();
  // The new lengths are operands, in the order of the named extents.
  llvm::SmallVector<Value> lengths(op->getOperands().drop_front());
  llvm::SmallVector<int64_t> missing =
      llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(extents.size() - own.size())));
  Value result = t.newAxis(x, missing);
  llvm::SmallVector<Extent> reached(extentsOf(result.getType()));
  // Each step repeats along one axis, the last first, so that the rows are long before they repeat.
  for (size_t axis = extents.size(); axis-- > 0;) {
    if (!reached[axis].isOne() || extents[axis].isOne())
      continue;
    reached[axis] = extents[axis];
    OperationState state(t.loc, BroadcastOp::getOperationName());
    state.addOperands(result);
    size_t next = 0;
    // Only the extents reached so far have their lengths as operands.
    for (size_t n = 0; n < extents.size(); ++n) {
      if (extents[n].isConstant())
        continue;
      if (!reached[n].isConstant())
        state.addOperands(lengths[next]);
      ++next;
    }
    state.addTypes(arrayTypeOf(elem(x), reached));
    result = t.r.create(state)->getResult(0);
  }
  return result;
}

// ---- arrays of one value ------------------------------------------------------------------------

/// Element types that no instruction fills with a scalar.
static Value fillAs(const Tiles &t, Operation *op, Value scalar, ValueRange lengths) {
  Type type = elem(op->getResult(0));
  if (t.target.has("texpands", type))
    return {};
  // Short floats are filled as f32 and integers of 8 bits or masks as f16, then converted.
  bool asFloat = isReal(type) && type.getIntOrFloatBitWidth() < 32;
  Type hub = asFloat ? t.f32() : t.f16();
  if (!asFloat && !isBool(type) && intBits(type) != 8)
    return {};
  OperationState state(t.loc, FullOp::getOperationName());
  state.addOperands(lengths);
  state.addOperands(isBool(type) ? t.choose(scalar, hub, 1, 0) : t.convert(scalar, hub));
  state.addTypes(arrayLike(op->getResult(0), hub));
  Value filled = t.r.create(state)->getResult(0);
  if (isBool(type))
    return numbersToMask(t, filled);
  return asFloat ? t.narrow(filled, type) : t.convert(filled, type);
}

static Value rewriteFull(const Tiles &t, Operation *op) {
  return fillAs(t, op, op->getOperands().back(), op->getOperands().drop_back());
}
static Value rewriteZeros(const Tiles &t, Operation *op) {
  return fillAs(t, op, t.number(elem(op->getResult(0)), 0), op->getOperands());
}
static Value rewriteOnes(const Tiles &t, Operation *op) {
  return fillAs(t, op, t.number(elem(op->getResult(0)), 1), op->getOperands());
}

// ---- positions ----------------------------------------------------------------------------------

static Value rewriteOneHot(const Tiles &t, Operation *op) {
  auto oneHot = cast<OneHotOp>(op);
  Value ids = oneHot.getIds();
  int64_t rank = rankOf(ids.getType());
  OperationState state(t.loc, IndexOp::getOperationName());
  state.addOperands(t.index(0));
  state.addOperands(oneHot.getLengths());
  Extent last = extentsOf(oneHot.getResult().getType()).back();
  state.addTypes(arrayTypeOf(t.i32(), last));
  Value positions = t.r.create(state)->getResult(0);
  // Numbers out of range saturate, so that they match no position.
  Value column = t.newAxis(t.convert(ids, t.i32(), "even", true), {rank});
  return t.convert(t.eq(column, positions), elem(oneHot.getResult()));
}

static Value rewriteTriangle(const Tiles &t, Operation *op) {
  Value x = op->getOperand(0);
  int64_t rank = rankOf(x.getType());
  Value row = t.positions(x, rank - 2), column = t.positions(x, rank - 1);
  if (op->getNumOperands() > 1) {
    Value diagonal = op->getOperand(1);
    row = t.add(row, t.r.createOrFold<arith::IndexCastOp>(t.loc, t.i32(), diagonal));
  }
  Value keep = isa<TrilOp>(op) ? t.le(column, row) : t.ge(column, row);
  return t.select(keep, x, t.number(elem(x), 0));
}

// ---- parts --------------------------------------------------------------------------------------

/// The margin is filled, the operand put inside.
static Value rewritePad(const Tiles &t, Operation *op) {
  if (Value result = onNumbers(t, op))
    return result;
  auto pad = cast<PadOp>(op);
  llvm::ArrayRef<Extent> extents = extentsOf(pad.getResult().getType());
  llvm::SmallVector<Value> offsets, inner, named;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    Value length = t.length(pad.getX(), static_cast<int64_t>(axis));
    Value before = pad.getBefore().empty() ? t.index(0) : pad.getBefore()[axis];
    offsets.push_back(before);
    inner.push_back(length);
    Value all = t.r.createOrFold<arith::AddIOp>(t.loc, length, before);
    if (!pad.getAfter().empty())
      all = t.r.createOrFold<arith::AddIOp>(t.loc, all, pad.getAfter()[axis]);
    if (!extents[axis].isConstant())
      named.push_back(all);
  }
  OperationState state(t.loc, FullOp::getOperationName());
  state.addOperands(named);
  state.addOperands(pad.getValue());
  state.addTypes(arrayLike(pad.getResult(), elem(pad.getX())));
  // The result begins as the margin's value everywhere.
  Value filled = t.r.create(state)->getResult(0);
  auto none = t.r.getDenseI64ArrayAttr({});
  return t.r.create<InsertOp>(t.loc, filled.getType(), pad.getX(), filled, offsets, inner,
                              ValueRange(), Value(), none, IntegerAttr());
}

/// One behind the other, then each second one from the second half.
static Value rewriteInterleave(const Tiles &t, Operation *op) {
  if (Value result = onNumbers(t, op))
    return result;
  Value a = op->getOperand(0), b = op->getOperand(1);
  int64_t rank = rankOf(a.getType());
  auto axis = t.r.getNamedAttr("axis", t.r.getI64IntegerAttr(rank - 1));
  OperationState join(t.loc, ConcatOp::getOperationName());
  join.addOperands({a, b});
  join.addAttribute(axis.getName(), axis.getValue());
  join.addTypes(arrayLike(op->getResult(0), elem(a)));
  Value both = t.r.create(join)->getResult(0);
  Value half = t.length(a, rank - 1);
  Value twice = t.r.createOrFold<arith::AddIOp>(t.loc, half, half);
  OperationState index(t.loc, IndexOp::getOperationName());
  index.addOperands(t.index(0));
  Extent last = extentsOf(both.getType()).back();
  if (!last.isConstant())
    index.addOperands(twice);
  index.addTypes(arrayTypeOf(t.i32(), last));
  Value position = t.r.create(index)->getResult(0);
  Value start = t.r.createOrFold<arith::IndexCastOp>(t.loc, t.i32(), half);
  // Even positions read from the first half and odd ones from the second.
  Value from = t.add(t.shr(position, 1), t.mul(t.bitAnd(position, 1), start));
  llvm::SmallVector<Value> sources = {from, a};
  OperationState gather(t.loc, GatherOp::getOperationName());
  gather.addOperands({both, t.spread(from, extentsOf(both.getType()), sources)});
  gather.addAttribute(axis.getName(), axis.getValue());
  gather.addTypes(both.getType());
  return t.r.create(gather)->getResult(0);
}

/// A product that the cube core does not compute looks positions up before the transposition, and turns only what stands there: it may be one
/// of an axis without a bound.
static Value rewriteTranspose(const Tiles &t, Operation *op) {
  bool isFactor = !op->use_empty() &&
                  llvm::all_of(op->getUsers(), [](Operation *user) { return isa<MatmulOp>(user); });
  return isFactor ? Value() : onParts(t, op);
}

/// Where rows get another length, elements move.
static Value rewriteReshape(const Tiles &t, Operation *op) {
  llvm::ArrayRef<Extent> own = extentsOf(op->getOperand(0).getType()),
                         extents = extentsOf(op->getResult(0).getType());
  bool keepsRows = !own.empty() && !extents.empty() && own.back() == extents.back();
  return keepsRows ? onNumbers(t, op) : onParts(t, op);
}

static constexpr Row kShapeRows[] = {
    {"broadcast", rewriteBroadcast},
    {"zeros", rewriteZeros},
    {"ones", rewriteOnes},
    {"full", rewriteFull},
    {"one_hot", rewriteOneHot},
    {"tril", rewriteTriangle},
    {"triu", rewriteTriangle},
    {"pad", rewritePad},
    {"interleave", rewriteInterleave},
    {"transpose", rewriteTranspose},
    {"reshape", rewriteReshape},
    {"concat", onNumbers},
    {"slice", onNumbers},
    {"new_axis", onNumbers},
    {"insert", onNumbers},
    {"take", onNumbers},
    {"gather", onParts},
};

llvm::ArrayRef<Row> shapeRows() { return kShapeRows; }

} // namespace ptl::ir::legalize

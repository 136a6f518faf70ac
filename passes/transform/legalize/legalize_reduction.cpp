// Reductions, searches and scans.
#include "passes/transform/legalize/legalize_reduction.h"
#include "ir/dialect/make_op.h"
#include "passes/transform/legalize/legalize_comparison.h"

#include "frontend/base/round_up.h"
#include "ir/dialect/element_types.h"
#include "ir/dialect/op_facts.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/combiners.h"
#include "passes/transform/legalize/legalize_shape.h"
#include "passes/transform/legalize/legalize_wide.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;

namespace ptl::ir::legalize {

// ---- reductions ---------------------------------------------------------------------------------

namespace {
/// How an element type is reduced: as `as`, which some step leads to and back from.
struct Detour {
  enum Kind : uint8_t { None, Convert, Bits, FlippedBits, Mask } kind = None;
  Type as;
};
} // namespace

/// From so many elements on a row is scanned as a square, whose rows have at least so many elements: that
/// is a whole block of memory for every element type that is scanned.
static constexpr int64_t kLongRow = 128, kLeastSide = 16;

/// A tile of more elements of 64 bits than this leaves too little room for what a scan makes in between.
static constexpr int64_t kMostWideScanned = 2048;

static OpId combinerOf(Operation *op) { return *loweringOf(op)->combiner; }

static bool accumulates(Operation *op) {
  OpId combiner = combinerOf(op);
  return combiner == OpId::Add || combiner == OpId::Mul;
}

/// Sums and products run in the accumulator type, which every machine reduces; extremes in a type
/// that keeps the order. Nothing where there is no such type.
static std::optional<Detour> detourFor(const Tiles &t, Operation *op, Type type,
                                       llvm::StringRef instruction) {
  if (isBool(type))
    return Detour{Detour::Mask, t.f16()};
  if (isReal(type)) {
    if (type.isF32() || (!accumulates(op) && t.target.has(instruction, type)))
      return Detour{Detour::None, type};
    return type.getIntOrFloatBitWidth() < 32 ? std::optional(Detour{Detour::Convert, t.f32()})
                                             : std::nullopt;
  }
  if (intBits(type) == 8)
    // f16 keeps the order of 8-bit integers exactly, and sums go to 32 bits before they can wrap.
    return Detour{Detour::Convert, accumulates(op) ? t.i32() : t.f16()};
  if (t.target.has(instruction, type))
    return Detour{Detour::None, type};
  if (intBits(type) == 0 || intBits(type) > 32)
    return std::nullopt;
  // Sums wrap alike for both signs; extremes need the top bit inverted to keep the order.
  return Detour{accumulates(op) ? Detour::Bits : Detour::FlippedBits, t.bitsOf(type)};
}

static Value enter(const Tiles &t, const Detour &detour, Value x) {
  switch (detour.kind) {
  case Detour::None:
    return x;
  case Detour::Convert:
    // A value that was narrowed for its type alone is taken before that rounding.
    return isReal(elem(x)) ? t.widen(x, detour.as) : t.convert(x, detour.as);
  case Detour::Mask:
    return maskToNumbers(t, x, detour.as);
  default:
    break;
  }
  Value bits = t.bitcast(x, detour.as);
  double top = -std::ldexp(1.0, static_cast<int>(intBits(detour.as)) - 1);
  return detour.kind == Detour::Bits ? bits : t.bitXor(bits, top);
}

static Value leave(const Tiles &t, const Detour &detour, Value x, Type to) {
  switch (detour.kind) {
  case Detour::None:
    return x;
  case Detour::Convert:
    return isReal(to) ? t.narrow(x, to) : t.convert(x, to);
  case Detour::Mask:
    return t.gt(x, 0); // Over nothing the largest number is below 0.
  default:
    break;
  }
  double top = -std::ldexp(1.0, static_cast<int>(intBits(detour.as)) - 1);
  return t.bitcast(detour.kind == Detour::Bits ? x : t.bitXor(x, top), to);
}

/// Along one axis; `op`'s kind of reduction, for means and truth values the one they are made of.
static Value reduceAxis(const Tiles &t, llvm::StringRef name, Value x, int64_t axis) {
  llvm::SmallVector<Extent> extents(extentsOf(x.getType()));
  extents[static_cast<size_t>(axis)] = Extent::constant(1);
  return makeOp(t.r, t.loc, name, arrayTypeOf(elem(x), extents), x,
                {t.r.getNamedAttr("axes", t.r.getDenseI64ArrayAttr(axis))});
}

/// Rows, then columns; further axes become columns by merging what follows them.
static Value reduceAxes(const Tiles &t, llvm::StringRef name, Value x,
                        llvm::SmallVector<int64_t> axes) {
  int64_t rank = rankOf(x.getType());
  // Later axes come first, so that the positions of the others stay.
  llvm::sort(axes, std::greater<int64_t>());
  for (int64_t axis : axes) {
    if (axis >= rank - 2) {
      x = reduceAxis(t, name, x, axis);
      continue;
    }
    llvm::SmallVector<Extent> extents(extentsOf(x.getType()));
    llvm::SmallVector<Value> lengths;
    // The axes behind it become one, so that the reduced axis is the one before the last.
    for (int64_t n = 0; n < rank; ++n)
      lengths.push_back(t.length(x, n));
    Merged merged = mergeAxes(t, extents, lengths, axis + 1, rank);
    Value reduced = reduceAxis(t, name, t.reshape(x, merged.extents, merged.lengths), axis);
    extents[static_cast<size_t>(axis)] = Extent::constant(1);
    x = t.reshape(reduced, extents, lengths);
  }
  return x;
}

static Value rewriteWideReduction(const Tiles &t, Operation *op, OpId kind, Value x,
                                  llvm::ArrayRef<int64_t> axes) {
  Value result = reduceWide(t, kind, x, axes, [&](OpId words, Value each) {
    return reduceAxes(t, operationName(words), each, llvm::SmallVector<int64_t>(axes));
  });
  if (!result || isArray(op->getResult(0)))
    return result;
  return t.dropAxes(result, llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x.getType()))));
}

static Value rewriteReduction(const Tiles &t, Operation *op) {
  Value x = op->getOperand(0);
  if (!isArray(x))
    return {};
  int64_t rank = rankOf(x.getType());
  llvm::SmallVector<int64_t> axes = reducedAxesOf(op);
  bool isScalar = !isArray(op->getResult(0));
  OpId kind = loweringOf(op)->onNumbers.value_or(*opIdOf(op));
  std::string_view instruction = instructionInfo(*opLowering(kind).forms.alongRows).mnemonic;
  std::optional<Detour> detour = detourFor(t, op, elem(x), instruction);
  if (!detour && isWide(t, elem(x)))
    return rewriteWideReduction(t, op, kind, x, axes);
  if (!detour)
    return {};
  // What the machine does in one instruction stays as it is.
  bool isDirect = detour->kind == Detour::None && axes.size() == 1 && axes[0] >= rank - 2 &&
                  !isScalar && !isa<ReduceMeanOp>(op);
  if (isDirect)
    return {};
  Value result = reduceAxes(t, operationName(kind), enter(t, *detour, x), axes);
  if (isScalar)
    result = t.dropAxes(result, llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  if (isa<ReduceMeanOp>(op))
    // The mean is divided in the accumulator's type, before rounding to the result's.
    result = t.div(result, countAlong(t.r, t.loc, x, axes));
  return leave(t, *detour, result, elem(op->getResult(0)));
}

// ---- searches -----------------------------------------------------------------------------------

static Value searchAlong(const Tiles &t, Operation *op, Value x, int64_t axis) {
  llvm::SmallVector<Extent> extents(extentsOf(x.getType()));
  extents[static_cast<size_t>(axis)] = Extent::constant(1);
  return makeOp(t.r, t.loc, op->getName().getStringRef(), arrayTypeOf(t.i32(), extents), x,
                {t.r.getNamedAttr("axis", t.r.getI64IntegerAttr(axis))});
}

static Value rewriteSearch(const Tiles &t, Operation *op) {
  Value x = op->getOperand(0);
  int64_t rank = rankOf(x.getType());
  const VectorForms &forms = loweringOf(op)->forms;
  std::optional<Detour> detour =
      detourFor(t, op, elem(x), instructionInfo(*forms.alongRows).mnemonic);
  bool isOfWords = !detour && isWide(t, elem(x));
  if (!detour && !isOfWords)
    return {};
  auto attribute = op->getAttrOfType<IntegerAttr>("axis");
  if (!attribute) {
    // Without an axis the position is that in the flat array.
    if (rank != 1) {
      llvm::SmallVector<Value> lengths;
      for (int64_t n = 0; n < rank; ++n)
        lengths.push_back(t.length(x, n));
      Merged merged = mergeAxes(t, extentsOf(x.getType()), lengths, 0, rank);
      x = t.reshape(x, merged.extents, merged.lengths);
    }
    // What is made here is rewritten again, which then finds an axis and the type that the machine searches.
    return t.dropAxes(searchAlong(t, op, x, 0), {0});
  }
  int64_t axis = attribute.getInt();
  if (isOfWords)
    return searchWide(t, op, axis, [&](OpId kind, Value each) {
      return reduceAxes(t, operationName(kind), each, {axis});
    });
  // Searching along columns needs an instruction of its own.
  bool byColumn =
      axis == rank - 2 && t.target.has(instructionInfo(*forms.alongColumns).mnemonic, detour->as);
  if (axis == rank - 1 || byColumn)
    return detour->kind == Detour::None ? Value() : searchAlong(t, op, enter(t, *detour, x), axis);
  // Other axes are exchanged with the last one and back.
  llvm::SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[static_cast<size_t>(axis)], order.back());
  return t.transpose(searchAlong(t, op, t.transpose(x, order), rank - 1), order);
}

// ---- scans --------------------------------------------------------------------------------------

/// `x` moved up by `step` along the axis; what comes in is `outside`.
static Value shifted(const Tiles &t, Value x, int64_t axis, int64_t step, double outside) {
  llvm::SmallVector<Value> offsets, lengths;
  for (int64_t n = 0; n < rankOf(x.getType()); ++n) {
    offsets.push_back(t.index(n == axis ? -step : 0));
    lengths.push_back(t.length(x, n));
  }
  return t.r.create<SliceOp>(t.loc, x.getType(), x, offsets, lengths, ValueRange(),
                             t.number(elem(x), outside), t.r.getDenseI64ArrayAttr({}));
}

/// Scans along an axis in steps that double, as Hillis and Steele do: after each step an element covers
/// twice as many before it. `combiner` is the name of the operation, `outside` its identity element.
static Value scanInSteps(const Tiles &t, llvm::StringRef combiner, Value y, int64_t axis,
                         double outside) {
  int64_t capacity = extentsOf(y.getType())[static_cast<size_t>(axis)].capacity;
  for (int64_t step = 1; step < capacity; step *= 2)
    y = t.make(combiner, elem(y), {y, shifted(t, y, axis, step, outside)});
  return y;
}

/// The same along rows. Elements of rows lie side by side, so columns are scanned instead: moving
/// those is free of alignment.
static Value scanRows(const Tiles &t, llvm::StringRef combiner, Value y, double outside) {
  int64_t rank = rankOf(y.getType());
  llvm::SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return t.transpose(scanInSteps(t, combiner, t.transpose(y, order), rank - 2, outside), order);
}

namespace {
/// Scans long rows in segments: these are the rows of a square, which are scanned side by side, and then
/// each is combined with the results of the segments before it in its row. A row alone would use one lane
/// of each instruction, and a few rows a few.
class SegmentScan {
public:
  /// `x`: one row, or a matrix of rows.
  SegmentScan(const Tiles &t, Operation *op, Value x);
  /// Whether the rows are so long that they have several segments.
  bool isWorthIt() const { return segments_ > 1; }
  Value scan(double outside) const;

private:
  Value resultsBefore(Value totals, double outside) const;
  Value part(Value x, ArrayType type, llvm::ArrayRef<Value> lengths, Value outside = {}) const {
    llvm::SmallVector<Value> zeros(lengths.size(), t_.index(0));
    return t_.r.create<SliceOp>(t_.loc, type, x, zeros, lengths, ValueRange(), outside,
                                t_.r.getDenseI64ArrayAttr({}));
  }

  const Tiles &t_;
  llvm::StringRef combiner_;
  Value x_;
  int64_t rows_ = 1, segments_ = 1; ///< segments of a row
  int64_t length_ = kLeastSide;     ///< of a segment
};
} // namespace

SegmentScan::SegmentScan(const Tiles &t, Operation *op, Value x)
    : t_(t), combiner_(operationName(combinerOf(op))), x_(x) {
  llvm::ArrayRef<Extent> extents = extentsOf(x.getType());
  int64_t capacity = extents.back().capacity;
  rows_ = extents.size() > 1 ? extents.front().capacity : 1;
  if (extents.size() > 2 || capacity < kLongRow || rows_ == Extent::kUnknown)
    return;
  while (length_ * length_ < rows_ * capacity)
    length_ *= 2;
  // Powers of two tell rows apart by the bits of positions.
  segments_ =
      static_cast<int64_t>(llvm::bit_ceil(static_cast<uint64_t>(countCovering(capacity, length_))));
  // A single row needs not tell any apart.
  if (rows_ == 1)
    segments_ = countCovering(capacity, length_);
}

/// For each segment, what those before it in its row come to.
Value SegmentScan::resultsBefore(Value totals, double outside) const {
  const Extent &down = extentsOf(totals.getType()).front();
  // Row `i` of this matrix has the results of the segments before `i`.
  Value before = t_.broadcastTo(t_.transpose(totals, {1, 0}),
                                t_.spread(totals, {down, down}, {totals, totals}));
  Value own = t_.positions(before, 0), other = t_.broadcastTo(t_.positions(before, 1), before);
  Value isBefore = t_.lt(other, own);
  if (rows_ > 1) {
    double ofRow = -static_cast<double>(segments_);
    isBefore = t_.both(isBefore, t_.ge(other, t_.bitAnd(own, ofRow)));
  }
  return reduceAxis(t_, reductionBy(combiner_), t_.select(isBefore, before, outside), 1);
}

Value SegmentScan::scan(double outside) const {
  int64_t rank = rankOf(x_.getType());
  Type type = elem(x_);
  Extent whole = Extent::constant(segments_ * length_);
  llvm::SmallVector<Extent> extents{whole};
  llvm::SmallVector<Value> lengths{t_.index(whole.length)}, own{t_.length(x_, rank - 1)};
  if (rank > 1) {
    extents.insert(extents.begin(), Extent::constant(rows_));
    lengths.insert(lengths.begin(), t_.index(rows_));
    own.insert(own.begin(), t_.length(x_, 0));
  }
  Value full = part(x_, arrayTypeOf(type, extents), lengths, t_.number(type, outside));
  int64_t all = rows_ * segments_;
  Value square = t_.reshape(full, {Extent::constant(all), Extent::constant(length_)},
                            {t_.index(all), t_.index(length_)});
  Value totals = reduceAxis(t_, reductionBy(combiner_), square, 1);
  Value scanned = t_.make(
      combiner_, type, {scanRows(t_, combiner_, square, outside), resultsBefore(totals, outside)});
  return part(t_.reshape(scanned, extents, lengths), cast<ArrayType>(x_.getType()), own);
}

/// Whether an array is one row along `axis` that fills many lanes.
static bool isLongRow(Value x, int64_t axis) {
  llvm::ArrayRef<Extent> extents = extentsOf(x.getType());
  for (auto [n, extent] : llvm::enumerate(extents))
    if (static_cast<int64_t>(n) != axis && !extent.isOne())
      return false;
  return extents[static_cast<size_t>(axis)].capacity >= kLongRow;
}

/// The most elements of a tile; more than any limit if that is not known.
static int64_t elementsOf(Value x) {
  int64_t count = 1;
  for (const Extent &extent : extentsOf(x.getType())) {
    if (extent.capacity == Extent::kUnknown)
      return std::numeric_limits<int64_t>::max();
    count *= extent.capacity;
  }
  return count;
}

static Value rewriteScan(const Tiles &t, Operation *op) {
  Value x = op->getOperand(0);
  auto axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
  int64_t rank = rankOf(x.getType());
  int64_t capacity = extentsOf(x.getType())[static_cast<size_t>(axis)].capacity;
  std::optional<Detour> detour = detourFor(t, op, elem(x), accumulates(op) ? "tadd" : "tmax");
  // What has no instruction for 64 bits is made of words, each step by itself, for which a few more tiles need room.
  if (!detour && isWide(t, elem(x)) && elementsOf(x) <= kMostWideScanned)
    detour = Detour{Detour::None, elem(x)};
  if (capacity == Extent::kUnknown || !detour)
    return {};
  Value y = enter(t, *detour, x);
  // What comes in from outside must not change the result, so it is the combiner's identity
  // element.
  Scalar identity = identityOf(combinerOf(op), elemKindOf(elem(y)));
  double outside = isReal(elem(y)) ? identity.f : static_cast<double>(identity.i);
  llvm::StringRef combiner = operationName(combinerOf(op));
  if (isLongRow(y, axis)) {
    llvm::SmallVector<int64_t> others;
    for (int64_t n = 0; n < rank; ++n)
      if (n != axis)
        others.push_back(n);
    y = t.newAxis(SegmentScan(t, op, t.dropAxes(y, others)).scan(outside), others);
  } else if (rank == 1)
    // A vector is scanned as a column, since moving rows of one element is free of alignment.
    y = t.dropAxes(scanInSteps(t, combiner, t.newAxis(y, {1}), 0, outside), {1});
  else if (axis != rank - 1)
    y = scanInSteps(t, combiner, y, axis, outside);
  else if (SegmentScan segments(t, op, y); segments.isWorthIt())
    y = segments.scan(outside);
  else
    y = scanRows(t, combiner, y, outside);
  return leave(t, *detour, y, elem(x));
}

static constexpr Row kReductionRows[] = {
    {"reduce_sum", rewriteReduction},  {"reduce_prod", rewriteReduction},
    {"reduce_max", rewriteReduction},  {"reduce_min", rewriteReduction},
    {"reduce_mean", rewriteReduction}, {"reduce_any", rewriteReduction},
    {"reduce_all", rewriteReduction},  {"reduce_argmax", rewriteSearch},
    {"reduce_argmin", rewriteSearch},  {"cumsum", rewriteScan},
    {"cumprod", rewriteScan},          {"cummax", rewriteScan},
    {"cummin", rewriteScan},
};

llvm::ArrayRef<Row> reductionRows() { return kReductionRows; }

} // namespace ptl::ir::legalize

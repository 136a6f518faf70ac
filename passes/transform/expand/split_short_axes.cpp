// Axes of two to four elements that lie side by side in memory. As rows of tiles they leave most of a vector instruction
// empty, and in a transposition each element moves alone. Seen as longer rows of which every second element belongs to one
// position (`reshape(x, [R, 2 * W])[:, i::2]` for `x[:, :, i]`), they are moved by strides.

#include "passes/transform/expand/split_short_axes.h"

#include "ir/dialect/make_op.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/combiners.h"
#include "passes/transform/expand/expand_rows.h"
#include "passes/transform/expand/join_axes.h"
#include "passes/transform/groups/access.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/narrow_axis.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ptl::ir {

/// Longer axes are rows that an instruction fills well enough, and each position more reads the memory between once more.
static constexpr int64_t kMostPositions = 4;

static bool isShort(const Extent &extent) {
  return extent.isConstant() && extent.length >= 2 && extent.length <= kMostPositions;
}

/// Whether strides move elements of the type.
static bool hasStrides(Type elem) {
  unsigned bits = elem.isIndex() ? 64 : elem.getIntOrFloatBitWidth();
  return bits == 16 || bits == 32;
}

/// Whether an array lies in memory, element behind element, and is not computed on the way.
static bool liesInMemory(Value array) {
  while (auto reshape = array.getDefiningOp<ReshapeOp>())
    array = reshape->getOperand(0);
  Operation *made = array.getDefiningOp();
  if (made && (isTiled(made) || !isa<LoadOp>(made)))
    return false;
  auto load = dyn_cast_or_null<LoadOp>(made);
  return (!load || isUnchangedUntil(load, nullptr)) && liesInOrder(array);
}

/// Whether axes can be joined: joined extents are named after those of their axes.
static bool haveNames(llvm::ArrayRef<Extent> extents) {
  return llvm::all_of(extents,
                      [](const Extent &extent) { return extent.isConstant() || extent.symbol; });
}

namespace {
class ShortAxis {
public:
  /// `made`: what the folds before have become.
  ShortAxis(Operation *op, llvm::SetVector<Operation *> &made)
      : op_(op), b_(op), loc_(op->getLoc()), x_(op->getOperand(0)),
        extents_(extentsOf(x_.getType())), made_(made) {}

  bool run();

private:
  bool fold();
  /// Memory with other axes than the operand, and their lengths.
  struct Seen {
    Value array;
    llvm::SmallVector<Extent> extents;
    llvm::SmallVector<Value> lengths;
  };
  bool foldsByParts() const;
  bool foldWindow();
  bool foldRows();
  Seen seenInRuns(Value memory, llvm::ArrayRef<size_t> ends);
  void foldParts(int64_t places, llvm::function_ref<Value(int64_t)> partAtPlace);
  bool takeApart(TransposeOp transpose);
  bool putTogether(TransposeOp transpose);
  bool repeat();
  size_t last() const { return extents_.size() - 1; }
  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }
  Value convert(Value x, Type to);
  Value elementwise(llvm::StringRef name, ValueRange operands);
  Value joinLastAxes();
  Value everyOf(Value joined, int64_t first);
  Value at(Value x, size_t axis, int64_t position);
  Value partAt(Value value, size_t axis, int64_t position);
  bool isOfParts(Value value) const;
  Value turned(Value part, llvm::ArrayRef<int64_t> axes);
  Value withAxis(Value part, int64_t axis);
  void interleave(llvm::ArrayRef<Value> parts, int64_t count, int64_t planes);
  void replaceFold(Value folded, size_t axis);
  void answerLengths(llvm::ArrayRef<int64_t> axes);
  void replaceWith(Value value) {
    op_->getResult(0).replaceAllUsesWith(value);
    op_->erase();
  }

  Operation *op_;
  OpBuilder b_;
  Location loc_;
  Value x_;
  llvm::SmallVector<Extent> extents_; ///< of the operand
  llvm::SetVector<Operation *> &made_;
};
} // namespace

Value ShortAxis::convert(Value x, Type to) {
  if (elementTypeOf(x.getType()) == to)
    return x;
  return makeOp<ConvertOp>(b_, loc_, arrayTypeOf(to, extentsOf(x.getType())), x,
                           {b_.getNamedAttr("round", b_.getStringAttr("even")),
                            b_.getNamedAttr("saturate", b_.getBoolAttr(false))});
}

Value ShortAxis::elementwise(llvm::StringRef name, ValueRange operands) {
  return makeOp(b_, loc_, name, operands.front().getType(), operands);
}

/// The operand with one axis instead of its last two.
Value ShortAxis::joinLastAxes() {
  llvm::SmallVector<Extent> joined(extents_);
  joined.pop_back();
  joined.back() = joinedExtent(b_.getContext(), llvm::ArrayRef(extents_).take_back(2));
  llvm::SmallVector<Value> operands{x_};
  for (auto [axis, extent] : llvm::enumerate(joined)) {
    if (extent.isConstant())
      continue;
    Value length = lengthOf(b_, x_, static_cast<int64_t>(axis));
    if (axis + 1 == joined.size())
      length = b_.createOrFold<arith::MulIOp>(loc_, length, constant(extents_.back().length));
    operands.push_back(length);
  }
  return makeOp<ReshapeOp>(b_, loc_, arrayTypeOf(elementTypeOf(x_.getType()), joined), operands);
}

/// The elements at one position of the operand's last axis, from what has it joined with the axis before.
Value ShortAxis::everyOf(Value joined, int64_t first) {
  size_t rank = last();
  llvm::SmallVector<Value> offsets(rank, constant(0)), steps(rank, constant(1)), lengths;
  offsets.back() = constant(first);
  steps.back() = constant(extents_.back().length);
  for (size_t axis = 0; axis < rank; ++axis)
    lengths.push_back(lengthOf(b_, x_, static_cast<int64_t>(axis)));
  Type type = arrayTypeOf(elementTypeOf(x_.getType()), llvm::ArrayRef(extents_).drop_back());
  return b_.create<SliceOp>(loc_, type, joined, offsets, lengths, steps, Value(),
                            b_.getDenseI64ArrayAttr({}));
}

/// An array at one position of an axis, without that axis.
Value ShortAxis::at(Value x, size_t axis, int64_t position) {
  llvm::SmallVector<Extent> kept(extentsOf(x.getType()));
  llvm::SmallVector<Value> offsets(kept.size(), constant(0)), lengths;
  for (size_t each = 0; each < kept.size(); ++each)
    lengths.push_back(each == axis ? constant(1) : lengthOf(b_, x, static_cast<int64_t>(each)));
  offsets[axis] = constant(position);
  kept.erase(kept.begin() + static_cast<int64_t>(axis));
  return b_.create<SliceOp>(loc_, arrayTypeOf(elementTypeOf(x.getType()), kept), x, offsets,
                            lengths, ValueRange(), Value(),
                            b_.getDenseI64ArrayAttr({static_cast<int64_t>(axis)}));
}

/// Whether folds have become this value, which can then be computed of parts.
bool ShortAxis::isOfParts(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!isa<ArrayType>(value.getType()))
    return true;
  return op && made_.contains(op) &&
         (isa<SliceOp>(op) ||
          llvm::all_of(op->getOperands(), [&](Value operand) { return isOfParts(operand); }));
}

/// What folds have become, at one position of an axis and without it.
Value ShortAxis::partAt(Value value, size_t axis, int64_t position) {
  if (!isa<ArrayType>(value.getType()))
    return value;
  Operation *op = value.getDefiningOp();
  auto dropped = static_cast<int64_t>(axis);
  llvm::SmallVector<Extent> kept(extentsOf(value.getType()));
  kept.erase(kept.begin() + dropped);
  Type type = arrayTypeOf(elementTypeOf(value.getType()), kept);
  if (auto slice = dyn_cast<SliceOp>(op)) {
    llvm::SmallVector<Value> offsets(slice.getOffsets()), lengths(slice.getLengths());
    offsets[axis] = constant(position);
    lengths[axis] = constant(1);
    return b_.create<SliceOp>(loc_, type, slice.getSource(), offsets, lengths, slice.getSteps(),
                              Value(), b_.getDenseI64ArrayAttr({dropped}));
  }
  llvm::SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(partAt(operand, axis, position));
  return makeOp(b_, loc_, op->getName().getStringRef(), type, operands,
                llvm::to_vector(op->getAttrs()));
}

/// A part with its axes in the order that the list gives those of the operand, some of which it lacks.
Value ShortAxis::turned(Value part, llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<int64_t> order(axes), ranks(axes);
  llvm::sort(ranks);
  llvm::SmallVector<Extent> extents;
  for (int64_t &axis : order) {
    extents.push_back(extents_[static_cast<size_t>(axis)]);
    axis = llvm::find(ranks, axis) - ranks.begin();
  }
  if (llvm::is_sorted(order))
    return part;
  return b_.create<TransposeOp>(loc_, arrayTypeOf(elementTypeOf(x_.getType()), extents), part,
                                b_.getDenseI64ArrayAttr(order));
}

Value ShortAxis::withAxis(Value part, int64_t axis) {
  llvm::SmallVector<Extent> extents(extentsOf(part.getType()));
  extents.insert(extents.begin() + axis, Extent::constant(1));
  return b_.create<NewAxisOp>(loc_, arrayTypeOf(elementTypeOf(part.getType()), extents), part,
                              b_.getDenseI64ArrayAttr({axis}));
}

/// Lengths of a value are asked of what it is made of.
static void answerLengthsOf(Value value) {
  for (Operation *user : llvm::make_early_inc_range(value.getUsers()))
    if (auto dim = dyn_cast<DimOp>(user)) {
      OpBuilder b(dim);
      Value length = lengthOf(b, value, static_cast<int64_t>(dim.getAxis()));
      if (length == dim.getResult())
        continue;
      dim.replaceAllUsesWith(length);
      dim.erase();
    }
}

/// Lengths of the result are asked of the operand, whose axes are these, so that no array stays for its length alone.
void ShortAxis::answerLengths(llvm::ArrayRef<int64_t> axes) {
  for (Operation *user : llvm::make_early_inc_range(op_->getResult(0).getUsers()))
    if (auto dim = dyn_cast<DimOp>(user)) {
      OpBuilder b(dim);
      dim.replaceAllUsesWith(lengthOf(b, x_, axes[dim.getAxis()]));
      dim.erase();
    }
}

/// Replaces the operation by rows with an element of each of `count` parts in turn. With `planes` there are as many such rows side by side
/// on an axis before them, whose parts come one row after the other; 0: there is no such axis.
void ShortAxis::interleave(llvm::ArrayRef<Value> parts, int64_t count, int64_t planes) {
  Value first = parts.front(), result = op_->getResult(0);
  llvm::SmallVector<Extent> extents(extentsOf(first.getType()));
  size_t rank = extents.size() + (planes > 0 ? 1 : 0);
  Extent row = extents.back();
  extents.back() = joinedExtent(b_.getContext(), {row, Extent::constant(count)});
  llvm::SmallVector<Value> offsets(rank, constant(0)), lengths, named, ofResult;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    lengths.push_back(lengthOf(b_, first, static_cast<int64_t>(axis)));
    if (extents[axis].isConstant())
      continue;
    bool isRow = axis + 1 == extents.size();
    ofResult.push_back(lengths.back());
    named.push_back(isRow ? b_.createOrFold<arith::MulIOp>(loc_, lengths.back(), constant(count))
                          : lengths.back());
  }
  llvm::SmallVector<int64_t> dropped;
  if (planes > 0) {
    dropped.push_back(static_cast<int64_t>(rank) - 2);
    extents.insert(extents.end() - 1, Extent::constant(planes));
    lengths.insert(lengths.end() - 1, constant(1));
  }
  llvm::SmallVector<Value> steps(rank, constant(1));
  steps.back() = constant(count);
  ArrayType type = arrayTypeOf(elementTypeOf(x_.getType()), extents);
  Value ref = allocateStorage(b_, loc_, type, named);
  for (auto [number, part] : llvm::enumerate(parts)) {
    auto at = static_cast<int64_t>(number);
    offsets.back() = constant(at % count);
    if (planes > 0)
      offsets[rank - 2] = constant(at / count);
    b_.create<StoreOp>(loc_, part, ref, offsets, lengths, steps, Value(),
                       b_.getDenseI64ArrayAttr(dropped), IntegerAttr(), StringAttr());
  }
  Value whole = loadWhole(b_, loc_, ref, type);
  if (isa<BroadcastOp>(op_))
    answerLengthsOf(result);
  else
    answerLengths(cast<TransposeOp>(op_).getAxes());
  // What gives the result another shape gives it to what is stored.
  result.replaceUsesWithIf(whole, [](OpOperand &use) {
    return isa<ReshapeOp>(use.getOwner()) && use.getOperandNumber() == 0;
  });
  if (result.use_empty())
    return op_->erase();
  llvm::SmallVector<Value> operands{whole};
  operands.append(ofResult);
  replaceWith(makeOp<ReshapeOp>(b_, loc_, result.getType(), operands));
}

/// Replaces a fold by what lacks the folded axis, for those, too, who take that axis away.
void ShortAxis::replaceFold(Value folded, size_t axis) {
  auto own = static_cast<int64_t>(axis);
  Value result = op_->getResult(0);
  bool isKept = extentsOf(result.getType()).size() == extents_.size();
  llvm::SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq(static_cast<int64_t>(extents_.size())));
  if (!isKept)
    axes.erase(axes.begin() + own);
  // The axis itself has a constant extent, which nobody asks for.
  answerLengths(axes);
  if (!isKept)
    return replaceWith(folded);
  for (Operation *user : llvm::make_early_inc_range(result.getUsers())) {
    auto slice = dyn_cast<SliceOp>(user);
    bool isSame = slice && slice.getDropped() == llvm::ArrayRef<int64_t>(own) &&
                  !slice.getOutside() && slice.getSteps().empty() &&
                  slice.getType() == folded.getType() &&
                  llvm::all_of(slice.getOffsets(),
                               [](Value offset) { return getConstantIntValue(offset) == 0; });
    if (!isSame)
      continue;
    slice.getResult().replaceAllUsesWith(folded);
    slice->erase();
  }
  if (result.use_empty())
    return op_->erase();
  replaceWith(withAxis(folded, own));
}

/// A fold of a short axis, as arithmetic on the elements at its positions.
bool ShortAxis::fold() {
  bool isMean = isa<ReduceMeanOp>(op_);
  llvm::SmallVector<int64_t> axes = foldedAxesOf(op_);
  if (!isa<ReduceSumOp, ReduceMeanOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp>(op_) ||
      axes.size() != 1 || !isShort(extents_[static_cast<size_t>(axes.front())]))
    return false;
  auto axis = static_cast<size_t>(axes.front());
  // Rows are folded well where they are long; those of what was folded before may as well be its parts.
  bool isFolded = isOfParts(x_);
  if (!isFolded && (axis != last() || !liesInMemory(x_)))
    return false;
  Type elem = elementTypeOf(x_.getType()), wide = elem;
  if (!isa<ReduceMaxOp, ReduceMinOp>(op_) && isa<FloatType>(elem) &&
      elem.getIntOrFloatBitWidth() < 32)
    wide = b_.getF32Type();
  Operation *before = op_->getPrevNode();
  Value joined = isFolded ? Value() : joinLastAxes(), sum;
  int64_t count = extents_[axis].length;
  for (int64_t position = 0; position < count; ++position) {
    Value part = isFolded ? partAt(x_, axis, position) : everyOf(joined, position);
    part = convert(part, wide);
    sum = sum ? elementwise(combinerOf(op_), {sum, part}) : part;
  }
  if (isMean)
    sum = elementwise(DivOp::getOperationName(),
                      {sum, numberOf(b_, loc_, wide, static_cast<double>(count))});
  sum = convert(sum, elem);
  Operation *each = before ? before->getNextNode() : &op_->getBlock()->front();
  for (; each != op_; each = each->getNextNode())
    if (isa<ArrayType>(each->getResult(0).getType()) && !isa<ReshapeOp>(each))
      made_.insert(each);
  replaceFold(sum, axis);
  return true;
}

/// What lies in memory of what is folded: conversions on the way are of each part.
static Value memoryOf(Value x) {
  auto converted = x.getDefiningOp<ConvertOp>();
  Value memory = converted ? converted->getOperand(0) : x;
  return liesInMemory(memory) && hasStrides(elementTypeOf(memory.getType())) ? memory : Value();
}

/// Replaces a fold by arithmetic on parts of memory: for each place a part has what the result has.
void ShortAxis::foldParts(int64_t places, llvm::function_ref<Value(int64_t)> partAtPlace) {
  Type given = elementTypeOf(x_.getType()), wide = given;
  if (!isa<ReduceMaxOp, ReduceMinOp>(op_) && isa<FloatType>(given) &&
      given.getIntOrFloatBitWidth() < 32)
    wide = b_.getF32Type();
  auto converted = x_.getDefiningOp<ConvertOp>();
  Value sum;
  for (int64_t place = 0; place < places; ++place) {
    Value part = partAtPlace(place);
    if (elementTypeOf(part.getType()) != given)
      part = cloneWith(b_, converted, part, arrayTypeOf(given, extentsOf(part.getType())));
    part = convert(part, wide);
    sum = sum ? elementwise(combinerOf(op_), {sum, part}) : part;
  }
  if (isa<ReduceMeanOp>(op_))
    sum = elementwise(DivOp::getOperationName(),
                      {sum, numberOf(b_, loc_, wide, static_cast<double>(places))});
  Value result = op_->getResult(0);
  answerLengthsOf(result);
  llvm::SmallVector<Value> shaped{convert(sum, given)};
  for (auto [axis, extent] : llvm::enumerate(extentsOf(result.getType())))
    if (!extent.isConstant())
      shaped.push_back(lengthOf(b_, result, static_cast<int64_t>(axis)));
  replaceWith(makeOp<ReshapeOp>(b_, loc_, result.getType(), shaped));
}

/// Memory with one axis for each of these runs of the operand's axes, of which each begins where the one before it ends.
ShortAxis::Seen ShortAxis::seenInRuns(Value memory, llvm::ArrayRef<size_t> ends) {
  Seen seen;
  llvm::SmallVector<Value> operands{memory};
  for (size_t begin = 0; size_t end : ends) {
    seen.extents.push_back(
        joinedExtent(b_.getContext(), llvm::ArrayRef(extents_).slice(begin, end - begin)));
    Value length;
    for (; begin < end; ++begin) {
      Value own = lengthOf(b_, x_, static_cast<int64_t>(begin));
      length = length ? b_.createOrFold<arith::MulIOp>(loc_, length, own) : own;
    }
    seen.lengths.push_back(length);
    if (!seen.extents.back().isConstant())
      operands.push_back(length);
  }
  seen.array = makeOp<ReshapeOp>(
      b_, loc_, arrayTypeOf(elementTypeOf(memory.getType()), seen.extents), operands);
  return seen;
}

bool ShortAxis::foldsByParts() const {
  return isa<ReduceSumOp, ReduceMeanOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp>(op_) &&
         llvm::all_of(foldedAxesOf(op_),
                      [&](int64_t axis) { return isShort(extents_[static_cast<size_t>(axis)]); });
}

/// A fold of windows of an image, `[.., H, P, W, Q]` along `P` and `Q`, as arithmetic on the elements at each place of a window. All axes in
/// front are one, so that tiles have rows of many images.
bool ShortAxis::foldWindow() {
  llvm::SmallVector<int64_t> axes = foldedAxesOf(op_);
  size_t rank = extents_.size();
  Value memory = memoryOf(x_);
  if (rank < 4 || !memory || !foldsByParts() ||
      axes != llvm::SmallVector<int64_t>{static_cast<int64_t>(rank) - 3,
                                         static_cast<int64_t>(rank) - 1})
    return false;
  int64_t wide = extents_.back().length;
  Seen seen = seenInRuns(memory, {rank - 3, rank - 2, rank});
  Value width = lengthOf(b_, x_, static_cast<int64_t>(rank) - 2);
  Type type = arrayTypeOf(elementTypeOf(memory.getType()), {seen.extents[0], extents_[rank - 2]});
  foldParts(extents_[rank - 3].length * wide, [&](int64_t place) -> Value {
    return b_.create<SliceOp>(
        loc_, type, seen.array,
        ValueRange{constant(0), constant(place / wide), constant(place % wide)},
        ValueRange{seen.lengths[0], constant(1), width},
        ValueRange{constant(1), constant(1), constant(wide)}, Value(),
        b_.getDenseI64ArrayAttr({1}));
  });
  return true;
}

/// A fold of short axes in front of rows that stay, as colours in front of an image or windows of pixels whose channels lie side by side:
/// tiles would have the few rows that become one.
bool ShortAxis::foldRows() {
  constexpr int64_t kMostPlaces = 9;
  llvm::SmallVector<int64_t> axes = foldedAxesOf(op_);
  Value memory = memoryOf(x_);
  if (!memory || axes.empty() || !foldsByParts() ||
      llvm::is_contained(axes, static_cast<int64_t>(last())))
    return false;
  int64_t places = 1;
  llvm::SmallVector<size_t> ends;
  llvm::SmallVector<int64_t> dropped;
  // Each folded axis stays one, and so do all that stay between two of them.
  auto isFolded = [&](size_t axis) { return llvm::is_contained(axes, static_cast<int64_t>(axis)); };
  for (size_t axis = 0; axis < extents_.size(); ++axis) {
    if (axis > 0 && (isFolded(axis) || isFolded(axis - 1)))
      ends.push_back(axis);
    if (!isFolded(axis))
      continue;
    dropped.push_back(static_cast<int64_t>(ends.size()));
    places *= extents_[axis].length;
  }
  ends.push_back(extents_.size());
  if (places > kMostPlaces)
    return false;
  Seen seen = seenInRuns(memory, ends);
  llvm::SmallVector<Extent> kept;
  for (auto [axis, extent] : llvm::enumerate(seen.extents))
    if (!llvm::is_contained(dropped, static_cast<int64_t>(axis)))
      kept.push_back(extent);
  Type type = arrayTypeOf(elementTypeOf(memory.getType()), kept);
  foldParts(places, [&](int64_t place) -> Value {
    llvm::SmallVector<Value> offsets(ends.size(), constant(0)), lengths(seen.lengths);
    for (int64_t axis : llvm::reverse(dropped)) {
      int64_t count = seen.extents[static_cast<size_t>(axis)].length;
      offsets[static_cast<size_t>(axis)] = constant(place % count);
      lengths[static_cast<size_t>(axis)] = constant(1);
      place /= count;
    }
    return b_.create<SliceOp>(loc_, type, seen.array, offsets, lengths, ValueRange(), Value(),
                              b_.getDenseI64ArrayAttr(dropped));
  });
  return true;
}

/// The last axis goes to another place: each of its positions is a part of the result.
bool ShortAxis::takeApart(TransposeOp transpose) {
  auto own = static_cast<int64_t>(last());
  // The rows of the result are those of a part, then.
  if (!isShort(extents_.back()) || transpose.getAxes().back() != own - 1)
    return false;
  llvm::SmallVector<int64_t> axes(transpose.getAxes());
  int64_t place = llvm::find(axes, own) - axes.begin();
  axes.erase(axes.begin() + place);
  Value joined = joinLastAxes();
  llvm::SmallVector<Value> parts;
  for (int64_t position = 0; position < extents_.back().length; ++position)
    parts.push_back(withAxis(turned(everyOf(joined, position), axes), place));
  replaceWith(b_.create<ConcatOp>(loc_, op_->getResult(0).getType(), parts, place));
  return true;
}

/// A short axis becomes the last one, behind the one along which elements lie side by side.
bool ShortAxis::putTogether(TransposeOp transpose) {
  llvm::SmallVector<int64_t> axes(transpose.getAxes());
  int64_t inRow = axes.pop_back_val();
  const Extent &within = extents_[static_cast<size_t>(inRow)];
  if (!isShort(within) || axes.back() != static_cast<int64_t>(last()))
    return false;
  // Of another short axis before the rows, tiles would have a row for each of its few positions.
  int64_t plane = axes.size() > 2 && isShort(extents_[static_cast<size_t>(axes[axes.size() - 2])])
                      ? axes[axes.size() - 2]
                      : -1;
  int64_t planes = plane < 0 ? 0 : extents_[static_cast<size_t>(plane)].length;
  if (planes > 0)
    axes.erase(axes.end() - 2);
  llvm::SmallVector<Value> parts;
  for (int64_t number = 0; number < std::max<int64_t>(planes, 1); ++number)
    for (int64_t position = 0; position < within.length; ++position) {
      // The later axis goes first, so that the other one keeps its number.
      Value part =
          at(x_, static_cast<size_t>(std::max(inRow, plane)), inRow > plane ? position : number);
      if (planes > 0)
        part = at(part, static_cast<size_t>(std::min(inRow, plane)),
                  inRow > plane ? number : position);
      parts.push_back(turned(part, axes));
    }
  interleave(parts, within.length, planes);
  return true;
}

/// Elements that are repeated side by side, as in an image of twice the size: each copy is a part, and so is each copy of a row.
bool ShortAxis::repeat() {
  Value result = op_->getResult(0);
  llvm::ArrayRef<Extent> to = extentsOf(result.getType());
  auto isRepeated = [&](size_t axis) { return extents_[axis].isOne() && isShort(to[axis]); };
  size_t rank = extents_.size();
  if (to.size() != rank || !isRepeated(last()) || extents_[rank - 2].isOne())
    return false;
  bool hasPlanes = rank > 2 && isRepeated(rank - 3);
  for (size_t axis = 0; axis < last(); ++axis)
    if (!sameLength(extents_[axis], to[axis]) && !(hasPlanes && axis == rank - 3))
      return false;
  // Those who compute with it read the elements that are there.
  bool isStored = llvm::all_of(result.getUsers(), [](Operation *user) {
    auto reshape = dyn_cast<ReshapeOp>(user);
    return isa<DimOp>(user) || (reshape && !isViewOfOnes(reshape));
  });
  if (!isStored)
    return false;
  Value part = at(x_, last(), 0);
  if (hasPlanes)
    part = at(part, rank - 3, 0);
  int64_t count = to.back().length, planes = hasPlanes ? to[rank - 3].length : 0;
  llvm::SmallVector<Value> parts(static_cast<size_t>(count * std::max<int64_t>(planes, 1)), part);
  interleave(parts, count, planes);
  return true;
}

bool ShortAxis::run() {
  if (extents_.size() < 2 || !haveNames(extents_) || !hasStrides(elementTypeOf(x_.getType())) ||
      isScheduled(op_) || isInSchedule(op_))
    return false;
  if (isa<BroadcastOp>(op_))
    return liesInMemory(x_) && repeat();
  auto transpose = dyn_cast<TransposeOp>(op_);
  if (!transpose)
    return foldWindow() || foldRows() || fold();
  return liesInMemory(x_) && (takeApart(transpose) || putTogether(transpose));
}

void splitShortAxes(func::FuncOp function) {
  llvm::SmallVector<Operation *> all;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Grids that are there already have the tiles of their author.
    if (isa<ParallelOp>(op))
      return WalkResult::skip();
    if (isa<TransposeOp, BroadcastOp>(op) || isReduction(op))
      all.push_back(op);
    return WalkResult::advance();
  });
  llvm::SetVector<Operation *> made;
  for (Operation *op : all)
    if (isa<ArrayType>(op->getOperand(0).getType()) && isa<ArrayType>(op->getResult(0).getType()))
      keepingMarks(op, [&] { ShortAxis(op, made).run(); });
  // What later folds have made anew of parts is needed no more; users come before what they use.
  for (Operation *op : llvm::reverse(made))
    if (op->use_empty())
      op->erase();
}

} // namespace ptl::ir

#include "passes/transform/expand/parts_of_root.h"

#include "ir/dialect/make_op.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/analysis/unused_extent.h"
#include "passes/transform/groups/group_schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ptl::ir {

/// Stretches of one axis; more would be much code for little.
static constexpr size_t kMostStretches = 8;

/// An axis of an operand of an elementwise operation, counted from the last ones; negative if the operand lacks it.
static int64_t axisOf(Value operand, Value result, int64_t axis) {
  return axis - (rankOf(result.getType()) - rankOf(operand.getType()));
}

static bool isAlong(Value value, int64_t axis) {
  return isa<ArrayType>(value.getType()) && axis >= 0 &&
         !extentsOf(value.getType())[static_cast<size_t>(axis)].isOne();
}

bool isForOne(Operation *op) {
  Operation *user = isElementwise(op) ? onlyUser(op->getResult(0)) : nullptr;
  if (isa_and_nonnull<ConcatOp>(user))
    user = onlyUser(user->getResult(0));
  return user && isElementwise(user) && user->getBlock() == op->getBlock() && !isInSchedule(op);
}

bool isFollowed(Value value, Value root) {
  Operation *op = value.getDefiningOp();
  return value == root || (op && op->getBlock() == root.getParentBlock() && isForOne(op));
}

/// The axis of the source that is an axis of a slice.
static int64_t sourceAxis(SliceOp slice, int64_t axis) {
  for (int64_t base = 0; base < rankOf(slice.getSource().getType()); ++base)
    if (!llvm::is_contained(slice.getDropped(), base) && axis-- == 0)
      return base;
  return -1;
}

/// How long an axis is. Equal names stand for equal lengths, which are one value here.
Linear Cut::lengthAlong(Value value, int64_t axis) {
  StringAttr name = extentsOf(value.getType())[static_cast<size_t>(axis)].symbol;
  if (!name)
    return linearOf(lengthOf(b_, value, axis));
  auto [known, isNew] = lengths_.try_emplace(name);
  if (isNew)
    known->second = linearOf(lengthOf(b_, value, axis));
  return known->second;
}

const AffinePositions *Cut::positionsOf(TakeOp take) {
  auto [known, isNew] = positions_.try_emplace(take);
  if (isNew)
    known->second = affinePositionsOf(b_, take.getIndex());
  if (!known->second)
    return nullptr;
  // Elements that lie apart in a row are gathered sooner than loaded one by one.
  bool isRow = static_cast<int64_t>(take.getAxis()) + 1 != rankOf(take.getType());
  bool isNear = llvm::all_of(known->second->runs, [&](const PositionRun &run) {
    return std::abs(run.step) <= 1 || (isRow && run.step > 0);
  });
  bool isCopy =
      llvm::any_of(known->second->runs, [](const PositionRun &run) { return run.step > 0; });
  return isNear && isCopy ? &*known->second : nullptr;
}

void Cut::meet(const Linear &place) {
  if (!llvm::is_contained(meetings_, place))
    meetings_.push_back(place);
}

void Cut::noteParts(ConcatOp concat, int64_t axis, const Linear &from) {
  Linear begin;
  bool isIt = static_cast<int64_t>(concat.getAxis()) == axis;
  for (auto [number, part] : llvm::enumerate(concat.getXs())) {
    if (isIt && number > 0)
      meet(begin.minus(from));
    note(part, axis, isIt ? from.minus(begin) : from);
    if (isIt)
      begin = begin.plus(lengthAlong(part, axis));
  }
  // Where the parts are all of the root, their lengths say more than that of the root: how long the last one is.
  bool isAll = extentsOf(concat.getType())[static_cast<size_t>(axis)] ==
               extentsOf(root_.getType())[static_cast<size_t>(axis_)];
  if (isIt && isAll && from.isZero())
    whole_ = begin;
}

void Cut::notePositions(TakeOp take, int64_t axis, const Linear &from) {
  auto along = static_cast<int64_t>(take.getAxis());
  const AffinePositions *positions = positionsOf(take);
  if (along != axis)
    return note(take.getSource(), axis, from);
  // Other positions are cut like any array.
  if (!positions)
    return;
  for (const PositionRun &run : llvm::drop_begin(positions->runs))
    meet(run.begin.minus(from));
  // Positions that are one run are a slice, for which it is worth it, too.
  meet(Linear{}.minus(from));
  llvm::append_range(needed_, positions->needed);
}

void Cut::notePad(PadOp pad, int64_t axis, const Linear &from) {
  Linear before, length = lengthAlong(pad.getX(), axis);
  if (!pad.getBefore().empty())
    before = linearOf(pad.getBefore()[static_cast<size_t>(axis)]);
  if (!before.isZero())
    meet(before.minus(from));
  bool ends =
      !pad.getAfter().empty() && !linearOf(pad.getAfter()[static_cast<size_t>(axis)]).isZero();
  if (ends)
    meet(before.plus(length).minus(from));
  note(pad.getX(), axis, from.minus(before));
}

/// Whether a value is computed for one operation alone, seen through views: it is computed where that operation is, and would have to be
/// stored first if several regions read it.
static bool isComputedForOne(Value value) {
  for (Operation *op = value.getDefiningOp(); op && onlyUser(value); op = value.getDefiningOp()) {
    if (isElementwise(op))
      return true;
    if (!isView(op) && !isa<CastOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// Collects where parts meet in a value, whose element `from` is the root's first one.
void Cut::note(Value value, int64_t axis, const Linear &from) {
  Operation *op = value.getDefiningOp();
  if (!isAlong(value, axis) || !op)
    return;
  if (auto concat = dyn_cast<ConcatOp>(op))
    return noteParts(concat, axis, from);
  if (auto take = dyn_cast<TakeOp>(op); take && rankOf(take.getIndex().getType()) == 1)
    return notePositions(take, axis, from);
  if (auto pad = dyn_cast<PadOp>(op))
    return notePad(pad, axis, from);
  if (auto cast = dyn_cast<CastOp>(op))
    return note(cast.getSource(), axis, from);
  if (auto slice = dyn_cast<SliceOp>(op); slice && isView(slice) && slice.getSteps().empty()) {
    int64_t base = sourceAxis(slice, axis);
    return note(slice.getSource(), base,
                from.plus(linearOf(slice.getOffsets()[static_cast<size_t>(base)])));
  }
  if (isFollowed(value, root_) && isElementwise(op)) {
    for (Value operand : op->getOperands())
      note(operand, axisOf(operand, value, axis), from);
    return;
  }
  // What a grid computes together with the root would have to be stored first.
  isPossible_ &= !isCostly(op) && !isComputedForOne(value);
}

/// Orders the places where parts meet as they mostly lie, and asks for that order.
bool Cut::order() {
  llvm::SmallVector<Linear> inside = {Linear{}};
  auto need = [&](const Linear &number) {
    if (number.isConstant())
      return number.constant >= 0;
    if (!isNeverNegative(number) && !llvm::is_contained(needed_, number))
      needed_.push_back(number);
    return true;
  };
  auto isBefore = [](const Linear &a, const Linear &b) { return usually(a.minus(b)) < 0; };
  std::stable_sort(meetings_.begin(), meetings_.end(), isBefore);
  for (const Linear &place : meetings_) {
    Linear rest = whole_.minus(place);
    if (usually(place) <= 0 || usually(rest) <= 0) {
      if (!need(usually(place) <= 0 ? place.times(-1) : rest.times(-1)))
        return false;
      continue;
    }
    if (!need(place.minus(inside.back())))
      return false;
    inside.push_back(place);
  }
  if (!need(whole_.minus(inside.back())))
    return false;
  meetings_ = inside;
  return meetings_.size() <= kMostStretches;
}

bool Cut::find() {
  whole_ = lengthAlong(root_, axis_);
  note(root_, axis_, Linear{});
  return isPossible_ && !meetings_.empty() && order();
}

/// The number of the first region that lies at or behind a place.
size_t Cut::numberOf(const Linear &place) const {
  if (usually(place) <= 0)
    return 0;
  const Linear *found = llvm::find(meetings_, place);
  // Another region would give wrong values.
  if (found == meetings_.end() && usually(whole_.minus(place)) > 0)
    llvm::report_fatal_error("parts of an array meet where its regions do not");
  return static_cast<size_t>(found - meetings_.begin());
}

llvm::SmallVector<Stretch> Cut::regions(Operation *inside) const {
  llvm::SmallVector<Stretch> regions;
  const Extent &all = extentsOf(root_.getType())[static_cast<size_t>(axis_)];
  for (auto [number, begin] : llvm::enumerate(meetings_)) {
    Linear length = (number + 1 < meetings_.size() ? meetings_[number + 1] : whole_).minus(begin);
    Extent extent = length.isConstant() ? Extent::constant(length.constant)
                                        : unusedExtent(inside, "part", all.capacity);
    if (meetings_.size() == 1)
      extent = all;
    regions.push_back({number, begin, length, extent});
  }
  return regions;
}

ArrayType Cut::typeIn(Value value, int64_t axis, const Stretch &region) const {
  llvm::SmallVector<Extent> extents(extentsOf(value.getType()));
  extents[static_cast<size_t>(axis)] = region.extent;
  return arrayTypeOf(elementTypeOf(value.getType()), extents);
}

/// The lengths of a part of a value that are no constants.
llvm::SmallVector<Value> Cut::namedLengths(Value value, int64_t axis, const Stretch &region) {
  llvm::SmallVector<Value> named;
  for (auto [at, extent] : llvm::enumerate(typeIn(value, axis, region).getExtents()))
    if (!extent.isConstant())
      named.push_back(static_cast<int64_t>(at) == axis
                          ? valueOf(b_, loc_, region.length)
                          : valueOf(b_, loc_, lengthAlong(value, static_cast<int64_t>(at))));
  return named;
}

/// Elements of an array, from `begin` on.
Value Cut::sliced(Value value, int64_t axis, const Linear &begin, const Stretch &region,
                  int64_t step) {
  llvm::SmallVector<Value> offsets, lengths, steps;
  auto constant = [&](int64_t number) {
    return b_.create<arith::ConstantIndexOp>(loc_, number).getResult();
  };
  for (int64_t at = 0; at < rankOf(value.getType()); ++at) {
    offsets.push_back(at == axis ? valueOf(b_, loc_, begin) : constant(0));
    lengths.push_back(at == axis ? valueOf(b_, loc_, region.length)
                                 : valueOf(b_, loc_, lengthAlong(value, at)));
    steps.push_back(constant(at == axis ? step : 1));
  }
  if (step == 1)
    steps.clear();
  return b_.create<SliceOp>(loc_, typeIn(value, axis, region), value, offsets, lengths, steps,
                            Value(), b_.getDenseI64ArrayAttr({}));
}

Value Cut::buildPart(ConcatOp concat, int64_t axis, const Linear &from, const Stretch &region) {
  auto along = static_cast<int64_t>(concat.getAxis());
  if (along != axis) {
    llvm::SmallVector<Value> parts;
    for (Value part : concat.getXs())
      parts.push_back(build(part, axis, from, region));
    return b_.create<ConcatOp>(loc_, typeIn(concat, axis, region), parts, concat.getAxis());
  }
  Linear begin, own;
  Value found = concat.getXs().front();
  for (auto [number, part] : llvm::enumerate(concat.getXs())) {
    if (number > 0 && numberOf(begin.minus(from)) <= region.number) {
      found = part;
      own = begin;
    }
    begin = begin.plus(lengthAlong(part, axis));
  }
  return build(found, axis, from.minus(own), region);
}

/// Elements of a run that counts down: what is left of the positions.
Value Cut::reversed(TakeOp take, const PositionRun &run, const Linear &begin,
                    const Stretch &region) {
  Type number = elementTypeOf(take.getIndex().getType());
  auto type = arrayTypeOf(number, {region.extent});
  auto scalar = [&](const Linear &value) {
    return b_.createOrFold<arith::IndexCastOp>(loc_, number, valueOf(b_, loc_, value));
  };
  llvm::SmallVector<Value> operands{valueOf(b_, loc_, Linear{})};
  if (!region.extent.isConstant())
    operands.push_back(valueOf(b_, loc_, region.length));
  // `index` counts in words of 32 bits.
  Type word = b_.getI32Type();
  Value counted = makeOp<IndexOp>(b_, loc_, arrayTypeOf(word, {region.extent}), operands);
  if (number != word)
    counted = makeOp<ConvertOp>(b_, loc_, type, counted,
                                {b_.getNamedAttr("round", b_.getStringAttr("even")),
                                 b_.getNamedAttr("saturate", b_.getBoolAttr(false))});
  Value positions =
      makeOp<SubOp>(b_, loc_, type, ValueRange{scalar(run.base.plus(begin, run.step)), counted});
  return b_.create<TakeOp>(loc_, typeIn(take, static_cast<int64_t>(take.getAxis()), region),
                           take.getSource(), positions, take.getAxisAttr());
}

Value Cut::buildTaken(TakeOp take, int64_t axis, const Linear &from, const Stretch &region) {
  auto along = static_cast<int64_t>(take.getAxis());
  if (along != axis) {
    Value source = build(take.getSource(), axis, from, region);
    return b_.create<TakeOp>(loc_, typeIn(take, axis, region), source, take.getIndex(),
                             take.getAxisAttr());
  }
  const AffinePositions *positions = positionsOf(take);
  if (!positions)
    return sliced(take, axis, region.begin.plus(from), region);
  const PositionRun *found = positions->runs.begin();
  for (const PositionRun &run : llvm::drop_begin(positions->runs))
    if (numberOf(run.begin.minus(from)) <= region.number)
      found = &run;
  Linear begin = region.begin.plus(from);
  if (region.extent.isOne())
    return sliced(take.getSource(), axis, found->base.plus(begin, found->step), region);
  if (found->step < 0)
    return reversed(take, *found, begin, region);
  if (found->step > 0)
    return sliced(take.getSource(), axis, found->base.plus(begin, found->step), region,
                  found->step);
  Stretch one = region;
  one.length = Linear{1, {}};
  one.extent = Extent::constant(1);
  Value row = sliced(take.getSource(), axis, found->base, one);
  if (region.extent.isOne())
    return row;
  llvm::SmallVector<Value> operands{row};
  llvm::append_range(operands, namedLengths(take, axis, region));
  return makeOp<BroadcastOp>(b_, loc_, typeIn(take, axis, region), operands);
}

Value Cut::buildPad(PadOp pad, int64_t axis, const Linear &from, const Stretch &region) {
  Linear before, length = lengthAlong(pad.getX(), axis);
  if (!pad.getBefore().empty())
    before = linearOf(pad.getBefore()[static_cast<size_t>(axis)]);
  bool ends =
      !pad.getAfter().empty() && !linearOf(pad.getAfter()[static_cast<size_t>(axis)]).isZero();
  bool isInside = before.isZero() || numberOf(before.minus(from)) <= region.number;
  isInside &= !ends || numberOf(before.plus(length).minus(from)) > region.number;
  if (!isInside) {
    llvm::SmallVector<Value> operands = namedLengths(pad, axis, region);
    operands.push_back(pad.getValue());
    return makeOp<FullOp>(b_, loc_, typeIn(pad, axis, region), operands);
  }
  Value inner = build(pad.getX(), axis, from.minus(before), region);
  llvm::SmallVector<Value> front(pad.getBefore()), back(pad.getAfter());
  bool isPadded = false;
  for (llvm::SmallVector<Value> *margins : {&front, &back})
    for (auto [at, margin] : llvm::enumerate(*margins)) {
      if (static_cast<int64_t>(at) == axis)
        margin = b_.create<arith::ConstantIndexOp>(loc_, 0);
      isPadded |= !linearOf(margin).isZero();
    }
  if (!isPadded)
    return inner;
  return b_.create<PadOp>(loc_, typeIn(pad, axis, region), inner, pad.getValue(), front, back);
}

Value Cut::buildSlice(SliceOp slice, int64_t axis, const Linear &from, const Stretch &region) {
  auto base = static_cast<size_t>(sourceAxis(slice, axis));
  Value source = build(slice.getSource(), static_cast<int64_t>(base),
                       from.plus(linearOf(slice.getOffsets()[base])), region);
  llvm::SmallVector<Value> offsets(slice.getOffsets()), lengths(slice.getLengths());
  offsets[base] = b_.create<arith::ConstantIndexOp>(loc_, 0);
  lengths[base] = valueOf(b_, loc_, region.length);
  return b_.create<SliceOp>(loc_, typeIn(slice, axis, region), source, offsets, lengths,
                            ValueRange(), Value(), slice.getDroppedAttr());
}

/// The operation on parts of its operands.
Value Cut::buildElements(Operation *op, int64_t axis, const Linear &from, const Stretch &region) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, build(operand, axisOf(operand, op->getResult(0), axis), from, region));
  Operation *copy = b_.clone(*op, mapping);
  copy->getResult(0).setType(typeIn(op->getResult(0), axis, region));
  return copy->getResult(0);
}

/// A part of positions, or of an array of one value.
Value Cut::buildFill(Operation *op, int64_t axis, const Linear &from, const Stretch &region) {
  Value whole = op->getResult(0);
  llvm::SmallVector<Value> operands;
  if (isa<IndexOp>(op))
    operands.push_back(
        valueOf(b_, loc_, linearOf(op->getOperand(0)).plus(from).plus(region.begin)));
  llvm::append_range(operands, namedLengths(whole, axis, region));
  if (isa<FullOp>(op))
    operands.push_back(op->getOperands().back());
  return makeOp(b_, loc_, op->getName().getStringRef(), typeIn(whole, axis, region), operands,
                op->getAttrs());
}

/// The elements of a value that are of a region: from `region.begin + from` on.
Value Cut::build(Value value, int64_t axis, const Linear &from, const Stretch &region) {
  Operation *op = value.getDefiningOp();
  if (!isAlong(value, axis))
    return value;
  if (auto concat = dyn_cast_or_null<ConcatOp>(op))
    return buildPart(concat, axis, from, region);
  if (auto take = dyn_cast_or_null<TakeOp>(op); take && rankOf(take.getIndex().getType()) == 1)
    return buildTaken(take, axis, from, region);
  if (auto pad = dyn_cast_or_null<PadOp>(op))
    return buildPad(pad, axis, from, region);
  if (auto cast = dyn_cast_or_null<CastOp>(op))
    return build(cast.getSource(), axis, from, region);
  if (auto slice = dyn_cast_or_null<SliceOp>(op);
      slice && isView(slice) && slice.getSteps().empty())
    return buildSlice(slice, axis, from, region);
  if (op && isFill(op))
    return buildFill(op, axis, from, region);
  if (op && isElementwise(op) && isFollowed(value, root_))
    return buildElements(op, axis, from, region);
  return sliced(value, axis, from.plus(region.begin), region);
}

} // namespace ptl::ir

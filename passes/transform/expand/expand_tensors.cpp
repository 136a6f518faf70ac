#include "passes/transform/expand/expand_tensors.h"
#include "ir/dialect/make_op.h"
#include "passes/analysis/unused_extent.h"
#include "passes/transform/expand/expand_gather.h"
#include "passes/transform/expand/expand_order.h"
#include "passes/transform/expand/expand_outside.h"
#include "passes/transform/expand/expand_products.h"
#include "passes/transform/expand/expand_rows.h"

#include "ir/dialect/op_facts.h"
#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/expand/join_axes.h"
#include "passes/transform/groups/access.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/groups/root_storage.h"
#include "passes/transform/legalize/legalize.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

namespace {

using legalize::isReal;

/// Rewrites one operation; the new operations stand before it.
class Expansion {
public:
  Expansion(Operation *op, int64_t tileBytes, const Machine *machine)
      : b_(op), op_(op), loc_(op->getLoc()), tileBytes_(tileBytes), machine_(machine) {}
  void run();

private:
  void concat();
  void pad();
  void insert();
  void interleave();
  void deinterleave();
  void triangle();
  void oneHot();
  void reduce();
  void reduceToScalar();
  void scan();
  void reshape();
  void convert();
  void store();

  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }
  Value number(Type elem, double value);
  Value make(llvm::StringRef name, Type elem, ValueRange operands,
             llvm::ArrayRef<NamedAttribute> attributes = {});
  Value convert(Value x, Type to);
  Value positions(Value like, int64_t axis);
  Value storageOf(Type whole, llvm::ArrayRef<Value> parts, int64_t along);
  void storeBox(Value value, Value ref, ValueRange offsets, ValueRange lengths,
                ValueRange steps = {});
  llvm::SmallVector<Value> lengthsOf(Value value);
  void replaceWith(Value value) {
    op_->getResult(0).replaceAllUsesWith(value);
    op_->erase();
  }

  OpBuilder b_;
  Operation *op_;
  Location loc_;
  int64_t tileBytes_;
  const Machine *machine_; ///< or null
};

Value Expansion::number(Type elem, double value) {
  if (auto real = dyn_cast<FloatType>(elem))
    return b_.create<arith::ConstantOp>(loc_, b_.getFloatAttr(real, value));
  auto attribute = IntegerAttr::get(elem, static_cast<int64_t>(value));
  // MLIR's own constants have no unsigned types.
  if (elem.isUnsignedInteger())
    return b_.create<ConstantOp>(loc_, attribute);
  return b_.create<arith::ConstantOp>(loc_, attribute);
}

Value Expansion::make(llvm::StringRef name, Type elem, ValueRange operands,
                      llvm::ArrayRef<NamedAttribute> attributes) {
  return makeOp(b_, loc_, name, arrayTypeOf(elem, legalize::Tiles::broadcastExtents(operands)),
                operands, attributes);
}

Value Expansion::convert(Value x, Type to) {
  if (elementTypeOf(x.getType()) == to)
    return x;
  return make(ConvertOp::getOperationName(), to, x,
              {b_.getNamedAttr("round", b_.getStringAttr("even")),
               b_.getNamedAttr("saturate", b_.getBoolAttr(false))});
}

llvm::SmallVector<Value> Expansion::lengthsOf(Value value) {
  llvm::SmallVector<Value> lengths;
  for (int64_t axis = 0; axis < rankOf(value.getType()); ++axis)
    lengths.push_back(lengthOf(b_, value, axis));
  return lengths;
}

void Expansion::storeBox(Value value, Value ref, ValueRange offsets, ValueRange lengths,
                         ValueRange steps) {
  b_.create<StoreOp>(loc_, value, ref, offsets, lengths, steps, Value(),
                     b_.getDenseI64ArrayAttr({}), IntegerAttr(), StringAttr());
}

/// The positions along an axis, with extent 1 along the later axes.
Value Expansion::positions(Value like, int64_t axis) {
  const Extent &extent = extentsOf(like.getType())[static_cast<size_t>(axis)];
  OperationState state(loc_, IndexOp::getOperationName());
  state.addOperands(constant(0));
  if (!extent.isConstant())
    state.addOperands(lengthOf(b_, like, axis));
  state.addTypes(arrayTypeOf(b_.getI32Type(), {extent}));
  Value row = b_.create(state)->getResult(0);
  llvm::SmallVector<int64_t> added;
  llvm::SmallVector<Extent> extents = {extent};
  for (int64_t later = axis + 1; later < rankOf(like.getType()); ++later) {
    added.push_back(static_cast<int64_t>(extents.size()));
    extents.push_back(Extent::constant(1));
  }
  if (added.empty())
    return row;
  auto type = arrayTypeOf(b_.getI32Type(), extents);
  return b_.create<NewAxisOp>(loc_, type, row, b_.getDenseI64ArrayAttr(added));
}

// ---- boxes --------------------------------------------------------------------------------------

/// Storage as long as all parts together along an axis.
Value Expansion::storageOf(Type whole, llvm::ArrayRef<Value> parts, int64_t along) {
  auto type = cast<ArrayType>(whole);
  llvm::SmallVector<Value> named;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (type.getExtents()[axis].isConstant())
      continue;
    Value length = lengthOf(b_, parts.front(), axis);
    if (axis == along)
      for (Value part : parts.drop_front())
        length = b_.createOrFold<arith::AddIOp>(loc_, length, lengthOf(b_, part, axis));
    named.push_back(length);
  }
  return allocateStorage(b_, loc_, type, named);
}

/// Stores each part at its place. The elementwise operations that follow on the whole, with no other array, are made of each part
/// instead, so that the whole is never read for them; and if the whole is only stored, its parts go straight into that box.
void Expansion::concat() {
  int64_t axis = op_->getAttrOfType<IntegerAttr>("axis").getInt();
  llvm::SmallVector<Value> parts(op_->getOperands());
  Operation *last = op_;
  llvm::SmallVector<Operation *> replaced = {op_};
  while (last->hasOneUse()) {
    Operation *user = *last->getUsers().begin();
    bool alone = llvm::count_if(user->getOperands(),
                                [](Value operand) { return rankOf(operand.getType()) > 0; }) == 1;
    if (!isElementwise(user) || !alone || user->getBlock() != op_->getBlock())
      break;
    b_.setInsertionPoint(user);
    for (Value &part : parts) {
      IRMapping mapping;
      mapping.map(last->getResult(0), part);
      Operation *copy = b_.clone(*user, mapping);
      copy->getResult(0).setType(
          arrayTypeOf(elementTypeOf(user->getResult(0).getType()), extentsOf(part.getType())));
      part = copy->getResult(0);
    }
    last = user;
    replaced.push_back(user);
  }
  // If one store is all that reads the whole, the parts are stored where it stores.
  StoreOp into = onlyStore(last);
  b_.setInsertionPoint(into ? into.getOperation() : last->getNextNode());
  Value ref = into ? into.getRef() : storageOf(last->getResult(0).getType(), parts, axis);
  llvm::SmallVector<Value> offsets, steps;
  llvm::SmallVector<int64_t> dropped;
  if (into) {
    offsets.append(into.getOffsets().begin(), into.getOffsets().end());
    steps.append(into.getSteps().begin(), into.getSteps().end());
    dropped.append(into.getDropped().begin(), into.getDropped().end());
  } else {
    offsets.assign(static_cast<size_t>(rankOf(ref.getType())), constant(0));
  }
  llvm::SmallVector<size_t> kept;
  for (size_t base = 0; base < offsets.size(); ++base)
    if (!llvm::is_contained(dropped, static_cast<int64_t>(base)))
      kept.push_back(base);
  size_t along = kept[static_cast<size_t>(axis)];
  // Each part begins where the one before it ended, which with steps is as many steps further.
  for (Value part : parts) {
    llvm::SmallVector<Value> lengths(offsets.size(), constant(1)), own = lengthsOf(part);
    for (auto [base, length] : llvm::zip(kept, own))
      lengths[base] = length;
    b_.create<StoreOp>(loc_, part, ref, offsets, lengths, steps, Value(),
                       b_.getDenseI64ArrayAttr(dropped), IntegerAttr(), StringAttr());
    Value shift = own[static_cast<size_t>(axis)];
    if (!steps.empty())
      shift = b_.createOrFold<arith::MulIOp>(loc_, shift, steps[along]);
    offsets[along] = b_.createOrFold<arith::AddIOp>(loc_, offsets[along], shift);
  }
  if (into)
    into.erase();
  else
    last->getResult(0).replaceAllUsesWith(loadWhole(b_, loc_, ref, last->getResult(0).getType()));
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
}

void Expansion::pad() {
  auto pad = cast<PadOp>(op_);
  Value result = pad->getResult(0);
  llvm::SmallVector<Value> operands;
  auto type = cast<ArrayType>(result.getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (type.getExtents()[axis].isConstant())
      continue;
    Value length = lengthOf(b_, pad.getX(), axis);
    // Margins on either side make the result longer than what is padded.
    for (ValueRange more : {ValueRange(pad.getBefore()), ValueRange(pad.getAfter())})
      if (!more.empty())
        length = b_.createOrFold<arith::AddIOp>(loc_, length, more[static_cast<size_t>(axis)]);
    operands.push_back(length);
  }
  operands.push_back(pad.getValue());
  Value around =
      makeOp<FullOp>(b_, loc_, arrayTypeOf(type.getElementType(), type.getExtents()), operands);
  Value ref = storageLike(b_, loc_, around);
  storeWhole(b_, loc_, around, ref);
  llvm::SmallVector<Value> offsets(pad.getBefore());
  if (offsets.empty())
    offsets.assign(static_cast<size_t>(type.getRank()), constant(0));
  storeBox(pad.getX(), ref, offsets, lengthsOf(pad.getX()));
  replaceWith(loadWhole(b_, loc_, ref, type));
}

void Expansion::insert() {
  auto insert = cast<InsertOp>(op_);
  Value ref = storageLike(b_, loc_, insert.getDest());
  storeWhole(b_, loc_, insert.getDest(), ref);
  b_.create<StoreOp>(loc_, insert.getValue(), ref, insert.getOffsets(), insert.getLengths(),
                     insert.getSteps(), insert.getIndex(), insert.getDroppedAttr(),
                     insert.getIndexAxisAttr(), StringAttr());
  replaceWith(loadWhole(b_, loc_, ref, insert.getType()));
}

void Expansion::interleave() {
  Value a = op_->getOperand(0);
  int64_t last = rankOf(a.getType()) - 1;
  auto type = cast<ArrayType>(op_->getResult(0).getType());
  llvm::SmallVector<Value> lengths = lengthsOf(a), named;
  for (int64_t axis = 0; axis <= last; ++axis)
    if (!type.getExtents()[axis].isConstant())
      named.push_back(axis < last ? lengths[static_cast<size_t>(axis)]
                                  : b_.createOrFold<arith::MulIOp>(
                                        loc_, lengths[static_cast<size_t>(axis)], constant(2)));
  Value ref = allocateStorage(b_, loc_, type, named);
  llvm::SmallVector<Value> steps(lengths.size(), constant(1)), offsets(lengths.size(), constant(0));
  // Each operand gets every second position, the second one beginning at 1.
  steps.back() = constant(2);
  for (Value part : op_->getOperands()) {
    storeBox(part, ref, offsets, lengths, steps);
    offsets.back() = constant(1);
  }
  replaceWith(loadWhole(b_, loc_, ref, type));
}

void Expansion::deinterleave() {
  Value x = op_->getOperand(0);
  llvm::SmallVector<Value> lengths = lengthsOf(x);
  lengths.back() = b_.createOrFold<arith::DivUIOp>(loc_, lengths.back(), constant(2));
  llvm::SmallVector<Value> steps(lengths.size(), constant(1)), offsets(lengths.size(), constant(0));
  steps.back() = constant(2);
  // No element moves: each result reads every second position of the operand.
  for (Value result : op_->getResults()) {
    result.replaceAllUsesWith(b_.create<SliceOp>(loc_, result.getType(), x, offsets, lengths, steps,
                                                 Value(), b_.getDenseI64ArrayAttr({})));
    offsets.back() = constant(1);
  }
  op_->erase();
}

/// Reshapes that only add or take away axes of extent 1 are views; others are of storage.
void Expansion::reshape() {
  if (!isViewOfOnes(cast<ReshapeOp>(op_)))
    return;
  Value x = op_->getOperand(0), result = op_->getResult(0);
  llvm::SmallVector<Extent> kept;
  llvm::SmallVector<int64_t> gone, added;
  llvm::SmallVector<Value> offsets, lengths;
  for (auto [axis, extent] : llvm::enumerate(extentsOf(x.getType()))) {
    offsets.push_back(constant(0));
    lengths.push_back(lengthOf(b_, x, static_cast<int64_t>(axis)));
    if (extent.isOne())
      gone.push_back(static_cast<int64_t>(axis));
    else
      kept.push_back(extent);
  }
  for (auto [axis, extent] : llvm::enumerate(extentsOf(result.getType())))
    if (extent.isOne())
      added.push_back(static_cast<int64_t>(axis));
  Type elem = elementTypeOf(x.getType());
  if (!gone.empty())
    x = b_.create<SliceOp>(loc_, arrayTypeOf(elem, kept), x, offsets, lengths, ValueRange(),
                           Value(), b_.getDenseI64ArrayAttr(gone));
  if (!added.empty())
    x = b_.create<NewAxisOp>(loc_, result.getType(), x, b_.getDenseI64ArrayAttr(added));
  // Lengths that are equal may have different names on both sides.
  if (x.getType() != result.getType())
    x = b_.create<CastOp>(loc_, result.getType(), x);
  replaceWith(x);
}

// ---- arithmetic ---------------------------------------------------------------------------------

void Expansion::triangle() {
  Value x = op_->getOperand(0);
  int64_t rank = rankOf(x.getType());
  Value row = positions(x, rank - 2), col = positions(x, rank - 1);
  if (op_->getNumOperands() > 1) {
    Value diagonal = b_.create<arith::IndexCastOp>(loc_, b_.getI32Type(), op_->getOperand(1));
    row = make(AddOp::getOperationName(), b_.getI32Type(), {row, diagonal});
  }
  Value inside = make(isa<TrilOp>(op_) ? GeOp::getOperationName() : LeOp::getOperationName(),
                      b_.getI1Type(), {row, col});
  Type elem = elementTypeOf(x.getType());
  replaceWith(make(SelectOp::getOperationName(), elem, {inside, x, number(elem, 0)}));
}

void Expansion::oneHot() {
  Value ids = op_->getOperand(0), result = op_->getResult(0);
  llvm::SmallVector<Extent> extents(extentsOf(ids.getType()));
  extents.push_back(Extent::constant(1));
  auto last = static_cast<int64_t>(extents.size()) - 1;
  Type elem = elementTypeOf(ids.getType());
  // A short type cannot count all columns: positions would wrap around and match twice.
  if (elem.getIntOrFloatBitWidth() < 32) {
    elem = b_.getI32Type();
    ids = convert(ids, elem);
  }
  Value column =
      b_.create<NewAxisOp>(loc_, arrayTypeOf(elem, extents), ids, b_.getDenseI64ArrayAttr(last));
  Value row = convert(positions(result, last), elem);
  Value hit = make(EqOp::getOperationName(), b_.getI1Type(), {column, row});
  Type to = elementTypeOf(result.getType());
  replaceWith(make(SelectOp::getOperationName(), to, {hit, number(to, 1), number(to, 0)}));
}

/// The type that sums and products of short types accumulate in.
static Type accumulatorOf(OpBuilder &b, Type elem) {
  if (elem.isIndex())
    return elem;
  unsigned bits = elem.getIntOrFloatBitWidth();
  if (isReal(elem))
    return bits < 32 ? b.getF32Type() : elem;
  return bits == 8 ? b.getIntegerType(32) : elem;
}

/// Reduces in the accumulator's type, means as sums, truth values as numbers: a loop can carry
/// them.
void Expansion::reduce() {
  Value x = op_->getOperand(0);
  Type elem = elementTypeOf(x.getType());
  bool isMean = isa<ReduceMeanOp>(op_), isLogical = isa<ReduceAnyOp, ReduceAllOp>(op_);
  bool accumulates = isMean || isa<ReduceSumOp, ReduceProdOp>(op_);
  // Nothing folds truth values; as 0 and 1 they have a largest and a smallest number (`onNumbers`).
  Type wide = isLogical ? b_.getF32Type() : accumulates ? accumulatorOf(b_, elem) : elem;
  if (wide == elem && !isMean)
    return;
  if (isLogical)
    x = make(SelectOp::getOperationName(), wide, {x, number(wide, 1), number(wide, 0)});
  x = convert(x, wide);
  llvm::SmallVector<int64_t> axes = foldedAxesOf(op_);
  OpId kind = loweringOf(op_)->onNumbers.value_or(*opIdOf(op_));
  // The attributes are the axes and whether they are kept, which mean the same for the other operation.
  OperationState state(loc_, operationName(kind));
  state.addOperands(x);
  state.addAttributes(op_->getAttrs());
  auto type = cast<ArrayType>(op_->getResult(0).getType());
  state.addTypes(arrayTypeOf(wide, type.getExtents()));
  Value result = b_.create(state)->getResult(0);
  if (isMean)
    result = make(DivOp::getOperationName(), wide, {result, countAlong(b_, loc_, x, axes)});
  if (isLogical)
    result = make(GtOp::getOperationName(), b_.getI1Type(), {result, number(wide, 0)});
  else
    result = convert(result, elem);
  replaceWith(result);
}

void Expansion::scan() {
  Value x = op_->getOperand(0);
  Type elem = elementTypeOf(x.getType()), wide = accumulatorOf(b_, elem);
  if (wide == elem)
    return;
  OperationState state(loc_, op_->getName());
  state.addOperands(convert(x, wide));
  state.addAttributes(op_->getAttrs());
  auto type = cast<ArrayType>(op_->getResult(0).getType());
  state.addTypes(arrayTypeOf(wide, type.getExtents()));
  replaceWith(convert(b_.create(state)->getResult(0), elem));
}

/// Reduces to an array of one element, which the host reads.
void Expansion::reduceToScalar() {
  Value x = op_->getOperand(0);
  int64_t rank = rankOf(x.getType());
  Type result = op_->getResult(0).getType(), scalar = result;
  bool isLogical = isa<ReduceAnyOp, ReduceAllOp>(op_);
  OperationState state(loc_, isLogical ? operationName(*loweringOf(op_)->onNumbers)
                                       : op_->getName().getStringRef());
  if (isLogical) { // the host compares the number
    scalar = b_.getF32Type();
    x = make(SelectOp::getOperationName(), scalar, {x, number(scalar, 1), number(scalar, 0)});
  }
  bool searches = isa<ReduceArgmaxOp, ReduceArgminOp>(op_);
  if (searches && rank != 1) { // the result is the position in row-major order
    Value count = constant(1);
    for (Value length : lengthsOf(x))
      count = b_.createOrFold<arith::MulIOp>(loc_, count, length);
    OperationState flat(loc_, ReshapeOp::getOperationName());
    flat.addOperands({x, count});
    flat.addTypes(
        arrayTypeOf(elementTypeOf(x.getType()), {unusedExtent(op_, "flat", Extent::kUnknown)}));
    x = b_.create(flat)->getResult(0);
    rank = 1;
  }
  state.addOperands(x);
  llvm::SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (searches)
    state.addAttribute("axis", b_.getI64IntegerAttr(0));
  else
    state.addAttribute("axes", b_.getDenseI64ArrayAttr(axes));
  llvm::SmallVector<Extent> ones(static_cast<size_t>(rank), Extent::constant(1));
  state.addTypes(arrayTypeOf(scalar, ones));
  Operation *reduction = b_.create(state);
  llvm::SmallVector<Value> offsets(static_cast<size_t>(rank), constant(0)),
      lengths(static_cast<size_t>(rank), constant(1));
  Value element = b_.create<SliceOp>(loc_, scalar, reduction->getResult(0), offsets, lengths,
                                     ValueRange(), Value(), b_.getDenseI64ArrayAttr(axes));
  if (isLogical) {
    OperationState compare(loc_, GtOp::getOperationName());
    compare.addOperands({element, number(scalar, 0)});
    compare.addTypes(result);
    element = b_.create(compare)->getResult(0);
  }
  replaceWith(element);
  // The new reduction is one to an array, which may have to accumulate in a wider type. Searches do not accumulate.
  if (!searches)
    Expansion(reduction, tileBytes_, machine_).run();
}

// ---- stores -------------------------------------------------------------------------------------

/// Gives the value of a store the shape of the box, and makes it for the store alone, or for those that can load it
/// from there.
void Expansion::store() {
  auto store = cast<StoreOp>(op_);
  if (store.getIndex()) {
    expandScatter(store);
    return;
  }
  if (store.getAtomic())
    return;
  llvm::SmallVector<Extent> wanted;
  llvm::SmallVector<Value> named;
  Value value = store.getValue();
  llvm::ArrayRef<Extent> own = extentsOf(value.getType());
  size_t rank = store.getOffsets().size() - store.getDropped().size();
  if (rank == 0 && !isa<ArrayType>(value.getType()))
    return;
  bool repeats = own.size() < rank;
  for (size_t base = 0; base < store.getOffsets().size(); ++base) {
    if (llvm::is_contained(store.getDropped(), static_cast<int64_t>(base)))
      continue;
    size_t behind = rank - wanted.size();
    Value length = store.getLengths()[base];
    IntegerAttr known;
    bool has = own.size() >= behind && !own[own.size() - behind].isOne();
    Extent extent = has ? own[own.size() - behind]
                    : matchPattern(length, m_Constant(&known))
                        ? Extent::constant(known.getInt())
                        : extentsOf(store.getRef().getType())[base];
    if (!has && !extent.isOne() && !extent.isConstant() &&
        !matchPattern(length, m_Constant(&known)))
      extent = unusedExtent(op_, "box " + std::to_string(wanted.size()), extent.capacity);
    repeats |= !has && !extent.isOne();
    wanted.push_back(extent);
    if (!extent.isConstant())
      named.push_back(length);
  }
  Operation *maker = value.getDefiningOp();
  // A group is tiled like the box only if its root is stored there.
  bool isOwn = maker && maker->getBlock() == op_->getBlock() &&
               (isTiled(maker) || isView(maker) || isFill(maker)) &&
               (value.hasOneUse() || (isTiled(maker) && storeToReadBack(value) == store));
  if (isOwn && !repeats)
    return;
  auto type = arrayTypeOf(elementTypeOf(value.getType()), wanted);
  if (!isa<ArrayType>(value.getType()) || repeats) {
    bool isScalar = !isa<ArrayType>(value.getType());
    OperationState state(loc_,
                         isScalar ? FullOp::getOperationName() : BroadcastOp::getOperationName());
    if (isScalar)
      named.push_back(value);
    else
      state.addOperands(value);
    state.addOperands(named);
    state.addTypes(type);
    value = b_.create(state)->getResult(0);
  } else {
    value = b_.create<CastOp>(loc_, type, value);
  }
  store.getValueMutable().assign(value);
}

void Expansion::convert() {
  Value x = op_->getOperand(0);
  if (!isa<ArrayType>(x.getType()) ||
      elementTypeOf(x.getType()) != elementTypeOf(op_->getResult(0).getType()))
    return;
  bool isSame = x.getType() == op_->getResult(0).getType();
  replaceWith(isSame ? x : b_.create<CastOp>(loc_, op_->getResult(0).getType(), x));
}

template <typename... Ops> static bool is(Operation *op) { return isa<Ops...>(op); }

void Expansion::run() {
  static constexpr std::pair<bool (*)(Operation *), void (Expansion::*)()> ways[] = {
      {is<ConvertOp>, &Expansion::convert},
      {is<ConcatOp>, &Expansion::concat},
      {is<PadOp>, &Expansion::pad},
      {is<InsertOp>, &Expansion::insert},
      {is<InterleaveOp>, &Expansion::interleave},
      {is<DeinterleaveOp>, &Expansion::deinterleave},
      {is<TrilOp, TriuOp>, &Expansion::triangle},
      {is<OneHotOp>, &Expansion::oneHot},
      {is<ReshapeOp>, &Expansion::reshape},
      {is<CumsumOp, CumprodOp>, &Expansion::scan}};
  for (auto [takes, expand] : ways)
    if (takes(op_))
      return (this->*expand)();
  if (expandByPosition(op_, tileBytes_, machine_) || expandOutside(op_))
    return;
  if (isa<StoreOp>(op_))
    return store();
  if (isa<SortOp, ArgsortOp, TopkOp>(op_))
    return expandOrder(op_, tileBytes_);
  const OpRecord *record = recordOf(op_);
  bool reduces = record && record->opClass == OpClass::Reduction &&
                 rankOf(op_->getOperand(0).getType()) > 0 && !isa<UniqueOp, SortedOp>(op_);
  if (reduces && isReduction(op_))
    return reduce();
  if (reduces && rankOf(op_->getResult(0).getType()) == 0)
    return reduceToScalar();
}

} // namespace

static bool isExpanded(Operation *op) {
  if (isa<ConcatOp, PadOp, InsertOp, InterleaveOp, DeinterleaveOp, TrilOp, TriuOp, OneHotOp,
          ReshapeOp, TakeOp, GatherOp, ScatterOp, SortOp, ArgsortOp, TopkOp>(op) ||
      reachesOutside(op))
    return true;
  const OpRecord *record = recordOf(op);
  return record && (record->opClass == OpClass::Reduction || record->opClass == OpClass::Scan);
}

void expandTensors(func::FuncOp function, int64_t tileBytes, const Machine *machine) {
  auto forEach = [&](llvm::function_ref<bool(Operation *)> isWanted) {
    llvm::SmallVector<Operation *> work;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<ParallelOp>(op))
        return WalkResult::skip();
      if (isWanted(op))
        work.push_back(op);
      return WalkResult::advance();
    });
    for (Operation *op : work)
      keepingMarks(op, [&] { Expansion(op, tileBytes, machine).run(); });
  };
  // Products come first, since what they become may need expansion.
  expandProducts(function);
  forEach([](Operation *op) { return isa<ConvertOp>(op); });
  forEach(isExpanded);
  storeScatteredOperands(function); // some of their parts were only made above
  // Stores come last. The expansions above make stores, and where a value is only stored they take over its store.
  forEach([](Operation *op) { return isa<StoreOp>(op); });
}

} // namespace ptl::ir

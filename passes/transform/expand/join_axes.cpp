#include "passes/transform/expand/join_axes.h"

#include "ir/dialect/attributes.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/expand/expand_rows.h"
#include "passes/transform/groups/access.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/narrow_axis.h"
#include "passes/transform/output_views.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ptl::ir {

Extent joinedExtent(MLIRContext *context, llvm::ArrayRef<Extent> extents) {
  int64_t number = 1;
  std::string name;
  for (const Extent &extent : extents) {
    if (extent.isConstant()) {
      number *= extent.length;
      continue;
    }
    // The prover reads names as formulas, so a sum or quotient that is a factor stands in parentheses.
    llvm::StringRef own = extent.symbol.getValue();
    bool isFactor = own.find_first_of("+-/%") == llvm::StringRef::npos;
    name += (name.empty() ? "" : "*") + (isFactor ? own.str() : "(" + own.str() + ")");
  }
  if (name.empty())
    return Extent::constant(number);
  if (extents.size() == 1)
    return extents.front();
  if (number != 1)
    name = std::to_string(number) + "*" + name;
  return Extent::named(StringAttr::get(context, name));
}

/// Axes of extent 1 do not change the order of elements, so only the other extents must agree.
bool isViewOfOnes(ReshapeOp reshape) {
  auto longOnes = [](Value value) {
    llvm::SmallVector<Extent> extents(extentsOf(value.getType()));
    llvm::erase_if(extents, [](const Extent &extent) { return extent.isOne(); });
    return extents;
  };
  llvm::SmallVector<Extent> from = longOnes(reshape->getOperand(0)),
                            to = longOnes(reshape->getResult(0));
  return !from.empty() && llvm::equal(from, to, sameLength);
}

namespace {

/// An axis of a value and the one behind it.
using Pair = std::pair<Value, int64_t>;

/// What is known of pairs that are joined together or not at all.
struct Together {
  size_t parent;
  bool isApart = false;  ///< something distinguishes the two axes
  bool isWanted = false; ///< tiles gain by it
  bool isNeeded = false; ///< so much that small operands that distinguish them are spread over both
  bool isSpread = false; ///< there are such operands
};

/// The operations of one block.
class BlockJoiner {
public:
  explicit BlockJoiner(Block &block) : block_(block), b_(block.getParentOp()->getContext()) {}
  void run();

private:
  // what belongs together
  size_t classOf(Value value, int64_t axis);
  size_t find(size_t id) const;
  void link(Pair a, Pair b);
  void keepApart(Value value, int64_t axis) { classes_[classOf(value, axis)].isApart = true; }
  void visit(Operation *op);
  void visitElementwise(Operation *op);
  void visitReduction(Operation *op);
  void visitOperand(Value result, Value operand);
  void splitFold(Operation *reduction);
  void visitFrom(Value operand);
  void visitUsers(Value result);
  bool isMember(Operation *op) const { return op && members_.count(op); }

  // the code
  bool isJoined(Value value, int64_t axis);
  bool changes(Value value);
  llvm::SmallVector<int64_t> numbersOf(Value value);
  llvm::SmallVector<Extent> extentsFor(Value value);
  llvm::SmallVector<Value> lengthsFor(Value value);
  ArrayType typeFor(Value value);
  Value joined(Value operand);
  Value asWritten(Value operand);
  Value spread(Value result, Value operand);
  Value joinedFill(Operation *fill);
  Value joinedReduction(Operation *reduction);
  Value joinedElementwise(Operation *op);
  void rewrite(Operation *op);
  void shapeForOthers(Operation *op, Value made);

  Block &block_;
  OpBuilder b_;
  llvm::DenseSet<Operation *> members_;
  llvm::DenseSet<Operation *> behind_; ///< second halves of reductions, which read a stored value
  llvm::DenseMap<Pair, size_t> numbers_;
  std::vector<Together> classes_;
  llvm::DenseMap<Value, Value> made_;
};

} // namespace

// ---- operations that may have other axes --------------------------------------------------------

/// Whether a reduction folds numbers, whatever their positions are.
static bool isFold(Operation *op) {
  const OpRecord *record = recordOf(op);
  return record && record->opClass == OpClass::Reduction && op->getNumResults() == 1 &&
         !isa<UniqueOp, SortedOp>(op) && !op->hasAttr("axis") &&
         !isa<ReduceArgmaxOp, ReduceArgminOp>(op) && rankOf(op->getOperand(0).getType()) > 0;
}

/// Whether a schedule speaks of the operation, which has to stay as it is then.
static bool isNamed(Operation *op) { return isScheduled(op) || isInSchedule(op); }

static bool mayHaveOtherAxes(Operation *op) {
  if (op->getNumRegions() != 0 || isNamed(op))
    return false;
  bool isOnArrays = op->getNumResults() == 1 && isa<ArrayType>(op->getResult(0).getType());
  return isFold(op) || (isOnArrays && (isElementwise(op) || (isFill(op) && !isa<IndexOp>(op))));
}

/// A pair with an extent of 1 is one axis already, however it is written.
static bool isTrivial(Value value, int64_t axis) {
  llvm::ArrayRef<Extent> extents = extentsOf(value.getType());
  return extents[axis].isOne() || extents[axis + 1].isOne();
}

/// Short rows are a small part of a tile, and of what memory delivers at a time.
static bool isWorthJoining(Value value, int64_t axis) {
  constexpr int64_t kShort = 64;
  llvm::ArrayRef<Extent> extents = extentsOf(value.getType());
  const Extent &behind = extents[axis + 1];
  return !isTrivial(value, axis) &&
         (extents.size() > 2 || (behind.isConstant() && behind.length < kShort));
}

// ---- what belongs together ----------------------------------------------------------------------

size_t BlockJoiner::classOf(Value value, int64_t axis) {
  auto [known, isNew] = numbers_.try_emplace({value, axis}, classes_.size());
  if (isNew) {
    classes_.push_back({classes_.size()});
    auto isNamed = [](const Extent &extent) { return extent.isConstant() || extent.symbol; };
    llvm::ArrayRef<Extent> extents = extentsOf(value.getType());
    // Rows of elements that share a byte need not follow each other.
    Type elem = elementTypeOf(value.getType());
    bool sharesBytes = !elem.isIndex() && !elem.isInteger(1) && elem.getIntOrFloatBitWidth() < 8;
    classes_.back().isApart = sharesBytes || !isNamed(extents[axis]) || !isNamed(extents[axis + 1]);
    classes_.back().isWanted = isWorthJoining(value, axis);
  }
  return find(known->second);
}

size_t BlockJoiner::find(size_t id) const {
  while (classes_[id].parent != id)
    id = classes_[id].parent;
  return id;
}

void BlockJoiner::link(Pair a, Pair b) {
  size_t first = classOf(a.first, a.second), second = classOf(b.first, b.second);
  if (first == second)
    return;
  // Whatever is known of one pair holds for all that are joined with it, since they change together or not at all.
  classes_[second].parent = first;
  classes_[first].isApart |= classes_[second].isApart;
  classes_[first].isWanted |= classes_[second].isWanted;
  classes_[first].isNeeded |= classes_[second].isNeeded;
  classes_[first].isSpread |= classes_[second].isSpread;
}

/// Axes align at the end. An operand has both axes of a pair of the result, or each position of
/// both is for one of its own.
void BlockJoiner::visitOperand(Value result, Value operand) {
  // The order matters: `has(axis) <= Has::One` below means that an operand has one position or none of its own.
  enum class Has { Nothing, One, All, Other };
  llvm::ArrayRef<Extent> wanted = extentsOf(result.getType()), own = extentsOf(operand.getType());
  auto shift = static_cast<int64_t>(wanted.size()) - static_cast<int64_t>(own.size());
  auto has = [&](int64_t axis) {
    if (axis < shift)
      return Has::Nothing;
    const Extent &extent = own[axis - shift];
    return sameLength(extent, wanted[axis]) ? Has::All : extent.isOne() ? Has::One : Has::Other;
  };
  // An operand that lacks a third axis is small beside the result.
  auto isSmall = [&](int64_t pair) {
    return llvm::any_of(llvm::seq<int64_t>(0, wanted.size()), [&](int64_t axis) {
      return axis != pair && axis != pair + 1 && has(axis) <= Has::One;
    });
  };
  for (int64_t axis = 0; axis + 1 < static_cast<int64_t>(wanted.size()); ++axis) {
    Has first = has(axis), second = has(axis + 1);
    bool isPlain = first != Has::Other && second != Has::Other;
    // The operand has both axes, or neither: it follows the result.
    if (first == second && (first == Has::All || first == Has::One))
      link({result, axis}, {operand, axis - shift});
    else if (first != Has::Nothing || (second == Has::All && !wanted[axis].isOne()) ||
             second == Has::Other) {
      // It has one axis of the two. To join them it would be spread over both, which costs little only where it is small beside the
      // result.
      Together &own = classes_[classOf(result, axis)];
      (isPlain && isSmall(axis) ? own.isSpread : own.isApart) = true;
    }
  }
}

void BlockJoiner::visitElementwise(Operation *op) {
  for (Value operand : op->getOperands())
    if (isa<ArrayType>(operand.getType()))
      visitOperand(op->getResult(0), operand);
}

void BlockJoiner::visitReduction(Operation *op) {
  Value x = op->getOperand(0), result = op->getResult(0);
  llvm::SmallVector<int64_t> folded = reducedAxesOf(op);
  for (int64_t axis = 0; axis + 1 < rankOf(x.getType()); ++axis) {
    bool first = llvm::is_contained(folded, axis), second = llvm::is_contained(folded, axis + 1);
    // Folded axes stay with an extent of 1, so operand and result number their axes alike.
    if (isa<ArrayType>(result.getType()))
      link({x, axis}, {result, axis});
    size_t own = classOf(x, axis);
    // An axis of one position may be folded with the other one.
    const Extent &kept = extentsOf(x.getType())[first ? axis + 1 : axis];
    classes_[own].isApart |= first != second && !kept.isOne();
    classes_[own].isWanted |= first && second && !isTrivial(x, axis);
  }
}

/// What an array that others make is in memory, whose elements lie in order: reshapes and axes of
/// one position are another way to write it.
static Value inMemory(Value value, bool *isReshaped = nullptr) {
  while (Operation *made = value.getDefiningOp()) {
    auto reshape = dyn_cast<ReshapeOp>(made);
    // Axes of extent 1 change nothing in memory, other reshapes still keep the order of elements.
    if (!reshape && !isa<NewAxisOp>(made))
      break;
    if (isReshaped && reshape && !isViewOfOnes(reshape))
      *isReshaped = true;
    value = made->getOperand(0);
  }
  return value;
}

/// Others have to have the elements in memory, in order.
void BlockJoiner::visitFrom(Value operand) {
  bool isReshaped = false;
  Value source = inMemory(operand, &isReshaped);
  Operation *made = source.getDefiningOp();
  // What is reshaped is stored before.
  bool isOther = isReshaped && made && made->getBlock() == &block_ && isTiled(made);
  auto load = dyn_cast_or_null<LoadOp>(made);
  bool isStored = !made || (load && load->getBlock() == &block_ && isUnchangedUntil(load, nullptr));
  if (isOther || (isStored && liesInOrder(source)))
    return;
  for (int64_t axis = 0; axis + 1 < rankOf(operand.getType()); ++axis)
    if (!isTrivial(operand, axis))
      keepApart(operand, axis);
}

/// Whether a user takes a value from memory in any case, in order.
static bool takesFromMemory(Operation *user, Value value) {
  if (isa<DimOp>(user))
    return true;
  if (auto store = dyn_cast<StoreOp>(user))
    return mayViewOutput(store) && store.getValue() == value;
  auto reshape = dyn_cast<ReshapeOp>(user);
  return reshape && !isViewOfOnes(reshape);
}

void BlockJoiner::visitUsers(Value result) {
  // Everyone else computes with the axes as they are written, and a tile cannot be reshaped on chip for them.
  bool isKept = llvm::any_of(result.getUsers(), [&](Operation *user) {
    return !isMember(user) && (user->getBlock() != &block_ ||
                               !(takesFromMemory(user, result) || behind_.contains(user)));
  });
  for (int64_t axis = 0; isKept && axis + 1 < rankOf(result.getType()); ++axis)
    if (!isTrivial(result, axis))
      keepApart(result, axis);
}

void BlockJoiner::visit(Operation *op) {
  if (isFold(op))
    visitReduction(op);
  else if (!isFill(op))
    visitElementwise(op);
  visitUsers(op->getResult(0));
  for (Value operand : op->getOperands())
    if (isa<ArrayType>(operand.getType()) && !isMember(operand.getDefiningOp()))
      visitFrom(operand);
}

// ---- the code -----------------------------------------------------------------------------------

bool BlockJoiner::isJoined(Value value, int64_t axis) {
  const Together &own = classes_[classOf(value, axis)];
  // Spreading an operand costs memory, so it has to be needed; being wanted is not enough for it.
  return own.isWanted && !own.isApart && (own.isNeeded || !own.isSpread);
}

bool BlockJoiner::changes(Value value) {
  return llvm::any_of(llvm::seq<int64_t>(1, std::max<int64_t>(rankOf(value.getType()), 1)),
                      [&](int64_t axis) { return isJoined(value, axis - 1); });
}

/// For each axis the number of the axis that it is joined to.
llvm::SmallVector<int64_t> BlockJoiner::numbersOf(Value value) {
  llvm::SmallVector<int64_t> numbers;
  for (int64_t axis = 0; axis < rankOf(value.getType()); ++axis)
    numbers.push_back(axis == 0 ? 0 : numbers.back() + !isJoined(value, axis - 1));
  return numbers;
}

llvm::SmallVector<Extent> BlockJoiner::extentsFor(Value value) {
  llvm::SmallVector<llvm::SmallVector<Extent>> factors;
  for (auto [number, extent] : llvm::zip(numbersOf(value), extentsOf(value.getType()))) {
    factors.resize(static_cast<size_t>(number) + 1);
    factors.back().push_back(extent);
  }
  llvm::SmallVector<Extent> extents;
  for (llvm::ArrayRef<Extent> own : factors)
    extents.push_back(joinedExtent(b_.getContext(), own));
  return extents;
}

/// The lengths of joined axes that are no constants.
llvm::SmallVector<Value> BlockJoiner::lengthsFor(Value value) {
  llvm::SmallVector<Value> lengths;
  for (auto [axis, number] : llvm::enumerate(numbersOf(value))) {
    Value own = lengthOf(b_, value, static_cast<int64_t>(axis));
    if (static_cast<size_t>(number) == lengths.size())
      lengths.push_back(own);
    else
      lengths.back() = b_.createOrFold<arith::MulIOp>(value.getLoc(), lengths.back(), own);
  }
  llvm::SmallVector<Value> named;
  for (auto [length, extent] : llvm::zip(lengths, extentsFor(value)))
    if (!extent.isConstant())
      named.push_back(length);
  return named;
}

ArrayType BlockJoiner::typeFor(Value value) {
  return ArrayType::get(b_.getContext(), elementTypeOf(value.getType()), extentsFor(value),
                        Place::Inferred);
}

static Value reshaped(OpBuilder &b, Value value, ArrayType type, ValueRange lengths) {
  OperationState state(value.getLoc(), ReshapeOp::getOperationName());
  state.addOperands(value);
  state.addOperands(lengths);
  state.addTypes(type);
  return b.create(state)->getResult(0);
}

Value BlockJoiner::joined(Value operand) {
  if (Value known = made_.lookup(operand))
    return known;
  if (!isa<ArrayType>(operand.getType()) || !changes(operand))
    return operand;
  Value source = inMemory(operand);
  // Where the source was rebuilt with joined axes, the new value is reshaped, since the old one is going to be erased.
  if (Value made = made_.lookup(source))
    source = made;
  return made_[operand] = reshaped(b_, source, typeFor(operand), lengthsFor(operand));
}

/// The operand with the axes that it was written with; one that was rebuilt with joined axes is reshaped back.
Value BlockJoiner::asWritten(Value operand) {
  Value made = made_.lookup(operand);
  if (!made || made.getType() == operand.getType() || !isMember(operand.getDefiningOp()))
    return operand;
  llvm::SmallVector<Value> lengths;
  for (auto [axis, extent] : llvm::enumerate(extentsOf(operand.getType())))
    if (!extent.isConstant())
      lengths.push_back(lengthOf(b_, operand, static_cast<int64_t>(axis)));
  return reshaped(b_, made, cast<ArrayType>(operand.getType()), lengths);
}

/// An operand of a result whose joined axes it has in part: it is stored with all of them.
Value BlockJoiner::spread(Value result, Value operand) {
  llvm::ArrayRef<Extent> all = extentsOf(result.getType()), own = extentsOf(operand.getType());
  llvm::SmallVector<int64_t> numbers = numbersOf(result);
  size_t shift = all.size() - own.size();
  auto has = [&](size_t axis) { return axis >= shift && !own[axis - shift].isOne(); };
  llvm::SmallVector<Extent> extents, joinedExtents;
  llvm::SmallVector<Value> lengths, joinedLengths;
  bool isSame = true;
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && numbers[end] == numbers[begin])
      ++end;
    llvm::SmallVector<Extent> factors;
    Value length;
    // Of axes that become one the operand gets all, if it has any of them; of those it has none of, it keeps extent 1 and is still
    // broadcast.
    bool hasAny = llvm::any_of(llvm::seq(begin, end), has);
    for (size_t axis = begin; axis < end; ++axis) {
      factors.push_back(hasAny ? all[axis] : Extent::constant(1));
      isSame &= !hasAny || has(axis) || all[axis].isOne();
      if (!hasAny)
        continue;
      Value each = lengthOf(b_, result, static_cast<int64_t>(axis));
      length = length ? b_.createOrFold<arith::MulIOp>(operand.getLoc(), length, each) : each;
      if (!all[axis].isConstant())
        lengths.push_back(each);
    }
    extents.append(factors.begin(), factors.end());
    joinedExtents.push_back(joinedExtent(b_.getContext(), factors));
    if (!joinedExtents.back().isConstant())
      joinedLengths.push_back(length);
  }
  if (isSame)
    return joined(operand);
  auto typeWith = [&](llvm::ArrayRef<Extent> with) {
    return ArrayType::get(b_.getContext(), elementTypeOf(operand.getType()), with, Place::Inferred);
  };
  OperationState state(operand.getLoc(), BroadcastOp::getOperationName());
  state.addOperands(asWritten(operand));
  state.addOperands(lengths);
  state.addTypes(typeWith(extents));
  return reshaped(b_, b_.create(state)->getResult(0), typeWith(joinedExtents), joinedLengths);
}

Value BlockJoiner::joinedFill(Operation *fill) {
  OperationState state(fill->getLoc(), fill->getName());
  state.addAttributes(fill->getAttrs());
  state.addOperands(lengthsFor(fill->getResult(0)));
  if (auto full = dyn_cast<FullOp>(fill))
    state.addOperands(full.getValue());
  state.addTypes(typeFor(fill->getResult(0)));
  return b_.create(state)->getResult(0);
}

Value BlockJoiner::joinedReduction(Operation *reduction) {
  Value x = reduction->getOperand(0), result = reduction->getResult(0);
  bool isArray = isa<ArrayType>(result.getType());
  Value made =
      cloneWith(b_, reduction, joined(x), isArray ? Type(typeFor(result)) : result.getType());
  // A fold of everything to a scalar names no axes.
  if (!reduction->hasAttr("axes"))
    return made;
  // Several folded axes may have become one.
  llvm::SmallVector<int64_t> numbers = numbersOf(x), axes;
  for (int64_t axis : reducedAxesOf(reduction))
    if (!llvm::is_contained(axes, numbers[axis]))
      axes.push_back(numbers[axis]);
  made.getDefiningOp()->setAttr("axes", b_.getDenseI64ArrayAttr(axes));
  return made;
}

Value BlockJoiner::joinedElementwise(Operation *op) {
  llvm::SmallVector<Value> operands;
  Value result = op->getResult(0);
  for (Value operand : op->getOperands())
    operands.push_back(isa<ArrayType>(operand.getType()) ? spread(result, operand) : operand);
  return cloneWith(b_, op, operands, typeFor(result));
}

/// What is no member gets the value as it was, by a reshape that moves nothing.
void BlockJoiner::shapeForOthers(Operation *op, Value made) {
  Value result = op->getResult(0);
  if (!isa<ArrayType>(result.getType())) {
    result.replaceAllUsesWith(made);
    return;
  }
  llvm::SmallVector<Operation *> others;
  for (Operation *user : result.getUsers())
    if (!isMember(user) && !isa<ReshapeOp>(user))
      others.push_back(user);
  // A reshape takes the joined value itself: it keeps the order of elements, whatever their axes are called.
  for (Operation *user : result.getUsers())
    if (isa<ReshapeOp>(user) && user->getBlock() == &block_)
      others.push_back(user);
  if (others.empty())
    return;
  llvm::SmallVector<Value> lengths;
  for (auto [axis, extent] : llvm::enumerate(extentsOf(result.getType())))
    if (!extent.isConstant())
      lengths.push_back(lengthOf(b_, result, static_cast<int64_t>(axis)));
  Value shaped;
  for (Operation *user : others) {
    if (isa<ReshapeOp>(user)) {
      user->setOperand(0, made);
      continue;
    }
    if (!shaped)
      shaped = reshaped(b_, made, cast<ArrayType>(result.getType()), lengths);
    user->replaceUsesOfWith(result, shaped);
  }
}

void BlockJoiner::rewrite(Operation *op) {
  b_.setInsertionPoint(op);
  Value result = op->getResult(0);
  bool isChanged = changes(result) || llvm::any_of(op->getOperands(), [&](Value operand) {
                     return isa<ArrayType>(operand.getType()) && changes(operand);
                   });
  if (!isChanged)
    return;
  Value made = isFold(op)   ? joinedReduction(op)
               : isFill(op) ? joinedFill(op)
                            : joinedElementwise(op);
  made_[result] = made;
  shapeForOthers(op, made);
}

/// Whether a fold of folds is the fold: reals are added in another order, and what is shorter than
/// the sum would be rounded between.
static bool mayFoldTwice(Operation *reduction) {
  Type elem = elementTypeOf(reduction->getOperand(0).getType());
  // Whole axes are folded, so all parts are of equal length and the mean of their means is the mean.
  if (isa<ReduceMeanOp>(reduction))
    return elem.isF32();
  if (isa<ReduceSumOp, ReduceProdOp>(reduction))
    return elem.isF32() || elem.isInteger(32);
  return isa<ReduceMaxOp, ReduceMinOp>(reduction);
}

/// A reduction along an axis, past one that stays, and along a short last one: tiles would have the
/// last two axes, of one position of the first. What is folded first leaves little to fold again, and
/// does so with the last two axes as one.
void BlockJoiner::splitFold(Operation *reduction) {
  constexpr int64_t kLong = 512;
  if (!isFold(reduction) || isNamed(reduction) || !mayFoldTwice(reduction) ||
      !isa<ArrayType>(reduction->getResult(0).getType()))
    return;
  Value x = reduction->getOperand(0);
  llvm::ArrayRef<Extent> extents = extentsOf(x.getType());
  int64_t last = rankOf(x.getType()) - 1;
  llvm::SmallVector<int64_t> folded = reducedAxesOf(reduction), first;
  llvm::copy_if(folded, std::back_inserter(first), [&](int64_t axis) { return axis != last; });
  bool isPast = last > 0 && first.size() + 1 == folded.size() &&
                !llvm::is_contained(first, last - 1) && !isTrivial(x, last - 1) &&
                llvm::any_of(first, [&](int64_t axis) { return !extents[axis].isOne(); });
  if (!isPast || (extents[last].isConstant() && extents[last].length >= kLong))
    return;
  llvm::SmallVector<Extent> between(extents);
  for (int64_t axis : first)
    between[axis] = Extent::constant(1);
  b_.setInsertionPoint(reduction);
  Value part = cloneWith(
      b_, reduction, x,
      ArrayType::get(b_.getContext(), elementTypeOf(x.getType()), between, Place::Inferred));
  part.getDefiningOp()->setAttr("axes", b_.getDenseI64ArrayAttr(first));
  reduction->setOperand(0, part);
  reduction->setAttr("axes", b_.getDenseI64ArrayAttr(last));
  behind_.insert(reduction);
  classes_[classOf(x, last - 1)].isNeeded = true;
}

void BlockJoiner::run() {
  // Folds are split first: the axes of a second half are not those of the first one, which it reads from memory.
  for (Operation &op : llvm::make_early_inc_range(block_))
    splitFold(&op);
  for (Operation &op : block_)
    if (mayHaveOtherAxes(&op) && !behind_.contains(&op))
      members_.insert(&op);
  llvm::SmallVector<Operation *> all;
  for (Operation &op : block_)
    if (isMember(&op))
      all.push_back(&op);
  // All are visited before any is rewritten: a pair may be kept apart by the last operation that has it.
  for (Operation *op : all)
    visit(op);
  for (Operation *op : all)
    rewrite(op);
  // Users come first, so that what is left unused can go.
  for (Operation *op : llvm::reverse(all))
    if (op->use_empty())
      op->erase();
}

void joinAxes(func::FuncOp function) {
  llvm::SmallVector<Block *> blocks;
  function->walk([&](Block *block) {
    Operation *parent = block->getParentOp();
    // In grids there are tiles, whose axes are those of their grid.
    if (!isa<ParallelOp>(parent) && !parent->getParentOfType<ParallelOp>())
      blocks.push_back(block);
  });
  for (Block *block : blocks)
    BlockJoiner(*block).run();
}

} // namespace ptl::ir

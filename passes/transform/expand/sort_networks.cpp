// `sort` and `argsort` along axes of a few elements. Instructions sort one row after the other, 32 elements
// at a time. Here each element of a row is an array of its own, and two neighbours change places in all rows
// where they are not in order. Only neighbours do, so that equal elements keep their order.

#include "passes/transform/expand/sort_networks.h"

#include "passes/analysis/lengths.h"

#include "ir/dialect/make_op.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ptl::ir {

namespace {
class Network {
public:
  explicit Network(Operation *op)
      : op_(op), b_(op), loc_(op->getLoc()), x_(op->getOperand(0)),
        axis_(op->getAttrOfType<IntegerAttr>("axis").getInt()) {
    auto flag = op->getAttrOfType<BoolAttr>("descending");
    descending_ = flag && flag.getValue();
  }

  bool match() const;
  void rewrite();

private:
  /// The most elements of an axis: comparisons grow with their square.
  static constexpr int64_t kMostElements = 8;
  /// The least number of rows: few are sorted sooner by the instructions.
  static constexpr int64_t kFewRows = 256;

  /// An element of each row, and where it was; the place is null where it is not asked for.
  struct Element {
    Value key, place;
  };

  const Extent &along() const { return extentsOf(x_.getType())[static_cast<size_t>(axis_)]; }
  std::optional<int64_t> elementOf(SliceOp slice) const;
  Value element(int64_t at);
  Value position(int64_t at) {
    return b_.create<arith::ConstantOp>(loc_, b_.getI32IntegerAttr(static_cast<int32_t>(at)));
  }
  Value together(llvm::ArrayRef<Value> parts);
  Value stays(Value first, Value second);
  void order(Element &first, Element &second);
  void dropUnread();
  Value make(llvm::StringRef name, Type elem, ValueRange operands) {
    return makeOp(b_, loc_, name, arrayTypeOf(elem, rows_), operands);
  }
  Value select(Value condition, Value a, Value b) {
    return make(SelectOp::getOperationName(), elementTypeOf(a.getType()), {condition, a, b});
  }

  Operation *op_;
  OpBuilder b_;
  Location loc_;
  Value x_;
  int64_t axis_;
  bool descending_;
  llvm::SmallVector<Extent> rows_; ///< the extents without the axis
};
} // namespace

bool Network::match() const {
  auto type = dyn_cast<ArrayType>(x_.getType());
  Type elem = elementTypeOf(x_.getType());
  if (!type || elem.isIndex() || elem.isInteger(1) || elem.getIntOrFloatBitWidth() > 32 ||
      elem.getIntOrFloatBitWidth() < 8 || !along().isConstant() || along().length < 2 ||
      along().length > kMostElements)
    return false;
  // 0 stands for a number that only the running program knows.
  int64_t count = type.getExtents().size() > 1 ? 1 : -1;
  for (const Extent &extent : type.getExtents())
    count = extent.isConstant() && count > 0 ? count * extent.length : std::min<int64_t>(count, 0);
  return count == 0 || count / along().length >= kFewRows;
}

/// The position along the axis of which a slice takes the element of each row, without the axis; nothing for others.
std::optional<int64_t> Network::elementOf(SliceOp slice) const {
  if (slice.getOutside() || !slice.getSteps().empty() ||
      slice.getDropped() != llvm::ArrayRef<int64_t>(axis_))
    return std::nullopt;
  size_t kept = 0;
  for (auto [axis, extent] : llvm::enumerate(extentsOf(x_.getType())))
    if (static_cast<int64_t>(axis) != axis_) {
      const Extent &own = extentsOf(slice.getType())[kept++];
      bool isWhole = getConstantIntValue(slice.getOffsets()[axis]) == 0 && own == extent &&
                     (own.isConstant() || own.symbol);
      if (!isWhole)
        return std::nullopt;
    }
  return getConstantIntValue(slice.getOffsets()[static_cast<size_t>(axis_)]);
}

/// An element of each row, without the axis. Of arrays side by side each is an element.
Value Network::element(int64_t at) {
  if (auto joined = x_.getDefiningOp<ConcatOp>();
      joined && static_cast<int64_t>(joined.getAxis()) == axis_ &&
      static_cast<int64_t>(joined.getXs().size()) == along().length)
    if (auto part = joined.getXs()[static_cast<size_t>(at)].getDefiningOp<NewAxisOp>();
        part && part.getAxes() == llvm::ArrayRef<int64_t>(axis_) &&
        extentsOf(part.getSource().getType()) == llvm::ArrayRef<Extent>(rows_))
      return part.getSource();
  llvm::SmallVector<Value> offsets, lengths;
  for (int64_t axis = 0; axis < rankOf(x_.getType()); ++axis) {
    bool isCut = axis == axis_;
    offsets.push_back(b_.create<arith::ConstantIndexOp>(loc_, isCut ? at : 0));
    lengths.push_back(isCut ? b_.create<arith::ConstantIndexOp>(loc_, 1) : lengthOf(b_, x_, axis));
  }
  return b_.create<SliceOp>(loc_, arrayTypeOf(elementTypeOf(x_.getType()), rows_), x_, offsets,
                            lengths, ValueRange(), Value(), b_.getDenseI64ArrayAttr({axis_}));
}

/// The elements one after the other along the axis.
Value Network::together(llvm::ArrayRef<Value> parts) {
  llvm::SmallVector<Extent> extents(rows_);
  extents.insert(extents.begin() + axis_, Extent::constant(1));
  llvm::SmallVector<Value> joined;
  for (Value part : parts)
    joined.push_back(b_.create<NewAxisOp>(loc_, arrayTypeOf(elementTypeOf(part.getType()), extents),
                                          part, b_.getDenseI64ArrayAttr({axis_})));
  return b_.create<ConcatOp>(loc_, op_->getResult(0).getType(), joined, axis_);
}

/// Where two neighbours are in order: equal ones are, and so is whatever stands before NaN.
Value Network::stays(Value first, Value second) {
  Type flag = b_.getI1Type();
  Value inOrder = make(descending_ ? GeOp::getOperationName() : LeOp::getOperationName(), flag,
                       {first, second});
  if (!isa<FloatType>(elementTypeOf(first.getType())))
    return inOrder;
  Value isNan = make(NeOp::getOperationName(), flag, {second, second});
  return make(OrOp::getOperationName(), flag, {inOrder, isNan});
}

void Network::order(Element &first, Element &second) {
  Value keep = stays(first.key, second.key);
  Element a = first, b = second;
  first.key = select(keep, a.key, b.key);
  second.key = select(keep, b.key, a.key);
  if (!a.place)
    return;
  first.place = select(keep, a.place, b.place);
  second.place = select(keep, b.place, a.place);
}

/// Erases what was put side by side to be sorted alone; its lengths are those of its parts.
void Network::dropUnread() {
  auto joined = x_.getDefiningOp<ConcatOp>();
  if (!joined || !llvm::all_of(joined->getUsers(), [&](Operation *user) {
        auto dim = dyn_cast<DimOp>(user);
        return dim && static_cast<int64_t>(dim.getAxis()) != axis_;
      }))
    return;
  for (Operation *user : llvm::make_early_inc_range(joined->getUsers()))
    user->setOperand(0, joined.getXs().front());
  joined->erase();
}

void Network::rewrite() {
  rows_.assign(extentsOf(x_.getType()).begin(), extentsOf(x_.getType()).end());
  rows_.erase(rows_.begin() + axis_);
  llvm::SmallVector<Element> elements;
  for (int64_t at = 0; at < along().length; ++at)
    elements.push_back({element(at), isa<ArgsortOp>(op_) ? position(at) : Value()});
  // The last one of those that are left comes to the end in each round.
  for (size_t left = elements.size(); left > 1; --left)
    for (size_t at = 0; at + 1 < left; ++at)
      order(elements[at], elements[at + 1]);
  llvm::SmallVector<Value> parts;
  for (const Element &each : elements)
    parts.push_back(each.place ? each.place : each.key);
  Value result = op_->getResult(0);
  // Lengths are those of the operand.
  result.replaceUsesWithIf(x_, [](OpOperand &use) { return isa<DimOp>(use.getOwner()); });
  // A median, or the least of each row, is an element: the whole is not stored for it.
  for (Operation *user : llvm::make_early_inc_range(op_->getUsers()))
    if (auto slice = dyn_cast<SliceOp>(user))
      if (std::optional<int64_t> at = elementOf(slice)) {
        slice.replaceAllUsesWith(parts[static_cast<size_t>(*at)]);
        slice->erase();
      }
  if (!result.use_empty())
    result.replaceAllUsesWith(together(parts));
  op_->erase();
  dropUnread();
}

void sortByNetworks(func::FuncOp function) {
  llvm::SmallVector<Operation *> sorts;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Grids that are there already have the tiles of their author.
    if (isa<ParallelOp>(op))
      return WalkResult::skip();
    if (isa<SortOp, ArgsortOp>(op))
      sorts.push_back(op);
    return WalkResult::advance();
  });
  for (Operation *sort : sorts)
    if (Network network(sort); network.match())
      network.rewrite();
}

} // namespace ptl::ir

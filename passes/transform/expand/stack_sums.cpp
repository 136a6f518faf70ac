// Sums of products that a program's loops go through, as one product: what all rounds contract lies
// side by side. `for i in 0..9 { acc += a(i) @ b(i) }` would read and write the whole sum in each
// round; `[a(0) a(1) ...] @ [b(0); b(1); ...]` keeps it in the accumulator, and what follows it is
// done as the product is stored. So a convolution is one product. And a product of many matrices with
// one, `[B, S, C] @ [C, M]`, is one of a matrix that has all their rows.

#include "passes/transform/expand/stack_sums.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/make_op.h"
#include "passes/analysis/fix_pipe.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/sum_loops.h"
#include "passes/transform/expand/lay_side_by_side.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/groups/product_tiles.h"
#include "passes/transform/narrow_axis.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ptl::ir {

namespace {
/// Makes matrices of arrays, and arrays of these again.
class Reshaper {
protected:
  Reshaper(Operation *op, unsigned number) : number_(number), b_(op), loc_(op->getLoc()) {}

  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }
  Value times(llvm::ArrayRef<Value> lengths);
  Extent extentOf(llvm::ArrayRef<Extent> factors, const char *what);
  ArrayType typeOf(Value like, llvm::ArrayRef<Extent> extents) {
    return arrayTypeOf(elementTypeOf(like.getType()), extents);
  }
  Value reshaped(Value value, llvm::ArrayRef<Extent> extents, llvm::ArrayRef<Value> lengths);
  Value productOfRows(MatmulOp like, Value left, llvm::ArrayRef<Value> lengths, Value right);
  void reshapeLater(ReshapeOp shaped, llvm::ArrayRef<Value> lengths);

  unsigned number_;
  OpBuilder b_;
  Location loc_;
};

/// A nest of loops of numbered rounds that carries one array, and adds one product to it.
class SumOfProducts : Reshaper {
public:
  SumOfProducts(scf::ForOp outermost, const Machine &machine, int64_t tileBytes, unsigned number)
      : Reshaper(outermost, number), machine_(machine), tileBytes_(tileBytes),
        outermost_(outermost) {}

  bool match();
  void rewrite();

private:
  /// What lies side by side is as many times as large, for a moment.
  static constexpr int64_t kMostRounds = 32;

  bool findRounds(scf::ForOp outermost);
  bool lengthsBefore(Value value, llvm::SmallVector<Value> &lengths);
  bool findLengths();
  SliceOp chosenByRound(Value operand);
  bool isViewOfAll(SliceOp slice);

  Value storageFor(Value operand, int64_t axis, llvm::ArrayRef<Value> lengths);
  void fill(Value operand, int64_t axis, Value ref, llvm::ArrayRef<Value> lengths);
  Value sideBySide(Value operand, int64_t axis, llvm::ArrayRef<Value> lengths);
  Value product(Value left, Value right);

  const Machine &machine_;
  int64_t tileBytes_;
  scf::ForOp outermost_;
  SumLoops sum_; ///< of numbered rounds
  int64_t rounds_ = 1;
  llvm::SmallVector<Value> left_, right_, out_; ///< lengths, made before the loops
  Value contracted_, allContracted_;            ///< of one round and of all
  Extent all_;
};

/// A product of many matrices with one.
class ProductOfMatrices : Reshaper {
public:
  ProductOfMatrices(MatmulOp product, const Machine &machine, unsigned number)
      : Reshaper(product, number), machine_(machine), product_(product) {}

  bool match();
  void rewrite();

private:
  bool staysElementwise(Value value);

  const Machine &machine_;
  MatmulOp product_;
};
} // namespace

// ---- what is recognised -------------------------------------------------------------------------

/// The loops and how many rounds they have, which compute nothing but operands.
bool SumOfProducts::findRounds(scf::ForOp outermost) {
  std::optional<SumLoops> sum = SumLoops::of(outermost);
  if (!sum)
    return false;
  // Rounds are numbered from 0 by one, because the number of a round is where its operand lies.
  // What they load may change from round to round, so it cannot be read before them.
  sum_ = *sum;
  for (scf::ForOp loop : sum_.loops) {
    std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                           upper = getConstantIntValue(loop.getUpperBound()),
                           step = getConstantIntValue(loop.getStep());
    if (lower != 0 || step != 1 || !upper || *upper < 1 || *upper > kMostRounds ||
        !loop.getBody()->getOps<LoadOp>().empty())
      return false;
    rounds_ *= *upper;
    if (rounds_ > kMostRounds)
      return false;
  }
  return rounds_ >= 2;
}

/// The operand as a part of an array that the positions of the rounds choose; null if it is none.
SliceOp SumOfProducts::chosenByRound(Value operand) {
  auto slice = operand.getDefiningOp<SliceOp>();
  if (!slice || slice.getDropped().empty() || !sum_.isFromOutside(slice.getOperand(0)))
    return {};
  for (int64_t axis : slice.getDropped())
    if (llvm::none_of(sum_.loops, [&](scf::ForOp loop) {
          return slice.getOffsets()[static_cast<size_t>(axis)] == loop.getInductionVar();
        }))
      return {};
  return slice;
}

/// Whether the parts lie behind each other in the order of the rounds, and are all that there is.
bool SumOfProducts::isViewOfAll(SliceOp slice) {
  llvm::ArrayRef<Extent> whole = extentsOf(slice.getOperand(0).getType()),
                         part = extentsOf(slice.getType());
  size_t chosen = sum_.loops.size();
  if (part.size() != 2 || whole.size() != chosen + 2 || !slice.getSteps().empty() ||
      whole.take_back(2) != part)
    return false;
  for (auto [axis, loop] : llvm::enumerate(sum_.loops))
    if (!llvm::is_contained(slice.getDropped(), static_cast<int64_t>(axis)) ||
        slice.getOffsets()[axis] != loop.getInductionVar() ||
        whole[axis].length != getConstantIntValue(loop.getUpperBound()))
      return false;
  return true;
}

/// The lengths of a value of a round, which are the same in all rounds; they stand before the loops.
bool SumOfProducts::lengthsBefore(Value value, llvm::SmallVector<Value> &lengths) {
  OpBuilder::InsertionGuard guard(b_);
  for (int64_t axis = 0; axis < rankOf(value.getType()); ++axis) {
    Value length = sum_.lengthBefore(b_, value, axis);
    if (!length)
      return false;
    lengths.push_back(length);
  }
  return true;
}

bool SumOfProducts::findLengths() {
  MatmulOp product = sum_.product;
  return lengthsBefore(product->getOperand(0), left_) &&
         lengthsBefore(product->getOperand(1), right_) &&
         lengthsBefore(product->getResult(0), out_) && left_.size() >= 2 && right_.size() >= 2;
}

bool SumOfProducts::match() {
  if (outermost_->getParentOfType<ParallelOp>() || !findRounds(outermost_) ||
      !isProductOf(sum_.product, machine_))
    return false;
  // One operand is there for the rounds alone, as the weights of a convolution; to lay two arrays
  // that are read anyway side by side might take longer than it saves.
  if (!chosenByRound(sum_.product->getOperand(0)) && !chosenByRound(sum_.product->getOperand(1)))
    return false;
  return !isScheduled(sum_.product) && !isScheduled(sum_.add) && findLengths();
}

// ---- one product --------------------------------------------------------------------------------

Value Reshaper::times(llvm::ArrayRef<Value> lengths) {
  Value all = lengths.front();
  for (Value length : lengths.drop_front())
    all = b_.createOrFold<arith::MulIOp>(loc_, all, length);
  return all;
}

/// The extent of a product of lengths, which has the name that lengths in sources have (`9*C`), so
/// that equal ones have equal names.
Extent Reshaper::extentOf(llvm::ArrayRef<Extent> factors, const char *what) {
  int64_t number = 1;
  std::string name;
  bool isPlain = true;
  for (const Extent &factor : factors) {
    if (factor.isConstant()) {
      number *= factor.length;
      continue;
    }
    llvm::StringRef symbol = factor.symbol.getValue();
    isPlain &= llvm::all_of(symbol, [](char c) { return llvm::isAlnum(c) || c == '_'; });
    name += (name.empty() ? "" : "*") + symbol.str();
  }
  if (name.empty())
    return Extent::constant(number);
  if (!isPlain)
    name = "sum" + std::to_string(number_) + what;
  else if (number != 1)
    name = std::to_string(number) + "*" + name;
  return Extent::named(b_.getStringAttr(name));
}

Value Reshaper::reshaped(Value value, llvm::ArrayRef<Extent> extents,
                         llvm::ArrayRef<Value> lengths) {
  OperationState state(loc_, ReshapeOp::getOperationName());
  state.addOperands(value);
  for (auto [extent, length] : llvm::zip(extents, lengths))
    if (!extent.isConstant())
      state.addOperands(length);
  state.addTypes(typeOf(value, extents));
  return b_.create(state)->getResult(0);
}

/// For the operands of all rounds along the contracted axis.
Value SumOfProducts::storageFor(Value operand, int64_t axis, llvm::ArrayRef<Value> lengths) {
  llvm::SmallVector<Extent> extents(extentsOf(operand.getType()));
  extents[static_cast<size_t>(axis)] = all_;
  llvm::SmallVector<Value> named;
  for (auto [number, extent] : llvm::enumerate(extents))
    if (!extent.isConstant())
      named.push_back(static_cast<int64_t>(number) == axis ? allContracted_ : lengths[number]);
  return allocateStorage(b_, loc_, typeOf(operand, extents), named);
}

/// The loops once more, in which each round stores its operand.
void SumOfProducts::fill(Value operand, int64_t axis, Value ref, llvm::ArrayRef<Value> lengths) {
  OpBuilder::InsertionGuard guard(b_);
  IRMapping map;
  Value round;
  for (scf::ForOp loop : sum_.loops) {
    auto own =
        b_.create<scf::ForOp>(loc_, loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
    map.map(loop.getInductionVar(), own.getInductionVar());
    b_.setInsertionPointToStart(own.getBody());
    if (round)
      round = b_.create<arith::MulIOp>(loc_, round, loop.getUpperBound());
    round = round ? b_.create<arith::AddIOp>(loc_, round, own.getInductionVar()).getResult()
                  : own.getInductionVar();
    // What computes the operands is computed again in these loops; the product and its sum are not.
    for (Operation &op : loop.getBody()->without_terminator())
      if (!isa<scf::ForOp>(op) && !sum_.sums(&op))
        b_.clone(op, map);
  }
  llvm::SmallVector<Value> offsets(lengths.size(), constant(0));
  offsets[static_cast<size_t>(axis)] = b_.create<arith::MulIOp>(loc_, round, contracted_);
  b_.create<StoreOp>(loc_, map.lookupOrDefault(operand), ref, offsets, lengths, ValueRange(),
                     Value(), b_.getDenseI64ArrayAttr({}), IntegerAttr(), StringAttr());
}

/// The operands of all rounds behind each other along an axis.
Value SumOfProducts::sideBySide(Value operand, int64_t axis, llvm::ArrayRef<Value> lengths) {
  auto loaded = [&](Value ref, Value like) {
    return loadWhole(b_, loc_, ref, typeOf(like, extentsOf(ref.getType())));
  };
  std::optional<PartOfRound> part = partOfRound(operand, axis, sum_.loops);
  llvm::SmallVector<Value> own;
  // Parts of an array are copied by one grid. What is computed in a round is computed again in loops of their own, which store it.
  if (!part || !lengthsBefore(part->slice.getResult(), own)) {
    Value ref = storageFor(operand, axis, lengths);
    fill(operand, axis, ref, lengths);
    return loaded(ref, operand);
  }
  Value ref = storageFor(part->slice.getResult(), part->axis, own);
  copyParts(
      b_, *part, sum_.loops,
      {ref, contracted_, own, tileBytes_,
       "side" + std::to_string(number_) + (axis + 1 == rankOf(operand.getType()) ? "a" : "b")});
  Value copied = loaded(ref, part->slice.getResult());
  if (part->slice.getResult() == operand)
    return copied;
  llvm::SmallVector<Extent> extents(extentsOf(operand.getType()));
  llvm::SmallVector<Value> whole(lengths);
  extents[static_cast<size_t>(axis)] = all_;
  whole[static_cast<size_t>(axis)] = allContracted_;
  return reshaped(copied, extents, whole);
}

static Value multiply(OpBuilder &b, MatmulOp like, Value left, Value right, Type type) {
  return makeOp<MatmulOp>(b, like.getLoc(), type, {left, right}, like->getAttrs());
}

/// One axis of rows, where the right operand is a matrix: tiles then need not end with rows of an image.
/// `lengths` are those of the left operand.
Value Reshaper::productOfRows(MatmulOp like, Value left, llvm::ArrayRef<Value> lengths,
                              Value right) {
  llvm::ArrayRef<Extent> extents = extentsOf(left.getType());
  Extent rows = extentOf(extents.drop_back(), "rows");
  Value matrix =
      reshaped(left, {rows, extents.back()}, {times(lengths.drop_back()), lengths.back()});
  return multiply(b_, like, matrix, right, typeOf(like, {rows, extentsOf(like.getType()).back()}));
}

Value SumOfProducts::product(Value left, Value right) {
  llvm::ArrayRef<Extent> out = extentsOf(sum_.product.getType());
  // Only one matrix on the right lets the rows of all matrices on the left be one axis.
  if (out.size() == 2 || rankOf(right.getType()) != 2)
    return multiply(b_, sum_.product, left, right, typeOf(sum_.product, out));
  llvm::SmallVector<Value> lengths(llvm::ArrayRef(left_).drop_back());
  lengths.push_back(allContracted_);
  return reshaped(productOfRows(sum_.product, left, lengths, right), out, out_);
}

void SumOfProducts::rewrite() {
  scf::ForOp outermost = outermost_;
  b_.setInsertionPoint(outermost);
  Value a = sum_.product->getOperand(0), b = sum_.product->getOperand(1);
  // The contracted axis is the last of the left operand and the last but one of the right one.
  auto leftAxis = rankOf(a.getType()) - 1, rightAxis = rankOf(b.getType()) - 2;
  contracted_ = left_.back();
  allContracted_ = b_.createOrFold<arith::MulIOp>(loc_, contracted_, constant(rounds_));
  all_ = extentOf({Extent::constant(rounds_), extentsOf(a.getType()).back()}, "all");
  // Weights that lie round behind round are one matrix as they stand, and nothing is copied.
  SliceOp chosen = chosenByRound(b);
  Value left = sideBySide(a, leftAxis, left_);
  Value right = chosen && isViewOfAll(chosen)
                    ? reshaped(chosen.getOperand(0), {all_, extentsOf(b.getType()).back()},
                               {allContracted_, right_.back()})
                    : sideBySide(b, rightAxis, right_);
  Value sum = product(left, right), start = outermost.getInitArgs()[0];
  // The loop began with this sum. It is added behind all rounds instead of before them, which is
  // another order of the same sum.
  if (!isZeroValue(start)) {
    sum = makeOp<AddOp>(b_, sum_.add.getLoc(), sum.getType(), {start, sum});
  }
  Value result = outermost.getResult(0), placed = sum;
  if (result.getType() != sum.getType())
    placed = b_.create<CastOp>(loc_, result.getType(), sum);
  result.replaceAllUsesWith(placed);
  outermost.erase();
  if (auto shaped = sum.getDefiningOp<ReshapeOp>())
    reshapeLater(shaped, out_);
}

/// Whether a value means the same to each row, however rows are counted.
static bool isForAllRows(Value value) {
  llvm::ArrayRef<Extent> extents = extentsOf(value.getType());
  return extents.size() <= 1 || (extents.size() == 2 && extents[0].isOne());
}

/// What is computed element by element from the sum is computed of its matrix, so that it is done as
/// the product is stored; only what leaves these operations has the shape of the sum.
void Reshaper::reshapeLater(ReshapeOp shaped, llvm::ArrayRef<Value> lengths) {
  llvm::DenseMap<Value, Value> matrixOf{{shaped.getResult(), shaped->getOperand(0)}};
  llvm::SmallVector<Value> order{shaped.getResult()};
  llvm::ArrayRef<Extent> shape = extentsOf(shaped.getType());
  auto isPart = [&](Operation *op) {
    return isElementwise(op) && op->getNumResults() == 1 &&
           extentsOf(op->getResult(0).getType()) == shape &&
           llvm::any_of(op->getOperands(), [&](Value v) { return matrixOf.contains(v); }) &&
           llvm::all_of(op->getOperands(),
                        [&](Value v) { return matrixOf.contains(v) || isForAllRows(v); });
  };
  // Operations behind the reshape are gone through in order, so operands that were made of the sum
  // are known when their users come.
  for (Operation *op = shaped->getNextNode(); op; op = op->getNextNode()) {
    if (!isPart(op))
      continue;
    llvm::SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(matrixOf.contains(operand) ? matrixOf.lookup(operand) : operand);
    b_.setInsertionPoint(op);
    Value result = op->getResult(0);
    matrixOf[result] =
        cloneWith(b_, op, operands, typeOf(result, extentsOf(shaped->getOperand(0).getType())));
    order.push_back(result);
  }
  // Values that something outside of the chain uses keep their shape, by a reshape at the end of
  // the chain instead of at its beginning. Users come first, so that what is left unused can go.
  for (Value value : llvm::reverse(order)) {
    Operation *op = value.getDefiningOp();
    if (!value.use_empty() && op != shaped) {
      b_.setInsertionPointAfter(op);
      value.replaceAllUsesWith(reshaped(matrixOf.lookup(value), shape, lengths));
    }
    if (value.use_empty())
      op->erase();
  }
}

// ---- many matrices with one ---------------------------------------------------------------------

/// Whether an array lies in memory as a whole, so that it is a matrix as it stands.
static bool isWholeArray(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && isa<ArrayType>(value.getType()) &&
         !attrs::strides.isOn(function, argument.getArgNumber());
}

/// Whether all that is done with a value is done element by element, as it is stored: else it would be stored
/// once more than before.
bool ProductOfMatrices::staysElementwise(Value value) {
  llvm::ArrayRef<Extent> shape = extentsOf(product_.getType());
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<StoreOp, DimOp>(user))
      return true;
    return isElementwise(user) && user->getNumResults() == 1 && !isScheduled(user) &&
           user->getBlock() == product_->getBlock() &&
           extentsOf(user->getResult(0).getType()) == shape &&
           llvm::all_of(user->getOperands(),
                        [&](Value other) { return other == value || isForAllRows(other); }) &&
           staysElementwise(user->getResult(0));
  });
}

bool ProductOfMatrices::match() {
  Value left = product_->getOperand(0), right = product_->getOperand(1);
  return !product_->getParentOfType<ParallelOp>() && rankOf(left.getType()) > 2 &&
         rankOf(right.getType()) == 2 && isWholeArray(left) && isProductOf(product_, machine_) &&
         !isScheduled(product_) && staysElementwise(product_);
}

void ProductOfMatrices::rewrite() {
  Value left = product_->getOperand(0);
  llvm::SmallVector<Value> lengths, out;
  auto find = [&](Value of, llvm::SmallVector<Value> &found) {
    for (auto [axis, extent] : llvm::enumerate(extentsOf(of.getType())))
      found.push_back(extent.isConstant() ? constant(extent.length)
                                          : lengthOf(b_, of, static_cast<int64_t>(axis)));
  };
  find(left, lengths);
  find(product_->getOperand(1), out);
  // The result has the leading axes and rows of the left operand, and the columns of the right one.
  out.erase(out.begin());
  out.insert(out.begin(), lengths.begin(), std::prev(lengths.end()));
  Value sum = productOfRows(product_, left, lengths, product_->getOperand(1));
  Value shaped = reshaped(sum, extentsOf(product_.getType()), out);
  product_->getResult(0).replaceAllUsesWith(shaped);
  product_->erase();
  reshapeLater(shaped.getDefiningOp<ReshapeOp>(), out);
}

static void mergeRows(func::FuncOp function, const Machine &machine, unsigned number) {
  llvm::SmallVector<MatmulOp> products;
  function.walk([&](MatmulOp product) {
    if (product.getScales().empty())
      products.push_back(product);
  });
  for (MatmulOp product : products)
    if (ProductOfMatrices rows(product, machine, number); rows.match()) {
      rows.rewrite();
      ++number;
    }
}

void stackSums(func::FuncOp function, const Machine &machine, int64_t tileBytes) {
  llvm::SmallVector<scf::ForOp> loops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ParallelOp>(op))
      return WalkResult::skip();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      loops.push_back(loop);
    return WalkResult::advance();
  });
  unsigned number = 0;
  llvm::DenseSet<Operation *> gone;
  for (scf::ForOp loop : loops) {
    // The outermost nest that matches takes its inner loops along.
    if (gone.contains(loop))
      continue;
    SumOfProducts sum(loop, machine, tileBytes, number);
    if (!sum.match())
      continue;
    loop->walk([&](scf::ForOp inner) { gone.insert(inner); });
    sum.rewrite();
    ++number;
  }
  mergeRows(function, machine, number);
}

} // namespace ptl::ir

#include "passes/lower_block/cross_operands.h"

#include "ir/dialect/attributes.h"
#include "passes/lower_block/assign_cores.h"
#include "passes/lower_block/tile.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace ptl::ir;

namespace ptl::block {

namespace {
class Handing {
public:
  explicit Handing(ParallelOp grid) : b_(grid.getContext()) {}
  void run(MatmulOp product);

private:
  bool crossesAsItIs(Value operand) const;
  Value handed(Value operand);
  Value viewOf(Value source, Operation *view);
  Value turned(Value operand);
  Value asMatrix(Value operand);
  Value asMatrix(NewAxisOp line);

  OpBuilder b_;
  llvm::DenseMap<Value, Value> handed_;
};
} // namespace

/// Results of vector operations are pushed as they are; products and their sums are not theirs.
bool Handing::crossesAsItIs(Value operand) const {
  Operation *op = operand.getDefiningOp();
  return op && op->getNumRegions() == 0 && !isa<MatmulOp, AddOp>(op) && !isViewOfOperand(op);
}

/// One value for all products that read it.
Value Handing::handed(Value operand) {
  // Several products may read one value, which is then handed over once.
  Value &known = handed_[operand];
  if (known)
    return known;
  b_.setInsertionPointAfterValue(operand);
  auto cast = b_.create<CastOp>(operand.getLoc(), operand.getType(), operand);
  attrs::handed.set(cast);
  return known = cast;
}

/// An operation of views that nobody reads, with what it alone has read.
static void eraseUnused(Operation *op) {
  while (op && isViewOfOperand(op) && op->use_empty()) {
    Operation *source = op->getOperand(0).getDefiningOp();
    // Each view may have been the only reader of the next.
    op->erase();
    op = source;
  }
}

/// The same view of another array.
Value Handing::viewOf(Value source, Operation *view) {
  b_.setInsertionPointAfter(view);
  Operation *same = b_.clone(*view);
  same->setOperand(0, source);
  return same->getResult(0);
}

/// Whether a new axis makes a column of a row.
static bool makesColumn(NewAxisOp view) {
  return rankOf(view.getSource().getType()) == 1 && view.getAxes() == llvm::ArrayRef<int64_t>{1};
}

/// `x[:, new]` of a row in memory is the transpose of `x[new, :]`: the operand with that instead,
/// under whatever views; null if there is none.
Value Handing::turned(Value operand) {
  Operation *op = operand.getDefiningOp();
  if (!op || !isViewOfOperand(op))
    return {};
  b_.setInsertionPoint(op);
  // Views above the new axis are made again on top of what replaces it.
  if (auto column = dyn_cast<NewAxisOp>(op); !column || !makesColumn(column)) {
    Value source = turned(op->getOperand(0));
    if (!source)
      return {};
    return viewOf(source, op);
  } else {
    Location loc = column.getLoc();
    const Extent &extent = extentsOf(column.getSource().getType()).front();
    auto type = [&](llvm::ArrayRef<Extent> extents) {
      return arrayTypeOf(elementTypeOf(column.getType()), extents);
    };
    Value row = b_.create<NewAxisOp>(loc, type({Extent::constant(1), extent}), column.getSource(),
                                     b_.getDenseI64ArrayAttr({0}));
    return b_.create<TransposeOp>(loc, type({extent, Extent::constant(1)}), row,
                                  b_.getDenseI64ArrayAttr({1, 0}));
  }
}

/// Whether the views of an operand show the rows and columns that lie in memory, as they are or
/// turned.
static bool showsMatrix(Value operand) {
  for (Operation *op = operand.getDefiningOp(); op && isViewOfOperand(op);
       op = op->getOperand(0).getDefiningOp())
    if (auto view = dyn_cast<NewAxisOp>(op);
        view && !makesColumn(view) &&
        // A new last axis would be a column, which memory does not show.
        llvm::is_contained(view.getAxes(), rankOf(view.getType()) - 1))
      return false;
  return true;
}

/// A vector in global memory whose elements stand below each other, with a new axis, as the matrix
/// of one column that it is cut from; null if it is something else.
Value Handing::asMatrix(NewAxisOp line) {
  Operation *box = line.getSource().getDefiningOp();
  if (!box || !isa<SliceOp, LoadOp>(box) || rankOf(line.getSource().getType()) != 1 ||
      !isGlobal(box->getOperand(0)))
    return {};
  BoxOperands in = operandsOf(box);
  auto last = static_cast<int64_t>(in.offsets.size()) - 1;
  // Only a box whose last axis is dropped is a column of a matrix in memory.
  if (!in.steps.empty() || in.outside || !llvm::is_contained(in.dropped, last))
    return {};
  llvm::SmallVector<int64_t> dropped(in.dropped);
  // The last axis stays with length 1, which makes a matrix of the box.
  llvm::erase(dropped, last);
  const Extent &extent = extentsOf(line.getSource().getType()).front();
  auto type = [&](llvm::ArrayRef<Extent> extents) {
    return arrayTypeOf(elementTypeOf(line.getType()), extents);
  };
  b_.setInsertionPointAfter(box);
  auto make = [&](auto op) -> Value {
    return b_.create<decltype(op)>(box->getLoc(), type({extent, Extent::constant(1)}), in.array,
                                   in.offsets, in.lengths, ValueRange(), Value(),
                                   b_.getDenseI64ArrayAttr(dropped));
  };
  Value matrix = isa<SliceOp>(box) ? make(cast<SliceOp>(box)) : make(cast<LoadOp>(box));
  if (line.getAxes() == llvm::ArrayRef<int64_t>{1})
    return matrix;
  return b_.create<TransposeOp>(line.getLoc(), line.getType(), matrix,
                                b_.getDenseI64ArrayAttr({1, 0}));
}

/// Does the same for a view of such a vector.
Value Handing::asMatrix(Value operand) {
  Operation *op = operand.getDefiningOp();
  if (!op || !isViewOfOperand(op))
    return {};
  if (auto line = dyn_cast<NewAxisOp>(op); line && rankOf(line.getSource().getType()) == 1)
    return asMatrix(line);
  Value source = asMatrix(op->getOperand(0));
  if (!source)
    return {};
  return viewOf(source, op);
}

void Handing::run(MatmulOp product) {
  for (OpOperand &operand : product->getOpOperands()) {
    if (Value matrix = asMatrix(operand.get())) {
      operand.set(matrix);
      continue;
    }
    // It may have no other readers, and is erased then.
    Operation *before = operand.get().getDefiningOp();
    bool isLoaded = isLoadedOperand(operand.get());
    if (Value seen = isLoaded ? turned(operand.get()) : Value()) {
      operand.set(seen);
      eraseUnused(before);
    } else if (isLoaded ? !showsMatrix(operand.get()) : !crossesAsItIs(operand.get())) {
      operand.set(handed(operand.get()));
    }
  }
}

void handOperands(ParallelOp grid) {
  if (attrs::manual.isOn(grid))
    return;
  // Operations are inserted while products are changed, so these are collected first.
  llvm::SmallVector<MatmulOp> products;
  grid.walk([&](MatmulOp product) { products.push_back(product); });
  Handing handing(grid);
  for (MatmulOp product : products)
    handing.run(product);
}

void handBeforeUse(ParallelOp grid) {
  llvm::SmallVector<MatmulOp> products;
  grid.walk([&](MatmulOp product) { products.push_back(product); });
  OpBuilder b(grid.getContext());
  for (MatmulOp product : products)
    for (OpOperand &operand : product->getOpOperands()) {
      if (isLoadedOperand(operand.get()))
        continue;
      Value value = operand.get();
      Operation *known = value.getDefiningOp();
      // Each use gets a cast of its own, right in front of it, so that values cross in the order of
      // the products.
      if (known && isHanded(known))
        value = known->getOperand(0);
      b.setInsertionPoint(product);
      auto cast = b.create<CastOp>(value.getLoc(), value.getType(), value);
      attrs::handed.set(cast);
      operand.set(cast);
      if (known && isHanded(known) && known->use_empty())
        known->erase();
    }
}

} // namespace ptl::block

#include "passes/transform/take_by_arrays.h"

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/affine_positions.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ptl::ir {

/// The array of positions that has become a row of them; null: the row was one already.
static Value positionsOf(TakeOp take) {
  auto row = take.getIndex().getDefiningOp<ReshapeOp>();
  return row && rankOf(row.getX().getType()) > 1 ? row.getX() : Value();
}

/// Whether a reshape gives the taken axis the axes of the positions, and leaves the others.
static bool restores(ReshapeOp reshape, TakeOp take, Value positions) {
  auto axis = static_cast<size_t>(take.getAxis());
  llvm::SmallVector<Extent> wanted(extentsOf(take.getType()));
  llvm::ArrayRef<Extent> inside = extentsOf(positions.getType());
  wanted.erase(wanted.begin() + static_cast<ptrdiff_t>(axis));
  wanted.insert(wanted.begin() + static_cast<ptrdiff_t>(axis), inside.begin(), inside.end());
  llvm::ArrayRef<Extent> given = extentsOf(reshape.getResult().getType());
  return given.size() == wanted.size() && llvm::all_of(llvm::zip(given, wanted), [](auto pair) {
           const auto &[a, b] = pair;
           return a.isConstant() ? a.length == b.length : a.symbol && a.symbol == b.symbol;
         });
}

void takeByArrays(func::FuncOp function) {
  llvm::SmallVector<ReshapeOp> reshapes;
  function.walk([&](ReshapeOp reshape) { reshapes.push_back(reshape); });
  for (ReshapeOp reshape : reshapes) {
    auto take = reshape.getX().getDefiningOp<TakeOp>();
    // Another user of the rows would need them in their own shape, and they would be taken twice.
    Value positions = take && take->hasOneUse() ? positionsOf(take) : Value();
    if (!positions || !restores(reshape, take, positions))
      continue;
    OpBuilder b(reshape);
    Value taken = b.create<TakeOp>(take.getLoc(), reshape.getResult().getType(), take.getSource(),
                                   positions, take.getAxisAttr());
    reshape.getResult().replaceAllUsesWith(taken);
    reshape.erase();
    take.erase();
  }
}

/// A copy of what computes positions, in front of the builder.
static Value copyOf(OpBuilder &b, Value value, IRMapping &copies) {
  if (!isa<ArrayType>(value.getType()))
    return value;
  if (Value known = copies.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    copies.map(operand, copyOf(b, operand, copies));
  return b.clone(*op, copies)->getResult(0);
}

/// Checks of all positions do not need them as a row, which would have to be in memory.
static void compareInPlace(ReshapeOp row) {
  Value positions = row.getX();
  auto isCompared = [](Operation *user) {
    return isa<GeOp, LtOp>(user) && !isa<ArrayType>(user->getOperand(1).getType()) &&
           llvm::all_of(user->getUsers(), [](Operation *both) {
             return isa<AndOp>(both) && llvm::all_of(both->getUsers(), [](Operation *all) {
                      return isa<ReduceAllOp>(all) && !isa<ArrayType>(all->getResult(0).getType());
                    });
           });
  };
  if (!arePositionsEven(positions) || !llvm::all_of(row->getUsers(), isCompared))
    return;
  auto shape = [&](Operation *op) {
    Value result = op->getResult(0);
    auto element = cast<ArrayType>(result.getType()).getElementType();
    result.setType(
        ArrayType::get(op->getContext(), element, extentsOf(positions.getType()), Place::Inferred));
  };
  for (Operation *user : row->getUsers())
    for (Operation *both : user->getUsers())
      shape(both);
  for (Operation *user : row->getUsers())
    shape(user);
  row.getResult().replaceAllUsesWith(positions);
  row.erase();
}

void repeatPositions(func::FuncOp function) {
  llvm::SmallVector<ReshapeOp> rows;
  llvm::SmallVector<OpOperand *> uses;
  function.walk([&](Operation *op) {
    if (op->getParentOfType<ParallelOp>())
      return;
    if (auto row = dyn_cast<ReshapeOp>(op))
      rows.push_back(row);
    else if (isa<TakeOp>(op) && arePositionsEven(op->getOperand(1)))
      uses.push_back(&op->getOpOperand(1));
  });
  for (ReshapeOp row : rows)
    compareInPlace(row);
  for (OpOperand *use : uses) {
    OpBuilder b(use->getOwner());
    IRMapping copies;
    use->set(copyOf(b, use->get(), copies));
  }
}

} // namespace ptl::ir

#include "passes/transform/take_by_arrays.h"

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Builders.h"

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

} // namespace ptl::ir

// Products as loops: over the matrices of a batch, and over the contracted axis where the cube core
// does not multiply the element types.
#include "passes/transform/legalize/legalize_product_loops.h"

#include "ir/dialect/grid_scope.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::ir::legalize {

/// The type of one position of an axis: without the axis, or with an extent of 1.
static ArrayType typeAt(Value x, int64_t axis, bool drops) {
  llvm::SmallVector<Extent> extents(extentsOf(x.getType()));
  if (drops)
    extents.erase(extents.begin() + axis);
  else
    extents[static_cast<size_t>(axis)] = Extent::constant(1);
  return arrayTypeOf(elem(x), extents);
}

/// A box of an array in global memory at one position of an axis: it is loaded from there.
template <typename BoxOp>
static Value partOfBox(const Tiles &t, BoxOp box, Value source, int64_t axis, Value position,
                       bool drops) {
  llvm::SmallVector<int64_t> dropped(box.getDropped());
  llvm::SmallVector<Value> offsets(box.getOffsets()), lengths(box.getLengths());
  size_t base = 0;
  // The result's axes are the box's axes without the dropped ones.
  for (int64_t kept = axis; llvm::is_contained(dropped, static_cast<int64_t>(base)) || kept-- > 0;)
    ++base;
  offsets[base] = t.r.createOrFold<arith::AddIOp>(t.loc, offsets[base], position);
  lengths[base] = t.index(1);
  if (drops)
    dropped.push_back(static_cast<int64_t>(base));
  llvm::sort(dropped);
  return t.r.create<BoxOp>(t.loc, typeAt(box.getResult(), axis, drops), source, offsets, lengths,
                           ValueRange(), Value(), t.r.getDenseI64ArrayAttr(dropped));
}

static Value partAt(const Tiles &t, Value x, int64_t axis, Value position, bool drops);

/// A part of an array that got axes of extent 1, as a vector that is a factor of a product did: the position is looked up before that. Null
/// where the axis is a new one.
static Value partWithAxes(const Tiles &t, NewAxisOp wide, int64_t axis, Value position,
                          bool drops) {
  llvm::ArrayRef<int64_t> added = wide.getAxes();
  Value before = wide->getOperand(0);
  if (llvm::is_contained(added, axis) || (drops && rankOf(before.getType()) == 1))
    return {};
  int64_t from = axis - llvm::count_if(added, [&](int64_t own) { return own < axis; });
  llvm::SmallVector<int64_t> axes;
  for (int64_t own : added)
    axes.push_back(own - (drops && own > axis));
  return t.newAxis(partAt(t, before, from, position, drops), axes);
}

/// What stands at one position of an axis.
static Value partAt(const Tiles &t, Value x, int64_t axis, Value position, bool drops) {
  if (auto box = x.getDefiningOp<SliceOp>()) {
    // An array in global memory stays as it is, so a part is loaded from there directly; one from outside of the grid lies there.
    auto source = dyn_cast<ArrayType>(box.getSource().getType());
    bool isThere =
        source && (source.getPlace() == Place::Gm || isOutsideGrid(box, box.getSource()));
    if (isThere && box.getSteps().empty() && !box.getOutside())
      return partOfBox(t, box, box.getSource(), axis, position, drops);
  }
  if (auto box = x.getDefiningOp<LoadOp>())
    if (box.getSteps().empty() && !box.getOutside() && isUnchangedUntil(box, nullptr))
      return partOfBox(t, box, box.getRef(), axis, position, drops);
  // The position is looked up before the transposition, so that only that part is turned.
  if (auto turned = x.getDefiningOp<TransposeOp>()) {
    int64_t from = turned.getAxes()[static_cast<size_t>(axis)];
    llvm::SmallVector<int64_t> axes;
    for (auto [to, own] : llvm::enumerate(turned.getAxes()))
      if (!drops || static_cast<int64_t>(to) != axis)
        axes.push_back(own - (drops && own > from));
    return t.transpose(partAt(t, turned->getOperand(0), from, position, drops), axes);
  }
  if (auto wide = x.getDefiningOp<NewAxisOp>())
    if (Value part = partWithAxes(t, wide, axis, position, drops))
      return part;
  int64_t rank = rankOf(x.getType());
  llvm::SmallVector<Value> offsets(static_cast<size_t>(rank), t.index(0)), lengths;
  for (int64_t each = 0; each < rank; ++each)
    lengths.push_back(each == axis ? t.index(1) : t.length(x, each));
  offsets[static_cast<size_t>(axis)] = position;
  llvm::SmallVector<int64_t> dropped;
  if (drops)
    dropped.push_back(axis);
  return t.r.create<SliceOp>(t.loc, typeAt(x, axis, drops), x, offsets, lengths, ValueRange(),
                             Value(), t.r.getDenseI64ArrayAttr(dropped));
}

/// An array of zeros; one length for each extent.
static Value zeros(const Tiles &t, Value like, ValueRange lengths) {
  OperationState state(t.loc, FullOp::getOperationName());
  llvm::ArrayRef<Extent> extents = extentsOf(like.getType());
  for (auto [extent, length] : llvm::zip(extents, lengths))
    if (!extent.isConstant())
      state.addOperands(length);
  state.addOperands(t.number(elem(like), 0));
  state.addTypes(arrayTypeOf(elem(like), extents));
  return t.r.create(state)->getResult(0);
}

Value productByColumns(const Tiles &t, MatmulOp product) {
  Value a = product.getA(), b = product.getB(), result = product.getResult();
  Type acc = elem(result);
  Value begin = zeros(t, result, {t.length(a, 0), t.length(b, 1)});
  auto loop =
      t.r.create<scf::ForOp>(t.loc, t.index(0), t.length(a, 1), t.index(1), ValueRange(begin));
  OpBuilder::InsertionGuard guard(t.r);
  // Each turn adds the outer product of a column and a row.
  t.r.setInsertionPointToStart(loop.getBody());
  Value column = t.convert(partAt(t, a, 1, loop.getInductionVar(), false), acc);
  Value row = t.convert(partAt(t, b, 0, loop.getInductionVar(), false), acc);
  Value sum = t.add(loop.getRegionIterArg(0), t.mul(column, row));
  // The sum may have another description of the same shape, but a loop carries one type.
  if (sum.getType() != begin.getType())
    sum = t.r.create<CastOp>(t.loc, begin.getType(), sum);
  t.r.create<scf::YieldOp>(t.loc, sum);
  return loop.getResult(0);
}

Value batchOfProducts(const Tiles &t, MatmulOp product) {
  Value sides[] = {product.getA(), product.getB()}, result = product.getResult();
  int64_t rank = rankOf(result.getType());
  if (rank <= 2)
    return {};
  llvm::ArrayRef<Extent> extents = extentsOf(result.getType());
  auto lengthAt = [&](int64_t axis) { // the length of an axis of the result
    // Matrix axes belong to one side alone; batch axes to any side that has more than one position.
    if (axis + 2 >= rank) {
      Value own = sides[axis + 1 == rank];
      return t.length(own, rankOf(own.getType()) - (rank - axis));
    }
    for (Value side : sides)
      if (int64_t own = rankOf(side.getType()) - (rank - axis);
          own >= 0 && !extentsOf(side.getType())[static_cast<size_t>(own)].isOne())
        return t.length(side, own);
    return t.index(1);
  };
  llvm::SmallVector<Value> lengths;
  for (int64_t axis = 0; axis < rank; ++axis)
    lengths.push_back(lengthAt(axis));
  Value begin = zeros(t, result, lengths);
  auto loop = t.r.create<scf::ForOp>(t.loc, t.index(0), lengths[0], t.index(1), ValueRange(begin));
  OpBuilder::InsertionGuard guard(t.r);
  t.r.setInsertionPointToStart(loop.getBody());
  Value position = loop.getInductionVar();
  // A batch of one position is used in every turn.
  for (Value &side : sides)
    if (rankOf(side.getType()) == rank)
      side = partAt(t, side, 0, extentsOf(side.getType())[0].isOne() ? t.index(0) : position,
                    /*drops=*/true);
  // Only one batch axis is taken off; the product inside is rewritten again for the next.
  auto one = t.r.create<MatmulOp>(t.loc, arrayTypeOf(elem(result), extents.drop_front()), sides[0],
                                  sides[1], ValueRange(), product.getPrecisionAttr());
  llvm::SmallVector<Value> offsets(lengths.size(), t.index(0));
  offsets[0] = position;
  lengths[0] = t.index(1);
  Value filled =
      t.r.create<InsertOp>(t.loc, begin.getType(), one, loop.getRegionIterArg(0), offsets, lengths,
                           ValueRange(), Value(), t.r.getDenseI64ArrayAttr({0}), IntegerAttr());
  t.r.create<scf::YieldOp>(t.loc, filled);
  return loop.getResult(0);
}

} // namespace ptl::ir::legalize

// The extents of the results of each operation.
#include "codegen/cpu/extents.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/lower_elementwise.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::cpu {

Values extentsOf(Lowering &l, Value array) {
  // Pending arrays have extents before they have memory.
  if (auto found = l.extents.find(array); found != l.extents.end())
    return found->second;
  if (auto found = l.views.find(array); found != l.views.end())
    return found->second.extents;
  return {};
}

// The constant extents of a type, and for the others the given lengths in order.
static Values namedExtents(Lowering &l, ArrayRef<ir::Extent> extents, ValueRange lengths) {
  Values result;
  size_t next = 0;
  for (const ir::Extent &extent : extents) {
    if (extent.isConstant())
      result.push_back(l.index(extent.length));
    else
      result.push_back(next < lengths.size() ? scalarOf(l, lengths[next++]) : l.index(0));
  }
  return result;
}

static Values elementwiseExtents(Lowering &l, Operation *op, ir::ArrayType type) {
  Values result(type.getRank());
  for (Value operand : op->getOperands()) {
    auto array = arrayType(operand);
    if (!array)
      continue;
    Values extents = extentsOf(l, operand);
    int64_t shift = type.getRank() - array.getRank();
    for (int64_t axis = 0; axis < array.getRank(); ++axis)
      // An axis of extent 1 is stretched, so it gives the extent only if no operand has a longer
      // one.
      if (!result[axis + shift] || !array.getExtents()[axis].isOne())
        result[axis + shift] = extents[axis];
  }
  return result;
}

static Values einsumExtents(Lowering &l, ir::EinsumOp op) {
  auto [inputs, output] = op.getSpec().split("->");
  SmallVector<StringRef> specs;
  inputs.split(specs, ',');
  Values result;
  // The checker made all axes of one letter equal, so the first operand with it will do.
  for (char letter : output.trim())
    for (auto [spec, operand] : llvm::zip(specs, op.getXs()))
      if (size_t at = spec.trim().find(letter); at != StringRef::npos) {
        result.push_back(extentsOf(l, operand)[at]);
        break;
      }
  return result;
}

static Values productExtents(Lowering &l, ir::MatmulOp op) {
  Values a = extentsOf(l, op.getA()), b = extentsOf(l, op.getB());
  size_t batchA = a.size() > 2 ? a.size() - 2 : 0, batchB = b.size() > 2 ? b.size() - 2 : 0;
  Values result;
  const Values &longer = batchA >= batchB ? a : b;
  for (size_t axis = 0; axis < std::max(batchA, batchB); ++axis)
    result.push_back(longer[axis]);
  // A vector to the left has no row in the result, and one to the right no column.
  if (a.size() >= 2)
    result.push_back(a[a.size() - 2]);
  if (b.size() >= 2)
    result.push_back(b.back());
  return result;
}

static Values boxExtents(Lowering &l, ValueRange lengths, ArrayRef<int64_t> dropped) {
  Values result;
  for (auto [axis, length] : llvm::enumerate(lengths))
    if (!llvm::is_contained(dropped, static_cast<int64_t>(axis)))
      result.push_back(scalarOf(l, length));
  return result;
}

static Values shapeExtents(Lowering &l, Operation *op, unsigned number, ir::ArrayType type) {
  const Emit &e = l.e;
  Values source = op->getNumOperands() ? extentsOf(l, op->getOperand(0)) : Values();
  // Lengths that no operand has are computed from the operands' lengths, as the operation does.
  if (auto concat = dyn_cast<ir::ConcatOp>(op)) {
    for (Value part : concat.getXs().drop_front())
      source[concat.getAxis()] =
          e.add(source[concat.getAxis()], lengthOf(l, part, concat.getAxis()));
  } else if (auto pad = dyn_cast<ir::PadOp>(op)) {
    for (auto list : {pad.getBefore(), pad.getAfter()})
      for (auto [axis, margin] : llvm::enumerate(list))
        source[axis] = e.add(source[axis], scalarOf(l, margin));
  } else if (auto transpose = dyn_cast<ir::TransposeOp>(op)) {
    Values result;
    for (int64_t axis : transpose.getAxes())
      result.push_back(source[axis]);
    return result;
  } else if (isa<ir::InterleaveOp>(op)) {
    source.back() = e.mul(source.back(), e.index(2));
  } else if (isa<ir::DeinterleaveOp>(op)) {
    source.back() = e.b.createOrFold<arith::DivUIOp>(e.loc, source.back(), e.index(2));
  } else if (auto take = dyn_cast<ir::TakeOp>(op)) {
    auto axis = static_cast<ptrdiff_t>(take.getAxis());
    Values positions = extentsOf(l, take->getOperand(1));
    // The axis is replaced by all axes of the positions.
    source.erase(source.begin() + axis);
    source.insert(source.begin() + axis, positions.begin(), positions.end());
  } else if (auto newAxis = dyn_cast<ir::NewAxisOp>(op)) {
    for (int64_t axis : newAxis.getAxes())
      source.insert(source.begin() + axis, e.index(1));
  } else if (auto oneHot = dyn_cast<ir::OneHotOp>(op)) {
    source.push_back(namedExtents(l, type.getExtents().take_back(), oneHot.getLengths())[0]);
  } else if (auto topk = dyn_cast<ir::TopkOp>(op)) {
    source.back() = namedExtents(l, type.getExtents().take_back(), topk.getLengths())[0];
  } else if (isa<ir::GatherOp>(op)) {
    return extentsOf(l, op->getOperand(1));
  } else if (auto insert = dyn_cast<ir::InsertOp>(op)) {
    return extentsOf(l, insert.getDest());
  }
  return source;
}

void defineExtents(Lowering &l, Operation *op) {
  for (OpResult result : op->getResults()) {
    auto type = arrayType(result);
    if (!type)
      continue;
    Values extents;
    if (isElementwise(op))
      extents = elementwiseExtents(l, op, type);
    else if (auto load = dyn_cast<ir::LoadOp>(op))
      extents = boxExtents(l, load.getLengths(), load.getDropped());
    else if (auto slice = dyn_cast<ir::SliceOp>(op))
      extents = boxExtents(l, slice.getLengths(), slice.getDropped());
    else if (auto product = dyn_cast<ir::MatmulOp>(op))
      extents = productExtents(l, product);
    else if (auto einsum = dyn_cast<ir::EinsumOp>(op))
      extents = einsumExtents(l, einsum);
    else if (isa<ir::ZerosOp, ir::OnesOp, ir::FullOp, ir::IndexOp, ir::ReshapeOp, ir::BroadcastOp,
                 ir::RandomOp>(op)) {
      ValueRange lengths = TypeSwitch<Operation *, ValueRange>(op)
                               .Case<ir::ZerosOp, ir::OnesOp, ir::FullOp, ir::IndexOp,
                                     ir::ReshapeOp, ir::BroadcastOp, ir::RandomOp>(
                                   [](auto o) { return ValueRange(o.getLengths()); })
                               .Default([](Operation *) { return ValueRange(); });
      extents = namedExtents(l, type.getExtents(), lengths);
    } else
      extents = shapeExtents(l, op, result.getResultNumber(), type);
    extents.resize(type.getRank(), l.index(1));
    for (auto [axis, extent] : llvm::enumerate(type.getExtents()))
      // Constants of the type take precedence: with them loops are unrolled and tails left out.
      if (extent.isConstant())
        extents[axis] = l.index(extent.length);
    l.extents[result] = extents;
  }
}

} // namespace ptl::cpu

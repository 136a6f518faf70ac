// Scalars: constants, lengths, elements of arrays, arithmetic, and what reduces an array to one.
#include "codegen/cpu/lower_scalars.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/lower_boxes.h"
#include "codegen/cpu/lower_elementwise.h"
#include "codegen/cpu/lower_product.h"
#include "codegen/cpu/lower_random.h"
#include "codegen/cpu/lower_reduction.h"
#include "codegen/cpu/lower_sort.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"
#include "codegen/cpu/storage.h"

using namespace mlir;

namespace ptl::cpu {

static Value constantRegister(Lowering &l, TypedAttr value) {
  Type type = value.getType(), reg = registerType(type);
  if (auto real = dyn_cast<FloatAttr>(value))
    return l.e.real(reg, real.getValueAsDouble());
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return l.e.integer(reg, integer.getValue().getSExtValue());
  return {};
}

static Value scalarBox(Lowering &l, Operation *op) {
  if (auto load = dyn_cast<ir::LoadOp>(op)) {
    View base = *viewOf(l, load.getRef());
    if (load.getOutside())
      return boxElementOutside(l, base, load.getOffsets(), load.getSteps(), load.getDropped(),
                               load.getOutside(), {});
    return loadAt(
        l,
        boxView(l, base, load.getOffsets(), load.getLengths(), load.getSteps(), load.getDropped()),
        {});
  }
  auto slice = dyn_cast<ir::SliceOp>(op);
  if (!slice)
    return {};
  if (slice.getOutside())
    return boxElementOutside(l, requireView(l, slice.getSource()), slice.getOffsets(),
                             slice.getSteps(), slice.getDropped(), slice.getOutside(), {});
  prepare(l, slice.getSource());
  Coords at;
  for (Value offset : slice.getOffsets())
    at.push_back(Coord{scalarOf(l, offset)});
  // The coordinates are those of one element only.
  Scope scope(l);
  return elementAt(l, slice.getSource(), at);
}

// Lowers reductions of arrays to one number or truth value.
static Value scalarResult(Lowering &l, Operation *op) {
  if (isa<ir::SortedOp>(op))
    return sortedFact(l, op);
  if (isa<ir::UniqueOp>(op))
    return uniqueFact(l, op);
  if (isa<ir::MatmulOp, ir::EinsumOp>(op)) {
    Type elem = op->getResult(0).getType();
    // Products have only producers that write to memory.
    View cell = allocate(l, elem, {});
    produceProduct(l, op, cell, false);
    return loadAt(l, cell, {});
  }
  return reducedScalar(l, op);
}

void lowerScalarOp(Lowering &l, Operation *op) {
  // The grid has bound this length to that of the tile that was chosen.
  if (l.settled.contains(op))
    return;
  const Emit &e = l.e;
  Value value;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    value = constantRegister(l, constant.getValue());
  else if (auto constant = dyn_cast<ir::ConstantOp>(op))
    value = constantRegister(l, constant.getValue());
  else if (auto dim = dyn_cast<ir::DimOp>(op))
    value = lengthOf(l, dim.getSource(), dim.getAxis());
  else if (isElementwise(op)) {
    Values operands;
    // Arithmetic of other dialects is copied; only its operands and its types are those of
    // registers.
    for (Value operand : op->getOperands())
      operands.push_back(scalarOf(l, operand));
    value = emitElementwise(l.e, op, operands);
  } else if (isa<ir::LoadOp, ir::SliceOp>(op))
    value = scalarBox(l, op);
  else if (auto philox = dyn_cast<ir::PhiloxOp>(op)) {
    Type i64 = e.b.getI64Type();
    Value counter =
        convertElem(e, scalarOf(l, philox.getCounter()), philox.getCounter().getType(), i64);
    value = emitPhilox(e, counter, e.indexCast(scalarOf(l, philox.getSeed()), i64));
  } else if (op->getDialect()->getNamespace() == "ptl")
    value = scalarResult(l, op);
  else {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, scalarOf(l, operand));
    Operation *copy = e.b.clone(*op, mapping);
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults())) {
      to.setType(registerType(from.getType()));
      l.bindScalar(from, to);
    }
    return;
  }
  if (!value)
    return l.fail(op, "this operation has no lowering to the CPU");
  l.bindScalar(op->getResult(0), value);
}

} // namespace ptl::cpu

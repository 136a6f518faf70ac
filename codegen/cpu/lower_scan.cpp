// Scans.
#include "codegen/cpu/lower_scan.h"
#include "codegen/cpu/combiner.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"

using namespace mlir;

namespace ptl::cpu {

bool produceScan(Lowering &l, Operation *op, const View &dest) {
  const Emit &e = l.e;
  if (!op->getName().getStringRef().starts_with("ptl.cum"))
    return false;
  Value operand = op->getOperand(0);
  prepare(l, operand);
  auto type = cast<ir::ArrayType>(operand.getType());
  int64_t axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
  Combiner c = combinerOf(op, type.getElementType());
  Values extents = extentsOf(l, operand);
  int64_t inner = innerAxis(extents);
  SmallVector<int64_t> others;
  for (int64_t n = 0; n < type.getRank(); ++n)
    if (n != axis && n != inner)
      others.push_back(n);
  auto run = [&](Coords &at) {
    Type shape = l.lanes ? Type(VectorType::get({l.lanes}, c.acc)) : c.acc;
    e.loop(l.index(0), extents[axis], l.index(1), c.identity(e, shape),
           [&](const Emit &, Value i, ValueRange carried) -> SmallVector<Value> {
             Scope scope(l);
             at[axis] = Coord{i};
             Value element = c.accept(e, toLanes(l, elementAt(l, operand, at)));
             Value next = c.combine(e, carried[0], element);
             storeAt(l, dest, at, c.finish(e, next, {}, type.getElementType()));
             return {next};
           });
  };
  Coords at(type.getRank());
  Scope scope(l);
  forAxes(l, extents, others, at, [&](Coords &at) {
    if (inner == axis || inner < 0)
      run(at);
    else
      forLanes(l, extents, inner, at, 100, run);
  });
  return true;
}

} // namespace ptl::cpu

// Positions taken from arrays, and scattered stores.
#include "codegen/cpu/lower_gather.h"
#include "codegen/cpu/chosen_lanes.h"
#include "codegen/cpu/combiner.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"

using namespace mlir;

namespace ptl::cpu {

static Coord coordFromElement(Lowering &l, Value array, const Coords &at) {
  const Emit &e = l.e;
  Value element = elementAt(l, array, at);
  Type elem = cast<ir::ArrayType>(array.getType()).getElementType();
  Value position = convertElem(e, element, elem, e.b.getIndexType());
  return isa<VectorType>(position.getType()) ? Coord{{}, 0, position} : Coord{position};
}

Value gatherElement(Lowering &l, Operation *op, const Coords &at) {
  Coords from = at;
  size_t axis = 0;
  Value index;
  Coords where = at; // of the positions
  if (auto gather = dyn_cast<ir::GatherOp>(op)) {
    axis = static_cast<size_t>(gather.getAxis());
    index = gather.getIdx();
  } else if (auto take = dyn_cast<ir::TakeOp>(op)) {
    axis = static_cast<size_t>(take.getAxis());
    index = take->getOperand(1);
    // The axes of the positions stand where the axis was, and one position of the source takes
    // their place.
    auto *first = from.begin() + axis, *end = first + arrayType(index).getRank();
    where = Coords(first, end);
    from.erase(first, end);
    from.insert(from.begin() + axis, Coord());
  } else {
    return {};
  }
  View source = *viewOf(l, op->getOperand(0));
  if (auto even = evenPosition(l, index, where)) {
    from[axis] = *even;
    return loadAt(l, source, from);
  }
  return loadChosen(l, source, from, axis, index, elementAt(l, index, where));
}

// --- scatter -------------------------------------------------------------------------------------

bool produceScatter(Lowering &l, Operation *op, const View &dest) {
  auto scatter = dyn_cast<ir::ScatterOp>(op);
  if (!scatter)
    return false;
  // Elements that no position names keep the value of the operand, so it is there first.
  evaluateInto(l, scatter.getX(), dest);
  prepare(l, scatter.getIdx());
  prepare(l, scatter.getV());
  Values extents = extentsOf(l, scatter.getIdx());
  Coords at(extents.size());
  SmallVector<int64_t> axes(llvm::to_vector(llvm::seq<int64_t>(0, extents.size())));
  auto store = [&](Coords &at) {
    Coords to = at;
    to[scatter.getAxis()] = coordFromElement(l, scatter.getIdx(), at);
    Value next = toLanes(l, elementAt(l, scatter.getV(), at));
    // The element is read in each step, since an earlier step may have changed it.
    if (scatter.getCombine() != "set")
      next = combinerNamed(scatter.getCombine(), dest.element)
                 .combine(l.e, toLanes(l, loadAt(l, dest, to)), next);
    storeAt(l, dest, to, next);
  };
  Scope scope(l);
  int64_t last = axes.back();
  // Along the axis of the positions several lanes of a vector may go to one element, and the last store has to win. Along any other
  // axis lanes keep apart.
  if (static_cast<int64_t>(scatter.getAxis()) == last)
    forAxes(l, extents, axes, at, store);
  else
    forAxes(l, extents, ArrayRef(axes).drop_back(), at,
            [&](Coords &at) { forLanes(l, extents, last, at, 1, store); });
  return true;
}

} // namespace ptl::cpu

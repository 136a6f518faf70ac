#include "codegen/cpu/store_together.h"

#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/lower_boxes.h"
#include "codegen/cpu/lower_elementwise.h"
#include "codegen/cpu/lower_product.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/one_pass.h"
#include "codegen/cpu/one_row.h"
#include "codegen/cpu/positions.h"
#include "codegen/cpu/tile_ahead.h"
#include "ir/dialect/host_views.h"

using namespace mlir;

namespace ptl::cpu {

// More would be more streams than a processor keeps up with.
static constexpr size_t kMostStores = 8;
// What takes less may as well be computed for each store.
static constexpr int64_t kLeastShared = 4;

// Whether a store puts each element of an elementwise value at its own place.
static bool isPlain(Lowering &l, ir::StoreOp store) {
  auto type = arrayType(store.getValue());
  Operation *op = store.getValue().getDefiningOp();
  Value base;
  Operation *product = nullptr;
  if (!type || !op || !isElementwise(op) || store.getIndex() || store.getAtomic() ||
      isProductInto(op, base, product) || viewOf(l, store.getValue()))
    return false;
  size_t kept = store.getLengths().size() - store.getDropped().size();
  // An extent of 1 may be broadcast into its box.
  return kept == static_cast<size_t>(type.getRank()) &&
         llvm::none_of(type.getExtents(), [](const ir::Extent &extent) { return extent.isOne(); });
}

// Whether something that costs as much is read for several of the values, and stays in registers if one loop computes them all.
static bool shareMuch(Lowering &l, ArrayRef<ir::StoreOp> stores) {
  Values values;
  llvm::DenseSet<Operation *> ofOne;
  for (ir::StoreOp store : stores) {
    values.push_back(store.getValue());
    OnePass own(l, store.getValue());
    ofOne.insert(own.operations.begin(), own.operations.end());
  }
  return llvm::any_of(OnePass(l, values).operations, [&](Operation *op) {
    // A value that is stored may be what another one is computed from.
    bool isShared = !ofOne.contains(op) || !op->getResult(0).hasOneUse();
    bool isRead =
        llvm::any_of(op->getUsers(), [](Operation *user) { return !isa<ir::StoreOp>(user); });
    return isShared && isRead && costOf(l, op->getResult(0)) >= kLeastShared;
  });
}

// Whether boxes of one array have no element in common, as far as that is written down: other positions along an axis, every second one, or
// what begins where the other one ends. `interleaved` becomes true if they have lines of memory in common.
static bool areApart(ir::StoreOp a, ir::StoreOp b, bool &interleaved) {
  size_t rank = a.getOffsets().size();
  auto stepOf = [](ir::StoreOp store, size_t axis) {
    return store.getSteps().empty() ? std::optional<int64_t>(1)
                                    : constantOf(store.getSteps()[axis]);
  };
  for (size_t axis = 0; axis < rank; ++axis) {
    Value length = a.getLengths()[axis];
    auto from = constantOf(a.getOffsets()[axis]), other = constantOf(b.getOffsets()[axis]);
    auto step = stepOf(a, axis);
    bool isEven = step && step == stepOf(b, axis);
    bool areSingle = constantOf(length) == 1 && constantOf(b.getLengths()[axis]) == 1;
    bool apart = from && other && isEven && *from != *other &&
                 (areSingle || (*step > 1 && std::abs(*from - *other) < *step));
    if (apart) {
      interleaved |= axis + 1 == rank;
      return true;
    }
    // A box from the first position on ends at its length, so another one that begins there, or behind it, is apart.
    if (isEven && *step == 1 && from == 0 &&
        (b.getOffsets()[axis] == length ||
         (other && constantOf(length) && *other >= *constantOf(length))))
      return true;
  }
  return false;
}

SmallVector<ir::StoreOp> storesOfOneLoop(Lowering &l, ir::StoreOp first) {
  // The code of a program stores by tasks, each of which has one result.
  if (l.isOrchestrating() || !isPlain(l, first))
    return {};
  SmallVector<ir::StoreOp> stores = {first};
  ArrayRef<ir::Extent> extents = arrayType(first.getValue()).getExtents();
  bool interleaved = false;
  for (Operation *next = first->getNextNode(); next && stores.size() < kMostStores;
       next = next->getNextNode()) {
    auto store = dyn_cast<ir::StoreOp>(next);
    // The order of two stores to one array matters.
    auto keepsOrder = [&](ir::StoreOp earlier) {
      return ir::storageUnder(earlier.getRef()) != ir::storageUnder(store.getRef()) ||
             (earlier.getRef() == store.getRef() && areApart(earlier, store, interleaved));
    };
    if (!store || !isPlain(l, store) || arrayType(store.getValue()).getExtents() != extents ||
        !llvm::all_of(stores, keepsOrder))
      break;
    stores.push_back(store);
  }
  bool gains = stores.size() > 1 && (interleaved || shareMuch(l, stores));
  return gains ? stores : SmallVector<ir::StoreOp>();
}

void lowerTogether(Lowering &l, ArrayRef<ir::StoreOp> stores) {
  Values values;
  SmallVector<View> boxes;
  int64_t cost = 0;
  for (ir::StoreOp store : stores) {
    values.push_back(store.getValue());
    boxes.push_back(boxView(l, *viewOf(l, store.getRef()), store.getOffsets(), store.getLengths(),
                            store.getSteps(), store.getDropped()));
    cost += costOf(l, store.getValue());
  }
  Scope scope(l);
  prepareInside(l, values);
  storeAsOneRow(l, values, boxes, cost, [&](ArrayRef<View> to) {
    beginPass(l, values);
    forAll(l, to[0].extents, cost, values, [&](Coords &at) {
      // All are computed from what was there before.
      Values elements;
      for (Value value : values)
        elements.push_back(elementAt(l, value, at));
      for (auto [element, view] : llvm::zip(elements, to))
        storeAt(l, view, at, element);
    });
  });
}

} // namespace ptl::cpu

// Boxes of arrays, read and written.
#include "codegen/cpu/lower_boxes.h"
#include "codegen/cpu/combiner.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/fold_together.h"
#include "codegen/cpu/lower_tasks.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/streamed_store.h"
#include "codegen/cpu/tile_ahead.h"
#include "ir/dialect/host_views.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

static bool isDropped(ArrayRef<int64_t> dropped, size_t axis) {
  return llvm::is_contained(dropped, static_cast<int64_t>(axis));
}

View boxView(Lowering &l, const View &base, ValueRange offsets, ValueRange lengths,
             ValueRange steps, ArrayRef<int64_t> dropped) {
  const Emit &e = l.e;
  View view{base.element, {}, {}, {}};
  Value offset = l.index(0);
  for (size_t axis = 0; axis < offsets.size(); ++axis) {
    // A dropped axis has a position but no extent, so it counts for the address alone.
    offset = e.add(offset, e.mul(scalarOf(l, offsets[axis]), base.strides[axis]));
    if (isDropped(dropped, axis))
      continue;
    view.extents.push_back(scalarOf(l, lengths[axis]));
    Value stride = base.strides[axis];
    view.strides.push_back(steps.empty() ? stride : e.mul(stride, scalarOf(l, steps[axis])));
  }
  view.data = elementPointer(e, base.data, storageType(base.element), offset);
  view.ahead = aheadOf(l, base, offsets);
  return view;
}

Coords boxCoords(Lowering &l, ValueRange offsets, ValueRange steps, ArrayRef<int64_t> dropped,
                 const Coords &at) {
  Coords result;
  size_t next = 0;
  for (size_t axis = 0; axis < offsets.size(); ++axis) {
    Value offset = scalarOf(l, offsets[axis]);
    if (isDropped(dropped, axis)) {
      result.push_back(Coord{offset});
      continue;
    }
    Coord coord = at[next++];
    if (!steps.empty())
      coord = scaled(l, coord, scalarOf(l, steps[axis]));
    result.push_back(shifted(l, coord, offset));
  }
  return result;
}

// Reads an element in a branch, so that nothing beyond the edges is loaded.
Value boxElementOutside(Lowering &l, const View &base, ValueRange offsets, ValueRange steps,
                        ArrayRef<int64_t> dropped, Value outside, const Coords &at) {
  const Emit &e = l.e;
  Coords from = boxCoords(l, offsets, steps, dropped, at);
  Value inside;
  Type indexType = e.b.getIndexType();
  for (auto [coord, extent] : llvm::zip(from, base.extents)) {
    Value position = positionVector(l, coord, indexType);
    // As unsigned numbers, negative positions are beyond the end.
    Value good = e.cmpi(CmpIPredicate::ult, position, e.splat(extent, position.getType()));
    if (!inside)
      inside = good;
    else if (isa<VectorType>(inside.getType()) || isa<VectorType>(good.getType()))
      inside = e.bitAnd(toLanes(l, inside), toLanes(l, good));
    else
      inside = e.bitAnd(inside, good);
  }
  Value other = scalarOf(l, outside);
  if (!inside)
    return loadAt(l, base, from);
  // One condition for all lanes is a branch.
  if (!isa<VectorType>(inside.getType())) {
    Value scalar = inside;
    // The position is uniform, so the branch loads a scalar.
    int64_t outerLanes = std::exchange(l.lanes, 0);
    Value loaded = e.branch(
        scalar, other.getType(),
        [&](const Emit &) -> SmallVector<Value> {
          // What is loaded in the arm is not available behind it.
          Scope scope(l);
          return {loadAt(l, base, from)};
        },
        [&](const Emit &) -> SmallVector<Value> { return {other}; })[0];
    l.lanes = outerLanes;
    return loaded;
  }
  // Where lanes differ, a masked load leaves out those beyond the edges.
  Value outer = l.mask;
  l.mask = outer ? e.bitAnd(outer, inside) : inside;
  Value loaded = loadAt(l, base, from);
  l.mask = outer;
  return e.select(inside, loaded, toLanes(l, other));
}

int64_t boxAxis(std::optional<uint64_t> axis, ArrayRef<int64_t> dropped) {
  if (!axis)
    return -1;
  auto number = static_cast<int64_t>(*axis);
  return number - llvm::count_if(dropped, [&](int64_t d) { return d < number; });
}

static Value elementAddress(Lowering &l, const View &view, const Coords &at) {
  Value offset = l.index(0);
  for (auto [coord, stride] : llvm::zip(at, view.strides))
    // Atomic stores run element by element, so that each coordinate is a base alone.
    offset = l.e.add(offset, l.e.mul(coord.base, stride));
  return elementPointer(l.e, view.data, storageType(view.element), offset);
}

/// The instruction that combines integers with memory, if processors have it.
static std::optional<LLVM::AtomicBinOp> atomicOf(StringRef atomic, Type element) {
  if (isFloatElem(element) || storageType(element) != registerType(element))
    return std::nullopt;
  if (atomic == "add")
    return LLVM::AtomicBinOp::add;
  if (isUnsigned(element))
    return atomic == "max" ? LLVM::AtomicBinOp::umax : LLVM::AtomicBinOp::umin;
  return atomic == "max" ? LLVM::AtomicBinOp::max : LLVM::AtomicBinOp::min;
}

// One element combined with what is there, whatever other threads do: by an instruction, or by compare and exchange.
static void storeAtomic(Lowering &l, StringRef atomic, const View &view, const Coords &at,
                        Value value) {
  const Emit &e = l.e;
  Type stored = storageType(view.element);
  unsigned bytes = stored.getIntOrFloatBitWidth() / 8;
  Value pointer = elementAddress(l, view, at);
  if (auto operation = atomicOf(atomic, view.element)) {
    e.b.create<LLVM::AtomicRMWOp>(e.loc, *operation, pointer, toStorage(e, value, view.element),
                                  LLVM::AtomicOrdering::monotonic, StringRef(), bytes);
    return;
  }
  // Bits are compared rather than numbers, so that the loop also ends where the element is NaN.
  Type bits = e.b.getIntegerType(bytes * 8);
  Value first = e.b.create<LLVM::LoadOp>(e.loc, bits, pointer, bytes);
  Block *current = e.b.getInsertionBlock();
  Region *region = current->getParent();
  Block *retry = e.b.createBlock(region, std::next(Region::iterator(current)), bits, e.loc);
  Block *done = e.b.createBlock(region, std::next(Region::iterator(retry)));
  e.b.setInsertionPointToEnd(current);
  e.b.create<cf::BranchOp>(e.loc, retry, first);
  e.b.setInsertionPointToEnd(retry);
  Value seen = retry->getArgument(0);
  Value old = fromStorage(e, e.bitcast(seen, stored), view.element);
  Combiner combiner = combinerNamed(atomic, view.element);
  Value next = toStorage(e, combiner.combine(e, old, value), view.element);
  // Only this element is shared, so nothing else has to be ordered around it.
  auto exchange = e.b.create<LLVM::AtomicCmpXchgOp>(
      e.loc, pointer, seen, e.bitcast(next, bits), LLVM::AtomicOrdering::monotonic,
      LLVM::AtomicOrdering::monotonic, StringRef(), bytes);
  Value now = e.b.create<LLVM::ExtractValueOp>(e.loc, exchange, 0);
  Value success = e.b.create<LLVM::ExtractValueOp>(e.loc, exchange, 1);
  e.b.create<cf::CondBranchOp>(e.loc, success, done, ValueRange{}, retry, ValueRange{now});
  e.b.setInsertionPointToEnd(done);
}

// Whether the value fills the box axis by axis, so that its producer may write to it.
static bool fills(Value value, int64_t rank, const Values &valueExtents, const Values &box) {
  if (static_cast<int64_t>(valueExtents.size()) != rank)
    return false;
  for (auto [from, to] : llvm::zip(valueExtents, box))
    // A broadcast value has fewer elements than the box, so its producer cannot fill it.
    if (constantOf(from) == 1 && constantOf(to) != 1)
      return false;
  return true;
}

/// Whether this is the only thread, so that nobody else combines elements: asked once, where the function begins.
static Value isAlone(Lowering &l) {
  const Emit &e = l.e;
  OpBuilder::InsertionGuard guard(e.b);
  auto function = e.b.getInsertionBlock()->getParentOp();
  while (!isa<func::FuncOp>(function))
    function = function->getParentOp();
  e.b.setInsertionPointToStart(&cast<func::FuncOp>(function).getBody().front());
  if (Operation *made = l.context.getDefiningOp())
    e.b.setInsertionPointAfter(made);
  Value threads = e.call("ptl_rt_thread_count", e.b.getI32Type(), l.context);
  return e.cmpi(arith::CmpIPredicate::eq, threads, e.i32(1));
}

namespace {
/// A store of elements that are combined with those that are there, or that go where an index array says.
struct ElementStore {
  Lowering &l;
  Value value;
  const View &box;
  Value indexArray;
  int64_t indexAxis;
  StringRef atomic; ///< empty: nothing is combined

  Value valueAt(const Coords &at) const {
    return elementAt(l, value, broadcastCoords(l, value, at));
  }
  /// What nobody else combines needs no exchange, and vectors may do it.
  void combineAlone(const Coords &to, const Coords &at) const {
    Combiner combiner = combinerNamed(atomic, box.element);
    Value old = loadAt(l, box, to), next = valueAt(at);
    storeAt(l, box, to, combiner.combine(l.e, toLanes(l, old), toLanes(l, next)));
  }
  void oneByOne(bool isAlone) const;
  void emit() const;
};
} // namespace

void ElementStore::oneByOne(bool isAlone) const {
  Coords at(box.rank());
  SmallVector<int64_t> axes(llvm::to_vector(llvm::seq<int64_t>(0, box.rank())));
  Scope scope(l);
  forAxes(l, box.extents, axes, at, [&](Coords &at) {
    Coords to = at;
    if (indexArray) {
      Type elem = cast<ir::ArrayType>(indexArray.getType()).getElementType();
      Value position = elementAt(l, indexArray, {at[indexAxis]});
      to[indexAxis] = Coord{convertElem(l.e, position, elem, l.e.b.getIndexType())};
    }
    if (atomic.empty())
      storeAt(l, box, to, valueAt(at));
    else if (isAlone)
      combineAlone(to, at);
    else
      storeAtomic(l, atomic, box, to, valueAt(at));
  });
}

void ElementStore::emit() const {
  if (atomic.empty())
    return oneByOne(false);
  // A thread that is alone needs no atomic instructions, which are slower even without competition;
  // whether it is alone is known at run time.
  l.e.branch(
      isAlone(l), {},
      [&](const Emit &) -> SmallVector<Value> {
        Scope scope(l);
        if (indexArray)
          oneByOne(true);
        else
          forAll(l, box.extents, 1, {}, [&](Coords &at) { combineAlone(at, at); });
        return {};
      },
      [&](const Emit &) -> SmallVector<Value> {
        Scope scope(l);
        oneByOne(false);
        return {};
      });
}

void storeBox(Lowering &l, Value value, const View &box, Value indexArray, int64_t indexAxis,
              StringRef atomic, Value streamed) {
  if (atomic.empty() && !indexArray && !isScalar(value) &&
      fills(value, box.rank(), extentsOf(l, value), box.extents))
    // The value is computed straight into its place.
    return evaluateInto(l, value, box, streamed);
  if (!isScalar(value))
    prepare(l, value);
  if (indexArray)
    prepare(l, indexArray);
  if (atomic.empty() && !indexArray) {
    storeAll(l, box, streamed, 1, value,
             [&](Coords &at) { return elementAt(l, value, broadcastCoords(l, value, at)); });
    return;
  }
  ElementStore{l, value, box, indexArray, indexAxis, atomic}.emit();
}

// Whether what the body of a grid stores is read there later, and its storage is not written again, so that it may be read from there.
static bool isReadFromStorage(Lowering &l, ir::StoreOp op) {
  Value value = op.getValue();
  auto type = arrayType(value);
  // Registers may hold more than memory does, and all uses of an element should see the same.
  if (!type || !isa<ir::ParallelOp>(op->getParentOp()) || value.hasOneUse() || op.getIndex() ||
      op.getAtomic() || viewOf(l, value) ||
      storageType(type.getElementType()) != registerType(type.getElementType()))
    return false;
  Block *block = op->getBlock();
  bool isReadHere = llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user->getBlock() == block && (user == op || op->isBeforeInBlock(user));
  });
  auto isWrittenLater = [&](Operation *user) {
    Operation *inBlock = block->findAncestorOpInBlock(*user);
    return isa<ir::StoreOp>(user) && user != op && (!inBlock || op->isBeforeInBlock(inBlock));
  };
  return isReadHere &&
         llvm::none_of(ir::usesOfElements(ir::storageUnder(op.getRef())), isWrittenLater);
}

void lowerStore(Lowering &l, ir::StoreOp op) {
  foldStored(l, op.getValue());
  View base = *viewOf(l, op.getRef());
  View box = boxView(l, base, op.getOffsets(), op.getLengths(), op.getSteps(), op.getDropped());
  bool isRead = isReadFromStorage(l, op) &&
                fills(op.getValue(), box.rank(), extentsOf(l, op.getValue()), box.extents);
  asTask(l, op, [&] {
    storeBox(l, op.getValue(), box, op.getIndex(), boxAxis(op.getIndexAxis(), op.getDropped()),
             op.getAtomic().value_or(""), isRead ? Value() : isStreamed(l, op, base));
  });
  if (isRead)
    l.bindView(op.getValue(), box);
}

} // namespace ptl::cpu

#include "codegen/cpu/streamed_store.h"

#include "codegen/cpu/elements.h"
#include "codegen/cpu/tile_ahead.h"
#include "ir/dialect/host_views.h"
#include "runtime/abi/kernel_abi.h"

using namespace mlir;

namespace ptl::cpu {

// Shorter rows are not streamed: a line that is written in part costs more than what the whole lines of a row gain.
// Vectors that are whole lines gain less, since fewer instructions store a row.
static int64_t leastRowBytes(const VectorUnit &unit) {
  return unit.bytes < kLineBytes ? 1024 : 2048;
}
// Longer bodies take so much time for an element that stores do not matter; the code has one more copy of the body.
static constexpr int64_t kMostCost = 400;
// The loop of an element that costs no more than this may be emitted twice.
static constexpr int64_t kCheap = 30;

static bool isRead(ir::StoreOp store, Operation *body) {
  return llvm::any_of(ir::usesOfElements(ir::storageUnder(store.getRef())), [&](Operation *user) {
    // An array that is read soon should stay in a cache.
    return !isa<ir::StoreOp>(user) && (!body || body->isAncestor(user));
  });
}

static int64_t bytesOf(Type element) {
  return std::max<int64_t>(1, storageType(element).getIntOrFloatBitWidth() / 8);
}

Value isStreamed(Lowering &l, ir::StoreOp op, const View &base) {
  const Emit &e = l.e;
  Operation *body = op->getParentOfType<ir::ParallelOp>();
  // A store within a loop may write the same lines again and again.
  bool once = body ? op->getParentOp() == body && !body->getParentOfType<ir::ParallelOp>()
                   : isa<func::FuncOp>(op->getParentOp());
  if (!l.inBody || !once || e.unit.bytes < 32 || op.getAtomic() || op.getIndex() ||
      isRead(op, body))
    return {};
  Value bytes = e.index(bytesOf(base.element));
  int64_t known = bytesOf(base.element);
  for (Value extent : base.extents) {
    bytes = e.mul(bytes, extent);
    auto number = constantOf(extent);
    // The size is 0 from the first unknown extent on.
    known = known && number ? known * *number : 0;
  }
  // No last cache is as small as this.
  if (known && known < PTL_RT_LEAST_STREAMED)
    return {};
  Value least = e.b.create<LLVM::LoadOp>(e.loc, e.b.getI64Type(),
                                         bytePointer(e, l.context, e.i64(PTL_RT_STREAMED_FROM)));
  return e.cmpi(arith::CmpIPredicate::sge, e.indexCast(bytes, e.b.getI64Type()), least);
}

// The address of the first element of a row.
static Value rowOf(Lowering &l, const View &to, const Coords &at, int64_t inner) {
  Value offset = l.index(0);
  for (auto [axis, coord] : llvm::enumerate(at))
    if (static_cast<int64_t>(axis) != inner)
      offset = memoAdd(l, offset, memoMul(l, coord.base, to.strides[axis]));
  return elementPointer(l.e, to.data, storageType(to.element), offset);
}

namespace {
/// Rows while they are stored: one, or several whose lines begin at the same elements.
struct StreamedRows {
  Lowering &l;
  const View &to;
  int64_t inner;
  Values rows;    // addresses
  Value streamed; // of these rows
  MutableArrayRef<Coords> at;
  RowElements elements;

  StreamedRows(Lowering &l, const View &to, Value streamed, MutableArrayRef<Coords> at,
               RowElements elements)
      : l(l), to(to), inner(innerAxis(to.extents)), streamed(streamed), at(at), elements(elements) {
    for (Coords &one : at)
      rows.push_back(rowOf(l, to, one, inner));
  }
  Value elementsToLine() const;
  Value remainder(Value count) const;
  void fetchEnds(Value whole) const;
  void put(Value start, Values values) const;
  void store(Value start, Value mask) const;
  void emit() const;
  Values emitInOrder(Values carried, llvm::function_ref<Value(Coords &, Values &)> next) const;
};
} // namespace

// How many elements precede the first whole line; none where the row is not streamed.
Value StreamedRows::elementsToLine() const {
  const Emit &e = l.e;
  Type i64 = e.b.getI64Type();
  // The rows that are stored together begin at the same place within a line.
  Value address = e.b.create<LLVM::PtrToIntOp>(e.loc, i64, rows[0]);
  Value bytes = e.bitAnd(e.neg(address), kLineBytes - 1);
  Value count = e.shrUnsigned(bytes, llvm::Log2_64(bytesOf(to.element)));
  return e.indexCast(e.select(streamed, count, e.i64(0)), e.b.getIndexType());
}

// How many of the elements from the first whole line on are no whole vectors, or no whole lines where the row is streamed: a line whose
// rest is not stored past the caches, too, costs more than the row gains.
Value StreamedRows::remainder(Value count) const {
  const Emit &e = l.e;
  int64_t line = std::max(l.maxLanes, kLineBytes / bytesOf(to.element));
  Value unit = e.select(streamed, l.index(line), l.index(l.maxLanes));
  // Both are powers of two.
  return e.bitAnd(count, e.sub(unit, l.index(1)));
}

// Lines that are written in part are read before. Processors finish stores in order, so without this those past the caches would
// wait for that.
void StreamedRows::fetchEnds(Value whole) const {
  const Emit &e = l.e;
  for (Value row : rows)
    for (Value at : {l.index(0), whole})
      e.b.create<LLVM::Prefetch>(e.loc, elementPointer(e, row, storageType(to.element), at),
                                 /*rw=*/1, /*hint=*/3, /*cache=*/1);
}

// Stores a value of each row at `start`: whole vectors at the start of lines, or with the mask that holds.
void StreamedRows::put(Value start, Values values) const {
  const Emit &e = l.e;
  // A store past the caches that has a mask would be as slow as a line that is written in part.
  if (l.mask) {
    for (auto [one, value] : llvm::zip(at, values))
      storeAt(l, to, one, value);
    return;
  }
  Values pointers;
  for (auto [row, value] : llvm::zip(rows, values)) {
    value = toStorage(e, toLanes(l, value), to.element);
    pointers.push_back(elementPointer(e, row, storageType(to.element), start));
  }
  // The processor demands that such a store is aligned to its own size.
  int64_t bytes = std::min(kLineBytes, l.maxLanes * bytesOf(to.element));
  auto streaming = [&](const Emit &) {
    for (auto [pointer, value] : llvm::zip(pointers, values))
      e.b.create<LLVM::StoreOp>(e.loc, value, pointer, static_cast<unsigned>(bytes),
                                /*isVolatile=*/false, /*isNonTemporal=*/true);
    return SmallVector<Value>();
  };
  e.branch(streamed, {}, streaming, [&](const Emit &) {
    for (auto [pointer, value] : llvm::zip(pointers, values))
      storeRaw(e, pointer, value);
    return SmallVector<Value>();
  });
}

void StreamedRows::store(Value start, Value mask) const {
  Scope scope(l);
  for (Coords &one : at)
    one[inner] = Coord{start, 1, {}};
  withLanes(l, l.maxLanes, mask, [&] { put(start, elements(at)); });
}

// What precedes the first whole line and what is left of a last vector are two rounds of one loop with a mask.
void StreamedRows::emit() const {
  const Emit &e = l.e;
  Value length = to.extents[inner], first = elementsToLine();
  Value count = e.sub(length, first);
  Value whole = e.add(first, e.sub(count, remainder(count)));
  // The lines at both ends are asked for before the long loop, which hides the time that they take.
  fetchEnds(whole);
  e.loop(first, whole, l.index(l.maxLanes), {}, [&](const Emit &, Value i, ValueRange) {
    store(i, {});
    return SmallVector<Value>();
  });
  // The rounds that exist are 0, for what comes first, and 1, for what is left.
  Value begin = e.select(e.cmpi(arith::CmpIPredicate::sgt, first, 0), l.index(0), l.index(1));
  Value end = e.select(e.cmpi(arith::CmpIPredicate::slt, whole, length), l.index(2), l.index(1));
  e.loop(begin, end, l.index(1), {}, [&](const Emit &, Value round, ValueRange) {
    Value isHead = e.cmpi(arith::CmpIPredicate::eq, round, 0);
    Value start = e.select(isHead, l.index(0), whole);
    Value stop = e.select(isHead, first, length);
    // The first whole line may be further than a vector of short elements is long.
    Value step = l.index(l.maxLanes);
    e.loop(start, stop, step, {}, [&](const Emit &, Value i, ValueRange) {
      store(i, laneMask(e, e.sub(stop, i), l.maxLanes));
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
}

// The same from the first element to the last one.
Values StreamedRows::emitInOrder(Values carried,
                                 llvm::function_ref<Value(Coords &, Values &)> next) const {
  const Emit &e = l.e;
  Value length = to.extents[inner], lanes = l.index(l.maxLanes);
  // A short row may end before its first whole line begins.
  Value first = e.b.createOrFold<arith::MinSIOp>(e.loc, elementsToLine(), length);
  Value count = e.sub(length, first);
  Value whole = e.add(first, e.sub(count, remainder(count)));
  fetchEnds(whole);
  // A running result allows no other order than that of the elements.
  auto stretch = [&](Value from, Value end, bool masked) {
    auto results = e.loop(from, end, lanes, carried, [&](const Emit &, Value i, ValueRange now) {
      Values values(now);
      Scope scope(l);
      at[0][inner] = Coord{i, 1, {}};
      Value mask = masked ? laneMask(e, e.sub(end, i), l.maxLanes) : Value();
      withLanes(l, l.maxLanes, mask, [&] { put(i, {next(at[0], values)}); });
      return SmallVector<Value>(values.begin(), values.end());
    });
    carried.assign(results.begin(), results.end());
  };
  stretch(l.index(0), first, true);
  stretch(first, whole, false);
  stretch(whole, length, true);
  return carried;
}

// Whether elements stand at multiples of their size; else no vector of them stands at the start of a line, where the processor
// demands those that go past the caches. Callers may hand over any address.
static Value isAligned(const Emit &e, const View &to) {
  Value address = e.b.create<LLVM::PtrToIntOp>(e.loc, e.b.getI64Type(), to.data);
  return e.cmpi(arith::CmpIPredicate::eq, e.bitAnd(address, bytesOf(to.element) - 1), 0);
}

// Whether a row has as many bytes as streaming takes.
static Value isLongRow(Lowering &l, const View &to, int64_t inner) {
  return l.e.cmpi(arith::CmpIPredicate::sge, to.extents[inner],
                  leastRowBytes(l.e.unit) / bytesOf(to.element));
}

Value streamedRows(Lowering &l, const View &to, Value streamed, int64_t cost) {
  const Emit &e = l.e;
  int64_t inner = innerAxis(to.extents);
  auto length = inner < 0 ? std::nullopt : constantOf(to.extents[inner]);
  // Only rows whose elements are neighbours fill whole lines.
  if (!streamed || inner < 0 || constantOf(to.strides[inner]) != 1 || cost > kMostCost ||
      (length && *length * bytesOf(to.element) < leastRowBytes(e.unit)))
    return {};
  return e.bitAnd(streamed, e.bitAnd(isLongRow(l, to, inner), isAligned(e, to)));
}

Value haveSameLines(Lowering &l, const View &to, int64_t axis) {
  const Emit &e = l.e;
  Value stride = e.mul(to.strides[axis], l.index(bytesOf(to.element)));
  return e.cmpi(arith::CmpIPredicate::eq, e.bitAnd(stride, kLineBytes - 1), 0);
}

void storeRows(Lowering &l, const View &to, Value rows, int64_t cost, ValueRange hoisted,
               MutableArrayRef<Coords> at, RowElements elements) {
  int64_t inner = innerAxis(to.extents);
  for (Coords &one : at) {
    if (inner >= 0)
      one[inner] = Coord();
    for (Value value : hoisted)
      hoist(l, value, broadcastCoords(l, value, one));
  }
  if (rows)
    return StreamedRows(l, to, rows, at, elements).emit();
  auto store = [&] {
    Values values = elements(at);
    for (auto [one, value] : llvm::zip(at, values))
      storeAt(l, to, one, value);
  };
  if (inner < 0)
    return store();
  forLanes(l, to.extents, inner, at[0], cost, [&](Coords &first) {
    for (Coords &one : at.drop_front())
      // All rows are at the same column.
      one[inner] = first[inner];
    store();
  });
}

Values storeRowInOrder(Lowering &l, const View &to, Value rows, Coords &at, Values carried,
                       llvm::function_ref<Value(Coords &, Values &)> element) {
  int64_t inner = innerAxis(to.extents);
  if (rows)
    return StreamedRows(l, to, rows, at, {}).emitInOrder(std::move(carried), element);
  return loopOfVectors(l, to.extents[inner], 1, std::move(carried),
                       [&](ArrayRef<Value> starts, Value mask, Values now) {
                         Scope scope(l);
                         at[inner] = Coord{starts[0], 1, {}};
                         withLanes(l, l.maxLanes, mask,
                                   [&] { storeAt(l, to, at, element(at, now)); });
                         return now;
                       });
}

void storeAll(Lowering &l, const View &to, Value streamed, int64_t cost, ValueRange hoisted,
              llvm::function_ref<Value(Coords &)> element) {
  const Emit &e = l.e;
  int64_t inner = innerAxis(to.extents);
  // What is stored past the cache goes by whole lines, so the inner axis is stored row by row.
  Value rows = streamedRows(l, to, streamed, cost);
  SmallVector<int64_t> outer;
  for (int64_t axis = 0; axis < to.rank(); ++axis)
    if (axis != inner)
      outer.push_back(axis);
  auto storing = [&](Value rows) {
    return [&, rows](const Emit &) {
      beginPass(l, hoisted);
      Coords at(to.rank());
      Scope scope(l);
      forAxes(l, to.extents, outer, at, [&](Coords &at) {
        storeRows(l, to, rows, cost, hoisted, at,
                  [&](MutableArrayRef<Coords> row) { return Values{element(row[0])}; });
      });
      return SmallVector<Value>();
    };
  };
  bool areMany =
      llvm::any_of(outer, [&](int64_t axis) { return constantOf(to.extents[axis]) != 1; });
  // Looking for the first whole line takes longer than storing a short row does, which has no use for it.
  if (rows && areMany && cost <= kCheap && !constantOf(to.extents[inner]))
    e.branch(isLongRow(l, to, inner), {}, storing(rows), storing({}));
  else
    storing(rows)(e);
}

void fenceStreams(Lowering &l, func::FuncOp body) {
  // A fence costs time, so only bodies that have such stores get one.
  auto found = body.walk([](LLVM::StoreOp store) {
    return store.getNontemporal() ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return;
  const Emit &e = l.e;
  e.b.create<LLVM::CallIntrinsicOp>(e.loc, TypeRange(), StringRef("llvm.x86.sse.sfence"),
                                    ValueRange());
}

} // namespace ptl::cpu

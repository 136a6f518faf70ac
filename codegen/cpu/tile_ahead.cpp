#include "codegen/cpu/tile_ahead.h"

#include "codegen/cpu/lower_elementwise.h"
#include "codegen/cpu/positions.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace ptl::cpu {

// Larger tiles would drive each other out of the cache of the second level.
static constexpr int64_t kMostBytes = 1 << 18;

Value aheadOf(Lowering &l, const View &base, ValueRange offsets) {
  if (!l.gridPosition)
    return {};
  const Emit &e = l.e;
  for (auto [axis, offset] : llvm::enumerate(offsets)) {
    if (offset != l.gridPosition)
      continue;
    int64_t bytes = std::max<int64_t>(1, storageType(base.element).getIntOrFloatBitWidth() / 8);
    Value distance = e.mul(e.mul(l.gridStep, base.strides[axis]), l.index(bytes));
    // A larger tile would leave the cache before it is used; fetching at distance 0 does nothing.
    Value isNear = e.cmpi(arith::CmpIPredicate::ule, distance, kMostBytes);
    return e.select(isNear, distance, l.index(0));
  }
  return {};
}

// Passes without such an operation are as fast as memory already, and would wait for what they fetch. Tried with vectors of 256 bits; those
// with 512 leave so much time that fetching pays in every pass: by hand in C, a root mean square norm of 4096 rows of 16 KB takes 2.7 ms so,
// row by row, and 3.7 without, copying 2.6.
static constexpr int64_t kLeastCost = 12, kWideLanes = 16;

// Whether an element takes much arithmetic that is not done once for many: what is broadcast along the last axis is.
static bool computesMuch(Lowering &l, Value value, int depth = 0) {
  auto type = arrayType(value);
  Operation *op = value.getDefiningOp();
  if (!type || !op || depth > 32 || l.isMaterialised(value) || type.getRank() == 0 ||
      type.getExtents().back().isOne())
    return false;
  if (isElementwise(op) && costOfOp(op) >= kLeastCost)
    return true;
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return computesMuch(l, operand, depth + 1); });
}

void beginPass(Lowering &l, ValueRange values) {
  l.fetchesAhead = l.maxLanes >= kWideLanes ||
                   llvm::any_of(values, [&](Value value) { return computesMuch(l, value); });
  l.readBefore.insert(l.readNow.begin(), l.readNow.end());
  l.readNow.clear();
}

void fetchingRows(Lowering &l, RowFetch how, size_t vector, llvm::function_ref<void()> emit) {
  llvm::SaveAndRestore fetches(l.fetchesRows, how);
  llvm::SaveAndRestore number(l.vectorOfStep, vector);
  emit();
}

// To the cache of the first or of the second level.
static void fetch(Lowering &l, Value pointer, Value distance, int level) {
  l.e.b.create<LLVM::Prefetch>(l.e.loc, bytePointer(l.e, pointer, distance), /*rw=*/0,
                               /*hint=*/4 - level, /*cache=*/1);
}

static void fetchRow(Lowering &l, const View &view, Value pointer, int level) {
  int64_t bits = storageType(view.element).getIntOrFloatBitWidth();
  int64_t bytes = l.maxLanes * std::max<int64_t>(1, bits / 8);
  // A line that has several vectors is asked for with the first of them.
  if (static_cast<int64_t>(l.vectorOfStep) * bytes % kLineBytes != 0)
    return;
  for (int64_t line = 0; line < bytes; line += kLineBytes)
    fetch(l, pointer, l.index(kRowBytesAhead + line), level);
}

void fetchAhead(Lowering &l, const View &view, Value pointer) {
  // A masked vector is a tail or has lanes that are left out.
  if (l.mask)
    return;
  // What several rows need would drive out each other, and what is computed, of the first level.
  if (l.fetchesRows == RowFetch::SideBySide)
    return fetchRow(l, view, pointer, 2);
  // Of one row alone, loads of 256 bits find what the hardware has fetched by itself (asking for it costs them up to a tenth), those of 512 wait
  // (a tenth of the time, more where there are two rows). Numbers of fewer than 32 bits are converted, which takes longer than memory.
  bool waits = l.maxLanes >= kWideLanes && storageType(view.element).getIntOrFloatBitWidth() >= 32;
  if (l.fetchesRows == RowFetch::Alone && waits && !l.readBefore.contains(view.data))
    fetchRow(l, view, pointer, 1);
  if (!view.ahead)
    return;
  // Reading a tile for the first time waits for memory anyway.
  l.readNow.insert(view.data);
  if (l.fetchesAhead && l.readBefore.contains(view.data))
    fetch(l, pointer, view.ahead, 2);
}

} // namespace ptl::cpu

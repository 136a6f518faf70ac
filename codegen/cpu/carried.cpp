// Carried values: buffers, and what is computed on top of them.
#include "codegen/cpu/carried.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/in_place.h"
#include "codegen/cpu/lower_tasks.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"
#include "codegen/cpu/program_storage.h"
#include "codegen/cpu/storage.h"

using namespace mlir;

namespace ptl::cpu {

View carriedBuffer(Lowering &l, Operation *op, Value initial) {
  auto type = cast<ir::ArrayType>(initial.getType());
  View buffer = allocate(l, type.getElementType(), extentsOf(l, initial));
  recordBytes(buffer.data, type);
  asTask(l, op, [&] { evaluateInto(l, initial, buffer); });
  return buffer;
}

namespace {
/// Finds how a value that is still to be computed reads a carried buffer.
class BufferReads {
public:
  BufferReads(Lowering &lowering, const View &buffer) : l_(lowering), buffer_(buffer) {}
  /// No element of the buffer at all.
  bool none(Value value) { return onlyAllowed(value, false); }
  /// No element but the one at the place that is computed. What permutes, shifts, folds or repeats
  /// elements reads others, even where it is a view that costs nothing.
  bool onlyInPlace(Value value) { return onlyAllowed(value, true); }

private:
  bool onlyAllowed(Value value, bool inPlace) {
    // A value may be visited twice, because what is allowed may differ between its users.
    if (isScalar(value) || !seen_.insert({value, inPlace ? 1 : 0}).second)
      return true;
    // What is in memory is read from there; how it was computed no longer matters.
    if (l_.isMaterialised(value)) {
      View view = *viewOf(l_, value);
      return memoryOf(view.data) != memoryOf(buffer_.data) || (inPlace && sameView(view, buffer_));
    }
    Operation *op = value.getDefiningOp();
    return op && llvm::all_of(op->getOpOperands(), [&](OpOperand &use) {
             return onlyAllowed(use.get(), inPlace && keepsPlace(op, use));
           });
  }

  // A box is stored on top of an array whose other elements stay where they are.
  static bool keepsPlace(Operation *op, OpOperand &use) {
    if (isa<ir::InsertOp>(op))
      return use.getOperandNumber() == 1;
    return staysInPlace(op, use.get());
  }

  Lowering &l_;
  const View &buffer_;
  llvm::DenseSet<std::pair<Value, unsigned>> seen_;
};
} // namespace

bool readsNothingOf(Lowering &l, Value value, const View &view) {
  return BufferReads(l, view).none(value);
}

void yieldInto(Lowering &l, Operation *yield, ValueRange values,
               ArrayRef<std::optional<View>> buffers, Values &scalars) {
  SmallVector<std::pair<View, View>> copies;
  SmallVector<size_t> inPlace; // in this order, so none reads what one before it has changed
  auto isCarried = [&](const View &view) {
    return llvm::any_of(buffers, [&](const std::optional<View> &buffer) {
      return buffer && memoryOf(buffer->data) == memoryOf(view.data);
    });
  };
  for (size_t k = 0; k < values.size(); ++k) {
    if (!buffers[k]) {
      scalars.push_back(scalarOf(l, values[k]));
      continue;
    }
    // A value that is in its buffer already needs no copy.
    auto view = viewOf(l, values[k]);
    if (view && sameView(*view, *buffers[k]))
      continue;
    // The values in place are written one after the other, so a later one must not read the buffer
    // of an earlier one.
    bool keepsOthers = llvm::all_of(
        inPlace, [&](size_t i) { return BufferReads(l, *buffers[i]).none(values[k]); });
    if (!view && keepsOthers && BufferReads(l, *buffers[k]).onlyInPlace(values[k])) {
      inPlace.push_back(k);
      continue;
    }
    // A part of what is carried may be changed by the copies below.
    View from = view && !isCarried(*view) ? *view : carriedBuffer(l, yield, values[k]);
    copies.push_back({from, *buffers[k]});
  }
  // These may read other buffers, so they come before the copies overwrite those.
  for (size_t k : inPlace)
    asTask(l, yield, [&] { evaluateInto(l, values[k], *buffers[k]); });
  for (auto &[from, to] : copies)
    asTask(l, yield, [&, &from = from, &to = to] {
      forAll(l, to.extents, 1, {}, [&](Coords &at) { storeAt(l, to, at, loadAt(l, from, at)); });
    });
}

} // namespace ptl::cpu

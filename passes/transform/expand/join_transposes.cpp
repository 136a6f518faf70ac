#include "passes/transform/expand/join_transposes.h"

#include "ir/dialect/make_op.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/expand/expand_rows.h"
#include "passes/transform/expand/join_axes.h"
#include "passes/transform/groups/access.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/output_views.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

namespace {
/// Neighbouring axes of an array: the first one, and how many.
struct Run {
  int64_t begin, count;
};
} // namespace

/// The runs of axes of the operand that stay together, in the order of the result.
static llvm::SmallVector<Run> runsOf(TransposeOp transpose) {
  llvm::SmallVector<Run> runs;
  for (int64_t axis : transpose.getAxes()) {
    if (!runs.empty() && runs.back().begin + runs.back().count == axis)
      ++runs.back().count;
    else
      runs.push_back({axis, 1});
  }
  return runs;
}

/// Whether an array lies in memory, element behind element, and is not computed on the way.
static bool isInOrder(Value array) {
  while (auto reshape = array.getDefiningOp<ReshapeOp>())
    array = reshape->getOperand(0);
  Operation *made = array.getDefiningOp();
  // What is computed on the way has no memory whose axes could be put together.
  if (made && isTiled(made))
    return false;
  auto load = dyn_cast_or_null<LoadOp>(made);
  return (!made || (load && isUnchangedUntil(load, nullptr))) && liesInOrder(array);
}

/// Whether all that becomes of a result is in memory, in order. A reshape reads it from there.
static bool goesToMemory(Value result) {
  return llvm::all_of(result.getUsers(), [&](Operation *user) {
    auto store = dyn_cast<StoreOp>(user);
    auto reshape = dyn_cast<ReshapeOp>(user);
    // One that only adds axes of extent 1 may be a view on the way to others.
    if (reshape)
      return !isViewOfOnes(reshape) || goesToMemory(reshape);
    return isa<DimOp>(user) || (store && store.getValue() == result && mayViewOutput(store));
  });
}

/// `value` with one axis for each of these runs of its axes.
static Value joinedBy(OpBuilder &b, Value value, llvm::ArrayRef<Run> runs) {
  llvm::ArrayRef<Extent> own = extentsOf(value.getType());
  llvm::SmallVector<Extent> extents;
  llvm::SmallVector<Value> operands{value};
  for (const Run &run : runs) {
    extents.push_back(joinedExtent(
        b.getContext(), own.slice(static_cast<size_t>(run.begin), static_cast<size_t>(run.count))));
    if (extents.back().isConstant())
      continue;
    Value length = lengthOf(b, value, run.begin);
    for (int64_t axis = run.begin + 1; axis < run.begin + run.count; ++axis)
      length = b.createOrFold<arith::MulIOp>(value.getLoc(), length, lengthOf(b, value, axis));
    operands.push_back(length);
  }
  return makeOp<ReshapeOp>(b, value.getLoc(), arrayTypeOf(elementTypeOf(value.getType()), extents),
                           operands);
}

static void join(TransposeOp transpose) {
  Value x = transpose->getOperand(0), result = transpose->getResult(0);
  llvm::SmallVector<Run> runs = runsOf(transpose), inOrder(runs);
  bool hasNames = llvm::all_of(extentsOf(x.getType()), [](const Extent &extent) {
    return extent.isConstant() || extent.symbol;
  });
  // A single run is not transposed at all, and with one run for each axis there is nothing to join. The joined extents are named after
  // those of their axes.
  if (runs.size() < 2 || runs.size() == transpose.getAxes().size() || !hasNames ||
      isScheduled(transpose) || isInSchedule(transpose) || !isInOrder(x) || !goesToMemory(result))
    return;
  // The operand has its runs in the order of memory, the result in that of the transposition.
  llvm::sort(inOrder, [](const Run &a, const Run &b) { return a.begin < b.begin; });
  OpBuilder b(transpose);
  Value from = joinedBy(b, x, inOrder);
  llvm::SmallVector<int64_t> axes;
  llvm::SmallVector<Extent> extents;
  for (const Run &run : runs) {
    auto *place = llvm::find_if(inOrder, [&](const Run &own) { return own.begin == run.begin; });
    axes.push_back(place - inOrder.begin());
    extents.push_back(extentsOf(from.getType())[static_cast<size_t>(axes.back())]);
  }
  Type elem = elementTypeOf(x.getType());
  Value turned = b.create<TransposeOp>(transpose.getLoc(), arrayTypeOf(elem, extents), from,
                                       b.getDenseI64ArrayAttr(axes));
  // Other reshapes take the elements from where they are, whatever their axes are called.
  result.replaceUsesWithIf(turned, [](OpOperand &use) {
    return isa<ReshapeOp>(use.getOwner()) && !use.getOperandNumber();
  });
  llvm::SmallVector<Value> operands{turned};
  for (auto [axis, extent] : llvm::enumerate(extentsOf(result.getType())))
    if (!extent.isConstant())
      operands.push_back(lengthOf(b, x, transpose.getAxes()[axis]));
  if (!result.use_empty())
    result.replaceAllUsesWith(makeOp<ReshapeOp>(b, transpose.getLoc(), result.getType(), operands));
  transpose.erase();
}

void joinTransposes(func::FuncOp function) {
  // They are collected first, because joining replaces operations of the function.
  llvm::SmallVector<TransposeOp> all;
  function.walk([&](TransposeOp transpose) {
    if (!transpose->getParentOfType<ParallelOp>())
      all.push_back(transpose);
  });
  for (TransposeOp transpose : all)
    keepingMarks(transpose, [&] { join(transpose); });
}

} // namespace ptl::ir

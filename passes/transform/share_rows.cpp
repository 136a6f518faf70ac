// Boxes of one array that differ in their first row alone, such as those of a stencil, are parts of one box, which is loaded once:
// rows of a tile in the vector memory can be read from any row on, whereas a load of each box brings most rows again.
#include "ir/dialect/op_facts.h"
#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/op_info.h"
#include "passes/passes.h"
#include "passes/transform/shared_box.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

namespace ptl::ir {
#define GEN_PASS_DEF_SHAREROWS
#include "passes/passes.h.inc"
} // namespace ptl::ir

using namespace mlir;

namespace ptl::ir {
namespace {

/// A box of global memory, as an operation that loads it says it.
struct Box {
  Operation *op = nullptr;
  Value array, outside;
  OperandRange offsets, lengths;
  llvm::ArrayRef<int64_t> dropped;
  size_t rowAxis = 0;
  Value base;         ///< what the first row is counted from; null: 0
  int64_t number = 0; ///< of the first row, from there
};

/// Boxes that differ in `number` alone, in the order in which they stand.
using Family = std::vector<Box>;

} // namespace

/// A position as a known number behind another one.
static void splitOff(Value position, Value &base, int64_t &number) {
  base = position;
  for (;;) {
    IntegerAttr known;
    if (matchPattern(base, m_Constant(&known))) {
      number += known.getInt();
      base = {};
      return;
    }
    auto sum = base.getDefiningOp<arith::AddIOp>();
    auto rest = base.getDefiningOp<arith::SubIOp>();
    if (sum && matchPattern(sum.getRhs(), m_Constant(&known)))
      base = sum.getLhs();
    else if (sum && matchPattern(sum.getLhs(), m_Constant(&known)))
      base = sum.getRhs();
    else if (rest && matchPattern(rest.getRhs(), m_Constant(&known)))
      base = rest.getLhs();
    else
      return;
    number += rest ? -known.getInt() : known.getInt();
  }
}

static int64_t rowsOf(Type type) {
  const Extent &rows = extentsOf(type).front();
  return rows.isConstant() ? rows.length : rows.capacity;
}

/// A box of rows that are whole lines of memory, and of which elementwise operations alone read: others see a tile under another shape.
template <typename OpT> static std::optional<Box> boxOf(OpT op, Value array) {
  auto type = dyn_cast<ArrayType>(op.getType());
  bool isRows = type && type.getRank() == 2 && type.getPlace() == Place::Inferred &&
                !type.getElementType().isInteger(1) && op.getSteps().empty() &&
                !extentsOf(type).back().isOne();
  bool isRead = llvm::all_of(op->getUsers(), [](Operation *user) { return isElementwise(user); });
  if (!isRows || !isRead || !bytesOfRows(type, rowsOf(type)))
    return std::nullopt;
  Box box{op,
          array,
          op.getOutside(),
          op.getOffsets(),
          op.getLengths(),
          op.getDropped(),
          /*rowAxis=*/0,
          Value(),
          /*number=*/0};
  llvm::SmallVector<size_t> kept;
  for (size_t axis = 0; axis < box.offsets.size(); ++axis)
    if (!llvm::is_contained(box.dropped, static_cast<int64_t>(axis)))
      kept.push_back(axis);
  if (kept.size() != 2 || kept.back() + 1 != box.offsets.size())
    return std::nullopt;
  box.rowAxis = kept.front();
  splitOff(box.offsets[box.rowAxis], box.base, box.number);
  return box;
}

static std::optional<Box> boxOf(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return boxOf(load, load.getRef());
  auto slice = dyn_cast<SliceOp>(op);
  bool isGlobal = slice && cast<ArrayType>(slice.getSource().getType()).getPlace() == Place::Gm;
  return isGlobal ? boxOf(slice, slice.getSource()) : std::nullopt;
}

static bool areAlike(const Box &a, const Box &b) {
  if (a.array != b.array || a.outside != b.outside || a.base != b.base ||
      a.op->getName() != b.op->getName() ||
      a.op->getResult(0).getType() != b.op->getResult(0).getType() || a.dropped != b.dropped ||
      !llvm::equal(a.lengths, b.lengths))
    return false;
  for (size_t axis = 0; axis < a.offsets.size(); ++axis)
    if (axis != a.rowAxis && a.offsets[axis] != b.offsets[axis])
      return false;
  return true;
}

/// All rows of these boxes, where the first of them stands.
static Value loadedOnce(OpBuilder &b, llvm::ArrayRef<Box> boxes, int64_t first, int64_t more) {
  const Box &box = boxes.front();
  Location loc = box.op->getLoc();
  auto type = cast<ArrayType>(box.op->getResult(0).getType());
  auto plus = [&](Value value, int64_t number) {
    Value known = b.create<arith::ConstantIndexOp>(loc, number);
    return value ? b.createOrFold<arith::AddIOp>(loc, value, known) : known;
  };
  llvm::SmallVector<Value> offsets(box.offsets), lengths(box.lengths);
  offsets[box.rowAxis] = plus(box.base, first);
  lengths[box.rowAxis] = plus(lengths[box.rowAxis], more);
  llvm::SmallVector<Extent> extents(type.getExtents());
  Extent &rows = extents.front();
  // Equal names mean equal lengths, so the name says how the length is made.
  rows = rows.isConstant()
             ? Extent::constant(rows.length + more)
             : Extent::named(b.getStringAttr(rows.symbol.getValue() + " + " + Twine(more)),
                             rows.capacity + more);
  ArrayType all = arrayTypeOf(type.getElementType(), extents);
  auto dropped = b.getDenseI64ArrayAttr(box.dropped);
  if (isa<LoadOp>(box.op))
    return b.create<LoadOp>(loc, all, box.array, offsets, lengths, ValueRange(), box.outside,
                            dropped);
  return b.create<SliceOp>(loc, all, box.array, offsets, lengths, ValueRange(), box.outside,
                           dropped);
}

/// Boxes by their first rows, whose last one has `more` rows behind those of the first.
static void share(llvm::MutableArrayRef<Box> boxes, int64_t more) {
  int64_t first = boxes.front().number;
  llvm::sort(boxes, [](const Box &a, const Box &b) { return a.op->isBeforeInBlock(b.op); });
  OpBuilder b(boxes.front().op);
  Value all = loadedOnce(b, boxes, first, more);
  for (Box &box : boxes) {
    b.setInsertionPoint(box.op);
    Location loc = box.op->getLoc();
    llvm::SmallVector<Value> offsets{
        b.create<arith::ConstantIndexOp>(loc, box.number - first).getResult(),
        b.create<arith::ConstantIndexOp>(loc, 0).getResult()};
    llvm::SmallVector<Value> lengths{box.lengths[box.rowAxis], box.lengths.back()};
    Value part = b.create<SliceOp>(loc, box.op->getResult(0).getType(), all, offsets, lengths,
                                   ValueRange(), Value(), b.getDenseI64ArrayAttr({}));
    box.op->getResult(0).replaceAllUsesWith(part);
  }
  for (Box &box : boxes)
    box.op->erase();
}

namespace {
/// Boxes of a sorted family that are parts of one.
struct Run {
  llvm::MutableArrayRef<Box> boxes;
  int64_t more = 0;  ///< rows of the last one behind those of the first
  int64_t bytes = 0; ///< of what is computed with it
};
} // namespace

/// What lies close to each other in a family and is a quarter less to load together, in boxes of at most so many bytes.
static void findRuns(Family &family, int64_t mostBytes, std::vector<Run> &runs) {
  llvm::stable_sort(family, [](const Box &a, const Box &b) { return a.number < b.number; });
  Type type = family.front().op->getResult(0).getType();
  int64_t rows = rowsOf(type);
  for (size_t begin = 0, end = 0; begin < family.size(); begin = end) {
    auto behind = [&](size_t i) { return family[i].number - family[begin].number; };
    // Boxes without a common row are loaded apart.
    for (end = begin + 1; end < family.size() && behind(end) < rows; ++end)
      if (*bytesOfRows(type, rows + behind(end)) > mostBytes)
        break;
    int64_t more = behind(end - 1), apart = static_cast<int64_t>(end - begin) * rows;
    if (end - begin > 1 && (rows + more) * 4 <= apart * 3)
      runs.push_back({llvm::MutableArrayRef(family).slice(begin, end - begin), more,
                      *computedBytesOfRows(type, rows + more)});
  }
}

/// Shares what lies close to each other in the families of a block, which are there together: larger boxes where all of them have room, else
/// only small ones, which leave room for what is computed however many there are.
static void shareFamilies(std::vector<Family> &families) {
  auto runsUpTo = [&](int64_t mostBytes) {
    std::vector<Run> runs;
    for (Family &family : families)
      if (family.size() > 1)
        findRuns(family, mostBytes, runs);
    return runs;
  };
  std::vector<Run> runs = runsUpTo(kMostBytesOfLargeBox);
  int64_t together = 0;
  for (const Run &run : runs)
    together += run.bytes;
  if (together > kMostBytesTogether)
    runs = runsUpTo(kMostBytesOfBox);
  for (Run &run : runs)
    share(run.boxes, run.more);
}

/// Within what neither writes nor checks anything: a box must not be loaded before what it depends on, nor before a check of its bounds.
static void shareIn(Block &block) {
  std::vector<Family> families, complete;
  auto close = [&] {
    std::move(families.begin(), families.end(), std::back_inserter(complete));
    families.clear();
  };
  for (Operation &op : block) {
    if (std::optional<Box> box = boxOf(&op)) {
      auto own = llvm::find_if(
          families, [&](const Family &family) { return areAlike(family.front(), *box); });
      if (own == families.end())
        families.emplace_back(1, *box);
      else
        own->push_back(*box);
    } else if (!isa<SliceOp, LoadOp, DimOp>(op) && !isMemoryEffectFree(&op)) {
      close();
    }
  }
  close();
  shareFamilies(complete);
}

// ---- single elements ----------------------------------------------------------------------------

/// Whether an operation loads a single element of global memory, as a tile.
static bool loadsOne(Operation *op) {
  auto isOne = [](Type type) {
    auto tile = dyn_cast<ArrayType>(type);
    return tile && tile.getRank() > 0 && llvm::all_of(tile.getExtents(), [](const Extent &extent) {
             return extent.isConstant() && extent.length == 1;
           });
  };
  if (auto load = dyn_cast<LoadOp>(op))
    return isOne(load.getType()) && !load.getOutside();
  auto slice = dyn_cast<SliceOp>(op);
  return slice && isOne(slice.getType()) && !slice.getOutside() &&
         cast<ArrayType>(slice.getSource().getType()).getPlace() == Place::Gm;
}

namespace {
/// A part of a block that neither writes nor checks anything, and what it loads.
struct Segment {
  Block *block;
  Operation *before = nullptr; ///< null: it begins with the block
  llvm::SmallVector<Operation *> loads;

  bool holds(Operation *op) const {
    return op && op->getBlock() == block && (!before || before->isBeforeInBlock(op));
  }
  bool mayComeFirst(Operation *op) const;
  void moveBehind(Operation *op, Operation *&last);
  void loadFirst();
};
} // namespace

/// Whether an operation, and the arithmetic that it needs, may stand before all others.
bool Segment::mayComeFirst(Operation *op) const {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *made = operand.getDefiningOp();
    return !holds(made) || (isPure(made) && made->getNumRegions() == 0 &&
                            !isa<ArrayType>(operand.getType()) && mayComeFirst(made));
  });
}

/// Moves an operation, and the arithmetic that it needs, behind the last one that was moved.
void Segment::moveBehind(Operation *op, Operation *&last) {
  for (Value operand : op->getOperands())
    if (Operation *made = operand.getDefiningOp();
        holds(made) && (!last || last->isBeforeInBlock(made)))
      moveBehind(made, last);
  if (last)
    op->moveAfter(last);
  else
    op->moveBefore(block, block->begin());
  last = op;
}

/// Instructions that compute with a single element wait for the scalar unit, which waits for the element; and loads behind them are issued
/// when it has come. So all single elements are loaded first, and it waits once.
void Segment::loadFirst() {
  constexpr size_t kMost = 32; // each takes a block of the vector memory
  Operation *last = before;
  if (loads.size() > 1 && loads.size() <= kMost)
    for (Operation *load : loads)
      moveBehind(load, last);
}

static void loadElementsFirst(Block &block) {
  Segment segment{&block, nullptr, {}};
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (loadsOne(&op)) {
      if (segment.mayComeFirst(&op))
        segment.loads.push_back(&op);
    } else if (!isa<SliceOp, LoadOp, DimOp>(op) && !isMemoryEffectFree(&op)) {
      segment.loadFirst();
      segment = {&block, &op, {}};
    }
  }
  segment.loadFirst();
}

namespace {

struct ShareRows : impl::ShareRowsBase<ShareRows> {
  void runOnOperation() override {
    llvm::SmallVector<Block *> blocks;
    getOperation().walk([&](ParallelOp grid) {
      // The cube core loads operands by itself, and cores that work together share what the vector cores load.
      bool multiplies = grid->walk([](Operation *op) {
                              const OpRecord *record = recordOf(op);
                              bool isProduct = record && record->opClass == OpClass::Product;
                              return isProduct ? WalkResult::interrupt() : WalkResult::advance();
                            })
                            .wasInterrupted();
      if (multiplies || grid->getParentOfType<ParallelOp>())
        return;
      grid->walk([&](Block *block) { blocks.push_back(block); });
    });
    for (Block *block : blocks) {
      shareIn(*block);
      loadElementsFirst(*block);
    }
  }
};

} // namespace
} // namespace ptl::ir

// Boxes that reach beyond the edges of their array: the tile is filled, and the part of the box that lies inside is
// loaded as a box of its own. Loads write tiles from the begin of a block on. Where columns are missing on the left, what is inside
// begins within a block, which is loaded with what lies in front of the row in memory and filled anew there.
#include "passes/lower_block/load_outside.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_boxes.h"
#include "passes/lower_block/lower_positions.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

// ---- which part is inside -----------------------------------------------------------------------

Value allInside(KernelContext &c, llvm::ArrayRef<GlobalAxis> axes) {
  Value inside = c.b.create<arith::ConstantIntOp>(c.loc, 1, 1);
  auto both = [&](Value condition) {
    inside = c.b.createOrFold<arith::AndIOp>(c.loc, inside, condition);
  };
  for (const GlobalAxis &axis : axes) {
    using P = arith::CmpIPredicate;
    // This is one step behind the last position. A box whose last step ends beyond the array
    // although its last element is inside is taken for one that may reach outside.
    Value last = plus(c, axis.offset, times(c, axis.length, axis.step));
    // Only the ends have to be tested, because steps are positive.
    both(c.b.createOrFold<arith::CmpIOp>(c.loc, P::sge, axis.offset, constant(c, 0)));
    both(c.b.createOrFold<arith::CmpIOp>(c.loc, P::sle, last, axis.extent));
  }
  return inside;
}

Value isInside(KernelContext &c, const GlobalBox &box, Indices at) {
  Value inside;
  auto both = [&](Value position, Value extent) {
    // As unsigned numbers, negative positions are beyond the end.
    Value one = c.b.createOrFold<arith::CmpIOp>(c.loc, arith::CmpIPredicate::ult, position, extent);
    inside = inside ? c.b.createOrFold<arith::AndIOp>(c.loc, inside, one) : one;
  };
  for (auto [axis, position] : llvm::zip(box.axes, at))
    both(plus(c, axis.offset, times(c, position, axis.step)), axis.extent);
  for (const GlobalAxis &axis : box.fixed)
    both(axis.offset, axis.extent);
  return inside ? inside : c.b.create<arith::ConstantIntOp>(c.loc, 1, 1).getResult();
}

namespace {
/// The positions of a box along one axis that lie inside: `count` from the `first` on.
struct Inside {
  Value first, count;
};

/// Arithmetic of positions, in front of the code that uses them.
struct Numbers {
  KernelContext &c;

  Value minus(Value a, Value b) const { return c.b.createOrFold<arith::SubIOp>(c.loc, a, b); }
  Value most(Value a, Value b) const { return c.b.createOrFold<arith::MaxSIOp>(c.loc, a, b); }
  Value atLeastZero(Value a) const { return most(a, constant(c, 0)); }
  /// Of numbers that are not negative.
  Value covering(Value length, Value each) const {
    return isUnit(each) ? length : c.b.createOrFold<arith::CeilDivSIOp>(c.loc, length, each);
  }
  Value isSome(Value count) const {
    return c.b.createOrFold<arith::CmpIOp>(c.loc, arith::CmpIPredicate::sgt, count, constant(c, 0));
  }
};
} // namespace

/// A number that a position is never below, where its arithmetic shows one.
static std::optional<int64_t> leastOf(Value position) {
  if (std::optional<int64_t> number = getConstantIntValue(position))
    return number;
  if (auto loop = dyn_cast_or_null<scf::ForOp>(position.getParentBlock()->getParentOp());
      loop && loop.getInductionVar() == position)
    return leastOf(loop.getLowerBound());
  Operation *op = position.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<arith::DivUIOp, arith::RemUIOp, pto::GetBlockIdxOp>(op))
    return 0;
  if (isa<arith::IndexCastOp>(op))
    return leastOf(op->getOperand(0));
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp>(op))
    return std::nullopt;
  std::optional<int64_t> a = leastOf(op->getOperand(0)), b = leastOf(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *a + *b;
  if (isa<arith::MinSIOp>(op))
    return std::min(*a, *b);
  if (isa<arith::MulIOp>(op))
    return *a >= 0 && *b >= 0 ? std::optional(*a * *b) : std::nullopt;
  std::optional<int64_t> less = getConstantIntValue(op->getOperand(1));
  return less ? std::optional(*a - *less) : std::nullopt;
}

/// The most positions of a box that lie in front of the array, where that is known.
static std::optional<int64_t> mostMissing(const GlobalAxis &axis) {
  std::optional<int64_t> least = leastOf(axis.offset);
  return least ? std::optional(std::max<int64_t>(-*least, 0)) : std::nullopt;
}

static Inside insideOf(KernelContext &c, const GlobalAxis &axis) {
  Numbers at{c};
  Value before = at.atLeastZero(at.minus(constant(c, 0), axis.offset)),
        behind = at.atLeastZero(at.minus(axis.extent, axis.offset));
  Value first = mostMissing(axis) == 0 ? constant(c, 0) : at.covering(before, axis.step),
        end = minimum(c, axis.length, at.covering(behind, axis.step));
  return {first, at.minus(end, first)};
}

// ---- rows ---------------------------------------------------------------------------------------

namespace {
/// Loads what is inside of a box whose rows lie side by side in memory, where at most the first block of columns
/// lies partly beyond the edge.
class RowsInside {
public:
  RowsInside(KernelContext &c, const GlobalBox &box, llvm::ArrayRef<Inside> inside,
             const ShapedTile &to, Value outside, bool isWritten)
      : c_(c), box_(box), inside_(inside), to_(to), outside_(outside), isWritten_(isWritten),
        type_(cast<pto::TileBufType>(to.tile.buffer.getType())), block_(blockOf(c, to)),
        missing_(inside.back().first), end_(plus(c, missing_, inside.back().count)) {
    size_t rank = box.axes.size();
    rows_ = rank > 1 ? inside[rank - 2].count : constant(c, 1);
    rowStride_ = rank > 1 ? box.axes[rank - 2].stride : end_;
    // A window has its shape wherever it begins, so several rows fit one only if all of them are there.
    capacity_ = rank == 1   ? 1
                : rank == 2 ? type_.getRows()
                            : getConstantIntValue(box.axes[rank - 2].length).value_or(0);
  }

  /// Elements of a block.
  static int64_t blockOf(const KernelContext &c, const ShapedTile &to) {
    return c.machine.limits.blockBytes / pto::elementBytes(to.tile.element);
  }

  void load() {
    IndexVector outer;
    for (const Inside &axis : inside_.drop_back(std::min<size_t>(inside_.size(), 2)))
      outer.push_back(axis.count);
    forEach(c_, outer, [&](Indices at) { loadMatrix(at); });
    if (matchPattern(missing_, m_Zero()))
      return;
    branch(c_.b, c_.loc, Numbers{c_}.isSome(missing_), [&] {
      Tile head = to_.tile;
      head.extents = {type_.getRows(), block_, to_.tile.extents.validRows, missing_};
      head.buffer = window(c_, to_.tile.buffer, constant(c_, 0), constant(c_, 0), type_.getRows(),
                           block_, head.extents.validRows, missing_);
      fillWith(c_, head, outside_, c_.loc);
    });
  }

private:
  void loadMatrix(Indices outer) {
    IndexVector first;
    for (auto [axis, inside] : llvm::enumerate(inside_))
      first.push_back(axis < outer.size()         ? plus(c_, outer[axis], inside.first)
                      : axis + 1 < inside_.size() ? inside.first
                                                  : constant(c_, 0));
    Value element = elementAt(c_, box_, first), row = rowAt(c_, to_, first);
    if (capacity_ == 0)
      return eachRow(element, row, rows_);
    if (inside_.size() == 1)
      return branch(
          c_.b, c_.loc, hasFront(element, capacity_),
          [&] { loadRows(element, row, capacity_, rows_); }, [&] { eachRow(element, row, rows_); });
    loadFrom(0, element, row);
  }

  /// Rows of a box of which at least so many are missing in front of the array. A window has its shape wherever it begins, so the number must be
  /// known; where it may be large, rows come one by one.
  void loadFrom(int64_t missing, Value element, Value row) {
    constexpr int64_t kMostMissing = 2;
    size_t along = inside_.size() - 2;
    if (missing >= capacity_ ||
        missing > std::min(mostMissing(box_.axes[along]).value_or(0), kMostMissing))
      return eachRow(element, row, rows_);
    branch(
        c_.b, c_.loc, is(arith::CmpIPredicate::eq, inside_[along].first, missing),
        [&] {
          int64_t capacity = capacity_ - missing;
          branch(
              c_.b, c_.loc, hasFront(element, capacity),
              [&] { loadRows(element, row, capacity, rows_); },
              [&] { loadCorner(element, row, capacity); });
        },
        [&] { loadFrom(missing + 1, element, row); });
  }

  /// In a corner of the array nothing lies in front of the first row; the others have that row there.
  void loadCorner(Value element, Value row, int64_t capacity) {
    Value others = Numbers{c_}.minus(rows_, constant(c_, 1));
    Value below = plus(c_, element, rowStride_), next = plus(c_, row, constant(c_, 1));
    if (isWritten_ || capacity == 1)
      return eachRow(element, row, rows_);
    eachRow(element, row, constant(c_, 1));
    branch(c_.b, c_.loc, Numbers{c_}.isSome(others), [&] {
      branch(
          c_.b, c_.loc, hasFront(below, capacity - 1),
          [&] { loadRows(below, next, capacity - 1, others); },
          [&] { eachRow(below, next, others); });
    });
  }

  /// All columns of rows that fit one window.
  void loadRows(Value element, Value row, int64_t capacity, Value rows) {
    loadTail(element, row, capacity, rows);
    loadHead(element, row, capacity, rows);
  }

  void eachRow(Value element, Value row, Value rows) {
    forEach(c_, {rows}, [&](Indices at) {
      Value own = plus(c_, element, times(c_, at[0], rowStride_)), in = plus(c_, row, at[0]);
      loadTail(own, in, 1, constant(c_, 1));
      branch(
          c_.b, c_.loc, hasFront(own, 1), [&] { loadHead(own, in, 1, constant(c_, 1)); },
          [&] { loadElements(own, in); });
    });
  }

  Value is(arith::CmpIPredicate predicate, Value number, int64_t other) {
    return c_.b.createOrFold<arith::CmpIOp>(c_.loc, predicate, number, constant(c_, other));
  }
  Value both(Value a, Value b) { return c_.b.createOrFold<arith::AndIOp>(c_.loc, a, b); }

  /// Whether what lies in front of rows in memory can be loaded with them: it is in the array, and rows are not so short that
  /// what is loaded of one reaches into the next. `element` is where the first row would begin.
  Value hasFront(Value element, int64_t rows) {
    Value isIn = is(arith::CmpIPredicate::sge,
                    isWritten_ ? Numbers{c_}.minus(constant(c_, 0), missing_) : element, 0);
    return rows == 1 ? isIn : both(isIn, is(arith::CmpIPredicate::sge, rowStride_, block_));
  }

  /// The columns of the first block.
  void loadHead(Value element, Value row, int64_t capacity, Value rows) {
    Value cols = minimum(c_, end_, constant(c_, block_));
    loadPart(element, constant(c_, 0), block_, cols, row, capacity, rows);
  }

  /// The columns behind the first block.
  void loadTail(Value element, Value row, int64_t capacity, Value rows) {
    if (type_.getCols() == block_)
      return;
    Value begin = constant(c_, block_), cols = Numbers{c_}.minus(end_, begin);
    branch(c_.b, c_.loc, Numbers{c_}.isSome(cols), [&] {
      loadPart(plus(c_, element, begin), begin, type_.getCols() - block_, cols, row, capacity,
               rows);
    });
  }

  void loadPart(Value element, Value col, int64_t width, Value cols, Value row, int64_t capacity,
                Value rows) {
    Value view = matrixView(c_, box_.pointer, element, rows, cols, rowStride_, to_.tile.element);
    Value part = window(c_, to_.tile.buffer, row, col, capacity, width, rows, cols);
    emit(c_, c_.loc, InstructionId::TLoad, {view}, {part});
  }

  /// The columns of the first block in one row, one by one.
  void loadElements(Value element, Value row) {
    Value end = minimum(c_, end_, constant(c_, block_));
    ShapedTile matrix{to_.tile, {constant(c_, type_.getRows()), constant(c_, type_.getCols())}};
    forEach(c_, {Numbers{c_}.minus(end, missing_)}, [&](Indices at) {
      Value col = plus(c_, at[0], missing_);
      writeElement(c_, matrix, {row, col},
                   readGlobal(c_, box_.pointer, plus(c_, element, col), to_.tile.element));
    });
  }

  KernelContext &c_;
  const GlobalBox &box_;
  llvm::ArrayRef<Inside> inside_;
  const ShapedTile &to_;
  Value outside_;
  bool isWritten_;
  pto::TileBufType type_;
  int64_t block_;
  Value missing_,
      end_; ///< columns: how many are missing on the left, and where what is inside ends
  Value rows_, rowStride_;
  int64_t capacity_; ///< of a window for all rows; 0: they come one by one
};
} // namespace

// ---- other elements -----------------------------------------------------------------------------

static void loadElements(KernelContext &c, const GlobalBox &box, llvm::ArrayRef<Inside> inside,
                         const ShapedTile &to) {
  IndexVector counts;
  for (const Inside &axis : inside)
    counts.push_back(axis.count);
  forEach(c, counts, [&](Indices each) {
    IndexVector at;
    for (auto [position, axis] : llvm::zip(each, inside))
      at.push_back(plus(c, position, axis.first));
    writeElement(c, to, at, readGlobal(c, box.pointer, elementAt(c, box, at), to.tile.element));
  });
}

/// Whether an instruction moves columns of a tile from one position to another.
static bool shiftsColumns(KernelContext &c, const ShapedTile &to) {
  return to.tile.form == Form::Whole && gathersFirst(c, to.tile.element) &&
         pto::elementBytes(to.tile.element) % 2 == 0 &&
         takes(c, InstructionId::TAdds, {c.b.getI16Type()});
}

/// Loads what is inside to the begin of rows of a tile of its own, and gathers columns from there.
static void loadAndShift(KernelContext &c, const GlobalBox &box, llvm::ArrayRef<Inside> inside,
                         const ShapedTile &to, Value outside) {
  ShapedTile aside = to;
  aside.tile.buffer = allocateLike(c, to.tile, c.loc);
  fillWith(c, aside.tile, outside, c.loc); // of rows that are not inside
  IndexVector counts;
  for (const Inside &axis : inside.drop_back())
    counts.push_back(axis.count);
  int64_t cols = cast<pto::TileBufType>(aside.tile.buffer.getType()).getCols();
  Value valid = to.tile.extents.validCols, one = constant(c, 1);
  forEach(c, counts, [&](Indices each) {
    IndexVector at, target;
    for (auto [axis, own] : llvm::enumerate(inside)) {
      bool isLast = axis + 1 == inside.size();
      at.push_back(isLast ? own.first : plus(c, each[axis], own.first));
      target.push_back(isLast ? constant(c, 0) : at.back());
    }
    GlobalBox row;
    row.pointer = box.pointer;
    row.base = elementAt(c, box, at);
    row.axes.push_back(box.axes.back());
    row.axes.back().length = inside.back().count;
    ShapedTile into = aside;
    into.lengths = {inside.back().count};
    into.tile.extents = {1, cols, one, valid};
    into.tile.buffer =
        window(c, aside.tile.buffer, rowAt(c, to, target), constant(c, 0), 1, cols, one, valid);
    loadPresent(c, row, into);
  });
  [[maybe_unused]] bool moved = gatherColumns(
      c, aside, to, {constant(c, 0), inside.back().first, inside.back().count}, c.loc);
  assert(moved && "columns that can be shifted");
}

/// A column is kept as a row, so its only axis is the one along which it goes.
static void takeAsRow(KernelContext &c, GlobalBox &box, ShapedTile &to) {
  if (to.tile.form != Form::Column || box.axes.size() != 2)
    return;
  box.fixed.push_back(box.axes.pop_back_val());
  to.lengths.pop_back();
  to.tile.form = Form::Whole;
  std::swap(to.tile.extents.rows, to.tile.extents.cols);
  std::swap(to.tile.extents.validRows, to.tile.extents.validCols);
}

void loadInside(KernelContext &c, const GlobalBox &whole, const ShapedTile &into, Value outside,
                bool isWritten) {
  GlobalBox box = whole;
  ShapedTile to = into;
  takeAsRow(c, box, to);
  fillWith(c, to.tile, outside, c.loc);
  llvm::SmallVector<Inside, 4> inside;
  Value some = allInside(c, box.fixed);
  for (const GlobalAxis &axis : box.axes) {
    inside.push_back(insideOf(c, axis));
    some = c.b.createOrFold<arith::AndIOp>(c.loc, some, Numbers{c}.isSome(inside.back().count));
  }
  branch(c.b, c.loc, some, [&] {
    auto others = [&] {
      if (shiftsColumns(c, to))
        loadAndShift(c, box, inside, to, outside);
      else
        loadElements(c, box, inside, to);
    };
    if (!liesInRows(box, to))
      return others();
    int64_t block = RowsInside::blockOf(c, to);
    auto inRows = [&] { RowsInside(c, box, inside, to, outside, isWritten).load(); };
    if (mostMissing(box.axes.back()).value_or(block + 1) <= block)
      return inRows();
    Value few = c.b.createOrFold<arith::CmpIOp>(c.loc, arith::CmpIPredicate::sle,
                                                inside.back().first, constant(c, block));
    branch(c.b, c.loc, few, inRows, others);
  });
}

} // namespace ptl::block

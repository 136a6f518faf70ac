#include "codegen/cpu/transpose.h"
#include "codegen/cpu/positions.h"

using namespace mlir;

namespace ptl::cpu {

void transposeRegisters(const Emit &e, SmallVectorImpl<Value> &rows) {
  int64_t lanes = rows.size();
  // A transposition exchanges the row and the lane of each element. One round exchanges one bit of these two numbers, so there are as many
  // rounds as a lane number has bits.
  for (int64_t bit = 1; bit < lanes; bit *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      low.push_back(lane & bit ? lanes + lane - bit : lane);
      high.push_back(lane & bit ? lanes + lane : lane + bit);
    }
    for (int64_t row = 0; row < lanes; ++row) {
      if (row & bit)
        continue;
      Value x = rows[row], y = rows[row + bit];
      rows[row] = e.b.create<vector::ShuffleOp>(e.loc, x, y, low);
      rows[row + bit] = e.b.create<vector::ShuffleOp>(e.loc, x, y, high);
    }
  }
}

// The axis along which elements are neighbours; -1 where none is known to be.
static int64_t contiguousAxis(const View &view) {
  for (int64_t axis = view.rank() - 1; axis >= 0; --axis)
    if (constantOf(view.strides[axis]) == 1 && constantOf(view.extents[axis]) != 1)
      return axis;
  return -1;
}

namespace {
/// One copy of a matrix: rows are along the axis that is contiguous in the source, columns along that in the target.
struct Squares {
  Lowering &l;
  Type element; // as it is stored
  int64_t lanes;
  Value from, to;             // of the first elements
  Value fromStride, toStride; // of columns in the source, of rows in the target
  Value rows, columns;
  Value streamed; // whether lines of the target go past the caches; null: they do not

  int64_t bytes() const { return element.getIntOrFloatBitWidth() / 8; }
  bool fillLines() const;
  Value haveSameLines() const;
  void squares(Value row, Value column, int64_t beside, bool past) const;
  void bands(Value first, Value last, int64_t beside, bool past) const;
  void bySquares() const;
  void byElements() const;
  void emit() const;
};
} // namespace

// Squares side by side: two vectors of AVX2 are a line, and no more registers are there to hold a row of squares.
static constexpr int64_t kBeside = 2;

// Squares that follow each other in the rows of the target, so that these are written line by line.
void Squares::squares(Value row, Value column, int64_t beside, bool past) const {
  const Emit &e = l.e;
  SmallVector<SmallVector<Value>> blocks(beside);
  for (int64_t n = 0; n < beside; ++n) {
    for (int64_t j = 0; j < lanes; ++j) {
      Value at = e.add(e.mul(e.add(column, e.index(n * lanes + j)), fromStride), row);
      blocks[n].push_back(loadRaw(e, elementPointer(e, from, element, at), element, lanes));
    }
    // Squares are read by columns and written by rows, so both sides move whole vectors; several
    // beside each other write a whole line of the cache.
    transposeRegisters(e, blocks[n]);
  }
  for (int64_t i = 0; i < lanes; ++i)
    for (int64_t n = 0; n < beside; ++n) {
      Value at = e.add(e.mul(e.add(row, e.index(i)), toStride), e.add(column, e.index(n * lanes)));
      Value pointer = elementPointer(e, to, element, at);
      if (past)
        e.b.create<LLVM::StoreOp>(e.loc, blocks[n][i], pointer,
                                  static_cast<unsigned>(lanes * bytes()), /*isVolatile=*/false,
                                  /*isNonTemporal=*/true);
      else
        storeRaw(e, pointer, blocks[n][i]);
    }
}

// Columns over all rows: the source is read along a few streams, and each line of the target is written once. Where a last square
// would go beyond the end, it stands before the end and writes some elements again.
void Squares::bands(Value first, Value last, int64_t beside, bool past) const {
  const Emit &e = l.e;
  // The last square of a row or column begins earlier, so that it ends with the matrix. Elements
  // that are written twice are the same.
  auto within = [&](Value start, Value end) {
    Value most = e.sub(end, e.index(lanes * beside));
    return e.b.createOrFold<arith::MinSIOp>(e.loc, start, most);
  };
  e.loop(first, last, e.index(lanes * beside), {}, [&](const Emit &, Value start, ValueRange) {
    Value column = e.b.createOrFold<arith::MaxSIOp>(e.loc, within(start, last), e.index(0));
    e.loop(e.index(0), rows, e.index(lanes), {}, [&](const Emit &, Value begin, ValueRange) {
      Value most = e.sub(rows, e.index(lanes));
      squares(e.b.createOrFold<arith::MinSIOp>(e.loc, begin, most), column, beside, past);
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
}

// Whether squares side by side are as wide as a line.
bool Squares::fillLines() const { return lanes * bytes() * kBeside >= kLineBytes; }

// Whether the lines of all rows of the target begin at the same columns, at an element.
Value Squares::haveSameLines() const {
  const Emit &e = l.e;
  Type i64 = e.b.getI64Type();
  Value address = e.b.create<LLVM::PtrToIntOp>(e.loc, i64, to);
  Value stride = e.indexCast(e.mul(toStride, e.index(bytes())), i64);
  Value beyond = e.bitOr(e.bitAnd(stride, kLineBytes - 1), e.bitAnd(address, bytes() - 1));
  return e.cmpi(arith::CmpIPredicate::eq, beyond, 0);
}

void Squares::bySquares() const {
  const Emit &e = l.e;
  int64_t line = lanes * kBeside;
  Value first = e.index(0), past;
  if (fillLines()) {
    // Vectors that cross the end of a line are slow to write, so what precedes the first line has squares of its own.
    Value same = haveSameLines();
    Value address = e.b.create<LLVM::PtrToIntOp>(e.loc, e.b.getI64Type(), to);
    Value left = e.shrUnsigned(e.bitAnd(e.neg(address), kLineBytes - 1), llvm::Log2_64(bytes()));
    first = e.select(same, e.indexCast(left, e.b.getIndexType()), first);
    first = e.b.createOrFold<arith::MinSIOp>(e.loc, first, columns);
    if (streamed)
      past = e.bitAnd(streamed, same);
  }
  Value count = e.sub(columns, first);
  Value last = e.sub(columns, e.b.createOrFold<arith::RemUIOp>(e.loc, count, e.index(line)));
  bands(e.index(0), first, 1, false);
  auto wide = [&](bool past) {
    return [&, past](const Emit &) {
      bands(first, last, kBeside, past);
      return SmallVector<Value>();
    };
  };
  if (past)
    e.branch(past, {}, wide(true), wide(false));
  else
    wide(false)(e);
  bands(last, columns, 1, false);
}

void Squares::byElements() const {
  const Emit &e = l.e;
  e.loop(e.index(0), rows, e.index(1), {}, [&](const Emit &, Value row, ValueRange) {
    e.loop(e.index(0), columns, e.index(1), {}, [&](const Emit &, Value column, ValueRange) {
      Value source = e.add(e.mul(column, fromStride), row);
      Value target = e.add(e.mul(row, toStride), column);
      storeRaw(e, elementPointer(e, to, element, target),
               loadRaw(e, elementPointer(e, from, element, source), element, 0));
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
}

void Squares::emit() const {
  const Emit &e = l.e;
  auto hasSquare = [&](Value extent) {
    return e.cmpi(arith::CmpIPredicate::sge, extent, e.index(lanes));
  };
  auto way = [&](void (Squares::*emitWay)() const) {
    return [this, emitWay](const Emit &) {
      (this->*emitWay)();
      return SmallVector<Value>();
    };
  };
  e.branch(e.bitAnd(hasSquare(rows), hasSquare(columns)), {}, way(&Squares::bySquares),
           way(&Squares::byElements));
}

namespace {
/// Rows of the source whose elements take turns in the target: as many as the axis is long that is contiguous there.
struct WovenRows {
  Lowering &l;
  Type element; // as it is stored
  int64_t lanes, count;
  Value from, to, fromStride; // of the first elements, and of rows in the source
  Value length;               // of a row

  Value woven(ArrayRef<Value> rows, int64_t first) const;
  void emit() const;
};
} // namespace

// More vectors would be shuffled for each one that is stored.
static constexpr int64_t kMostWoven = 4;

// The vector of the target that begins with element `first` of those that one vector of each row gives.
Value WovenRows::woven(ArrayRef<Value> rows, int64_t first) const {
  Value result = rows.front();
  for (int64_t row = 1; row < count; ++row) {
    SmallVector<int64_t> chosen;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t at = (first + lane) / count, of = (first + lane) % count;
      // Lanes of earlier rows are in their places once the second row has come.
      chosen.push_back(of == row ? lanes + at : row == 1 ? at : lane);
    }
    result = l.e.b.create<vector::ShuffleOp>(l.e.loc, result, rows[row], chosen);
  }
  return result;
}

void WovenRows::emit() const {
  const Emit &e = l.e;
  auto source = [&](Value at, int64_t row) {
    return elementPointer(e, from, element, e.add(e.mul(fromStride, e.index(row)), at));
  };
  auto target = [&](Value at, int64_t further) {
    return elementPointer(e, to, element, e.add(e.mul(at, e.index(count)), e.index(further)));
  };
  // Whole vectors of all rows are woven in registers; what is left behind the last of them goes element by element.
  Value whole = e.sub(length, e.b.create<arith::RemUIOp>(e.loc, length, e.index(lanes)));
  e.loop(e.index(0), whole, e.index(lanes), {}, [&](const Emit &, Value at, ValueRange) {
    SmallVector<Value> rows;
    for (int64_t row = 0; row < count; ++row)
      rows.push_back(loadRaw(e, source(at, row), element, lanes));
    for (int64_t n = 0; n < count; ++n)
      storeRaw(e, target(at, n * lanes), woven(rows, n * lanes));
    return SmallVector<Value>();
  });
  e.loop(whole, length, e.index(1), {}, [&](const Emit &, Value at, ValueRange) {
    for (int64_t row = 0; row < count; ++row)
      storeRaw(e, target(at, row), loadRaw(e, source(at, row), element, 0));
    return SmallVector<Value>();
  });
}

// How many rows take turns in the target; 0 where they do not.
static int64_t wovenRows(const View &to, int64_t rowAxis, int64_t columnAxis) {
  auto count = constantOf(to.extents[columnAxis]);
  return count && *count <= kMostWoven && constantOf(to.strides[rowAxis]) == *count ? *count : 0;
}

bool copyTransposed(Lowering &l, const View &from, const View &to, Value streamed) {
  int64_t rowAxis = contiguousAxis(from), columnAxis = contiguousAxis(to);
  if (rowAxis < 0 || columnAxis < 0 || rowAxis == columnAxis)
    return false;
  Type element = storageType(from.element);
  // A square needs as many registers as it has lanes.
  int64_t lanes = std::min<int64_t>(l.e.unit.bytes * 8 / element.getIntOrFloatBitWidth(), 16);
  int64_t woven = wovenRows(to, rowAxis, columnAxis);
  for (int64_t axis : {rowAxis, columnAxis})
    // There would be no whole square.
    if (auto number = constantOf(to.extents[axis]); number && *number < lanes && !woven)
      return false;
  SmallVector<int64_t> others;
  for (int64_t axis = 0; axis < to.rank(); ++axis)
    if (axis != rowAxis && axis != columnAxis)
      others.push_back(axis);
  Coords at(to.rank());
  Scope scope(l);
  forAxes(l, to.extents, others, at, [&](Coords &at) {
    auto first = [&](const View &view) {
      Value offset = l.index(0);
      for (int64_t axis : others)
        offset = l.e.add(offset, l.e.mul(at[axis].base, view.strides[axis]));
      return elementPointer(l.e, view.data, element, offset);
    };
    if (woven)
      return WovenRows{l,
                       element,
                       lanes,
                       woven,
                       first(from),
                       first(to),
                       from.strides[columnAxis],
                       to.extents[rowAxis]}
          .emit();
    Squares{l,
            element,
            lanes,
            first(from),
            first(to),
            from.strides[columnAxis],
            to.strides[rowAxis],
            to.extents[rowAxis],
            to.extents[columnAxis],
            streamed}
        .emit();
  });
  return true;
}

} // namespace ptl::cpu

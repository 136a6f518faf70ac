#include "codegen/cpu/transpose.h"
#include "codegen/cpu/positions.h"

using namespace mlir;

namespace ptl::cpu {

void transposeRegisters(const Emit &e, SmallVectorImpl<Value> &rows) {
  int64_t lanes = rows.size();
  // Exchanges bit after bit of row and lane number.
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

  void square(Value row, Value column) const;
  void elements(Value firstRow, Value lastRow, Value firstColumn) const;
  void emit() const;
};
} // namespace

void Squares::square(Value row, Value column) const {
  const Emit &e = l.e;
  SmallVector<Value> block;
  for (int64_t j = 0; j < lanes; ++j) {
    Value at = e.add(e.mul(e.add(column, e.index(j)), fromStride), row);
    block.push_back(loadRaw(e, elementPointer(e, from, element, at), element, lanes));
  }
  transposeRegisters(e, block);
  for (int64_t i = 0; i < lanes; ++i) {
    Value at = e.add(e.mul(e.add(row, e.index(i)), toStride), column);
    storeRaw(e, elementPointer(e, to, element, at), block[i]);
  }
}

// Rows one by one, from a column on: what is left beside whole squares.
void Squares::elements(Value firstRow, Value lastRow, Value firstColumn) const {
  const Emit &e = l.e;
  e.loop(firstRow, lastRow, e.index(1), {}, [&](const Emit &, Value row, ValueRange) {
    e.loop(firstColumn, columns, e.index(1), {}, [&](const Emit &, Value column, ValueRange) {
      Value source = e.add(e.mul(column, fromStride), row);
      Value target = e.add(e.mul(row, toStride), column);
      storeRaw(e, elementPointer(e, to, element, target),
               loadRaw(e, elementPointer(e, from, element, source), element, 0));
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
}

// Rows of the source that a step reads at once: a few lines of cache of each column, so that no page is visited for one line.
static constexpr int64_t kSquaresAtOnce = 4;

void Squares::emit() const {
  const Emit &e = l.e;
  auto below = [&](Value extent, int64_t unit) {
    return e.sub(extent, e.b.createOrFold<arith::RemUIOp>(e.loc, extent, e.index(unit)));
  };
  Value wholeRows = below(rows, lanes), wholeColumns = below(columns, lanes);
  Value together = below(rows, lanes * kSquaresAtOnce);
  auto stripes = [&](Value first, Value last, int64_t squares) {
    e.loop(first, last, e.index(lanes * squares), {}, [&](const Emit &, Value row, ValueRange) {
      e.loop(e.index(0), wholeColumns, e.index(lanes), {},
             [&](const Emit &, Value column, ValueRange) {
               for (int64_t n = 0; n < squares; ++n)
                 square(e.add(row, e.index(n * lanes)), column);
               return SmallVector<Value>();
             });
      return SmallVector<Value>();
    });
  };
  stripes(e.index(0), together, kSquaresAtOnce);
  stripes(together, wholeRows, 1);
  elements(e.index(0), wholeRows, wholeColumns);
  elements(wholeRows, rows, e.index(0));
}

bool copyTransposed(Lowering &l, const View &from, const View &to) {
  int64_t rowAxis = contiguousAxis(from), columnAxis = contiguousAxis(to);
  if (rowAxis < 0 || columnAxis < 0 || rowAxis == columnAxis)
    return false;
  Type element = storageType(from.element);
  // A square needs as many registers as it has lanes.
  int64_t lanes = std::min<int64_t>(l.e.unit.bytes * 8 / element.getIntOrFloatBitWidth(), 16);
  for (int64_t axis : {rowAxis, columnAxis})
    // There would be no whole square.
    if (auto number = constantOf(to.extents[axis]); number && *number < lanes)
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
    Squares{l,
            element,
            lanes,
            first(from),
            first(to),
            from.strides[columnAxis],
            to.strides[rowAxis],
            to.extents[rowAxis],
            to.extents[columnAxis]}
        .emit();
  });
  return true;
}

} // namespace ptl::cpu

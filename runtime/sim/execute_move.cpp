// Moves: between global memory and tiles, between places and layouts, with what happens on the way.
#include "frontend/base/elem_convert.h"
#include "runtime/sim/arithmetic.h"
#include "runtime/sim/execution.h"

namespace ptl::rt::sim {
namespace {

/// Part of a plane; `rows` and `cols` are those of the part.
struct Part {
  const Plane &plane;
  int64_t row = 0, col = 0;
};

/// Scale factors as the hardware takes them: a `float` in the low half of 64 bits.
float factorOf(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

/// The conversion of elements on their way out of the accumulator.
struct OnTheWay {
  bool relu = false, atomicAdd = false;
  const Plane *factors = nullptr; ///< one per column
  float factor = 1;
  bool scales = false;

  bool changes() const { return relu || scales; }
  float factorAt(int64_t col) const {
    return factors ? factorOf(loadOne<uint64_t>(*factors, 0, col)) : factor;
  }
};

void copyBits(Part from, Part to, int64_t rows, int64_t cols) {
  std::vector<uint8_t> row(static_cast<size_t>(cols * elemBytes(from.plane.elem)));
  for (int64_t r = 0; r < rows; ++r) {
    loadBits(from.plane, from.row + r, from.col, cols, row.data());
    storeBits(to.plane, to.row + r, to.col, cols, row.data());
  }
}

void copyFloats(Part from, Part to, int64_t rows, int64_t cols) {
  std::vector<float> row(static_cast<size_t>(cols));
  for (int64_t r = 0; r < rows; ++r) {
    loadRow(from.plane, from.row + r, from.col, cols, row.data());
    storeRow(to.plane, to.row + r, to.col, cols, row.data());
  }
}

void copyChanged(Part from, Part to, int64_t rows, int64_t cols, const OnTheWay &way) {
  ElemKind source = from.plane.elem, target = to.plane.elem;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) {
      ptl::Scalar value = loadElem(from.plane.at(from.row + r, from.col + c), source);
      ElemKind kind = source;
      if (way.relu)
        // Both kinds of numbers are limited, and only the one that holds is used.
        value = {value.f < 0 ? 0 : value.f, value.i < 0 ? 0 : value.i};
      if (way.scales) {
        double exact = isFloat(kind) ? value.f : static_cast<double>(value.i);
        value = ptl::Scalar::real(exact * way.factorAt(c));
        kind = ElemKind::F32;
      }
      storeElem(to.plane.at(to.row + r, to.col + c), target,
                convertScalar(value, kind, target, RoundMode::Even, true));
    }
}

/// Adds to what is there, in the type of the destination.
void addTo(Part from, Part to, int64_t rows, int64_t cols) {
  visitCompute(to.plane.elem, [&](auto zero) {
    using C = decltype(zero);
    std::vector<C> values(static_cast<size_t>(cols)), sums(values.size());
    for (int64_t r = 0; r < rows; ++r) {
      loadRow(from.plane, from.row + r, from.col, cols, values.data());
      loadRow(to.plane, to.row + r, to.col, cols, sums.data());
      for (size_t i = 0; i < sums.size(); ++i)
        if constexpr (std::is_integral_v<C>) // which wraps around
          sums[i] = applyInteger(Binary::Add, sums[i], values[i]);
        else
          sums[i] += values[i];
      storeRow(to.plane, to.row + r, to.col, cols, sums.data());
    }
  });
}

/// A dense tile of its own, for what is converted before it is added.
struct Temporary {
  Tile tile;
  std::vector<uint8_t> bytes;
  Plane plane;

  Temporary(ElemKind elem, int64_t rows, int64_t cols) {
    tile.elem = elem;
    tile.rows = tile.validRows = tile.bufferRows = static_cast<int32_t>(rows);
    tile.cols = tile.validCols = tile.bufferCols = static_cast<int32_t>(cols);
    bytes.resize(static_cast<size_t>(tile.bufferBytes()));
    plane = {bytes.data(), &tile, nullptr, elem, rows, cols};
  }
};

void copyPart(Part from, Part to, int64_t rows, int64_t cols, const OnTheWay &way) {
  // The values are converted first and added in the destination's type.
  if (way.atomicAdd) {
    Temporary temporary(to.plane.elem, rows, cols);
    OnTheWay plain = way;
    plain.atomicAdd = false;
    copyPart(from, {temporary.plane}, rows, cols, plain);
    return addTo({temporary.plane}, to, rows, cols);
  }
  ElemKind source = from.plane.elem, target = to.plane.elem;
  // Equal types need no conversion, so bits are copied, NaN included.
  if (source == target && !way.changes())
    copyBits(from, to, rows, cols);
  else if (isFloat(source) && isFloat(target) && !way.changes())
    copyFloats(from, to, rows, cols);
  else
    copyChanged(from, to, rows, cols, way);
}

bool checkPart(Execution &x, Part from, Part to, int64_t rows, int64_t cols) {
  // A negative position would be taken for memory in front of the tile.
  if (from.row < 0 || from.col < 0 || to.row < 0 || to.col < 0)
    return x.fail("begins at a negative position");
  if (from.row + rows > from.plane.rows || from.col + cols > from.plane.cols)
    return x.fail("reads " + extents(rows, cols) + " elements at (" + std::to_string(from.row) +
                  ", " + std::to_string(from.col) + ") of " +
                  extents(from.plane.rows, from.plane.cols) + " valid ones");
  // A tile may be written beyond its valid part, which is often set afterwards; memory may not.
  int64_t roomRows = to.plane.tile ? to.plane.tile->rows : to.plane.rows;
  int64_t roomCols = to.plane.tile ? to.plane.tile->cols : to.plane.cols;
  if (to.row + rows > roomRows || to.col + cols > roomCols)
    return x.fail("writes " + extents(rows, cols) + " elements at (" + std::to_string(to.row) +
                  ", " + std::to_string(to.col) + ") of a tile of " + extents(roomRows, roomCols));
  return true;
}

/// A view of one axis stands for a column where the tile is one.
View asColumn(const View &view) {
  View column = view;
  column.rank = 2;
  column.shape[1] = 1;
  column.strides[1] = 1;
  return column;
}

bool betweenGlobal(Execution &x, const Plane &from, const Plane &to, const OnTheWay &way) {
  bool loads = from.view != nullptr;
  if (!loads && !to.view)
    return x.fail("moves between tiles, where one side is to be global memory");
  const Plane &tile = loads ? to : from;
  Plane global = loads ? from : to;
  View column;
  // A vector in memory may be a column in the tile.
  if (global.view->rank == 1 && tile.cols == 1 && tile.rows == global.cols && tile.rows != 1) {
    column = asColumn(*global.view);
    global = {global.base, nullptr, &column, global.elem, column.rows(), column.cols()};
  }
  // The hardware would move as many elements as one of the two says, so they have to agree.
  if (global.rows != tile.rows || global.cols != tile.cols)
    return x.fail("moves between a box of " + extents(global.rows, global.cols) +
                  " and a tile with a valid part of " + extents(tile.rows, tile.cols));
  // Loads move bytes and convert nothing; types of one width differ in name only.
  if (loads && elemBytes(from.elem) != elemBytes(to.elem))
    return x.fail("loads " + std::string(elemName(from.elem)) + " as " +
                  std::string(elemName(to.elem)));
  if (loads)
    copyPart({global}, {tile}, tile.rows, tile.cols, way);
  else
    copyPart({tile}, {global}, tile.rows, tile.cols, way);
  return true;
}

OnTheWay onTheWay(Execution &x, size_t from) {
  OnTheWay way;
  way.relu = x.modifiers().relu;
  way.atomicAdd = x.modifiers().atomicAdd;
  // Operands behind `from` are factors: one for all or one for each column.
  for (size_t i = from; i < x.numIns(); ++i) {
    way.scales = true;
    if (x.isScalar(i))
      way.factor = factorOf(static_cast<uint64_t>(x.scalar(i).i));
    else
      way.factors = &x.in(i);
  }
  return way;
}

} // namespace

bool copyPlane(Execution &x, const Plane &from, int64_t row, int64_t col, const Plane &to) {
  Part source{from, row, col}, target{to};
  // The part that the tile holds is the result's own size.
  if (!checkPart(x, source, target, to.rows, to.cols))
    return false;
  copyPart(source, target, to.rows, to.cols, {});
  return true;
}

bool executeMove(Execution &x) {
  const Plane &from = x.in(0), &to = x.out();
  Part source{from}, target{to};
  int64_t rows = to.rows, cols = to.cols;
  switch (x.id()) {
  case InstructionId::TLoad:
    return betweenGlobal(x, from, to, {});
  case InstructionId::TStore:
  case InstructionId::TStoreFp:
    return betweenGlobal(x, from, to, onTheWay(x, 1));
  case InstructionId::TExtract:
    source.row = x.scalar(1).i;
    source.col = x.scalar(2).i;
    break;
  case InstructionId::TInsert:
    target.row = x.scalar(1).i;
    target.col = x.scalar(2).i;
    rows = from.rows;
    cols = from.cols;
    break;
  default: // moves
    break;
  }
  // Only moves out of the accumulator scale on their way.
  bool fixed = x.id() == InstructionId::TMov || x.id() == InstructionId::TMovFp;
  if (!checkPart(x, source, target, rows, cols))
    return false;
  OnTheWay way;
  if (fixed)
    way = onTheWay(x, 1);
  else
    way.relu = x.modifiers().relu;
  copyPart(source, target, rows, cols, way);
  return true;
}

/// Whether the scratch holds the whole blocks by which the library transposes.
static bool isScratchOfTranspose(Execution &x, const Plane &from) {
  auto up = [](int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; };
  int64_t size = elemBytes(from.elem), rows = up(from.cols, 32 / size),
          cols = up(from.rows, size == 1 ? 32 : 16), bytes = x.in(1).tile->bufferBytes();
  return bytes >= rows * cols * size ||
         x.fail("transposes by blocks through a scratch tile of " + std::to_string(bytes) +
                " bytes, and needs " + std::to_string(rows * cols * size));
}

bool executeTranspose(Execution &x) {
  const Plane &from = x.in(0), &to = x.out();
  if (from.elem != to.elem || from.rows < to.cols || from.cols < to.rows)
    return x.fail("transposes " + extents(from.rows, from.cols) + " " +
                  std::string(elemName(from.elem)) + " to " + extents(to.rows, to.cols) + " " +
                  std::string(elemName(to.elem)));
  auto size = static_cast<size_t>(elemBytes(from.elem));
  if (!isScratchOfTranspose(x, from))
    return false;
  // All is read before anything is written, since the operands may share bytes.
  std::vector<uint8_t> all(static_cast<size_t>(to.rows * to.cols) * size),
      column(static_cast<size_t>(to.cols) * size);
  for (int64_t r = 0; r < to.cols; ++r)
    loadBits(from, r, 0, to.rows, all.data() + static_cast<size_t>(r * to.rows) * size);
  for (int64_t r = 0; r < to.rows; ++r) {
    for (int64_t c = 0; c < to.cols; ++c)
      std::memcpy(column.data() + static_cast<size_t>(c) * size,
                  all.data() + static_cast<size_t>(c * to.rows + r) * size, size);
    storeBits(to, r, 0, to.cols, column.data());
  }
  return true;
}

// ---- padding ------------------------------------------------------------------------------------

template <typename C> static C padValue(int32_t pad) {
  using Limits = std::numeric_limits<C>;
  if (pad == 1)
    return C(0);
  if constexpr (std::is_floating_point_v<C>)
    return pad == 2 ? Limits::infinity() : -Limits::infinity();
  else
    return pad == 2 ? Limits::max() : Limits::min();
}

bool executeFillPad(Execution &x) {
  const Plane &from = x.in(0), &to = x.out();
  int64_t rows = std::min(from.rows, int64_t(to.tile->rows)),
          cols = std::min(from.cols, int64_t(to.tile->cols));
  int32_t pad = to.tile->layout.pad;
  // The padding value is part of the tile's layout.
  if (pad == 0)
    return x.fail("fills with the padding of a tile that has none");
  // In place, the valid part is there already.
  if (!(from.base == to.base && from.tile->bufferCols == to.tile->bufferCols))
    copyPart({from}, {to}, rows, cols, {});
  return visitCompute(to.elem, [&](auto zero) {
    using C = decltype(zero);
    std::vector<C> values(static_cast<size_t>(to.tile->cols), padValue<C>(pad));
    for (int64_t r = 0; r < to.tile->rows; ++r) {
      // Rows beyond the valid ones are padded as a whole.
      int64_t begin = r < rows ? cols : 0;
      storeRow(to, r, begin, to.tile->cols - begin, values.data());
    }
  });
}

bool executeConcat(Execution &x) {
  const Plane &first = x.in(0), &second = x.in(1), &to = x.out();
  int64_t rows = to.rows;
  if (!checkPart(x, {first}, {to}, rows, first.cols) ||
      !checkPart(x, {second}, {to, 0, first.cols}, rows, second.cols))
    return false;
  copyPart({first}, {to}, rows, first.cols, {});
  copyPart({second}, {to, 0, first.cols}, rows, second.cols, {});
  return true;
}

} // namespace ptl::rt::sim

// Elements by position, in tiles and in global memory; tiles filled by rule; quantisation per row.
#include "frontend/base/elem_convert.h"
#include "runtime/sim/arithmetic.h"
#include "runtime/sim/execution.h"
#include "runtime/sim/scalar.h"

namespace ptl::rt::sim {
namespace {

int64_t integerAt(const Plane &plane, int64_t row, int64_t col) {
  return loadElem(plane.at(row, col), plane.elem).i;
}

void copyOne(const uint8_t *from, uint8_t *to, ElemKind elem) {
  std::memcpy(to, from, elemBytes(elem));
}

/// The element at a row-major position of the whole tile; null beyond it.
uint8_t *elementAt(const Plane &plane, int64_t position) {
  const Tile &tile = *plane.tile;
  if (position < 0 || position >= int64_t(tile.rows) * tile.cols)
    return nullptr;
  return plane.at(position / tile.cols, position % tile.cols);
}

bool outside(Execution &x, int64_t position, const Plane &plane) {
  int64_t rows = plane.tile ? plane.tile->rows : plane.rows,
          cols = plane.tile ? plane.tile->cols : plane.cols;
  return x.fail("has the position " + std::to_string(position) + " in " + std::to_string(rows) +
                "x" + std::to_string(cols) + " elements");
}

bool takesPositions(Execution &x, const Plane &positions, const Plane &data) {
  if (isFloat(positions.elem))
    return x.fail("has positions of type " + std::string(elemName(positions.elem)));
  if (positions.rows < data.rows || positions.cols < data.cols)
    return x.fail("has fewer positions than elements");
  return true;
}

bool gatherByPosition(Execution &x) {
  const Plane &from = x.in(0), &positions = x.in(1), &to = x.out();
  if (!takesPositions(x, positions, to))
    return false;
  for (int64_t row = 0; row < to.rows; ++row)
    for (int64_t col = 0; col < to.cols; ++col) {
      // Positions are row-major in the tile whatever its layout.
      int64_t position = integerAt(positions, row, col);
      const uint8_t *element = elementAt(from, position);
      if (!element)
        return outside(x, position, from);
      copyOne(element, to.at(row, col), to.elem);
    }
  return true;
}

/// The elements of each group of four that a pattern takes, as bits from the lowest, in the order
/// of `MaskPattern`.
constexpr uint8_t kPatterns[] = {0b0101, 0b1010, 0b0001, 0b0010, 0b0100, 0b1000, 0b1111};

/// Chips write the elements of all rows without gaps, and want a tile of which all columns are
/// valid: `TGATHER_IMPL` of the PTO-ISA library, with `vreducev2` on A2 and A3 and `vsqz` on A5.
bool gatherByPattern(Execution &x) {
  const Plane &from = x.in(0), &to = x.out();
  if (to.cols != to.tile->cols)
    return x.fail("has a result with " + std::to_string(to.cols) + " valid columns of " +
                  std::to_string(to.tile->cols) + ", which have to be all");
  uint8_t pattern = kPatterns[x.modifiers().maskPattern];
  int64_t next = 0;
  for (int64_t row = 0; row < from.rows; ++row)
    for (int64_t col = 0; col < from.cols; ++col)
      if (pattern >> (col % 4) & 1) {
        // How many elements a pattern takes follows from the operand, so only here is it known
        // whether they fit.
        if (next >= to.tile->cols * to.tile->rows)
          return x.fail("takes more elements than there is room for");
        copyOne(from.at(row, col), to.at(next / to.cols, next % to.cols), to.elem);
        ++next;
      }
  return true;
}

/// Byte offsets from where the tile or window begins: one for each element, or one for each 32 bytes
/// of the result.
bool gatherBytes(Execution &x) {
  const Plane &from = x.in(0), &offsets = x.in(1), &to = x.out();
  // With fewer offsets than elements each one stands for a block of 32 bytes.
  int64_t size = elemBytes(to.elem), perOffset = offsets.cols >= to.cols ? 1 : 32 / size;
  if (offsets.cols * perOffset < to.cols || offsets.rows < to.rows)
    return x.fail("has fewer offsets than its result needs");
  // Chips add the offsets to the address of the tile, which for a window is that of its first element.
  const uint8_t *begin = from.at(0, 0);
  int64_t end = from.tile->bufferBytes() - (begin - from.base);
  for (int64_t row = 0; row < to.rows; ++row)
    for (int64_t col = 0; col < to.cols; ++col) {
      int64_t offset = integerAt(offsets, row, col / perOffset) + col % perOffset * size;
      // Offsets count bytes of the buffer, whose valid part says nothing about what may be read.
      if (offset < 0 || offset + size > end)
        return x.fail("has the offset " + std::to_string(offset) + " in " + std::to_string(end) +
                      " bytes");
      copyOne(begin + offset, to.at(row, col), to.elem);
    }
  return true;
}

/// Rows by position where there is one position per row of the tile, elements by row-major position
/// otherwise.
bool isByRow(const Plane &positions, const Plane &tile, const Plane &global) {
  bool onePerRow =
      // One position for each row can be a row or a column of positions.
      positions.rows * positions.cols == tile.rows && (positions.rows == 1 || positions.cols == 1);
  return onePerRow && tile.cols == global.cols;
}

template <typename Move>
bool visitGlobal(Execution &x, const Plane &positions, const Plane &tile, const Plane &global,
                 Move move) {
  bool byRow = isByRow(positions, tile, global);
  if (!byRow && !takesPositions(x, positions, tile))
    return false;
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t col = 0; col < tile.cols; ++col) {
      // Rows may be numbered by a row or by a column of positions.
      int64_t position = !byRow                ? integerAt(positions, row, col)
                         : positions.rows == 1 ? integerAt(positions, 0, row)
                                               : integerAt(positions, row, 0);
      // Positions come from data, so each is checked against what the box has.
      int64_t limit = byRow ? global.rows : global.rows * global.cols;
      if (position < 0 || position >= limit)
        return outside(x, position, global);
      move(byRow ? global.at(position, col)
                 : global.at(position / global.cols, position % global.cols),
           tile.at(row, col));
    }
  return true;
}

template <typename C> void fillSequence(const Plane &to, int64_t start, int64_t step) {
  std::vector<C> values(static_cast<size_t>(to.cols));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<C>(start + step * static_cast<int64_t>(i));
  for (int64_t row = 0; row < to.rows; ++row)
    storeRow(to, row, 0, to.cols, values.data());
}

template <typename C> void fillTriangle(const Plane &to, int64_t diagonal, bool upper) {
  std::vector<C> values(static_cast<size_t>(to.cols));
  for (int64_t row = 0; row < to.rows; ++row) {
    for (int64_t col = 0; col < to.cols; ++col)
      values[static_cast<size_t>(col)] = C(upper ? col >= row + diagonal : col <= row + diagonal);
    storeRow(to, row, 0, to.cols, values.data());
  }
}

template <typename C> void fillValue(const Plane &to, const Scalar &value, bool whole) {
  C element;
  if constexpr (std::is_floating_point_v<C>)
    element = static_cast<C>(value.f);
  else
    element = static_cast<C>(value.i);
  int64_t rows = whole ? to.tile->rows : to.rows, cols = whole ? to.tile->cols : to.cols;
  std::vector<C> values(static_cast<size_t>(cols), element);
  for (int64_t row = 0; row < rows; ++row)
    storeRow(to, row, 0, cols, values.data());
}

bool setValue(Execution &x) {
  const Plane &to = x.out();
  uint8_t *element = elementAt(to, x.scalar(0).i);
  if (!element)
    return outside(x, x.scalar(0).i, to);
  storeScalar(element, to.elem, x.scalar(1));
  return true;
}

} // namespace

bool executeGather(Execution &x) {
  if (x.in(0).elem != x.out().elem)
    return x.fail("has operands of different element types");
  if (x.id() == InstructionId::TGather)
    return gatherByPosition(x);
  return x.id() == InstructionId::TGatherMask ? gatherByPattern(x) : gatherBytes(x);
}

bool executeScatter(Execution &x) {
  const Plane &from = x.in(0), &positions = x.in(1), &to = x.out();
  if (from.elem != to.elem)
    return x.fail("has operands of different element types");
  if (!takesPositions(x, positions, from))
    return false;
  for (int64_t row = 0; row < from.rows; ++row)
    for (int64_t col = 0; col < from.cols; ++col) {
      int64_t position = integerAt(positions, row, col);
      uint8_t *element = elementAt(to, position);
      if (!element)
        return outside(x, position, to);
      copyOne(from.at(row, col), element, to.elem);
    }
  return true;
}

bool executeGlobalGather(Execution &x) {
  bool gathers = x.id() == InstructionId::MGather;
  const Plane &global = gathers ? x.in(0) : x.out(), &tile = gathers ? x.out() : x.in(0),
              &positions = x.in(1);
  if (global.elem != tile.elem)
    return x.fail("has operands of different element types");
  return visitGlobal(x, positions, tile, global, [&](uint8_t *inMemory, uint8_t *inTile) {
    copyOne(gathers ? inMemory : inTile, gathers ? inTile : inMemory, tile.elem);
  });
}

bool executeFill(Execution &x) {
  if (x.id() == InstructionId::TSetVal)
    return setValue(x);
  const Plane &to = x.out();
  if (x.id() == InstructionId::TExpands && x.scalarIsFloat(0) != isFloat(to.elem))
    return x.fail("its scalar is not of the element type");
  return visitCompute(to.elem, [&](auto zero) {
    using C = decltype(zero);
    if (x.id() == InstructionId::TExpands)
      // A fill in the matrix memory writes the whole tile, elsewhere only the valid part.
      fillValue<C>(to, x.scalar(0), to.tile->place == Place::Mat);
    else if (x.id() == InstructionId::TCi)
      fillSequence<C>(to, x.scalar(0).i, x.modifiers().descending ? -1 : 1);
    else
      fillTriangle<C>(to, x.scalar(0).i, x.modifiers().upper);
  });
}

/// `tquant`: round(x * scale + offset), saturated. `tdequant`: (x - offset) * scale.
bool executeQuantise(Execution &x) {
  bool forward = x.id() == InstructionId::TQuant;
  const Plane &from = x.in(0), &scales = x.in(1), &to = x.out();
  const Plane *offsets = x.numIns() > 2 ? &x.in(2) : nullptr;
  if (from.rows < to.rows || from.cols < to.cols || scales.rows < to.rows ||
      (offsets && offsets->rows < to.rows))
    return x.fail("reads beyond the valid part of its operands");
  for (int64_t row = 0; row < to.rows; ++row) {
    // Each row has one scale and one offset.
    float scale = loadOne<float>(scales, row, 0), offset = 0;
    if (offsets)
      offset = static_cast<float>(isFloat(offsets->elem)
                                      ? loadOne<float>(*offsets, row, 0)
                                      : static_cast<float>(integerAt(*offsets, row, 0)));
    for (int64_t col = 0; col < to.cols; ++col) {
      ptl::Scalar in = loadElem(from.at(row, col), from.elem);
      float value = isFloat(from.elem) ? static_cast<float>(in.f) : static_cast<float>(in.i);
      float result = forward ? value * scale + offset : (value - offset) * scale;
      storeElem(to.at(row, col), to.elem,
                convertScalar({result, 0}, ElemKind::F32, to.elem, RoundMode::Even, true));
    }
  }
  return true;
}

} // namespace ptl::rt::sim

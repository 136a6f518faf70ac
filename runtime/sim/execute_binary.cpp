// Elementwise with two operands: two tiles, a tile and a scalar, a tile and a column or row that is
// repeated.
#include "runtime/sim/arithmetic.h"
#include "runtime/sim/execution.h"

#include <optional>

namespace ptl::rt::sim {
namespace {

/// The way in which the second operand is repeated.
enum class Repeat : uint8_t { None, Scalar, Column, Row };
struct Form {
  Binary op;
  Repeat repeat;
};

std::optional<Form> formOf(InstructionId id) {
  using I = InstructionId;
  switch (id) {
#define BINARY(instruction, op, repeat)                                                            \
  case I::instruction:                                                                             \
    return Form{Binary::op, Repeat::repeat};
#include "ir/ops/instruction_semantics.inc"
  default:
    return std::nullopt;
  }
}

/// The second operand of a row, beginning at a column.
template <typename C> struct Second {
  const Plane *plane;
  Repeat repeat;
  C buffer[kChunk];

  void load(int64_t row, int64_t col, int64_t n) {
    if (repeat == Repeat::None || repeat == Repeat::Row)
      loadRow(*plane, repeat == Repeat::Row ? 0 : row, col, n, buffer);
    // A row has one value of the column, which fills the buffer once for all of its chunks.
    else if (repeat == Repeat::Column && col == 0)
      std::fill(buffer, buffer + kChunk, loadOne<C>(*plane, row, 0));
  }
};

bool sameRegion(Execution &x, const Plane &out, const Plane &in) {
  if (in.rows >= out.rows && in.cols >= out.cols)
    return true;
  return x.fail("reads " + std::to_string(out.rows) + "x" + std::to_string(out.cols) +
                " elements of a tile with a valid part of " + std::to_string(in.rows) + "x" +
                std::to_string(in.cols));
}

template <typename C>
void run(const Plane &out, const Plane &first, Second<C> &second, Binary op, bool swapped) {
  C a[kChunk];
  for (int64_t row = 0; row < out.rows; ++row)
    for (int64_t col = 0; col < out.cols; col += kChunk) {
      int64_t n = std::min(kChunk, out.cols - col);
      loadRow(first, row, col, n, a);
      second.load(row, col, n);
      // The operation need not commute, so the operands change places and not the result.
      if (swapped) {
        C b[kChunk];
        std::copy(second.buffer, second.buffer + n, b);
        apply(op, b, a, n);
        storeRow(out, row, col, n, b);
      } else {
        apply(op, a, second.buffer, n);
        storeRow(out, row, col, n, a);
      }
    }
}

/// Adds scalar times tile to what is there.
template <typename C> void runAxpy(const Plane &out, const Plane &in, C factor) {
  C a[kChunk], sum[kChunk];
  for (int64_t row = 0; row < out.rows; ++row)
    for (int64_t col = 0; col < out.cols; col += kChunk) {
      int64_t n = std::min(kChunk, out.cols - col);
      loadRow(in, row, col, n, a);
      loadRow(out, row, col, n, sum);
      for (int64_t i = 0; i < n; ++i)
        sum[i] = static_cast<C>(sum[i] + a[i] * factor);
      storeRow(out, row, col, n, sum);
    }
}

/// Whether the second input is the whole one: the other is narrower (or lower) than the result and
/// so is repeated.
bool secondIsWhole(const Plane &out, const Plane &first, Repeat repeat) {
  return repeat == Repeat::Column ? first.cols < out.cols
                                  : repeat == Repeat::Row && first.rows < out.rows;
}

bool runScalarForm(Execution &x, Form form) {
  // Only one of the operands is a scalar, and which one decides the order of a difference or a
  // quotient.
  size_t scalarAt = x.isScalar(0) ? 0 : 1;
  const Plane &tile = x.in(1 - scalarAt), &out = x.out();
  if (!sameRegion(x, out, tile))
    return false;
  // An integer that is read as a float would be another number without any sign of it.
  if (x.scalarIsFloat(scalarAt) != isFloat(tile.elem))
    return x.fail("its scalar is not of the element type");
  return visitCompute(tile.elem, [&](auto zero) {
    using C = decltype(zero);
    C value = scalarAs<C>(x.scalar(scalarAt));
    if (x.id() == InstructionId::TAxpy) {
      if constexpr (std::is_floating_point_v<C>)
        return runAxpy(out, tile, value);
    }
    Second<C> second{nullptr, Repeat::Scalar, {}};
    std::fill(second.buffer, second.buffer + kChunk, value);
    run(out, tile, second, form.op, scalarAt == 0);
  });
}

bool runTileForm(Execution &x, Form form) {
  const Plane &out = x.out();
  // The tile that has the shape of the result is gone through, and the other one is repeated, on
  // whichever side it stands.
  bool swapped = secondIsWhole(out, x.in(0), form.repeat);
  const Plane &whole = x.in(swapped ? 1 : 0), &other = x.in(swapped ? 0 : 1);
  if (!sameRegion(x, out, whole))
    return false;
  if (form.repeat == Repeat::None && !sameRegion(x, out, other))
    return false;
  if ((form.repeat == Repeat::Column && (other.rows < out.rows || other.cols < 1)) ||
      (form.repeat == Repeat::Row && (other.cols < out.cols || other.rows < 1)))
    return x.fail("repeats a tile with a valid part of " + std::to_string(other.rows) + "x" +
                  std::to_string(other.cols) + " over " + std::to_string(out.rows) + "x" +
                  std::to_string(out.cols));
  return visitCompute(whole.elem, [&](auto zero) {
    using C = decltype(zero);
    Second<C> second{&other, form.repeat, {}};
    run(out, whole, second, form.op, swapped);
  });
}

} // namespace

bool executeBinary(Execution &x) {
  std::optional<Form> form = formOf(x.id());
  bool scalarForm = form->repeat == Repeat::Scalar;
  ElemKind elem = x.isScalar(0) ? x.in(1).elem : x.in(0).elem;
  bool sameElem = x.out().elem == elem && (scalarForm || x.in(1).elem == elem);
  bool widens =
      x.id() == InstructionId::TAxpy && elem == ElemKind::F16 && x.out().elem == ElemKind::F32;
  if (!sameElem && !widens)
    return x.fail("has operands of different element types");
  if (isFloat(elem) && isBitwise(form->op))
    return x.fail("works on bits, so not on floats");
  return scalarForm ? runScalarForm(x, *form) : runTileForm(x, *form);
}

static std::optional<Binary> partOp(InstructionId id) {
  switch (id) {
#define PART(instruction, op)                                                                      \
  case InstructionId::instruction:                                                                 \
    return Binary::op;
#include "ir/ops/instruction_semantics.inc"
  default:
    return std::nullopt;
  }
}

bool executePart(Execution &x) {
  const Plane &out = x.out(), &first = x.in(0), &second = x.in(1);
  Binary op = *partOp(x.id());
  if (first.elem != out.elem || second.elem != out.elem)
    return x.fail("has operands of different element types");
  return visitCompute(out.elem, [&](auto zero) {
    using C = decltype(zero);
    // Parts may be of any width, so whole rows are held and not chunks.
    std::vector<C> a(static_cast<size_t>(out.cols)), b(a.size());
    for (int64_t row = 0; row < out.rows; ++row) {
      // Operands may have fewer rows and columns than the result: where only one has an element,
      // that is the result, and where none has, nothing is written.
      int64_t na = row < first.rows ? std::min(first.cols, out.cols) : 0;
      int64_t nb = row < second.rows ? std::min(second.cols, out.cols) : 0;
      loadRow(first, row, 0, na, a.data());
      loadRow(second, row, 0, nb, b.data());
      apply(op, a.data(), b.data(), std::min(na, nb));
      if (nb > na)
        std::copy(b.begin() + na, b.begin() + nb, a.begin() + na);
      storeRow(out, row, 0, std::max(na, nb), a.data());
    }
  });
}

} // namespace ptl::rt::sim

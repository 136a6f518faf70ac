// Reductions of rows and columns, and a row or a column that is repeated.
#include "runtime/sim/arithmetic.h"
#include "runtime/sim/execution.h"

#include <optional>

namespace ptl::rt::sim {
namespace {

enum class Kind : uint8_t { Sum, Max, Min, Prod };
enum class Axis : uint8_t { Rows, Columns };
enum class Gives : uint8_t { Value, Position };
struct Reduction {
  Kind kind;
  bool ofRows;
  bool position; ///< gives where, not what
};

std::optional<Reduction> reductionOf(InstructionId id) {
  switch (id) {
#define REDUCTION(instruction, kind, axis, gives)                                                  \
  case InstructionId::instruction:                                                                 \
    return Reduction{Kind::kind, Axis::axis == Axis::Rows, Gives::gives == Gives::Position};
#include "ir/ops/instruction_semantics.inc"
  default:
    return std::nullopt;
  }
}

template <typename C> C combine(Kind kind, C a, C b) {
  if (kind == Kind::Max)
    return larger(a, b);
  if (kind == Kind::Min)
    return smaller(a, b);
  if constexpr (std::is_floating_point_v<C>)
    return kind == Kind::Sum ? a + b : a * b;
  else
    return applyInteger(kind == Kind::Sum ? Binary::Add : Binary::Mul, a, b);
}

/// Whether a later element takes the place: only if it is strictly better, so the first of equal
/// ones stays.
template <typename C> bool better(Kind kind, C candidate, C best) {
  return kind == Kind::Max ? candidate > best : candidate < best;
}

void storePosition(const Plane &out, int64_t row, int64_t col, int64_t position) {
  visitCompute(out.elem, [&](auto zero) {
    using C = decltype(zero);
    storeOne<C>(out, row, col, static_cast<C>(position));
  });
}

template <typename C> void reduceRows(const Plane &out, const Plane &in, Reduction how) {
  std::vector<C> values(static_cast<size_t>(in.cols));
  for (int64_t row = 0; row < in.rows; ++row) {
    loadRow(in, row, 0, in.cols, values.data());
    // The first element is the start, so no identity element is needed.
    C sum = values[0];
    int64_t position = 0;
    for (size_t i = 1; i < values.size(); ++i)
      if (!how.position) {
        sum = combine(how.kind, sum, values[i]);
      } else if (better(how.kind, values[i], sum)) {
        sum = values[i];
        position = static_cast<int64_t>(i);
      }
    if (how.position)
      storePosition(out, row, 0, position);
    else
      storeOne(out, row, 0, sum);
  }
}

template <typename C> void reduceCols(const Plane &out, const Plane &in, Reduction how) {
  std::vector<C> sums(static_cast<size_t>(in.cols)), values(sums.size());
  std::vector<int64_t> positions(sums.size(), 0);
  // The first row begins the fold, so that no start value is needed; its position is 0.
  loadRow(in, 0, 0, in.cols, sums.data());
  for (int64_t row = 1; row < in.rows; ++row) {
    loadRow(in, row, 0, in.cols, values.data());
    for (size_t i = 0; i < sums.size(); ++i)
      if (!how.position) {
        sums[i] = combine(how.kind, sums[i], values[i]);
      } else if (better(how.kind, values[i], sums[i])) {
        sums[i] = values[i];
        positions[i] = row;
      }
  }
  if (!how.position)
    return storeRow(out, 0, 0, in.cols, sums.data());
  for (size_t i = 0; i < sums.size(); ++i)
    storePosition(out, 0, static_cast<int64_t>(i), positions[i]);
}

} // namespace

bool executeReduction(Execution &x) {
  Reduction how = *reductionOf(x.id());
  const Plane &out = x.out(), &in = x.in(0);
  if (how.ofRows ? out.tile->rows < in.rows || out.tile->cols < 1
                 : out.tile->cols < in.cols || out.tile->rows < 1)
    return x.fail("has no room for its " + std::to_string(how.ofRows ? in.rows : in.cols) +
                  " results");
  // Positions are integers whatever was searched, values have the type of the operand.
  if (!how.position && out.elem != in.elem)
    return x.fail("has operands of different element types");
  if (how.position && isFloat(out.elem))
    return x.fail("gives positions, so integers");
  // Nothing is reduced, so nothing is written.
  if (how.ofRows ? in.rows == 0 : in.cols == 0)
    return true;
  // There is no element to begin with, so no result could be right.
  if (in.rows == 0 || in.cols == 0)
    return x.fail(std::string("reduces ") + (how.ofRows ? "rows" : "columns") +
                  " without elements");
  return visitCompute(in.elem, [&](auto zero) {
    using C = decltype(zero);
    if (how.ofRows)
      reduceRows<C>(out, in, how);
    else
      reduceCols<C>(out, in, how);
  });
}

bool executeExpand(Execution &x) {
  const Plane &out = x.out(), &in = x.in(0);
  bool column = x.id() == InstructionId::TRowExpand;
  if (in.elem != out.elem)
    return x.fail("has operands of different element types");
  if (column ? in.rows < out.rows || in.cols < 1 : in.cols < out.cols || in.rows < 1)
    return x.fail("repeats a tile with a valid part of " + std::to_string(in.rows) + "x" +
                  std::to_string(in.cols) + " over " + std::to_string(out.rows) + "x" +
                  std::to_string(out.cols));
  auto size = static_cast<size_t>(elemBytes(out.elem));
  std::vector<uint8_t> values(static_cast<size_t>(out.cols) * size);
  if (!column)
    // A row that is repeated is loaded once.
    loadBits(in, 0, 0, out.cols, values.data());
  for (int64_t row = 0; row < out.rows; ++row) {
    if (column && out.cols) {
      loadBits(in, row, 0, 1, values.data());
      // The first element is copied to all others.
      for (size_t i = size; i < values.size(); i += size)
        std::memcpy(values.data() + i, values.data(), size);
    }
    storeBits(out, row, 0, out.cols, values.data());
  }
  return true;
}

} // namespace ptl::rt::sim

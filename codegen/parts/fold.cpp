#include "codegen/parts/fold.h"

#include "codegen/parts/elements.h"
#include "runtime/movement/execute.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ptl::parts {

using reference::Value;

/// The larger of two truth values is whether any is true.
static OpId foldOp(Fold fold, ElemKind elem) {
  if (elem == ElemKind::Bool && fold != Fold::Sum)
    return fold == Fold::Max ? OpId::ReduceAny : OpId::ReduceAll;
  return fold == Fold::Sum   ? OpId::ReduceSum
         : fold == Fold::Max ? OpId::ReduceMax
                             : OpId::ReduceMin;
}

Scalar folded(Fold fold, ElemKind elem, Scalar left, Scalar right) {
  return roundScalar(reference::foldStep(foldOp(fold, elem), elem, left, right), elem);
}

/// Sums of the two most common element types, at memory speed. Addition of two numbers is
/// commutative, so `fromFirst` makes no difference, and it is rounded once, as in `folded`.
template <typename T> static void addAll(uint8_t *to, const uint8_t *from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    T mine, theirs;
    std::memcpy(&mine, to + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    std::memcpy(&theirs, from + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    mine += theirs;
    std::memcpy(to + static_cast<size_t>(i) * sizeof(T), &mine, sizeof(T));
  }
}

void foldAll(Fold fold, ElemKind elem, uint8_t *to, const uint8_t *from, int64_t count,
             bool fromFirst) {
  if (fold == Fold::Sum && elem == ElemKind::F32)
    return addAll<float>(to, from, count);
  if (fold == Fold::Sum && elem == ElemKind::F64)
    return addAll<double>(to, from, count);
  auto size = static_cast<size_t>(elemInfo(elem).storageBytes);
  for (; count > 0; --count, to += size, from += size) {
    Scalar mine = loadElem(to, elem), theirs = loadElem(from, elem);
    storeElem(to, elem,
              fromFirst ? folded(fold, elem, theirs, mine) : folded(fold, elem, mine, theirs));
  }
}

reference::RefArray identityOfSums(ElemKind elem, std::vector<int64_t> shape) {
  reference::RefArray zeros = reference::zeroArray(elem, std::move(shape));
  // -0.0 is the identity element of sums: 0.0 would turn a sum of -0.0 into 0.0.
  std::fill(zeros.floats.begin(), zeros.floats.end(), -0.0);
  return zeros;
}

/// Adds the summands of a partial value over each level, the innermost one first, as movements do.
/// Afterwards the first part of each level has the sum and the others have none.
static std::vector<Value> foldedParts(const Grid &grid, const PlacedValue &value,
                                      const std::vector<int64_t> &shape, std::vector<Value> parts) {
  for (size_t level = value.placement.size(); level-- > 0;) {
    const LevelPlacement &at = value.placement[level];
    if (!at.isPartial())
      continue;
    // Neighbours first, then pairs of neighbours, with the lower part as the left operand: the one
    // order of sums over parts, on which the equality of all runs' bits rests.
    for (uint32_t distance = 1; distance < grid.count(level); distance *= 2)
      for (uint32_t part = 0; part < grid.count(); ++part) {
        uint32_t left = grid.coordinate(part, level);
        if (left % (2 * distance) != 0 || left + distance >= grid.count(level))
          continue;
        Value &other = parts[grid.withCoordinate(part, level, left + distance)];
        if (other.isNone())
          continue;
        std::vector<Scalar> sum = elementsOf(parts[part]), summand = elementsOf(other);
        for (size_t i = 0; i < sum.size(); ++i)
          sum[i] = folded(at.fold, value.elem, sum[i], summand[i]);
        parts[part] =
            valueOfElements(value.elem, shapeOfBox(grid.boxOf(value.placement, shape, part)), sum);
      }
    for (uint32_t part = 0; part < grid.count(); ++part)
      if (grid.coordinate(part, level) > 0)
        parts[part] = Value();
  }
  return parts;
}

static bool sameBits(Scalar a, Scalar b) {
  return std::bit_cast<uint64_t>(a.f) == std::bit_cast<uint64_t>(b.f) && a.i == b.i;
}

Value wholeOf(const Grid &grid, const PlacedValue &value, std::vector<int64_t> shape,
              std::vector<Value> parts, std::string &why) {
  movement::Box whole = movement::wholeBox(shape);
  parts = foldedParts(grid, value, shape, std::move(parts));
  std::vector<Scalar> elements(static_cast<size_t>(movement::elementCount(whole)));
  std::vector<uint32_t> writers(elements.size(), grid.count());
  for (uint32_t part = 0; part < grid.count(); ++part) {
    if (parts[part].isNone())
      continue;
    std::vector<Scalar> have = elementsOf(parts[part]);
    size_t next = 0;
    movement::forEachRow(
        whole, grid.boxOf(value.placement, shape, part), [&](int64_t offset, int64_t length) {
          for (auto i = static_cast<size_t>(offset); length-- > 0; ++i, ++next) {
            // An element that several parts hold must be the same on all of them, bit for bit.
            if (writers[i] == grid.count()) {
              writers[i] = part;
              elements[i] = have[next];
            } else if (!sameBits(elements[i], have[next])) {
              why = grid.name(part) + " has another result than " + grid.name(writers[i]);
            }
          }
        });
  }
  if (std::ranges::find(writers, grid.count()) != writers.end())
    why = "no part has an element of a result";
  return why.empty() ? valueOfElements(value.elem, std::move(shape), elements) : Value();
}

} // namespace ptl::parts

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

/// Whether two values with one shape have the same elements, bit for bit.
static bool sameBits(const Value &a, const Value &b) {
  auto same = [](const auto &of, const auto &as) {
    return of.size() == as.size() &&
           std::memcmp(of.data(), as.data(), of.size() * sizeof of[0]) == 0;
  };
  if (!a.isScalar())
    return same(a.asArray().floats, b.asArray().floats) && same(a.asArray().ints, b.asArray().ints);
  Scalar left = a.asScalar().scalar, right = b.asScalar().scalar;
  return std::bit_cast<uint64_t>(left.f) == std::bit_cast<uint64_t>(right.f) && left.i == right.i;
}

Value wholeOf(const Grid &grid, const PlacedValue &value, std::vector<int64_t> shape,
              std::vector<Value> parts, std::string &why) {
  movement::Box all = movement::wholeBox(shape);
  parts = foldedParts(grid, value, shape, std::move(parts));
  Value whole;
  int64_t missing = movement::elementCount(all);
  std::vector<std::pair<movement::Box, uint32_t>> writers;
  for (uint32_t part = 0; part < grid.count(); ++part) {
    if (parts[part].isNone())
      continue;
    movement::Box box = grid.boxOf(value.placement, shape, part);
    auto other = std::ranges::find_if(writers, [&](const auto &each) {
      return each.first == box || movement::overlap(each.first, box);
    });
    if (other == writers.end()) {
      // What is whole is shared.
      if (box == all)
        whole = parts[part];
      else
        putIn(whole, all, box, parts[part]);
      missing -= movement::elementCount(box);
      writers.emplace_back(std::move(box), part);
    } else if (other->first != box || !sameBits(parts[other->second], parts[part])) {
      // Blocks are the same or have nothing in common. An element that several parts hold must be the same on all of them.
      why = grid.name(part) + " has another result than " + grid.name(other->second);
    }
  }
  if (missing != 0)
    why = "no part has an element of a result";
  return why.empty() ? whole : Value();
}

} // namespace ptl::parts

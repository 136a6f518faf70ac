// Operations that move elements: views, boxes, permutations, and what puts arrays together.
#include "tests/differential/generate/maker.h"

#include <algorithm>

namespace ptl::differential {

namespace {

/// Gives a name to a value that is used twice.
std::string reused(Maker &m, const Type &type, int depth, Bound &bound) {
  Variable made = m.named(type, depth);
  bound = made.bound;
  return made.name;
}

/// A value with a name: often one that a loop carries.
std::string someName(Maker &m, const Type &type, int depth, Bound &bound) {
  std::vector<const Variable *> fitting;
  for (const Variable &variable : m.variables)
    if (variable.type == type)
      fitting.push_back(&variable);
  if (fitting.empty() || m.chance(20))
    return reused(m, type, depth, bound);
  const Variable &chosen = *m.any(fitting);
  bound = chosen.bound;
  return chosen.name;
}

std::optional<Term> makeTranspose(Maker &m, const Type &want, int depth) {
  size_t rank = want.shape.size();
  if (rank < 2)
    return std::nullopt;
  Type turned = want;
  if (rank == 2 || m.chance(50)) {
    std::swap(turned.shape[rank - 1], turned.shape[rank - 2]);
    Term x = m.expression(turned, depth - 1);
    return Term{"(" + x.text + ").T", x.bound};
  }
  // Axis k of the result is axis order[k] of the operand.
  std::vector<size_t> order = rank == 3 ? std::vector<size_t>{2, 0, 1} : std::vector<size_t>{1, 0};
  if (order.size() != rank)
    return std::nullopt;
  std::string list;
  for (size_t k = 0; k < rank; ++k) {
    turned.shape[order[k]] = want.shape[k];
    list += (k ? ", " : "") + std::to_string(order[k]);
  }
  Term x = m.expression(turned, depth - 1);
  return Term{"transpose(" + x.text + ", [" + list + "])", x.bound};
}

/// A position within the axis at which it may be cut, as text: every length is at least 1.
std::string cutOf(Maker &m, const Axis &axis) {
  if (axis.constant)
    return std::to_string(m.below(static_cast<size_t>(*axis.constant)) + (*axis.constant > 0));
  return "1";
}

/// An axis of a type with room to move along; nothing where the one that was drawn has none.
std::optional<size_t> axisToMoveAlong(Maker &m, const Type &want) {
  if (want.shape.empty())
    return std::nullopt;
  size_t axis = m.below(want.shape.size());
  const std::optional<int64_t> &constant = want.shape[axis].constant;
  return constant && *constant < 2 ? std::nullopt : std::optional(axis);
}

std::optional<Term> makeRotation(Maker &m, const Type &want, int depth) {
  std::optional<size_t> drawn = axisToMoveAlong(m, want);
  if (!drawn)
    return std::nullopt;
  size_t axis = *drawn, rank = want.shape.size();
  const Axis &along = want.shape[axis];
  Bound bound;
  std::string x = someName(m, want, depth - 1, bound), cut = cutOf(m, along);
  return Term{"concat(" + indexed(x, rank, axis, cut + ":" + along.length) + ", " +
                  indexed(x, rank, axis, "0:" + cut) + ", axis: " + std::to_string(axis) + ")",
              bound};
}

/// One further, and something else at the edge.
std::optional<Term> makeShift(Maker &m, const Type &want, int depth) {
  std::optional<size_t> drawn =
      want.elem == ElemKind::Bool ? std::nullopt : axisToMoveAlong(m, want);
  if (!drawn)
    return std::nullopt;
  size_t axis = *drawn, rank = want.shape.size();
  const Axis &along = want.shape[axis];
  Bound bound;
  bool up = m.chance(50);
  std::string x = someName(m, want, depth - 1, bound), before, after;
  for (size_t i = 0; i < rank; ++i) {
    before += (i ? ", " : "") + std::string(i == axis && up ? "1" : "0");
    after += (i ? ", " : "") + std::string(i == axis && !up ? "1" : "0");
  }
  std::string box = indexed(x, rank, axis, up ? "0:" + along.length + " - 1" : "1:" + along.length);
  std::string fill = std::string(elemName(want.elem)) + (isFloat(want.elem) ? "(2.0)" : "(2)");
  bound.most = std::max(bound.most, 2.0);
  return Term{"pad(" + box + ", " + fill + ", before: [" + before + "], after: [" + after + "])",
              bound};
}

std::optional<Term> makeReversal(Maker &m, const Type &want, int depth) {
  if (want.shape.empty())
    return std::nullopt;
  size_t axis = m.below(want.shape.size());
  const Axis &along = want.shape[axis];
  Bound bound;
  std::string x = someName(m, want, depth - 1, bound);
  std::string how = m.chance(60) || !along.constant
                        ? along.length + " - 1 - index(0.." + along.length + ")"
                        : "index(" + along.range + ") / 2";
  return Term{indexed(x, want.shape.size(), axis, how), bound};
}

/// The first or another row of a longer axis, with and without its axis.
std::optional<Term> makePart(Maker &m, const Type &want, int depth) {
  if (m.axes.empty())
    return std::nullopt;
  const Axis longer = m.any(m.axes);
  Type whole = want;
  std::string last =
      longer.constant ? std::to_string(*longer.constant - 1) : longer.length + " - 1";
  Bound bound;
  for (size_t axis = 0; axis < want.shape.size(); ++axis)
    if (want.shape[axis].isOne()) {
      whole.shape[axis] = longer;
      std::string x = someName(m, whole, depth - 1, bound);
      return Term{
          indexed(x, want.shape.size(), axis, m.chance(50) ? "0:1" : last + ":" + longer.length),
          bound};
    }
  if (want.shape.size() >= 3)
    return std::nullopt;
  size_t axis = m.below(want.shape.size() + 1);
  whole.shape.insert(whole.shape.begin() + static_cast<long>(axis), longer);
  Term x = m.expression(whole, depth - 1);
  return Term{indexed("(" + x.text + ")", whole.shape.size(), axis, m.chance(60) ? "0" : last),
              x.bound};
}

/// Whether an axis is a dimension by itself, so that multiples of it are lengths, too.
bool isDimension(const Axis &axis) {
  return !axis.constant && axis.factors.empty() && axis.name == axis.length;
}

/// A part of an axis some times as long, or every second or third of its positions.
std::optional<Term> makePartOfMultiple(Maker &m, const Type &want, int depth) {
  if (want.shape.empty())
    return std::nullopt;
  size_t axis = m.below(want.shape.size());
  const Axis &length = want.shape[axis];
  if (!isDimension(length))
    return std::nullopt;
  int64_t times = 2 + static_cast<int64_t>(m.below(2));
  Type whole = want;
  whole.shape[axis] = productAxis(constantAxis(times), length);
  std::string all = whole.shape[axis].length, box;
  if (m.chance(50)) {
    box = std::to_string(m.below(static_cast<size_t>(times))) + ":" + all + ":" +
          std::to_string(times);
  } else {
    size_t at = m.below(static_cast<size_t>(times));
    box = (at ? std::to_string(at) + "*" + length.length : "0") + ":" + std::to_string(at + 1) +
          "*" + length.length;
  }
  Bound bound;
  std::string x = someName(m, whole, depth - 1, bound);
  return Term{indexed(x, want.shape.size(), axis, box), bound};
}

/// A part of an axis of constant length, also every other of its positions.
std::optional<Term> makeSlice(Maker &m, const Type &want, int depth) {
  for (size_t axis = 0; axis < want.shape.size(); ++axis) {
    std::optional<int64_t> length = want.shape[axis].constant;
    if (!length || *length < 2 || *length > 32)
      continue;
    Type whole = want;
    bool strided = m.chance(30);
    whole.shape[axis] = constantAxis(strided ? *length * 2 : *length + 8);
    size_t from = m.below(strided ? 2 : 8);
    std::string box =
        strided ? std::to_string(from) + ":" + whole.shape[axis].length + ":2"
                : std::to_string(from) + ":" + std::to_string(static_cast<int64_t>(from) + *length);
    Bound bound;
    std::string x = someName(m, whole, depth - 1, bound);
    return Term{indexed(x, want.shape.size(), axis, box), bound};
  }
  return std::nullopt;
}

/// An axis in two: of a constant length anywhere, of a multiple of a dimension behind the first.
std::optional<std::pair<Axis, Axis>> inTwo(Maker &m, const Axis &axis) {
  if (!axis.factors.empty() && axis.factors[0].constant) {
    int64_t times = *axis.factors[0].constant;
    const Axis &one = axis.factors[1];
    return std::pair(one, times == 2 ? one : productAxis(constantAxis(times - 1), one));
  }
  if (!axis.constant || *axis.constant < 2)
    return std::nullopt;
  int64_t length = *axis.constant;
  int64_t cut = 1 + static_cast<int64_t>(m.below(static_cast<size_t>(length - 1)));
  if (m.chance(50))
    cut = length / 2;
  return std::pair(constantAxis(cut), constantAxis(length - cut));
}

std::optional<Term> makeConcat(Maker &m, const Type &want, int depth) {
  for (size_t axis = 0; axis < want.shape.size(); ++axis) {
    std::optional<std::pair<Axis, Axis>> halves = inTwo(m, want.shape[axis]);
    if (!halves)
      continue;
    Type first = want, second = want;
    first.shape[axis] = halves->first;
    second.shape[axis] = halves->second;
    Term a = m.expression(first, depth - 1), b = m.expression(second, depth - 1);
    Bound bound{std::max(a.bound.most, b.bound.most), std::max(a.bound.bits, b.bound.bits),
                a.bound.exact && b.bound.exact};
    if (axis + 1 == want.shape.size() && halves->first == halves->second && m.chance(30))
      return Term{"interleave(" + a.text + ", " + b.text + ")", bound};
    return Term{"concat(" + a.text + ", " + b.text + ", axis: " + std::to_string(axis) + ")",
                bound};
  }
  return std::nullopt;
}

std::optional<Term> makeReshape(Maker &m, const Type &want, int depth) {
  int64_t elements = 1;
  std::string lengths;
  for (const Axis &axis : want.shape) {
    if (!axis.constant)
      return std::nullopt;
    elements *= *axis.constant;
    lengths += (lengths.empty() ? "" : ", ") + axis.length;
  }
  if (want.shape.empty() || elements < 2 || elements > 4096)
    return std::nullopt;
  Type other = want;
  int64_t factor = elements % 8 == 0 ? 8 : elements % 2 == 0 ? 2 : 1;
  if (want.shape.size() == 1 || m.chance(50))
    other.shape = {constantAxis(factor), constantAxis(elements / factor)};
  else
    other.shape = {constantAxis(elements)};
  Term x = m.expression(other, depth - 1);
  return Term{"reshape(" + x.text + ", [" + lengths + "])", x.bound};
}

/// Two axes of which one at least is a dimension, from one axis or from the two exchanged; or one axis that is their product.
std::optional<Term> makeReshapeOfDimensions(Maker &m, const Type &want, int depth) {
  Type other = want;
  std::string lengths;
  for (const Axis &axis : want.shape)
    lengths += (lengths.empty() ? "" : ", ") + axis.length;
  if (want.shape.size() == 1 && !want.shape[0].factors.empty()) {
    other.shape = want.shape[0].factors;
  } else if (want.shape.size() == 2 && !want.shape[0].isOne() && !want.shape[1].isOne() &&
             (isDimension(want.shape[0]) || isDimension(want.shape[1])) &&
             want.shape[0].factors.empty() && want.shape[1].factors.empty() &&
             want.shape[0].name == want.shape[0].length &&
             want.shape[1].name == want.shape[1].length) {
    if (m.chance(50))
      other.shape = {productAxis(want.shape[0], want.shape[1])};
    else
      std::swap(other.shape[0], other.shape[1]);
  } else {
    return std::nullopt;
  }
  Term x = m.expression(other, depth - 1);
  return Term{"reshape(" + x.text + ", [" + lengths + "])", x.bound};
}

std::optional<Term> makeNewAxis(Maker &m, const Type &want, int depth) {
  for (size_t axis = 0; axis < want.shape.size(); ++axis) {
    if (!want.shape[axis].isOne())
      continue;
    Type narrow = want;
    narrow.shape.erase(narrow.shape.begin() + static_cast<long>(axis));
    if (narrow.shape.empty())
      return std::nullopt;
    Term x = m.expression(narrow, depth - 1);
    return Term{indexed("(" + x.text + ")", want.shape.size(), axis, "new"), x.bound};
  }
  return std::nullopt;
}

/// An array of a scalar, or the scalar that an array of one element holds.
std::optional<Term> makeScalarShape(Maker &m, const Type &want, int depth) {
  if (want.shape.empty()) {
    Shape one(m.chance(50) ? 1 : 2, constantAxis(1));
    Term x = m.expression(want.with(one), depth - 1);
    return Term{"reshape(" + x.text + ", [])", x.bound};
  }
  std::string axes;
  bool isOne = true;
  for (const Axis &axis : want.shape) {
    axes += (axes.empty() ? "" : ", ") + axis.name;
    isOne &= axis.isOne();
  }
  Term x = m.expression(want.with(Shape()), depth - 1);
  return Term{(isOne ? "reshape(" : "broadcast(") + x.text + ", [" + axes + "])", x.bound};
}

std::optional<Term> makeTriangle(Maker &m, const Type &want, int depth) {
  if (want.shape.size() != 2 || want.elem == ElemKind::Bool)
    return std::nullopt;
  Term x = m.expression(want, depth - 1);
  std::string diagonal = m.chance(40) ? ", diagonal: 1" : "";
  return Term{(m.chance(50) ? "tril(" : "triu(") + x.text + diagonal + ")", x.bound};
}

} // namespace

std::span<const Form> moveForms() {
  static constexpr Form forms[] = {
      {"transpose", 9, makeTranspose},
      {"rotation", 6, makeRotation},
      {"shift", 4, makeShift},
      {"reversal", 3, makeReversal},
      {"part", 7, makePart},
      {"slice", 5, makeSlice},
      {"concat", 5, makeConcat},
      {"reshape", 4, makeReshape},
      {"reshape of dimensions", 5, makeReshapeOfDimensions},
      {"part of a multiple", 4, makePartOfMultiple},
      {"new axis", 6, makeNewAxis},
      {"triangle", 2, makeTriangle},
      {"scalar shape", 2, makeScalarShape},
  };
  return forms;
}

} // namespace ptl::differential

// Products: of loads, of what was computed, transposed, batched, of vectors, and as `einsum`.
#include "tests/differential/generate/maker.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ptl::differential {

namespace {

/// The element type of operands whose product has the wanted one.
std::optional<ElemKind> operandElem(Maker &m, ElemKind want) {
  static constexpr std::array<ElemKind, 6> floats = {ElemKind::F32,  ElemKind::F16, ElemKind::F16,
                                                     ElemKind::BF16, ElemKind::F32, ElemKind::F16};
  if (want == ElemKind::F32)
    return m.any(floats);
  if (want == ElemKind::I32)
    return ElemKind::I8;
  return std::nullopt;
}

/// Small enough to be summed up `count` times with another one.
Term factor(Maker &m, const Type &type, int64_t count, int depth) {
  if (type.elem == ElemKind::I8) {
    Term x = m.leaf(type);
    return x;
  }
  Term x = m.expression(type, depth);
  double limit =
      std::sqrt(exactLimit(ElemKind::F32) / static_cast<double>(std::max<int64_t>(count, 1)));
  if (x.bound.exact && (x.bound.most * std::ldexp(1.0, x.bound.bits) > limit || x.bound.most > 64))
    x = m.within(x, type.elem, 8, x.bound.bits > 2 ? 0 : x.bound.bits);
  return x;
}

/// Whether what a loop carries keeps its errors small: products of products cancel, so that what
/// was rounded becomes large beside what is left.
bool mayMultiply(const Maker &m, const Term &a, const Term &b) {
  return m.loops == 0 || (a.bound.exact && b.bound.exact);
}

Bound productOf(const Term &a, const Term &b, int64_t count) {
  return {a.bound.most * b.bound.most * static_cast<double>(count), a.bound.bits + b.bound.bits,
          a.bound.exact && b.bound.exact};
}

std::optional<Term> makeProduct(Maker &m, const Type &want, int depth) {
  std::optional<ElemKind> elem = operandElem(m, want.elem);
  size_t rank = want.shape.size();
  if (!m.hasProducts || !elem || rank < 1 || rank > 3 || m.axes.empty())
    return std::nullopt;
  Axis inner = m.any(m.axes);
  if (rank == 1) { // a vector on one side
    bool left = m.chance(50);
    Type matrix{*elem, left ? Shape{inner, want.shape[0]} : Shape{want.shape[0], inner}};
    Term a = factor(m, matrix, inner.most, depth - 1);
    Term b = factor(m, Type{*elem, {inner}}, inner.most, depth - 1);
    if (left)
      std::swap(a, b);
    if (!mayMultiply(m, a, b))
      return std::nullopt;
    return Term{"(" + a.text + " @ " + b.text + ")", productOf(a, b, inner.most)};
  }
  if (rank == 3 && m.isTile && m.chance(70))
    return std::nullopt;
  Type left{*elem, want.shape}, right{*elem, want.shape};
  left.shape[rank - 1] = inner;
  right.shape[rank - 2] = inner;
  if (rank == 3 && m.chance(30))
    right.shape.erase(right.shape.begin());
  bool turned = m.chance(25);
  if (turned)
    std::swap(right.shape[right.shape.size() - 1], right.shape[right.shape.size() - 2]);
  Term a = factor(m, left, inner.most, depth - 1), b = factor(m, right, inner.most, depth - 1);
  if (!mayMultiply(m, a, b))
    return std::nullopt;
  return Term{"(" + a.text + " @ " + b.text + (turned ? ".T)" : ")"), productOf(a, b, inner.most)};
}

/// A form of `einsum` for matrices: the letters of the operands by axes of the result and one more.
std::optional<Term> makeEinsum(Maker &m, const Type &want, int depth) {
  static constexpr std::array<std::array<const char *, 2>, 5> forms = {
      {{"mk", "kn"}, {"km", "kn"}, {"mk", "nk"}, {"km", "nk"}, {"mk", "mkn"}}};
  std::optional<ElemKind> elem = operandElem(m, want.elem);
  if (!m.hasProducts || !elem || want.shape.size() != 2 || m.axes.empty() || m.isTile)
    return std::nullopt;
  Axis inner = m.any(m.axes);
  const auto &form = m.any(forms);
  auto shapeOf = [&](std::string_view letters) {
    Shape shape;
    for (char letter : letters)
      shape.push_back(letter == 'm' ? want.shape[0] : letter == 'n' ? want.shape[1] : inner);
    return shape;
  };
  Term a = factor(m, Type{*elem, shapeOf(form[0])}, inner.most, depth - 1);
  Term b = factor(m, Type{*elem, shapeOf(form[1])}, inner.most, depth - 1);
  if (!mayMultiply(m, a, b))
    return std::nullopt;
  return Term{"einsum(\"" + std::string(form[0]) + "," + form[1] + "->mn\", " + a.text + ", " +
                  b.text + ")",
              productOf(a, b, inner.most)};
}

} // namespace

std::span<const Form> productForms() {
  static constexpr Form forms[] = {{"product", 16, makeProduct}, {"einsum", 5, makeEinsum}};
  return forms;
}

} // namespace ptl::differential

// Reductions, running reductions, and what orders elements.
#include "tests/differential/generate/maker.h"

#include <algorithm>
#include <array>

namespace ptl::differential {

namespace {

/// A term for a sum of `count` elements. It has to be smaller by that factor.
Term summand(Maker &m, const Type &type, int64_t count, int depth) {
  Term x = m.expression(type, depth);
  double limit = exactLimit(type.elem) / static_cast<double>(std::max<int64_t>(count, 1));
  if (x.bound.exact && x.bound.most * static_cast<double>(1 << x.bound.bits) > limit)
    x = m.within(x, type.elem, std::max(1.0, std::min(limit, 4.0)), 0);
  return x;
}

bool isSummed(ElemKind elem) { return elem == ElemKind::F32 || elem == ElemKind::I32; }

std::optional<Term> makeReduction(Maker &m, const Type &want, int depth) {
  if (m.axes.empty() || want.shape.empty())
    return std::nullopt;
  for (size_t axis = 0; axis < want.shape.size(); ++axis) {
    if (!want.shape[axis].isOne())
      continue;
    Type whole = want;
    whole.shape[axis] = m.any(m.axes);
    std::string along = ", axis: " + std::to_string(axis) + ")";
    if (want.elem == ElemKind::Bool) {
      Term x = m.expression(whole, depth - 1);
      return Term{(m.chance(50) ? "any(" : "all(") + x.text + along, {1, 0, true}};
    }
    if (want.elem == ElemKind::I32 && m.chance(30)) {
      Term x = m.expression(whole.with(ElemKind::F32), depth - 1);
      if (!x.bound.exact)
        return std::nullopt;
      return Term{(m.chance(50) ? "argmax(" : "argmin(") + x.text + along, {100, 0, true}};
    }
    int64_t count = whole.shape[axis].most;
    if (isSummed(want.elem) && m.chance(55)) {
      Term x = summand(m, whole, count, depth - 1);
      x.bound.most *= static_cast<double>(count);
      return Term{"sum(" + x.text + along, x.bound};
    }
    // Over nothing they are infinite: see `limited`.
    Term x = m.expression(whole, depth - 1);
    std::string text = (m.chance(50) ? "max(" : "min(") + x.text + along;
    return Term{text, x.bound};
  }
  return std::nullopt;
}

/// Along one or two axes that are gone then.
std::optional<Term> makeFold(Maker &m, const Type &want, int depth) {
  if (m.axes.empty() || want.shape.size() > 2 || want.elem == ElemKind::Bool)
    return std::nullopt;
  Type whole = want;
  size_t axis = m.below(want.shape.size() + 1);
  size_t gone = want.shape.size() <= 1 && m.chance(30) ? 2 : 1;
  int64_t count = 1;
  for (size_t i = 0; i < gone; ++i) {
    const Axis &added = m.any(m.axes);
    whole.shape.insert(whole.shape.begin() + static_cast<long>(axis), added);
    count *= added.most;
  }
  if (count > 4096)
    return std::nullopt;
  std::string at = std::to_string(axis);
  std::string along =
      ", axis: " + (gone == 2 ? "[" + at + ", " + std::to_string(axis + 1) + "]" : at) +
      ", keep: false)";
  if (isSummed(want.elem) && m.chance(60)) {
    Term x = summand(m, whole, count, depth - 1);
    x.bound.most *= static_cast<double>(count);
    return Term{"sum(" + x.text + along, x.bound};
  }
  Term x = m.expression(whole, depth - 1);
  if (m.mayRound && want.elem == ElemKind::F32 && m.chance(40))
    return Term{"mean(" + x.text + along, {x.bound.most, 0, false}};
  return Term{(m.chance(50) ? "max(" : "min(") + x.text + along, x.bound};
}

std::optional<Term> makeTotal(Maker &m, const Type &want, int depth) {
  if (!want.shape.empty() || m.axes.empty() || !isSummed(want.elem))
    return std::nullopt;
  Type whole = want;
  int64_t count = 1;
  for (size_t rank = 1 + m.below(2); rank-- > 0;) {
    whole.shape.push_back(m.any(m.axes));
    count *= whole.shape.back().most;
  }
  if (count > 4096)
    return std::nullopt;
  Term x = summand(m, whole, count, depth - 1);
  x.bound.most *= static_cast<double>(count);
  return Term{"sum(" + x.text + ")", x.bound};
}

std::optional<Term> makeScan(Maker &m, const Type &want, int depth) {
  if (want.shape.empty() || !isSummed(want.elem))
    return std::nullopt;
  size_t axis = m.chance(70) ? want.shape.size() - 1 : m.below(want.shape.size());
  std::string along = ", axis: " + std::to_string(axis) + ")";
  if (m.chance(60)) {
    int64_t count = want.shape[axis].most;
    Term x = summand(m, want, count, depth - 1);
    x.bound.most *= static_cast<double>(count);
    return Term{"cumsum(" + x.text + along, x.bound};
  }
  Term x = m.expression(want, depth - 1);
  return Term{(m.chance(50) ? "cummax(" : "cummin(") + x.text + along, x.bound};
}

/// Functions that are associative, and what is known of what they make.
struct Combination {
  const char *name, *start, *declaration;
};
constexpr std::array<Combination, 3> combinations = {{
    {"larger_of", "-inf",
     "fn larger_of(x: f32[..], y: f32[..]) -> f32[..]\nwhere associative\n{\n"
     "    return max(x, y)\n}\n"},
    {"first_of", "0.0",
     "fn first_of(x: f32[..], y: f32[..]) -> f32[..]\nwhere associative\n{\n"
     "    return select(x != 0.0, x, y)\n}\n"},
    {"last_of", "0.0",
     "fn last_of(x: f32[..], y: f32[..]) -> f32[..]\nwhere associative\n{\n"
     "    return select(y == 0.0, x, y)\n}\n"},
}};
/// The last step and all steps `h -> a * h + b` up to each position.
constexpr Combination steps = {
    "step_after", "(1.0, 0.0)",
    "fn step_after(a: f32[..], b: f32[..], a2: f32[..], b2: f32[..]) -> (f32[..], f32[..])\n"
    "where associative\n{\n    return (a * a2, b * a2 + b2)\n}\n"};

/// `scan` and `reduce` with one of these.
std::optional<Term> makeCombined(Maker &m, const Type &want, int depth) {
  if (want.elem != ElemKind::F32 || want.shape.empty() || m.axes.empty())
    return std::nullopt;
  size_t axis = m.below(want.shape.size());
  Type whole = want;
  bool isReduced = want.shape[axis].isOne();
  if (isReduced)
    whole.shape[axis] = m.any(m.axes);
  std::string how = isReduced ? "reduce(" : "scan(";
  std::string along = ", axis: " + std::to_string(axis) + ")";
  if (m.chance(30)) { // factors of 0 and 1, so that values stay small
    Term b = m.expression(whole, depth - 1);
    if (!b.bound.exact)
      return std::nullopt;
    b = m.within(b, ElemKind::F32, 4, 1);
    std::string used = m.fresh("v"), other = m.fresh("v");
    m.line("let (_" + other + ", " + used + ") = " + how + steps.name + ", f32((" + b.text +
           ") > " + (m.chance(50) ? "0.0" : "1.0") + "), " + b.text + ", start: " + steps.start +
           along);
    b.bound.most *= static_cast<double>(whole.shape[axis].most);
    return Term{used, b.bound};
  }
  const Combination &by = m.any(combinations);
  Term x = m.expression(whole, depth - 1);
  if (!x.bound.exact) // whether something is 0 is no matter of a small error
    return std::nullopt;
  return Term{how + by.name + ", " + x.text + ", start: " + by.start + along, x.bound};
}

std::optional<Term> makeSort(Maker &m, const Type &want, int depth) {
  if (!m.hasOrders || want.shape.empty() || want.elem == ElemKind::Bool)
    return std::nullopt;
  std::string descending = m.chance(40) ? ", descending: true)" : ")";
  std::string last = ", axis: " + std::to_string(want.shape.size() - 1);
  if (want.elem == ElemKind::I32 && m.chance(60)) {
    Term x = m.expression(want.with(ElemKind::F32), depth - 1);
    if (!x.bound.exact)
      return std::nullopt;
    return Term{"argsort(" + x.text + last + descending, {100, 0, true}};
  }
  if (want.elem != ElemKind::F32 && want.elem != ElemKind::I32)
    return std::nullopt;
  Term x = m.expression(want, depth - 1);
  return Term{"sort(" + x.text + last + descending, x.bound};
}

/// The largest of a row, and where they were.
std::optional<Term> makeTopk(Maker &m, const Type &want, int depth) {
  if (!m.hasOrders || want.shape.empty() || m.axes.empty() || !want.shape.back().constant)
    return std::nullopt;
  bool positions = want.elem == ElemKind::I32;
  int64_t count = *want.shape.back().constant;
  if ((want.elem != ElemKind::F32 && !positions) || count > 8 || count < 1)
    return std::nullopt;
  Type whole = want.with(ElemKind::F32);
  whole.shape.back() = constantAxis(count + 9);
  Term x = m.expression(whole, depth - 1);
  if (!x.bound.exact)
    return std::nullopt;
  std::string values = m.fresh("v"), at = m.fresh("v");
  m.line("let (" + (positions ? "_" + values : values) + ", " + (positions ? at : "_" + at) +
         ") = topk(" + x.text + ", " + std::to_string(count) + ")");
  return positions ? Term{at, {100, 0, true}} : Term{values, x.bound};
}

/// By positions of the rank of what is read.
std::optional<Term> makeGather(Maker &m, const Type &want, int depth) {
  if (!m.hasOrders || want.shape.empty() || want.elem == ElemKind::Bool)
    return std::nullopt;
  size_t axis = m.below(want.shape.size());
  const Axis &along = want.shape[axis];
  Term x = m.expression(want, depth - 1);
  Term at = m.expression(want.with(ElemKind::I32), depth - 1);
  std::string last = along.constant ? std::to_string(std::max<int64_t>(*along.constant - 1, 0))
                                    : "i32(" + along.length + " - 1)";
  std::string positions = "max(min(abs(" + at.text + ") % 64, " + last + "), 0)";
  if (m.chance(65) || want.elem != ElemKind::F32)
    return Term{"gather(" + x.text + ", " + positions + ", axis: " + std::to_string(axis) + ")",
                x.bound};
  Term v = m.expression(want, depth - 1);
  double count = static_cast<double>(along.most);
  if (!v.bound.exact || v.bound.most * count * (1 << v.bound.bits) > exactLimit(want.elem) / 2)
    v = m.leaf(want);
  if (v.bound.most * count > 1e5)
    return std::nullopt;
  Bound bound{x.bound.most + v.bound.most * count, std::max(x.bound.bits, v.bound.bits),
              x.bound.exact && v.bound.exact};
  return Term{"scatter(" + x.text + ", " + positions + ", " + v.text +
                  ", axis: " + std::to_string(axis) + ", combine: .add)",
              bound};
}

/// Rows, columns and elements where vectors of positions say, in any order and more than once.
std::optional<Term> makeTaken(Maker &m, const Type &want, int depth) {
  if (want.shape.empty() || want.shape.size() > 3 || m.axes.empty())
    return std::nullopt;
  size_t rank = want.shape.size(), axis = m.below(rank);
  Type whole = want;
  bool isOther = m.chance(60);
  if (isOther)
    whole.shape[axis] = m.any(m.axes);
  const Axis &from = whole.shape[axis], &along = want.shape[axis];
  if (from.constant && *from.constant < 1)
    return std::nullopt;
  std::string last = from.constant ? std::to_string(*from.constant - 1) : from.length + " - 1";
  std::string at;
  if (m.chance(40)) { // spread over all positions by numbers that have no order
    at = "(index(" + along.range + ") * 7 + " + std::to_string(m.below(5)) + ") % " +
         (from.constant ? from.length : "max(" + from.length + ", 1)");
  } else {
    Term any = m.expression(Type{ElemKind::I32, {along}}, depth - 1);
    if (!any.bound.exact)
      return std::nullopt;
    at = "max(min(abs(" + any.text + ") % 64, " + (from.constant ? last : "i32(" + last + ")") +
         "), 0)";
  }
  Term x = m.expression(whole, depth - 1);
  return Term{indexed("(" + x.text + ")", rank, axis, at), x.bound};
}

} // namespace

std::span<const Form> foldForms() {
  static constexpr Form forms[] = {{"reduction", 12, makeReduction},
                                   {"fold", 5, makeFold},
                                   {"total", 5, makeTotal},
                                   {"scan", 4, makeScan},
                                   {"combined", 3, makeCombined}};
  return forms;
}

std::string declarationsFor(const std::string &text) {
  std::string found;
  auto add = [&](const Combination &each) {
    if (text.find(std::string(each.name) + ", ") != text.npos)
      found += std::string(each.declaration) + "\n";
  };
  for (const Combination &each : combinations)
    add(each);
  add(steps);
  return found;
}

std::span<const Form> orderForms() {
  static constexpr Form forms[] = {{"sort", 4, makeSort},
                                   {"topk", 3, makeTopk},
                                   {"gather", 4, makeGather},
                                   {"taken", 6, makeTaken}};
  return forms;
}

} // namespace ptl::differential

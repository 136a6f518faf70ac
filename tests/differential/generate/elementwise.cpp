// Operations that give each element from the elements at its place.
#include "tests/differential/generate/maker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace ptl::differential {

namespace {

std::string substituted(std::string form, const std::string &x) {
  for (size_t at = 0; (at = form.find('$', at)) != form.npos; at += x.size())
    form.replace(at, 1, x);
  return form;
}

bool isNumber(const Type &want) { return want.elem != ElemKind::Bool; }

/// A form of one operand, with what becomes of the bound: `most * factor + more`.
struct Unary {
  const char *text;
  double factor, more;
  int bits;
};

/// One of `forms` of an expression of that type.
Term makeOneOf(std::span<const Unary> forms, Maker &m, const Type &want, int depth) {
  Term x = m.expression(want, depth - 1);
  const Unary &form = m.any(forms);
  Bound bound = x.bound;
  bound.most = bound.most * form.factor + form.more;
  bound.bits += form.bits;
  return Term{substituted(form.text, x.text), bound};
}

std::optional<Term> makeUnary(Maker &m, const Type &want, int depth) {
  static constexpr std::array<Unary, 12> forms = {{{"(-$)", 1, 0, 0},
                                                   {"abs($)", 1, 0, 0},
                                                   {"max($, 1.0)", 1, 1, 0},
                                                   {"min($, 2.0)", 1, 2, 0},
                                                   {"clamp($, -2.0, 3.0)", 0, 3, 0},
                                                   {"($ + 1.0)", 1, 1, 0},
                                                   {"($ - 2.0)", 1, 2, 0},
                                                   {"(1.0 - $)", 1, 1, 0},
                                                   {"($ * 2.0)", 2, 0, 0},
                                                   {"($ * 0.5)", 0.5, 0, 1},
                                                   {"($ / 4.0)", 0.25, 0, 2},
                                                   {"($ * 3.0)", 3, 0, 0}}};
  if (!isFloat(want.elem))
    return std::nullopt;
  return makeOneOf(forms, m, want, depth);
}

std::optional<Term> makeInteger(Maker &m, const Type &want, int depth) {
  static constexpr std::array<Unary, 14> forms = {{{"(-$)", 1, 0, 0},
                                                   {"abs($)", 1, 0, 0},
                                                   {"(~$)", 1, 1, 0},
                                                   {"($ | 1)", 1, 1, 0},
                                                   {"($ ^ 3)", 1, 4, 0},
                                                   {"($ << 1)", 2, 0, 0},
                                                   {"($ / 3)", 1, 1, 0},
                                                   {"(($ - 2) % 3)", 0, 3, 0},
                                                   {"max($, 1)", 1, 1, 0},
                                                   {"($ + 1)", 1, 1, 0},
                                                   {"($ * 3)", 3, 0, 0},
                                                   {"($ % 4)", 0, 3, 0},
                                                   {"($ & 3)", 0, 3, 0},
                                                   {"($ >> 1)", 1, 1, 0}}};
  if (want.elem != ElemKind::I32 && want.elem != ElemKind::I16 && want.elem != ElemKind::I64)
    return std::nullopt;
  return makeOneOf(forms, m, want, depth);
}

/// Smooth functions: what they give is rounded, and stays so.
std::optional<Term> makeSmooth(Maker &m, const Type &want, int depth) {
  static constexpr std::array forms = {"tanh($)",
                                       "sigmoid($)",
                                       "exp(min($, 1.0))",
                                       "sin($)",
                                       "sqrt(abs($) + 1.0)",
                                       "log1p(abs($))",
                                       "(1.0 / (2.0 + abs($)))",
                                       "erf($)",
                                       "rsqrt(1.0 + abs($))"};
  if (want.elem != ElemKind::F32 || !m.mayRound)
    return std::nullopt;
  Term x = m.expression(want, depth - 1);
  return Term{substituted(m.any(forms), x.text), {std::max(3.0, x.bound.most), 0, false}};
}

Bound combined(char op, const Bound &a, const Bound &b) {
  Bound bound{std::max(a.most, b.most), std::max(a.bits, b.bits), a.exact && b.exact};
  if (op == '+')
    bound.most = a.most + b.most;
  if (op == '*') {
    bound.most = a.most * b.most;
    bound.bits = a.bits + b.bits;
  }
  return bound;
}

Term combine(Maker &m, const Term &a, const Term &b, bool mayBranch) {
  switch (m.below(mayBranch && a.bound.exact && b.bound.exact ? 8 : 6)) {
  case 0:
  case 1:
    return {"(" + a.text + " + " + b.text + ")", combined('+', a.bound, b.bound)};
  case 2:
    return {"(" + a.text + " - " + b.text + ")", combined('+', a.bound, b.bound)};
  case 3:
    return {"(" + a.text + " * " + b.text + ")", combined('*', a.bound, b.bound)};
  case 4:
    return {"max(" + a.text + ", " + b.text + ")", combined('m', a.bound, b.bound)};
  case 5:
    return {"min(" + a.text + ", " + b.text + ")", combined('m', a.bound, b.bound)};
  case 6:
    return {"select(" + a.text + " > " + b.text + ", " + a.text + ", " + b.text + ")",
            combined('m', a.bound, b.bound)};
  default:
    return {"select(" + a.text + " <= " + b.text + ", " + b.text + ", " + a.text + ")",
            combined('m', a.bound, b.bound)};
  }
}

std::optional<Term> makeBinary(Maker &m, const Type &want, int depth) {
  if (!isNumber(want))
    return std::nullopt;
  Term a = m.expression(want, depth - 1);
  Term b = m.expression(want, depth - 1);
  return combine(m, a, b, true);
}

/// One operand has fewer elements: an axis of 1, a missing leading axis, or none at all.
std::optional<Term> makeBroadcast(Maker &m, const Type &want, int depth) {
  if (!isNumber(want) || want.shape.empty())
    return std::nullopt;
  Type narrow = want;
  size_t how = m.below(4);
  if (how == 0)
    narrow.shape.clear();
  else if (how == 1)
    narrow.shape.erase(narrow.shape.begin());
  else
    narrow.shape[m.below(narrow.shape.size())] = constantAxis(1);
  Term a = m.expression(want, depth - 1), b = m.expression(narrow, depth - 1);
  return m.chance(50) ? combine(m, a, b, false) : combine(m, b, a, false);
}

std::optional<Term> makeSelect(Maker &m, const Type &want, int depth) {
  if (!isNumber(want))
    return std::nullopt;
  Type mask = want.with(ElemKind::Bool);
  if (!want.shape.empty() && m.chance(25))
    mask.shape[m.below(mask.shape.size())] = constantAxis(1);
  Term c = m.expression(mask, depth - 1), a = m.expression(want, depth - 1);
  Term b = m.chance(50) ? m.expression(want, depth - 1) : m.leaf(want);
  return Term{"select(" + c.text + ", " + a.text + ", " + b.text + ")",
              combined('m', a.bound, b.bound)};
}

std::optional<Term> makeComparison(Maker &m, const Type &want, int depth) {
  static constexpr std::array<const char *, 6> forms = {
      " > ", " < ", " >= ", " <= ", " == ", " != "};
  if (want.elem != ElemKind::Bool)
    return std::nullopt;
  Type type = want.with(m.chance(75) ? m.any(m.elems) : ElemKind::I32);
  Term a = m.expression(type, depth - 1);
  Type narrow = type;
  if (!narrow.shape.empty() && m.chance(30))
    narrow.shape[m.below(narrow.shape.size())] = constantAxis(1);
  Term b = m.chance(50) ? m.leaf(narrow) : m.expression(narrow, depth - 1);
  if (!a.bound.exact || !b.bound.exact)
    return std::nullopt;
  return Term{"(" + a.text + m.any(forms) + b.text + ")", {1, 0, true}};
}

std::optional<Term> makeLogic(Maker &m, const Type &want, int depth) {
  if (want.elem != ElemKind::Bool)
    return std::nullopt;
  Term a = m.expression(want, depth - 1);
  if (m.chance(30))
    return Term{"(not " + a.text + ")", {1, 0, true}};
  Term b = m.expression(want, depth - 1);
  return Term{"(" + a.text + (m.chance(50) ? " and " : " or ") + b.text + ")", {1, 0, true}};
}

/// From another element type. What is too large or too fine for it is brought into it before.
std::optional<Term> makeConversion(Maker &m, const Type &want, int depth) {
  static constexpr std::array<ElemKind, 7> others = {ElemKind::F32, ElemKind::F16, ElemKind::BF16,
                                                     ElemKind::I32, ElemKind::I8,  ElemKind::U8,
                                                     ElemKind::Bool};
  ElemKind from = m.chance(60) ? m.any(m.elems) : m.any(others);
  if (want.elem == ElemKind::Bool || from == want.elem)
    return std::nullopt;
  bool toFloat = isFloat(want.elem), fromFloat = isFloat(from);
  Term x = from == ElemKind::I8 || from == ElemKind::U8 ? m.leaf(want.with(from))
                                                        : m.expression(want.with(from), depth - 1);
  std::string to(elemName(want.elem));
  if (toFloat || from == ElemKind::Bool || !fromFloat) {
    double limit = toFloat ? exactLimit(want.elem) : want.elem == ElemKind::I32 ? 1e6 : 100;
    if (!toFloat && want.elem == ElemKind::U8)
      x = {"abs(" + x.text + ")", x.bound};
    if (from == ElemKind::Bool)
      x.bound = {1, 0, true};
    else if (x.bound.most * std::ldexp(1.0, x.bound.bits) > limit)
      x = m.within(x, from, 8, toFloat ? std::min(x.bound.bits, 2) : 0);
    if (toFloat && fromFloat && elemBits(want.elem) < elemBits(from) && !x.bound.exact)
      x.bound.exact = false;
    return Term{to + "(" + x.text + ")", x.bound};
  }
  if (!x.bound.exact)
    return std::nullopt;
  static constexpr std::array<const char *, 4> roundings = {".even", ".zero", ".down", ".up"};
  x = m.within(x, from, 100, x.bound.bits);
  if (want.elem == ElemKind::U8)
    x.text = "abs(" + x.text + ")";
  return Term{to + "(" + x.text + ", round: " + m.any(roundings) + ")",
              {std::ceil(x.bound.most), 0, true}};
}

std::optional<Term> makeRounding(Maker &m, const Type &want, int depth) {
  static constexpr std::array<const char *, 4> names = {"floor(", "ceil(", "round(", "trunc("};
  if (!isFloat(want.elem))
    return std::nullopt;
  Term x = m.expression(want, depth - 1);
  if (!x.bound.exact || x.bound.bits == 0)
    return std::nullopt;
  return Term{m.any(names) + x.text + ")", {std::ceil(x.bound.most), 0, true}};
}

std::optional<Term> makeChoice(Maker &m, const Type &want, int depth) {
  if (m.chance(60))
    return std::nullopt;
  Term c = m.condition(1), a = m.expression(want, depth - 1), b = m.leaf(want);
  return Term{"(if " + c.text + " { " + a.text + " } else { " + b.text + " })",
              combined('m', a.bound, b.bound)};
}

} // namespace

std::span<const Form> elementwiseForms() {
  static constexpr Form forms[] = {
      {"unary", 14, makeUnary},          {"integer", 10, makeInteger},
      {"smooth", 4, makeSmooth},         {"binary", 22, makeBinary},
      {"broadcast", 16, makeBroadcast},  {"select", 8, makeSelect},
      {"comparison", 8, makeComparison}, {"logic", 4, makeLogic},
      {"conversion", 7, makeConversion}, {"rounding", 3, makeRounding},
      {"choice", 3, makeChoice},
  };
  return forms;
}

} // namespace ptl::differential

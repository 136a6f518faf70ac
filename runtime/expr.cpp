#include "runtime/expr.h"

#include "runtime/array_walk.h"
#include "runtime/data_facts.h"

#include <algorithm>
#include <cmath>

namespace ptl::rt {
namespace {

using Op = Expr::Op;
using Maybe = std::optional<Number>;

Maybe someInteger(int64_t value) { return Number::integer(value); }
Maybe someFloat(double value) { return Number::floating(value); }
Maybe truth(bool value) { return someInteger(value); }

Maybe divide(Op op, int64_t a, int64_t b) {
  // Neither has a value: the processor would stop at both.
  if (b == 0 || (a == INT64_MIN && b == -1))
    return std::nullopt;
  int64_t quotient = a / b, remainder = a % b;
  bool inexact = remainder != 0;
  // C++ truncates, so the quotient is one above the floor where the exact one is negative, and then
  // the remainder lacks one divisor.
  bool below = inexact && ((remainder < 0) != (b < 0));
  switch (op) {
  case Op::FloorDiv:
    return someInteger(quotient - below);
  case Op::CeilDiv:
    return someInteger(quotient + (inexact && !below));
  case Op::ExactDiv:
    return inexact ? std::nullopt : someInteger(quotient);
  case Op::TruncDiv:
    return someInteger(quotient);
  case Op::Mod:
    return someInteger(below ? remainder + b : remainder);
  default:
    return someInteger(remainder);
  }
}

Maybe arithmetic(Op op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
  case Op::Add:
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : someInteger(result);
  case Op::Sub:
    return __builtin_sub_overflow(a, b, &result) ? std::nullopt : someInteger(result);
  case Op::Mul:
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : someInteger(result);
  case Op::Min:
    return someInteger(std::min(a, b));
  case Op::Max:
    return someInteger(std::max(a, b));
  default:
    return divide(op, a, b);
  }
}

Maybe arithmetic(Op op, double a, double b) {
  switch (op) {
  case Op::Add:
    return someFloat(a + b);
  case Op::Sub:
    return someFloat(a - b);
  case Op::Mul:
    return someFloat(a * b);
  case Op::Min:
    return someFloat(std::fmin(a, b));
  case Op::Max:
    return someFloat(std::fmax(a, b));
  case Op::TruncDiv:
    return someFloat(a / b);
  case Op::FloorDiv:
    return someFloat(std::floor(a / b));
  case Op::CeilDiv:
    return someFloat(std::ceil(a / b));
  case Op::Mod:
    return someFloat(a - b * std::floor(a / b));
  default:
    return someFloat(std::fmod(a, b));
  }
}

template <typename T> bool compare(Op op, T a, T b) {
  switch (op) {
  case Op::Eq:
    return a == b;
  case Op::Ne:
    return a != b;
  case Op::Lt:
    return a < b;
  case Op::Le:
    return a <= b;
  case Op::Gt:
    return a > b;
  default:
    return a >= b;
  }
}

} // namespace

bool isTrue(const Number &number) { return number.isFloat ? number.f != 0 : number.i != 0; }

Maybe combine(Op op, const Number &a, const Number &b) {
  bool floats = a.isFloat || b.isFloat;
  if (op >= Op::Eq && op <= Op::Ge)
    return truth(floats ? compare(op, a.asDouble(), b.asDouble()) : compare(op, a.i, b.i));
  return floats ? arithmetic(op, a.asDouble(), b.asDouble()) : arithmetic(op, a.i, b.i);
}

namespace {

Maybe fold(const Expr &expr, const ExprValues &values, std::string *detail) {
  Maybe result = evaluate(expr.args[0], values, detail);
  for (size_t i = 1; result && i < expr.args.size(); ++i) {
    Maybe operand = evaluate(expr.args[i], values, detail);
    result = operand ? combine(expr.op, *result, *operand) : std::nullopt;
  }
  return result;
}

Maybe logical(const Expr &expr, const ExprValues &values, std::string *detail) {
  bool stopAt = expr.op == Op::Or;
  for (const Expr &arg : expr.args) {
    Maybe operand = evaluate(arg, values, detail);
    if (!operand)
      return std::nullopt;
    if (isTrue(*operand) == stopAt)
      return truth(stopAt);
  }
  return truth(!stopAt);
}

Maybe checkAll(const Expr &expr, const ExprValues &values, std::string *detail) {
  const PtlArray &array = *values.arrays[expr.index];
  // The least and the largest element often decide in one pass over memory that a compiler makes
  // vectors of; else elements are asked one by one, in order to name one.
  if (followsFromBounds(expr.args[0], expr.index, values))
    return truth(true);
  ExprValues inner = values;
  Maybe result = truth(true);
  forEachElement(array, [&](const void *cell, int64_t number) {
    inner.element = cell;
    result = evaluate(expr.args[0], inner);
    if (result && isTrue(*result))
      return true;
    if (detail)
      *detail = "element " + std::to_string(number) + " is " + formatElem(array.elem, cell);
    return false;
  });
  return result;
}

Maybe checkSorted(const Expr &expr, const ExprValues &values, std::string *detail) {
  const PtlArray &array = *values.arrays[expr.index];
  if (isSurelySorted(array))
    return truth(true);
  const void *previous = nullptr;
  bool sorted = true;
  forEachElement(array, [&](const void *cell, int64_t number) {
    if (previous) {
      Maybe rises = combine(Op::Le, loadElem(array.elem, previous), loadElem(array.elem, cell));
      sorted = rises && isTrue(*rises);
    }
    if (!sorted && detail)
      *detail = "element " + std::to_string(number) + " is " + formatElem(array.elem, cell) +
                ", the one before it " + formatElem(array.elem, previous);
    previous = cell;
    return sorted;
  });
  return truth(sorted);
}

/// Numbers of one array are all integers, or of `u64` those beyond the signed range are floats.
bool comesBefore(const Number &a, const Number &b) {
  if (a.isFloat != b.isFloat)
    return b.isFloat;
  return a.isFloat ? a.f < b.f : a.i < b.i;
}

Maybe checkUnique(const Expr &expr, const ExprValues &values, std::string *detail) {
  const PtlArray &array = *values.arrays[expr.index];
  if (isSurelyUnique(array, values.bounds ? values.bounds->of(expr.index, array) : boundsOf(array)))
    return truth(true);
  std::vector<std::pair<Number, const void *>> seen;
  forEachElement(array, [&](const void *cell, int64_t) {
    Number number = loadElem(array.elem, cell);
    // NaNs equal nothing, not even each other.
    if (!number.isFloat || !std::isnan(number.f))
      seen.push_back({number, cell});
    return true;
  });
  std::stable_sort(seen.begin(), seen.end(),
                   [](auto &a, auto &b) { return comesBefore(a.first, b.first); });
  auto twice = std::adjacent_find(seen.begin(), seen.end(),
                                  [](auto &a, auto &b) { return !comesBefore(a.first, b.first); });
  if (twice != seen.end() && detail)
    *detail = formatElem(array.elem, twice->second) + " occurs more than once";
  return truth(twice == seen.end());
}

} // namespace

std::optional<Number> evaluate(const Expr &expr, const ExprValues &values, std::string *detail) {
  switch (expr.op) {
  case Op::Const:
    return someInteger(expr.constant);
  case Op::Float:
    return someFloat(expr.floating);
  case Op::Dim: {
    const std::optional<int64_t> &dim = values.dims[expr.index];
    return dim ? someInteger(*dim) : std::nullopt;
  }
  case Op::Scalar:
    return loadElem(values.scalarElems[expr.index], &values.scalars[expr.index]);
  case Op::Elem:
    if (!values.element)
      return std::nullopt;
    return loadElem(values.arrays[expr.index]->elem, values.element);
  case Op::Neg: {
    Maybe operand = evaluate(expr.args[0], values, detail);
    // As a difference it has the same check of overflow: the smallest `int` has no negative. That
    // -0.0 becomes 0.0 changes no comparison.
    return operand ? combine(Op::Sub, Number{}, *operand) : std::nullopt;
  }
  case Op::Not: {
    Maybe operand = evaluate(expr.args[0], values, detail);
    return operand ? truth(!isTrue(*operand)) : std::nullopt;
  }
  case Op::And:
  case Op::Or:
    return logical(expr, values, detail);
  case Op::All:
    return checkAll(expr, values, detail);
  case Op::Unique:
    return checkUnique(expr, values, detail);
  case Op::Sorted:
    return checkSorted(expr, values, detail);
  default:
    return fold(expr, values, detail);
  }
}

std::optional<int64_t> evaluateInt(const Expr &expr, const ExprValues &values) {
  Maybe value = evaluate(expr, values);
  return value && !value->isFloat ? std::optional(value->i) : std::nullopt;
}

std::optional<Solution> solve(const Expr &expr, int64_t value, const ExprValues &values) {
  if (expr.op == Op::Dim)
    return values.dims[expr.index] ? std::nullopt : std::optional(Solution{expr.index, value});
  if (expr.op == Op::ExactDiv) {
    std::optional<int64_t> divisor = evaluateInt(expr.args[1], values);
    Maybe dividend = divisor ? arithmetic(Op::Mul, value, *divisor) : std::nullopt;
    return dividend ? solve(expr.args[0], dividend->i, values) : std::nullopt;
  }
  if (expr.op != Op::Add && expr.op != Op::Sub && expr.op != Op::Mul)
    return std::nullopt;
  // Exactly one operand may be unknown; it is what the others leave of the value, from which it is
  // solved in turn.
  const Expr *open = nullptr;
  int64_t known = expr.op == Op::Mul ? 1 : 0;
  bool openIsSubtracted = false;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    bool subtracted = expr.op == Op::Sub && i == 1;
    std::optional<int64_t> operand = evaluateInt(expr.args[i], values);
    if (!operand) {
      if (open)
        return std::nullopt;
      open = &expr.args[i];
      openIsSubtracted = subtracted;
      continue;
    }
    Op op = subtracted ? Op::Sub : expr.op == Op::Mul ? Op::Mul : Op::Add;
    Maybe sum = arithmetic(op, known, *operand);
    if (!sum)
      return std::nullopt;
    known = sum->i;
  }
  if (!open)
    return std::nullopt;
  Maybe rest;
  if (expr.op == Op::Mul) {
    // An extent that is no multiple has no solution, and a factor of 0 leaves the name open.
    Maybe remainder = divide(Op::Rem, value, known);
    rest = remainder && remainder->i == 0 ? divide(Op::TruncDiv, value, known) : std::nullopt;
  } else {
    rest = openIsSubtracted ? arithmetic(Op::Sub, known, value) : arithmetic(Op::Sub, value, known);
  }
  return rest ? solve(*open, rest->i, values) : std::nullopt;
}

void forEachName(const Expr &expr, const std::function<void(const Expr &)> &visit) {
  if (expr.op == Op::Dim || expr.op == Op::Scalar || expr.op == Op::Elem)
    visit(expr);
  for (const Expr &arg : expr.args)
    forEachName(arg, visit);
}

bool readsElements(const Expr &expr) {
  using enum Expr::Op;
  return expr.op == Elem || expr.op == All || expr.op == Unique || expr.op == Sorted ||
         std::any_of(expr.args.begin(), expr.args.end(), readsElements);
}

void forEachDim(const Expr &expr, const std::function<void(int)> &visit) {
  forEachName(expr, [&](const Expr &name) {
    if (name.op == Op::Dim)
      visit(name.index);
  });
}

} // namespace ptl::rt

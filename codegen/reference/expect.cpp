#include "codegen/reference/expect.h"

#include "codegen/reference/array_ops.h"
#include "codegen/reference/compared_text.h"
#include "codegen/reference/eval.h"
#include "codegen/reference/op_arguments.h"

#include <cmath>
#include <cstdio>

namespace ptl::reference {

namespace {

/// Two operands repeated to one shape.
struct Pair {
  View actual, expected;
  Walk walk;
  std::vector<int64_t> shape;

  Pair(const Value &a, const Value &e) : actual(viewOf(a)), expected(viewOf(e)) {
    View views[] = {actual, expected};
    shape = broadcastShapes(views);
    walk.shape = shape;
    walk.strides[0] = broadcastStrides(actual.shape, shape);
    walk.strides[1] = broadcastStrides(expected.shape, shape);
  }

  /// Calls `visit(position, actual, expected)`.
  template <typename Visit> void forEach(Visit visit) const {
    forRows(walk, 2, [&](const Offsets &at, const Offsets &step, int64_t length, int64_t position) {
      for (int64_t i = 0; i < length; ++i)
        visit(position + i, actual.at(at[0] + i * step[0]), expected.at(at[1] + i * step[1]));
    });
  }

  std::string place(int64_t position) const {
    if (shape.empty())
      return {};
    std::vector<int64_t> strides = denseStrides(shape), at;
    for (size_t i = 0; i < strides.size(); ++i)
      at.push_back(position / strides[i] % shape[i]);
    return " at " + shapeText(at);
  }

  std::string countText(int64_t wrong) const {
    int64_t all = elementCount(shape);
    return all == 1 ? std::string()
                    : "; " + std::to_string(wrong) + " of " + std::to_string(all) +
                          " elements are wrong";
  }
};

bool sameElement(ElemKind elem, Scalar a, Scalar b) {
  return isFloat(elem) ? a.f == b.f || (std::isnan(a.f) && std::isnan(b.f)) : a.i == b.i;
}

std::string numberText(double number) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.6g", number);
  return buffer;
}

double toleranceOf(const Value &value) { return value.isScalar() ? value.asScalar().scalar.f : 0; }

} // namespace

void evalExpect(RunState &run, const OpExpr &expr) {
  if (evalBool(run, *expr.args[0]))
    return;
  std::string message = tagOf(run, expr, 1);
  if (message.empty())
    message = "`" + run.textOf(expr.args[0]->span) + "` does not hold";
  run.failExpectation(expr.span, message + comparedText(run, *expr.args[0]));
}

void evalExpectEqual(RunState &run, const OpExpr &expr) {
  Value actual = operandOf(run, expr, 0), expected = operandOf(run, expr, 1);
  Pair pair(actual, expected);
  int64_t wrong = 0;
  std::string first;
  ElemKind elem = pair.actual.elem;
  pair.forEach([&](int64_t position, Scalar a, Scalar e) {
    if (!sameElement(elem, a, e) && wrong++ == 0)
      first =
          "got " + scalarText(elem, a) + ", expected " + scalarText(elem, e) + pair.place(position);
  });
  if (wrong > 0)
    run.failExpectation(expr.span, first + pair.countText(wrong));
}

void evalExpectClose(RunState &run, const OpExpr &expr) {
  Value actual = operandOf(run, expr, 0), expected = operandOf(run, expr, 1);
  double rtol = toleranceOf(operandOf(run, expr, 2)), atol = toleranceOf(operandOf(run, expr, 3));
  Pair pair(actual, expected);
  ElemKind elem = pair.actual.elem;
  int64_t wrong = 0;
  double largest = -1;
  std::string worst;
  pair.forEach([&](int64_t position, Scalar a, Scalar e) {
    double allowed = atol + rtol * std::fabs(e.f);
    double error = std::fabs(a.f - e.f);
    if (sameElement(elem, a, e) || error <= allowed)
      return;
    ++wrong;
    double rank = std::isnan(error) ? INFINITY : error;
    if (rank <= largest)
      return;
    largest = rank;
    worst = "largest error " + numberText(error) + pair.place(position) + ": got " +
            scalarText(elem, a) + ", expected " + scalarText(elem, e) + ", allowed " +
            numberText(allowed);
  });
  if (wrong > 0)
    run.failExpectation(expr.span, worst + pair.countText(wrong));
}

} // namespace ptl::reference

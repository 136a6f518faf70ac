#include "codegen/reference/agreement.h"

#include <algorithm>
#include <cmath>

namespace ptl::reference {

/// Relative error that results may have: some hundred roundings of the shortest float type.
static double tolerance(ElemKind elem) {
  switch (elem) {
  case ElemKind::F64:
    return 1e-5; // Library functions compute statistics in `f32`.
  case ElemKind::F32:
    return 2e-4;
  case ElemKind::F16:
    return 2e-2;
  case ElemKind::BF16:
    return 1e-1;
  default:
    return 5e-1;
  }
}

static std::string positionText(const RefArray &array, int64_t number) {
  std::string text;
  for (size_t axis = array.shape.size(); axis-- > 0;) {
    int64_t extent = std::max<int64_t>(array.shape[axis], 1);
    text = std::to_string(number % extent) + (text.empty() ? "" : ", ") + text;
    number /= extent;
  }
  return "element [" + text + "]";
}

static std::string differenceAt(const RefArray &expected, const RefArray &actual, int64_t number) {
  return positionText(expected, number) + " is " + scalarText(actual.elem, actual.at(number)) +
         ", not " + scalarText(expected.elem, expected.at(number));
}

static std::string differenceOfFloats(const RefArray &expected, const RefArray &actual,
                                      const Agreement &agreement) {
  double relative = tolerance(agreement.shortest), scale = agreement.scale;
  for (double value : expected.floats)
    if (std::isfinite(value))
      scale = std::max(scale, std::fabs(value));
  for (int64_t i = 0; i < expected.count(); ++i) {
    double a = expected.at(i).f, b = actual.at(i).f;
    bool same = a == b || (std::isnan(a) && std::isnan(b));
    // Near the largest number one executor may overflow and the other not.
    bool near = std::fabs(a - b) <= relative * std::max({std::fabs(a), scale * 0.1, 1e-3});
    if (!same && !near)
      return differenceAt(expected, actual, i);
  }
  return "";
}

std::string firstDifference(const RefArray &expected, const RefArray &actual,
                            const Agreement &agreement) {
  if (expected.shape != actual.shape || expected.elem != actual.elem)
    return "it is " + typeText(actual.elem, actual.shape) + ", not " +
           typeText(expected.elem, expected.shape);
  if (expected.isReal())
    return differenceOfFloats(expected, actual, agreement);
  bool isShort = elemBits(expected.elem) <= 8 && expected.elem != ElemKind::Bool;
  int64_t slack = agreement.hasRounded && isShort ? 1 : 0;
  for (int64_t i = 0; i < expected.count(); ++i)
    if (std::llabs(expected.ints[static_cast<size_t>(i)] - actual.ints[static_cast<size_t>(i)]) >
        slack)
      return differenceAt(expected, actual, i);
  return "";
}

} // namespace ptl::reference

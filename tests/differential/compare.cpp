#include "tests/differential/compare.h"

#include <algorithm>
#include <cmath>

namespace ptl::differential {

using reference::RefArray;
using reference::RunResult;
using reference::RunStatus;
using reference::Value;

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

static bool hasFloat(const reference::CallRequest &request) {
  return std::any_of(request.args.begin(), request.args.end(),
                     [](const Value &value) { return isFloat(value.elem()); });
}

static ElemKind shortestFloat(const reference::CallRequest &request, ElemKind result) {
  ElemKind shortest = isFloat(result) ? result : ElemKind::F32;
  for (const Value &value : request.args)
    if (isFloat(value.elem()) &&
        elemInfo(value.elem()).mantissaBits < elemInfo(shortest).mantissaBits)
      shortest = value.elem();
  return shortest;
}

static RefArray asArray(const Value &value) {
  if (value.isArray())
    return value.asArray();
  RefArray array = reference::zeroArray(value.elem(), {});
  array.set(0, value.asScalar().scalar);
  return array;
}

/// The largest magnitude among the arguments. Eight bits hold so few digits that one rounding of an
/// operand is as large as what a difference leaves of it.
static double magnitudeOf(const reference::CallRequest &request) {
  double most = 0;
  for (const Value &value : request.args)
    if (isFloat(value.elem()))
      for (double each : asArray(value).floats)
        if (std::isfinite(each))
          most = std::max(most, std::fabs(each));
  return most;
}

/// `scale`: errors may be relative to a tenth of it.
static std::string compareFloats(const RefArray &expected, const RefArray &actual, double relative,
                                 double scale) {
  for (double value : expected.floats)
    if (std::isfinite(value))
      scale = std::max(scale, std::fabs(value));
  for (size_t i = 0; i < expected.floats.size(); ++i) {
    double a = expected.floats[i], b = actual.floats[i];
    bool same = a == b || (std::isnan(a) && std::isnan(b));
    // Near the largest number one executor may overflow and the other not.
    bool near = std::fabs(a - b) <= relative * std::max({std::fabs(a), scale * 0.1, 1e-3});
    if (!same && !near)
      return "element " + std::to_string(i) + " is " + std::to_string(b) + ", the reference has " +
             std::to_string(a);
  }
  return "";
}

static std::string compareInts(const RefArray &expected, const RefArray &actual, int64_t slack) {
  for (size_t i = 0; i < expected.ints.size(); ++i)
    if (std::llabs(expected.ints[i] - actual.ints[i]) > slack)
      return "element " + std::to_string(i) + " is " + std::to_string(actual.ints[i]) +
             ", the reference has " + std::to_string(expected.ints[i]);
  return "";
}

static std::string compareValues(const reference::CallRequest &request, const Value &expected,
                                 const Value &actual) {
  RefArray a = asArray(expected), b = asArray(actual);
  if (a.shape != b.shape || a.elem != b.elem)
    return "the result is " + reference::typeText(b.elem, b.shape) + ", the reference's " +
           reference::typeText(a.elem, a.shape);
  if (a.isReal()) {
    ElemKind shortest = shortestFloat(request, a.elem);
    double scale = elemBits(shortest) <= 8 ? 10 * magnitudeOf(request) : 0;
    return compareFloats(a, b, tolerance(shortest), scale);
  }
  bool rounded = hasFloat(request) && elemBits(a.elem) <= 8 && a.elem != ElemKind::Bool;
  return compareInts(a, b, rounded ? 1 : 0);
}

static std::string compareLists(const reference::CallRequest &request,
                                const std::vector<Value> &expected,
                                const std::vector<Value> &actual) {
  if (expected.size() != actual.size())
    return std::to_string(actual.size()) + " results, the reference has " +
           std::to_string(expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    if (std::string text = compareValues(request, expected[i], actual[i]); !text.empty())
      return "result " + std::to_string(i) + ": " + text;
  return "";
}

/// Why one ran and the other did not, if so; `settled` is set where there are no values to compare.
static std::string differenceOfEnds(const RunResult &expected, const RunResult &actual,
                                    bool &settled) {
  // What stops the reference by a division by zero is unspecified elsewhere.
  settled = expected.status == RunStatus::Arithmetic ||
            expected.status == RunStatus::Uninitialised || !expected.ok() || !actual.ok();
  if (expected.ok() == actual.ok() || expected.status == RunStatus::Arithmetic ||
      expected.status == RunStatus::Uninitialised)
    return "";
  return std::string(actual.ok() ? "it runs" : "it stops: " + actual.message) + ", the reference " +
         (expected.ok() ? "runs" : "stops: " + expected.message);
}

std::string exactDifference(const RunResult &expected, const RunResult &actual) {
  bool settled = false;
  std::string text = differenceOfEnds(expected, actual, settled);
  if (settled)
    return text;
  auto compareAll = [&](const std::vector<Value> &a, const std::vector<Value> &b) {
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      RefArray wanted = asArray(a[i]), found = asArray(b[i]);
      if (wanted.shape != found.shape || wanted.elem != found.elem)
        return "result " + std::to_string(i) + " is " +
               reference::typeText(found.elem, found.shape) + ", the reference's " +
               reference::typeText(wanted.elem, wanted.shape);
      std::string where = "result " + std::to_string(i) + ": ";
      for (size_t k = 0; k < wanted.floats.size(); ++k)
        if (wanted.floats[k] != found.floats[k] && !std::isnan(wanted.floats[k]))
          return where + "element " + std::to_string(k) + " is " + std::to_string(found.floats[k]) +
                 ", the reference has " + std::to_string(wanted.floats[k]);
      if (std::string ints = compareInts(wanted, found, 0); !ints.empty())
        return where + ints;
    }
    return a.size() == b.size() ? std::string() : std::string("another number of results");
  };
  text = compareAll(expected.outputs, actual.outputs);
  return text.empty() ? compareAll(expected.inouts, actual.inouts) : text;
}

std::string difference(const reference::CallRequest &request, const RunResult &expected,
                       const RunResult &actual) {
  bool settled = false;
  std::string text = differenceOfEnds(expected, actual, settled);
  if (settled)
    return text;
  text = compareLists(request, expected.outputs, actual.outputs);
  return text.empty() ? compareLists(request, expected.inouts, actual.inouts) : text;
}

} // namespace ptl::differential

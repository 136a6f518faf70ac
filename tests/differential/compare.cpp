#include "tests/differential/compare.h"

#include "codegen/reference/agreement.h"

#include <algorithm>
#include <cmath>

namespace ptl::differential {

using reference::RefArray;
using reference::RunResult;
using reference::RunStatus;
using reference::Value;

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

static std::string compareValues(const reference::CallRequest &request, const Value &expected,
                                 const Value &actual) {
  RefArray a = asArray(expected);
  reference::Agreement agreement;
  agreement.hasRounded = hasFloat(request);
  agreement.shortest = shortestFloat(request, a.elem);
  if (elemBits(agreement.shortest) <= 8)
    agreement.scale = 10 * magnitudeOf(request);
  return reference::firstDifference(a, asArray(actual), agreement);
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
  // If the reference stops at a division by zero, the result elsewhere is unspecified.
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
      if (std::string ints = wanted.isReal() ? "" : firstDifference(wanted, found, {});
          !ints.empty())
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

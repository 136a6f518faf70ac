#include "compile/report/test_report.h"

#include <cmath>

namespace ptl {

using nlohmann::json;

static json shapeJson(const reference::DimValues &dims) {
  json shape = json::object();
  for (const auto &[name, value] : dims)
    shape[name] = value;
  return shape;
}

json testJson(const SourceManager &sources, const TestReport &report) {
  const reference::TestOutcome &outcome = report.outcome;
  json failures = json::array();
  for (const reference::TestFailure &failure : outcome.failures) {
    json calls = json::array();
    for (Span call : failure.calls)
      calls.push_back(sources.place(call));
    Span span = failure.span.file == kNoFile ? outcome.decl->nameSpan : failure.span;
    failures.push_back(
        {{"message", failure.message}, {"at", sources.place(span)}, {"calls", std::move(calls)}});
  }
  json block = {
      {"name", outcome.decl->name},     {"executor", report.executor},
      {"passed", outcome.passed()},     {"at", sources.place(outcome.decl->nameSpan)},
      {"samples", outcome.samples},     {"seconds", std::round(outcome.seconds * 1000) / 1000},
      {"failures", std::move(failures)}};
  if (!outcome.passed() && !outcome.dims.empty()) {
    block["shape"] = shapeJson(outcome.dims);
    block["first_shape"] = shapeJson(outcome.firstDims);
  }
  return block;
}

json testDocument(const SourceManager &sources, const std::vector<TestReport> &reports) {
  json blocks = json::array();
  size_t failed = 0;
  for (const TestReport &report : reports) {
    failed += !report.outcome.passed();
    blocks.push_back(testJson(sources, report));
  }
  return {{"version", 1},
          {"passed", reports.size() - failed},
          {"failed", failed},
          {"blocks", std::move(blocks)}};
}

} // namespace ptl

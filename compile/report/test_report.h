// The results of tests, as the document of docs/schemas/test.json.
#pragma once

#include "codegen/reference/test_runner.h"

#include <nlohmann/json.hpp>

namespace ptl {

/// The result of one block on one executor.
struct TestReport {
  std::string executor;
  reference::TestOutcome outcome;
};

nlohmann::json testJson(const SourceManager &sources, const TestReport &report);
/// The document of several blocks: `{"version": 1, "passed", "failed", "blocks": […]}`.
nlohmann::json testDocument(const SourceManager &sources, const std::vector<TestReport> &reports);

} // namespace ptl

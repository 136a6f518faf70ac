// What tests executed, of all files of a run, as the document of docs/schemas/coverage.json.
#pragma once

#include "codegen/reference/coverage.h"

#include <nlohmann/json.hpp>

namespace ptl {

/// Files that several programs import are one file here, with the counts of all.
class CoverageReport {
public:
  /// Files of the library (`library` is its folder) are left out unless they are tested themselves.
  void add(const SourceManager &sources, const CheckedProgram &program,
           const reference::Coverage &coverage, const std::string &library);

  nlohmann::json document() const;
  /// For people: how much of each file, with which extents, and the places that nothing reached.
  std::string text() const;

private:
  nlohmann::json files_ = nlohmann::json::array();
};

} // namespace ptl

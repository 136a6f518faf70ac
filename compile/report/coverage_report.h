// The coverage of tests over all files of a run, as the document of docs/schemas/coverage.json.
#pragma once

#include "codegen/reference/coverage.h"

#include <nlohmann/json.hpp>

namespace ptl {

/// A file that several programs import is listed once, with the counts of all.
class CoverageReport {
public:
  /// Files of the library (in the folder `library`) are left out unless they are tested themselves.
  void add(const SourceManager &sources, const CheckedProgram &program,
           const reference::Coverage &coverage, const std::string &library);

  nlohmann::json document() const;
  /// A text for people: the coverage of each file, the extents of calls, and the places that were
  /// never reached.
  std::string text() const;

private:
  nlohmann::json files_ = nlohmann::json::array();
};

} // namespace ptl

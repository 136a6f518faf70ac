// Writes a folder of files with everything that someone else needs to reproduce an internal error.
#pragma once

#include "frontend/base/source.h"

#include <string>

namespace ptl {

struct Bundle {
  std::string stage;   ///< where the compiler failed
  std::string message; ///< and why, in its own words
  std::string ir;      ///< the program at that stage; empty if there is none
};

/// `ptlc-bundle-<pid>`, in the working folder.
std::string bundleFolder();

/// Writes `report.txt` (version, stage, message, command line), every source under its path with
/// `/` as `_`, and `failing.mlir` into `folder`, which is made. Returns an empty string, or the
/// reason why not all was written.
std::string writeBundle(const std::string &folder, const SourceManager &sources,
                        const Bundle &bundle);

} // namespace ptl

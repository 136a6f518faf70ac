// Writes a folder of files with everything that someone else needs to reproduce an internal error.
#pragma once

#include "compile/fault.h"
#include "frontend/base/source.h"

#include <string>

namespace ptl {

/// `ptlc-bundle-<pid>`, in the working folder.
std::string bundleFolder();

/// Writes `report.txt` (version, stage, message, command line), every source under its path with
/// `/` as `_`, and `failing.mlir` into `folder`, which is made. Returns an empty string, or the
/// reason why not all was written.
std::string writeBundle(const std::string &folder, const SourceManager &sources,
                        const Fault &fault);

} // namespace ptl

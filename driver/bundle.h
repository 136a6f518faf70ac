// Writes a reproducer: a folder with everything that someone else needs to reproduce an internal
// error.
#pragma once

#include "compile/fault.h"
#include "frontend/base/source.h"

#include <string>

namespace ptl {

/// The folder's name: `ptlc-bundle-<pid>`, in the working folder.
std::string bundleFolder();

/// Writes `report.txt` (version, stage, message, command line), every source under its path with
/// `/` replaced by `_`, and `failing.mlir` into `folder`, which is created. Returns an empty
/// string, or the reason why the reproducer is incomplete.
std::string writeBundle(const std::string &folder, const SourceManager &sources,
                        const Fault &fault);

} // namespace ptl

// The check options of the tests of the editor's features.
#pragma once

#include "lsp/ide/workspace.h"

namespace ptl::ide {

/// The library of the source tree.
inline CheckOptions testOptions() {
  CheckOptions options;
  options.stdPath = std::string(PTL_SOURCE_DIR) + "/std";
  return options;
}

} // namespace ptl::ide

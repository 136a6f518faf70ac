// Facts about a dumped `.mlir` file.
#pragma once

#include "lsp/worker/worker.h"

namespace ptl::worker {

/// What each line is, and which source it came from.
Json describeMlir(const std::string &text);

} // namespace ptl::worker

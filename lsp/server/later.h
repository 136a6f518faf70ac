// Doing something once, after a while.
#pragma once

#include "lsp/server/callback.h"

#include <uv.h>

namespace ptl::lsp {

/// Calls `action` on the loop after so many ms.
void later(uv_loop_t *loop, uint64_t milliseconds, Callback<> action);

} // namespace ptl::lsp

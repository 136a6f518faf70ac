// Calls a function once, after a delay.
#pragma once

#include "lsp/server/callback.h"

#include <uv.h>

namespace ptl::lsp {

/// Calls `action` on the loop after this number of milliseconds.
void later(uv_loop_t *loop, uint64_t milliseconds, Callback<> action);

} // namespace ptl::lsp

// Doing something once, after a while.
#pragma once

#include <uv.h>

#include <functional>

namespace ptl::lsp {

/// Calls `action` on the loop after so many ms.
void later(uv_loop_t *loop, uint64_t milliseconds, std::function<void()> action);

} // namespace ptl::lsp

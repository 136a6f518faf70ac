#include "lsp/server/later.h"

namespace ptl::lsp {

namespace {
struct Later {
  uv_timer_t timer;
  std::function<void()> action;
};
} // namespace

void later(uv_loop_t *loop, uint64_t milliseconds, std::function<void()> action) {
  auto *self = new Later{{}, std::move(action)};
  uv_timer_init(loop, &self->timer);
  self->timer.data = self;
  auto onTime = [](uv_timer_t *timer) {
    static_cast<Later *>(timer->data)->action();
    uv_close(reinterpret_cast<uv_handle_t *>(timer),
             [](uv_handle_t *handle) { delete static_cast<Later *>(handle->data); });
  };
  uv_timer_start(&self->timer, onTime, milliseconds, 0);
}

} // namespace ptl::lsp

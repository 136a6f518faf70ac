#include "lsp/server/later.h"

namespace ptl::lsp {

namespace {
struct Later {
  uv_timer_t timer;
  Callback<> action;
};
} // namespace

void later(uv_loop_t *loop, uint64_t milliseconds, Callback<> action) {
  auto *self = new Later{{}, std::move(action)};
  uv_timer_init(loop, &self->timer);
  self->timer.data = self;
  Entry onTime([](uv_timer_t *timer) {
    static_cast<Later *>(timer->data)->action();
    uv_close(reinterpret_cast<uv_handle_t *>(timer),
             Entry([](uv_handle_t *handle) { delete static_cast<Later *>(handle->data); }));
  });
  uv_timer_start(&self->timer, onTime, milliseconds, 0);
}

} // namespace ptl::lsp

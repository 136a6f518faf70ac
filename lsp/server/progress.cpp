#include "lsp/server/progress.h"

#include "lsp/server/callback.h"
#include "lsp/server/server.h"

namespace ptl::lsp {

Progress::Progress(Server &server) : server_(server) {
  uv_timer_init(server.loop(), &timer_);
  timer_.data = this;
}

void Progress::begin(const std::string &title) {
  constexpr uint64_t patience = 400; // ms without a word
  title_ = title;
  Entry onTime([](uv_timer_t *timer) { static_cast<Progress *>(timer->data)->show(); });
  uv_timer_start(&timer_, onTime, patience, 0);
}

void Progress::notify(json value) {
  server_.notify("$/progress", {{"token", token_}, {"value", std::move(value)}});
}

void Progress::show() {
  if (!server_.session.client.workDoneProgress)
    return;
  isShown_ = true;
  server_.request("window/workDoneProgress/create", {{"token", ++token_}});
  notify({{"kind", "begin"}, {"title", title_}, {"cancellable", false}});
}

void Progress::step(const std::string &name) {
  if (isShown_)
    notify({{"kind", "report"}, {"message", name}});
}

void Progress::end() {
  uv_timer_stop(&timer_);
  if (isShown_)
    notify({{"kind", "end"}});
  isShown_ = false;
}

} // namespace ptl::lsp

// Reports long work of the worker to the client (work-done progress).
#pragma once

#include <nlohmann/json.hpp>
#include <uv.h>

#include <string>

namespace ptl::lsp {

class Server;

/// The server needs only one, since the worker handles one request at a time.
class Progress {
public:
  explicit Progress(Server &server);

  /// To be called when the worker begins a request, begins a step of it, or has ended it.
  void begin(const std::string &title);
  void step(const std::string &name);
  void end();

private:
  void show();
  void notify(nlohmann::json value);

  Server &server_;
  uv_timer_t timer_;
  std::string title_;
  bool isShown_ = false;
  int64_t token_ = 0;
};

} // namespace ptl::lsp

#include "agent/server/serve.h"

#include "agent/server/http.h"
#include "agent/server/stdio.h"

#include <csignal>
#include <cstdio>
#include <thread>

namespace ptl::agent {

static int problemOf(const std::string &what) {
  std::fprintf(stderr, "ptlc: error: %s\n", what.c_str());
  return 2;
}

int serve(const ServeOptions &options) {
  // That a client has gone is found out by the error of a write.
  std::signal(SIGPIPE, SIG_IGN);
  std::string problem;
  Roots roots(options.roots.empty() ? std::vector<std::string>{"."} : options.roots, &problem);
  if (!problem.empty())
    return problemOf(problem);
  uv_loop_t loop;
  uv_loop_init(&loop);
  Jobs jobs(&loop, std::max(2u, std::thread::hardware_concurrency()));
  ServerState state{std::move(roots), jobs};
  auto end = [&loop] { uv_stop(&loop); };
  uv_signal_t signals[2];
  int numbers[] = {SIGTERM, SIGINT};
  for (int i = 0; i < 2; ++i) {
    uv_signal_init(&loop, &signals[i]);
    uv_signal_start(
        &signals[i], [](uv_signal_t *signal, int) { uv_stop(signal->loop); }, numbers[i]);
  }
  std::unique_ptr<StandardStreams> streams;
  std::unique_ptr<HttpServer> http;
  if (options.port) {
    http = std::make_unique<HttpServer>(&loop, state, options.token);
    if (int port = http->listen(*options.port); port < 0)
      return problemOf("cannot listen on 127.0.0.1:" + std::to_string(*options.port) + ": " +
                       uv_strerror(port));
  } else {
    streams = std::make_unique<StandardStreams>(&loop, state, end);
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  // Workers end with their calls; what is left of the loop ends with the process.
  jobs.cancelAll();
  std::fflush(nullptr);
  ::_exit(0);
}

} // namespace ptl::agent

// The server's side of the worker process (lsp/worker). It starts the worker on the first request,
// starts it again after a pause if it died, and sends it one request at a time.
#pragma once

#include "lsp/server/callback.h"
#include "lsp/server/framing.h"
#include "lsp/server/worker_request.h"

#include <nlohmann/json.hpp>
#include <uv.h>

#include <deque>
#include <memory>
#include <set>
#include <string>

namespace ptl::lsp {

/// The outcome of a request: `result`, or `error` with `code` and `message`. The codes are those of
/// the worker and `unavailable` (there is no worker), `superseded` (a newer request replaced it)
/// and `ended` (the server is ending).
struct WorkerAnswer {
  json result;
  json error;
  bool ok() const { return error.is_null(); }
};

template <>
inline constexpr RequestError (*problemOfCall<const WorkerAnswer &>)() = problemOfAnswer;

class WorkerClient {
public:
  using OnAnswer = Callback<const WorkerAnswer &>;

  WorkerClient(uv_loop_t *loop, std::string program, std::string standardLibrary);
  ~WorkerClient();
  WorkerClient(const WorkerClient &) = delete;

  /// Sends a request once those before it are answered. It supersedes a waiting request with the
  /// same `topic`, and cancels one that is running; an empty topic supersedes nothing. A request
  /// that crashed the worker is not sent again until its text changes. `onAnswer` is called exactly
  /// once.
  void ask(std::string method, WorkerRequest request, std::string topic, OnAnswer onAnswer);
  /// The topic of long requests with low priority: they are sent when no other request waits, and
  /// are cancelled when another one comes.
  static constexpr const char *kIdle = "idle";
  /// Cancels such a request.
  void cancelIdle();
  /// Called with the method and the step of the running request whenever either changes; both are
  /// empty when the request has ended.
  Callback<const std::string &, const std::string &> onProgress;
  /// Ends the worker. Waiting requests are answered with `ended`.
  void stop();
  json status() const;

private:
  struct Task {
    int64_t id = 0;
    std::string method;
    WorkerRequest request;
    std::string topic;
    OnAnswer onAnswer;
  };
  struct Process;

  void start();
  void end();
  void sendNext();
  void receive(const json &message);
  void onExit(int64_t status, int signal);
  void finish(Task &task, WorkerAnswer answer);
  void deliver();
  void cancel(int64_t id);
  void send(const std::string &message);

  uv_loop_t *loop_;
  std::string program_, standardLibrary_;
  Process *process_ = nullptr; ///< freed by libuv's callbacks
  std::deque<Task> waiting_;
  std::unique_ptr<Task> current_;
  std::deque<std::pair<OnAnswer, WorkerAnswer>> answered_; ///< to be delivered
  bool isDelivering_ = false, isStopped_ = false;
  std::string step_;        ///< the step that the worker is in
  json lastWords_;          ///< the last message of a worker that crashed
  std::set<size_t> poison_; ///< fingerprints of requests that crashed the worker
  uint64_t notBefore_ = 0;  ///< ms of the loop: the earliest time of a restart
  unsigned crashes_ = 0;    ///< in a row
  unsigned starts_ = 0;
  int64_t nextId_ = 1;
  int64_t runningId_ = 0; ///< of the request that was sent last
};

} // namespace ptl::lsp

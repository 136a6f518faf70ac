// The language server: the life cycle of a session, the queue of messages, and the work between
// messages.
//
// One thread owns the workspace and answers in order. An answer takes well under a millisecond,
// because an edit checks one declaration and answers are assembled from parts that are cached per
// declaration. Longer work is split into such steps, which run while no message waits, or runs on
// another thread with a copy of its input (background.h). Requests that need IR are sent to the
// worker process (worker_client.h) and answered when it replies.
#pragma once

#include "lsp/server/background.h"
#include "lsp/server/callback.h"
#include "lsp/server/connection.h"
#include "lsp/server/feasibility_queue.h"
#include "lsp/server/inbox.h"
#include "lsp/server/ir_documents.h"
#include "lsp/server/previews.h"
#include "lsp/server/progress.h"
#include "lsp/server/project.h"
#include "lsp/server/publisher.h"
#include "lsp/server/reply.h"
#include "lsp/server/session.h"
#include "lsp/server/watcher.h"
#include "lsp/server/worker_client.h"

#include <map>
#include <memory>

namespace ptl::lsp {

/// Handles a request that is answered later.
using DeferredHandler = void (*)(Server &server, const json &params, const Reply &reply);

/// The state that handlers read and change, each part with a header of its own, and the order in
/// which the parts get their turns.
class Server {
public:
  Server(uv_loop_t *loop, CheckOptions options);
  ~Server();

  Session session;
  Connection connection;
  WorkerClient worker;
  Previews previews;
  IrDocuments irDocuments;
  Background background; ///< for answers
  FeasibilityQueue feasibility;
  Publisher publisher;
  Watcher watcher;
  Project project;

  /// Exit code of the process: 0 after `shutdown` and `exit`, else 1.
  int exitCode() const { return exitCode_; }
  uv_loop_t *loop() const { return loop_; }

  void notify(std::string_view method, json params);
  /// Sends a request to the client; `onAnswer` gets the result, null after an error.
  void request(std::string_view method, json params, Callback<const json &> onAnswer = {});
  /// Schedules the work that is done when no message waits.
  void wake();

private:
  enum class State : uint8_t { Fresh, Running, ShutDown };

  // The loop.
  void onBytes(std::string_view bytes);
  void onEnd();
  void onStep(const std::string &method, const std::string &step);
  bool step();
  bool takeStep();
  void stop();

  // Messages.
  void refuse(const json &id, const RequestError &error);
  void cancel(const json &id);
  Reply replyTo(const json &id) { return Reply(open_, connection, id); }
  void handle(const json &message);
  void handleAnswer(const json &id, const json &message);
  void handleRequest(const Reply &reply, const json &id, const std::string &method,
                     const json &params);
  void handleNotification(const std::string &method, const json &params);
  json initialize(const json &params);

  uv_loop_t *loop_;
  uv_idle_t idle_;
  Inbox inbox_;
  std::shared_ptr<OpenRequests> open_ = std::make_shared<OpenRequests>();
  State state_ = State::Fresh;
  int exitCode_ = 1;
  bool isStopped_ = false;
  int64_t nextId_ = 1;
  std::map<int64_t, Callback<const json &>> asked_;
  Progress progress_;
};

} // namespace ptl::lsp

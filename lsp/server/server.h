// The language server: the life of a session, the queue of messages, and the work between messages.
//
// One thread owns the workspace and answers in order. An answer takes well under a millisecond,
// because an edit checks one declaration and answers are assembled from what is cached by
// declaration. Longer work is cut into such steps, which are done while no message waits, or runs
// on another thread with a copy of what it reads (background.h). Requests that need IR are sent to
// the worker process (worker_client.h) and answered when it replies.
#pragma once

#include "lsp/server/background.h"
#include "lsp/server/callback.h"
#include "lsp/server/connection.h"
#include "lsp/server/feasibility_queue.h"
#include "lsp/server/previews.h"
#include "lsp/server/progress.h"
#include "lsp/server/project.h"
#include "lsp/server/reply.h"
#include "lsp/server/session.h"
#include "lsp/server/watcher.h"
#include "lsp/server/worker_client.h"

#include <deque>
#include <map>
#include <memory>
#include <set>

namespace ptl::lsp {

/// Answers a request later.
using DeferredHandler = void (*)(Server &server, const json &params, const Reply &reply);

class Server {
public:
  Server(uv_loop_t *loop, CheckOptions options);
  ~Server();

  Session session;
  Connection connection;
  WorkerClient worker;
  Previews previews;
  Background background; ///< for answers
  FeasibilityQueue feasibility;

  /// Exit code of the process: 0 after `shutdown` and `exit`, else 1.
  int exitCode() const { return exitCode_; }

  void notify(std::string_view method, json params);
  /// Sends a request to the client; `onAnswer` gets the result, null after an error.
  void request(std::string_view method, json params, Callback<const json &> onAnswer = {});
  /// Answers a message that is no valid request.
  void refuse(const json &id, const RequestError &error);
  /// The state of the whole server, for `ptl/status`.
  json status() const;
  uv_loop_t *loop() const { return loop_; }
  /// An open file in a language that PTL becomes (`.mlir`); its text is kept and not checked.
  bool isIrDocument(const std::string &uri) const { return irDocuments_.contains(uri); }
  const std::string &irDocument(const std::string &uri) const { return irDocuments_.at(uri); }
  /// Notes that the worker died because of a request. A diagnostic at the declaration names the
  /// step and a file with the request, until the text changes.
  void compilerFailed(const std::string &path, const std::string &entry, const std::string &message,
                      const json &request);
  /// Notes that a file has other diagnostics although its text is the same.
  void diagnosticsChanged(const std::string &path);
  void refreshLenses();
  void refreshHints();
  /// Called after each edit of a file.
  void onEdited(ide::File &file);

private:
  enum class State : uint8_t { Fresh, Running, ShutDown };

  // The queue.
  void onBytes(std::string_view bytes);
  void onEnd();
  void receive(const std::string &text);
  void cancel(const json &id);
  Reply replyTo(const json &id) { return Reply(open_, connection, id); }
  bool step();
  bool takeStep();
  void wake();

  // Messages.
  void handle(const json &message);
  void handleAnswer(const json &id, const json &message);
  void handleRequest(const Reply &reply, const json &id, const std::string &method,
                     const json &params);
  void answerWithProject(const Reply &reply, RequestHandler handler, const json &params);
  bool isAboutIr(const json &params) const;
  void handleNotification(const std::string &method, const json &params);
  json initialize(const json &params);
  void initialized();
  void setSettings(const json &settings);
  void askSettings();
  void addFolder(const std::string &path);
  void foldersChanged(const json &event);

  // Documents.
  void didOpen(const json &params);
  void didChange(const json &params);
  static void editIrDocument(std::string &text, const json &changes);
  void didClose(const json &params);
  void didSave(const json &params);
  void filesChanged(const json &params);
  void fileChanged(const std::string &path); ///< seen by `watcher_`
  bool isMachineFile(const std::string &path) const;
  /// Reads the machine files of the settings into `options`, and tells the user about files that
  /// are not valid.
  void readMachines(CheckOptions &options);
  void machineFilesChanged();
  void readAgain(std::vector<std::string> paths, bool refreshes);
  void importedChanged(const std::string &path);

  // Diagnostics.
  bool publishDue();
  void publish(ide::File &file);
  /// Says what was kept back when nobody has typed for a while.
  void restLater(uint64_t milliseconds);
  void sayHeld();
  void refresh();

  uv_loop_t *loop_;
  uv_idle_t idle_;
  FrameReader frames_;
  std::deque<json> queue_;
  std::set<std::string> cancelled_; ///< ids, as text, of requests in the queue
  std::shared_ptr<OpenRequests> open_ = std::make_shared<OpenRequests>();
  State state_ = State::Fresh;
  int exitCode_ = 1;
  bool isStopped_ = false;
  int64_t nextId_ = 1;
  std::map<int64_t, Callback<const json &>> asked_;
  /// The files whose diagnostics the client does not have yet, and since when, in ms of the loop.
  std::map<std::string, uint64_t> unpublished_;
  std::set<std::string> published_; ///< files that the client knows diagnostics of
  bool refreshDue_ = false;
  bool isRestDue_ = false;                         ///< a timer waits for a pause in the typing
  uint64_t typedAt_ = 0;                           ///< in ms of the loop
  std::map<std::string, std::string> irDocuments_; ///< texts by URI
  std::unique_ptr<Progress> progress_;
  Watcher watcher_;
  Project project_;
};

/// Whether two copies of a document have the same text, as far as that is known without comparing
/// them; false means that it is not known.
bool sameText(const ide::Document &a, const ide::Document &b);

} // namespace ptl::lsp

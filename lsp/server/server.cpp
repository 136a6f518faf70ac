#include "lsp/server/server.h"

#include "frontend/base/install.h"
#include "lsp/server/capabilities.h"
#include "lsp/server/configuration.h"
#include "lsp/server/deferred.h"
#include "lsp/server/documents.h"
#include "lsp/server/handlers.h"
#include "lsp/server/notifications.h"
#include "lsp/server/project_requests.h"

namespace ptl::lsp {

// ---- Tables -------------------------------------------------------------------------------------

/// The handler of a method; null if the table has none.
template <typename Handler>
static Handler findIn(const std::map<std::string, Handler, std::less<>> &handlers,
                      const std::string &method) {
  auto found = handlers.find(method);
  return found == handlers.end() ? nullptr : found->second;
}

RequestHandler handlerOf(const std::string &method) {
  static const std::map<std::string, RequestHandler, std::less<>> handlers = {
#define METHOD(NAME, HANDLER, CAPABILITY, OPTIONS) {NAME, HANDLER},
#include "lsp/server/methods.def"
#undef METHOD
  };
  return findIn(handlers, method);
}

static DeferredHandler deferredHandlerOf(const std::string &method) {
  static const std::map<std::string, DeferredHandler, std::less<>> handlers = {
#define METHOD(NAME, HANDLER, CAPABILITY, OPTIONS) {NAME, HANDLER},
#include "lsp/server/deferred_methods.def"
#undef METHOD
  };
  return findIn(handlers, method);
}

static NotificationHandler notificationHandlerOf(const std::string &method) {
  static const std::map<std::string, NotificationHandler, std::less<>> handlers = {
#define METHOD(NAME, HANDLER) {NAME, HANDLER},
#include "lsp/server/notification_methods.def"
#undef METHOD
  };
  return findIn(handlers, method);
}

// ---- Messages to the client ---------------------------------------------------------------------

void Server::refuse(const json &id, const RequestError &error) {
  connection.send(errorMessage(id, error));
}

void Server::notify(std::string_view method, json params) {
  connection.send({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

void Server::request(std::string_view method, json params, Callback<const json &> onAnswer) {
  int64_t id = nextId_++;
  asked_[id] = std::move(onAnswer);
  connection.send(
      {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
}

// ---- The loop -----------------------------------------------------------------------------------

Server::Server(uv_loop_t *loop, CheckOptions options)
    : session{ide::Workspace(std::move(options)), {}, {}},
      connection(loop, {[this](std::string_view bytes) { onBytes(bytes); }, reportProblem},
                 {[this] { onEnd(); }, reportProblem}),
      worker(loop, executableFolder() + "ptlc-ir", standardLibraryFolder()), background(loop),
      feasibility(*this), publisher(*this),
      watcher(loop, {[this](const std::string &path) { fileChanged(*this, path); }, reportProblem}),
      project(loop, session), loop_(loop),
      inbox_({[this](const RequestError &error) { refuse(nullptr, error); }, reportProblem},
             {[this](const json &id) { cancel(id); }, reportProblem}),
      progress_(*this) {
  uv_idle_init(loop, &idle_);
  idle_.data = this;
  project.onWork = {[this] { wake(); }, reportProblem};
  worker.onProgress = {
      [this](const std::string &method, const std::string &step) { onStep(method, step); },
      reportProblem};
}

/// Replies that are dropped from now on are not answered.
Server::~Server() { open_.reset(); }

void Server::wake() {
  // An idle handle calls back whenever the loop has nothing to read, until it is stopped.
  uv_idle_start(&idle_, Entry([](uv_idle_t *idle) {
    if (!static_cast<Server *>(idle->data)->step())
      uv_idle_stop(idle);
  }));
}

/// Reports that the worker begins a request, enters a step of it, or has ended it.
void Server::onStep(const std::string &method, const std::string &step) {
  // No request of the client waits for this one, so its progress is not reported.
  if (method == "feasibility")
    return;
  if (method.empty())
    progress_.end();
  else if (step.empty())
    progress_.begin("PTL: " + method);
  else
    progress_.step(step);
}

void Server::onBytes(std::string_view bytes) {
  inbox_.feed(bytes);
  // All complete messages are handled before the loop reads more.
  while (!isStopped_ && !inbox_.empty())
    step();
  wake();
}

void Server::onEnd() {
  // Requests that arrived before the end are still answered, because the client may only have
  // closed its side of the connection.
  while (!isStopped_ && !inbox_.empty())
    step();
  if (!isStopped_) {
    background.finish();
    project.finish();
  }
  connection.stop();
  stop();
}

void Server::stop() {
  isStopped_ = true;
  worker.stop();
  uv_stop(loop_);
}

/// Handles one message, or does one piece of waiting work. False if there is nothing to do. A step
/// that fails counts as done.
bool Server::step() {
  bool isMore = true;
  guarded([&] { isMore = takeStep(); });
  return isMore;
}

bool Server::takeStep() {
  if (isStopped_)
    return false;
  if (!inbox_.empty()) {
    handle(inbox_.take());
    return true;
  }
  // Work that a request waits for comes before work that no request waits for.
  return project.step() || publisher.step();
}

// ---- Messages -----------------------------------------------------------------------------------

/// Cancels a request that has not been answered yet.
void Server::cancel(const json &id) {
  auto open = open_->find(id.dump());
  if (open == open_->end())
    return;
  // The reply may remove the entry, so its callback is taken out first.
  Callback<> onCancel = std::move(open->second);
  replyTo(id).error({kRequestCancelled, "cancelled"});
  onCancel();
}

void Server::handle(const json &message) {
  auto method = message.find("method");
  json id = message.value("id", json());
  static const json none = json::object();
  auto found = message.find("params");
  const json &params = found == message.end() ? none : *found;
  if (method == message.end() || !method->is_string()) {
    if (message.contains("result") || message.contains("error"))
      return handleAnswer(id, message);
    return refuse(id, {kInvalidRequest, "the message has no method"});
  }
  std::string name = method->get<std::string>();
  if (message.contains("id")) {
    // The handler may drop its copy of the reply when it throws.
    Reply reply = replyTo(id);
    // From here on a request that is not answered at once can be cancelled.
    open_->try_emplace(id.dump());
    try {
      return handleRequest(reply, id, name, params);
    } catch (...) {
      return reply.error(problemOfParams());
    }
  }
  try {
    handleNotification(name, params);
  } catch (...) {
    RequestError problem = problemOfParams();
    if (problem.code == kInternalError)
      reportProblem(problem); // all others are the client's
  }
}

/// The client's answer to a request of the server.
void Server::handleAnswer(const json &id, const json &message) {
  auto asked = id.is_number_integer() ? asked_.find(id.get<int64_t>()) : asked_.end();
  if (asked == asked_.end())
    return;
  Callback<const json &> onAnswer = std::move(asked->second);
  asked_.erase(asked);
  onAnswer(message.value("result", json()));
}

/// The answer to a request about a document that has nothing of the kind.
static json nothingOf(const std::string &method) {
  if (method == "textDocument/diagnostic")
    return {{"kind", "full"}, {"items", json::array()}};
  return nullptr;
}

void Server::handleRequest(const Reply &reply, const json &id, const std::string &method,
                           const json &params) {
  // It was cancelled while it waited.
  if (inbox_.takeCancelled(id))
    return reply.error({kRequestCancelled, "cancelled"});
  if (method == "initialize") {
    if (state_ != State::Fresh)
      return reply.error({kInvalidRequest, "the server is initialized already"});
    return reply.result(initialize(params));
  }
  if (state_ == State::Fresh)
    return reply.error({kServerNotInitialized, "`initialize` comes first"});
  if (state_ == State::ShutDown)
    return reply.error({kInvalidRequest, "the server was shut down"});
  if (method == "shutdown") {
    state_ = State::ShutDown;
    exitCode_ = 0;
    return reply.result(nullptr);
  }
  if (DeferredHandler handler = deferredHandlerOf(method))
    return handler(*this, params, reply);
  if (RequestHandler handler = handlerOf(method)) {
    if (irDocuments.isAsked(params))
      return reply.result(nothingOf(method));
    if (readsProject(method))
      return answerWithProject(*this, reply, handler, params);
    return reply.result(handler(session, params));
  }
  reply.error({kMethodNotFound, "no method `" + method + "`"});
}

void Server::handleNotification(const std::string &method, const json &params) {
  if (method == "exit")
    return stop();
  if (state_ != State::Running)
    return;
  if (NotificationHandler handler = notificationHandlerOf(method))
    handler(*this, params);
}

json Server::initialize(const json &params) {
  state_ = State::Running;
  session.client = abilitiesOf(params.value("capabilities", json::object()));
  setSettings(*this, params.value("initializationOptions", json()));
  setFolders(session, params);
  return {{"capabilities", serverCapabilities(session.client)},
          {"serverInfo", {{"name", "ptl-lsp"}, {"version", PTL_VERSION}}}};
}

} // namespace ptl::lsp

#include "lsp/server/server.h"

#include "frontend/base/install.h"
#include "lsp/server/capabilities.h"
#include "lsp/server/deferred.h"
#include "lsp/server/diagnostics.h"
#include "lsp/server/handlers.h"

#include <filesystem>
#include <unistd.h>

namespace ptl::lsp {

// ---- Tables -------------------------------------------------------------------------------------

RequestHandler handlerOf(const std::string &method) {
  static const std::map<std::string, RequestHandler, std::less<>> handlers = {
#define METHOD(NAME, HANDLER, CAPABILITY, OPTIONS) {NAME, HANDLER},
#include "lsp/server/methods.def"
#undef METHOD
  };
  auto found = handlers.find(method);
  return found == handlers.end() ? nullptr : found->second;
}

static DeferredHandler deferredHandlerOf(const std::string &method) {
  static const std::map<std::string, DeferredHandler, std::less<>> handlers = {
#define METHOD(NAME, HANDLER, CAPABILITY, OPTIONS) {NAME, HANDLER},
#include "lsp/server/deferred_methods.def"
#undef METHOD
  };
  auto found = handlers.find(method);
  return found == handlers.end() ? nullptr : found->second;
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

// ---- The queue ----------------------------------------------------------------------------------

Server::Server(uv_loop_t *loop, CheckOptions options)
    : session{ide::Workspace(std::move(options)), {}, {}},
      connection(loop, {[this](std::string_view bytes) { onBytes(bytes); }, reportProblem},
                 {[this] { onEnd(); }, reportProblem}),
      worker(loop, executableFolder() + "ptl-lsp-worker", standardLibraryFolder()),
      background(loop), feasibility(*this), loop_(loop),
      watcher_(loop, {[this](const std::string &path) { fileChanged(path); }, reportProblem}),
      project_(loop, session) {
  uv_idle_init(loop, &idle_);
  idle_.data = this;
  progress_ = std::make_unique<Progress>(*this);
  project_.onWork = {[this] { wake(); }, reportProblem};
  auto onProgress = [this](const std::string &method, const std::string &step) {
    // No request of the client waits for it, so its progress is not reported.
    if (method == "feasibility")
      return;
    if (method.empty())
      progress_->end();
    else if (step.empty())
      progress_->begin("PTL: " + method);
    else
      progress_->step(step);
  };
  worker.onProgress = {onProgress, reportProblem};
}

/// Replies that are dropped from now on send no answer.
Server::~Server() { open_.reset(); }

void Server::wake() {
  // An idle handle runs its callback whenever the loop has nothing to read, until nothing is left.
  uv_idle_start(&idle_, Entry([](uv_idle_t *idle) {
    if (!static_cast<Server *>(idle->data)->step())
      uv_idle_stop(idle);
  }));
}

void Server::onBytes(std::string_view bytes) {
  frames_.feed(bytes);
  std::string error;
  auto reportBroken = [&] {
    if (!error.empty())
      refuse(nullptr, {kParseError, error});
  };
  while (auto message = frames_.next(error)) {
    reportBroken();
    receive(*message);
  }
  reportBroken();
  // Everything that is here is answered before the loop looks for more.
  while (!isStopped_ && !queue_.empty())
    step();
  wake();
}

void Server::onEnd() {
  // Requests that came before the client went are still answered, because it may only have closed
  // its side of the connection.
  while (!isStopped_ && !queue_.empty())
    step();
  if (!isStopped_) {
    background.finish();
    project_.finish();
  }
  isStopped_ = true;
  connection.stop();
  worker.stop();
  uv_stop(loop_);
}

/// How deep the arrays and objects of a JSON text are nested.
static size_t nestingOf(std::string_view text) {
  size_t depth = 0, deepest = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isString) {
      // The character behind a backslash does not end the string.
      i += c == '\\';
      isString = c != '"';
    } else if (c == '"') {
      isString = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (depth > 0 && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return deepest;
}

void Server::receive(const std::string &text) {
  constexpr size_t deepest = 500; // levels: copying and printing go down as deep as a value
  if (nestingOf(text) > deepest)
    return refuse(nullptr, {kInvalidRequest, "the message is nested deeper than " +
                                                 std::to_string(deepest) + " levels"});
  json message = json::parse(text, nullptr, false);
  if (message.is_discarded())
    return refuse(nullptr, {kParseError, "the message is not JSON"});
  // A batch is its messages, one after the other.
  if (message.is_array()) {
    if (message.empty())
      return refuse(nullptr, {kInvalidRequest, "an empty batch"});
    for (const json &each : message)
      each.is_object() ? queue_.push_back(each)
                       : refuse(nullptr, {kInvalidRequest, "not a message"});
    return;
  }
  if (!message.is_object())
    return refuse(nullptr, {kInvalidRequest, "the message is not an object"});
  auto method = message.find("method");
  if (method != message.end() && *method == "$/cancelRequest" && message.contains("params") &&
      message["params"].is_object())
    return cancel(message["params"].value("id", json()));
  queue_.push_back(std::move(message));
}

void Server::cancel(const json &id) {
  for (const json &message : queue_)
    if (message.contains("method") && message.value("id", json()) == id)
      // A waiting request is answered as cancelled when its turn comes.
      cancelled_.insert(id.dump());
  auto open = open_->find(id.dump());
  if (open == open_->end() || cancelled_.contains(id.dump()))
    return;
  Callback<> onCancel = std::move(open->second);
  replyTo(id).error({kRequestCancelled, "cancelled"});
  onCancel();
}

/// One message, or one piece of the work that waits; false when there is nothing to do. What fails
/// is done with, and the next comes.
bool Server::step() {
  bool isMore = true;
  guarded([&] { isMore = takeStep(); });
  return isMore;
}

bool Server::takeStep() {
  if (isStopped_)
    return false;
  if (!queue_.empty()) {
    json message = std::move(queue_.front());
    queue_.pop_front();
    handle(message);
    return true;
  }
  // Work that a request waits for goes before work that no request waits for.
  return project_.step() || publishDue();
}

// ---- Messages -----------------------------------------------------------------------------------

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
    // Whoever handles it may drop its copy when it throws.
    Reply reply = replyTo(id);
    // A request that nobody answers at once can be cancelled from here on.
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
      reportProblem(problem); // other problems are the client's
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

/// The answer of a request that has nothing to say.
static json nothingOf(const std::string &method) {
  if (method == "textDocument/diagnostic")
    return {{"kind", "full"}, {"items", json::array()}};
  return nullptr;
}

/// Dumped IR is no PTL: hover and definition know what to do with it, other features do not.
bool Server::isAboutIr(const json &params) const {
  auto document = params.find("textDocument");
  return document != params.end() && document->is_object() &&
         isIrDocument(document->value("uri", ""));
}

void Server::handleRequest(const Reply &reply, const json &id, const std::string &method,
                           const json &params) {
  // It was cancelled while it waited.
  if (cancelled_.erase(id.dump()) > 0)
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
    if (isAboutIr(params))
      return reply.result(nothingOf(method));
    if (readsProject(method))
      return answerWithProject(reply, handler, params);
    return reply.result(handler(session, params));
  }
  reply.error({kMethodNotFound, "no method `" + method + "`"});
}

void Server::handleNotification(const std::string &method, const json &params) {
  if (method == "exit") {
    isStopped_ = true;
    worker.stop();
    return uv_stop(loop_);
  }
  if (state_ != State::Running)
    return;
  if (method == "initialized")
    initialized();
  else if (method == "textDocument/didOpen")
    didOpen(params);
  else if (method == "textDocument/didChange")
    didChange(params);
  else if (method == "textDocument/didClose")
    didClose(params);
  else if (method == "textDocument/didSave")
    didSave(params);
  else if (method == "workspace/didChangeConfiguration")
    session.client.configuration ? askSettings() : setSettings(params.value("settings", json()));
  else if (method == "workspace/didChangeWatchedFiles")
    filesChanged(params);
  else if (method == "workspace/didChangeWorkspaceFolders")
    foldersChanged(params.at("event"));
  else if (method == "ptl/virtualDocumentOpened")
    openPreview(*this, params);
  else if (method == "ptl/virtualDocumentClosed")
    closePreview(*this, params);
}

// ---- The life of a session ----------------------------------------------------------------------

json Server::initialize(const json &params) {
  state_ = State::Running;
  session.client = abilitiesOf(params.value("capabilities", json::object()));
  setSettings(params.value("initializationOptions", json()));
  json folders = params.value("workspaceFolders", json());
  if (folders.is_array())
    for (const json &folder : folders)
      addFolder(Session::pathOfUri(folder.at("uri").get<std::string>()));
  else if (json root = params.value("rootUri", json()); root.is_string())
    addFolder(Session::pathOfUri(root.get<std::string>()));
  return {{"capabilities", serverCapabilities(session.client)},
          {"serverInfo", {{"name", "ptl-lsp"}, {"version", PTL_VERSION}}}};
}

void Server::initialized() {
  if (session.client.configuration)
    askSettings();
  if (!session.client.dynamicWatching)
    return;
  json watchers = {{{"globPattern", "**/*.ptl"}}};
  request("client/registerCapability", {{"registrations",
                                         {{{"id", "watch"},
                                           {"method", "workspace/didChangeWatchedFiles"},
                                           {"registerOptions", {{"watchers", watchers}}}}}}});
}

void Server::addFolder(const std::string &path) { session.folders.push_back(path); }

void Server::foldersChanged(const json &event) {
  for (const json &folder : event.value("removed", json::array()))
    std::erase(session.folders, Session::pathOfUri(folder.at("uri").get<std::string>()));
  for (const json &folder : event.value("added", json::array()))
    addFolder(Session::pathOfUri(folder.at("uri").get<std::string>()));
}

void Server::askSettings() {
  request("workspace/configuration", {{"items", {{{"section", "ptl"}}}}},
          {[this](const json &values) {
             if (values.is_array() && !values.empty())
               setSettings(values[0]);
           },
           reportProblem});
}

void Server::setSettings(const json &given) {
  if (!given.is_object())
    return;
  auto nested = given.find("ptl");
  const json &settings = nested != given.end() && nested->is_object() ? *nested : given;
  // The options are changed in a copy, because setting them resolves all imports again.
  CheckOptions options = session.workspace.options();
  Settings before = session.settings;
  applySettings(settings, session.settings, options);
  bool changed = options.importPaths != session.workspace.options().importPaths ||
                 options.stdPath != session.workspace.options().stdPath ||
                 options.defines != session.workspace.options().defines;
  if (before.machines != session.settings.machines) {
    readMachines(options);
    changed = true;
  }
  if (changed)
    session.workspace.setOptions(std::move(options));
  if (changed || before.targets != session.settings.targets ||
      before.bindings != session.settings.bindings || before.sizes != session.settings.sizes)
    feasibility.settingsChanged();
  refresh();
}

void Server::refresh() {
  ++session.edition;
  for (ide::File *file : session.workspace.openFiles())
    unpublished_.try_emplace(file->path(), uv_now(loop_));
  refreshDue_ = true;
  wake();
}

json Server::status() const {
  long pages = 0, resident = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2)
      resident = 0;
    std::fclose(file);
  }
  json documents = json::array();
  for (const auto &[path, file] : session.workspace.files())
    documents.push_back({{"uri", Session::uri(path)},
                         {"open", file->isOpen},
                         {"lines", file->document.lineCount()},
                         {"chunks", file->document.places().size()}});
  return {{"version", PTL_VERSION},
          {"memory", resident * ::sysconf(_SC_PAGESIZE)},
          {"worker", worker.status()},
          {"feasibility",
           {{"pending", feasibility.pending()}, {"changed", feasibility.pendingChanges()}}},
          {"unpublished", unpublished_.size()},
          {"held", session.typing.holding().size()},
          {"documents", std::move(documents)}};
}

void Server::compilerFailed(const std::string &path, const std::string &entry,
                            const std::string &message, const json &request) {
  std::string file = writeCrashFile(entry, request);
  std::string text = "the compiler failed on `" + entry + "`: " + message +
                     (file.empty() ? "" : "; the request is in `" + file + "`, please report it");
  session.failures.push_back({path, entry, text});
  notify("ptl/serverStatus", {{"health", "warning"}, {"message", text}});
  unpublished_.try_emplace(path, uv_now(loop_));
  wake();
}

// ---- Documents ----------------------------------------------------------------------------------

void Server::onEdited(ide::File &file) {
  file.editedAt = uv_now(loop_);
  std::erase_if(session.failures,
                [&](const CompilerFailure &failure) { return failure.path == file.path(); });
  unpublished_.try_emplace(file.path(), uv_now(loop_));
  for (const ide::File *imported : file.imports)
    watcher_.watchFolderOf(imported->path());
  importedChanged(file.path());
}

void Server::diagnosticsChanged(const std::string &path) {
  if (session.client.pullsDiagnostics && session.client.refreshesDiagnostics)
    request("workspace/diagnostic/refresh", nullptr);
  unpublished_.try_emplace(path, uv_now(loop_));
  wake();
}

void Server::importedChanged(const std::string &path) {
  ++session.edition;
  // Files that import it may have other diagnostics now.
  for (ide::File *other : session.workspace.openFiles())
    if (session.workspace.hasStale(*other))
      unpublished_.try_emplace(other->path(), uv_now(loop_));
  if (const ide::File *file = session.workspace.find(path)) {
    previewsChanged(*this, *file);
    feasibility.edited(*file);
  }
}

static bool isIr(const std::string &languageId, const std::string &uri) {
  return languageId == "mlir" || uri.ends_with(".mlir") || uri.starts_with("ptl-ir:");
}

void Server::didOpen(const json &params) {
  const json &document = params.at("textDocument");
  std::string uri = document.at("uri").get<std::string>();
  if (isIr(document.value("languageId", ""), uri)) {
    irDocuments_[uri] = document.at("text").get<std::string>();
    return;
  }
  std::string path = Session::pathOfUri(uri);
  ide::File &file = session.workspace.open(path, document.at("text").get<std::string>(),
                                           document.value("version", int64_t(0)));
  watcher_.watchFolderOf(file.path());
  for (const auto &[known, any] : session.workspace.files())
    watcher_.watchFolderOf(known);
  onEdited(file);
}

/// Dumped IR is looked at, hardly edited: a plain text does.
void Server::editIrDocument(std::string &text, const json &changes) {
  for (const json &change : changes) {
    std::string replacement = change.at("text").get<std::string>();
    auto where = change.find("range");
    if (where == change.end() || !where->is_object()) {
      text = std::move(replacement);
      continue;
    }
    auto offset = [&](const json &position) {
      size_t at = 0;
      for (int64_t line = position.at("line").get<int64_t>(); line > 0 && at != text.npos; --line)
        at = std::min(text.find('\n', at), text.size() - 1) + 1;
      return std::min(at + position.at("character").get<size_t>(), text.size());
    };
    size_t begin = offset(where->at("start")), end = std::max(begin, offset(where->at("end")));
    // The end may lie before the start in a broken message.
    text.replace(begin, end - begin, replacement);
  }
}

void Server::didChange(const json &params) {
  const json &document = params.at("textDocument");
  std::string uri = document.at("uri").get<std::string>();
  if (auto ir = irDocuments_.find(uri); ir != irDocuments_.end())
    return editIrDocument(ir->second, params.at("contentChanges"));
  ide::File &file = session.fileOfUri(uri);
  if (auto version = document.find("version"); version != document.end() && version->is_number())
    file.version = version->get<int64_t>();
  const json &changes = params.at("contentChanges");
  // Whoever types changes one place; renaming and formatting change many.
  bool isOne = changes.size() == 1 && !session.settings.errorsWhileTyping;
  bool isTyped = isOne && changes[0].value("range", json()).is_object();
  if (!isTyped)
    session.typing.forget();
  // What was kept back because of another place is said now.
  if (!session.typing.isAt(file))
    for (const std::string &path : session.typing.holding())
      unpublished_.try_emplace(path, uv_now(loop_));
  for (const json &change : changes) {
    ide::Range range{0, file.document.size()};
    if (auto where = change.find("range"); where != change.end() && where->is_object())
      range = session.range(file, *where);
    std::string text = change.at("text").get<std::string>();
    if (isTyped)
      session.typing.begin(file, range, text);
    session.workspace.edit(file, range, text);
    if (isTyped)
      session.typing.end(file, range, text);
  }
  if (isTyped) {
    typedAt_ = uv_now(loop_);
    restLater(Typing::kRest);
  }
  onEdited(file);
}

void Server::didClose(const json &params) {
  if (irDocuments_.erase(params.at("textDocument").at("uri").get<std::string>()) > 0)
    return;
  ide::File &file = session.file(params);
  session.workspace.close(file.path());
  session.typing.closed(file.path());
  unpublished_.erase(file.path());
  // A closed file shows no diagnostics.
  if (published_.erase(file.path()) > 0)
    notify("textDocument/publishDiagnostics",
           {{"uri", Session::uri(file.path())}, {"diagnostics", json::array()}});
  importedChanged(file.path());
}

void Server::didSave(const json &params) {
  if (isIrDocument(params.at("textDocument").at("uri").get<std::string>()))
    return;
  ide::File &file = session.file(params);
  session.workspace.fileChanged(file.path());
  session.typing.forget();
  onEdited(file);
}

void Server::filesChanged(const json &params) {
  std::vector<std::string> paths;
  for (const json &change : params.at("changes")) {
    std::string path = Session::pathOfUri(change.at("uri").get<std::string>());
    if (isMachineFile(path))
      machineFilesChanged();
    else if (path.ends_with(".ptl"))
      paths.push_back(std::move(path));
  }
  readAgain(std::move(paths), true);
}

} // namespace ptl::lsp

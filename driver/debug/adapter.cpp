#include "driver/debug/adapter.h"

#include <algorithm>

namespace ptl::debug {

using namespace reference;

/// The run that the adapter is asked about.
class Adapter::Run : public Debugger {
public:
  Run(Adapter &adapter, Breakpoints &breakpoints) : Debugger(breakpoints), adapter_(adapter) {}

protected:
  Resume stopped(const Stopped &why, const RunView &view) override {
    static constexpr const char *names[] = {"entry", "step", "breakpoint", "exception", "pause"};
    Json body = {{"reason", names[static_cast<size_t>(why.reason)]},
                 {"threadId", 1},
                 {"allThreadsStopped", true}};
    adapter_.failure_ = why.reason == Reason::Failure ? why.text : "";
    if (why.reason == Reason::Failure) {
      body["description"] = "The test fails here";
      body["text"] = why.text;
      adapter_.output("stderr", why.text + "\n", why.at);
    } else if (!why.text.empty()) {
      adapter_.output("console",
                      "the condition of the breakpoint cannot be evaluated: " + why.text + "\n",
                      why.at);
    }
    adapter_.view_ = &view;
    adapter_.resume_.reset();
    adapter_.event("stopped", std::move(body));
    while (!adapter_.resume_)
      if (!adapter_.handleNext() || adapter_.hasLeft_)
        throw Quit();
    adapter_.view_ = nullptr;
    adapter_.opened_.clear();
    adapter_.parents_.clear();
    return *adapter_.resume_;
  }

  bool wantsPause() override {
    while (adapter_.channel_.hasInput())
      if (!adapter_.handleNext() || adapter_.hasLeft_)
        throw Quit();
    return std::exchange(adapter_.wantsPause_, false);
  }

private:
  Adapter &adapter_;
};

Adapter::Adapter(const Options &options, Channel &channel) : options_(options), channel_(channel) {}

Adapter::~Adapter() = default;

// ---- Messages ----------------------------------------------------------------------------------

void Adapter::answer(const Json &request, Json body) {
  Json response = {{"type", "response"},
                   {"request_seq", request.value("seq", 0)},
                   {"command", request.value("command", "")},
                   {"success", true}};
  if (!body.is_null())
    response["body"] = std::move(body);
  channel_.send(std::move(response));
}

void Adapter::refuse(const Json &request, const std::string &why) {
  channel_.send({{"type", "response"},
                 {"request_seq", request.value("seq", 0)},
                 {"command", request.value("command", "")},
                 {"success", false},
                 {"message", why},
                 {"body", {{"error", {{"id", 1}, {"format", why}, {"showUser", true}}}}}});
}

void Adapter::event(const char *name, Json body) {
  Json message = {{"type", "event"}, {"event", name}};
  if (!body.is_null())
    message["body"] = std::move(body);
  channel_.send(std::move(message));
}

Adapter::Json Adapter::sourceOf(Span span) const {
  const SourceFile &file = session_->sources().file(span.file);
  std::string path = canonicalPath(file.path());
  LineColumn begin = file.lineColumn(span.begin), end = file.lineColumn(span.end);
  return {{"source", {{"name", path.substr(path.rfind('/') + 1)}, {"path", path}}},
          {"line", begin.line},
          {"column", begin.column},
          {"endLine", end.line},
          {"endColumn", end.column}};
}

void Adapter::output(const char *category, const std::string &text, Span at) {
  Json body = {{"category", category}, {"output", text}};
  if (at.file != kNoFile) {
    Json place = sourceOf(at);
    for (const char *name : {"source", "line", "column"})
      body[name] = place[name];
  }
  event("output", std::move(body));
}

bool Adapter::handleNext() {
  std::optional<Json> message = channel_.next();
  if (!message)
    return false;
  try {
    handle(*message);
  } catch (const Json::exception &problem) {
    refuse(*message, std::string("the request does not follow the protocol: ") + problem.what());
  }
  return true;
}

ExitCode Adapter::serve() {
  while (!hasLeft_ && handleNext())
    // The client sets its breakpoints before it says that it has.
    if (isConfigured_ && run_ && !hasEnded_)
      run();
  return ExitCode::Fine;
}

static nlohmann::json capabilities() {
  nlohmann::json filter = {
      {"filter", "failures"},
      {"label", "Failed expectations and run-time errors"},
      {"description", "Stops where a test fails, and shows the values at that moment"},
      {"default", true}};
  return {{"supportsConfigurationDoneRequest", true},
          {"supportsConditionalBreakpoints", true},
          {"supportsHitConditionalBreakpoints", true},
          {"supportsEvaluateForHovers", true},
          {"supportsExceptionInfoRequest", true},
          {"supportsTerminateRequest", true},
          {"exceptionBreakpointFilters", nlohmann::json::array({filter})}};
}

void Adapter::handle(const Json &request) {
  std::string command = request.value("command", "");
  static const std::map<std::string, Resume> resumes = {{"continue", Resume::Continue},
                                                        {"next", Resume::Over},
                                                        {"stepIn", Resume::Into},
                                                        {"stepOut", Resume::Out}};
  static const std::map<std::string, void (Adapter::*)(const Json &)> handlers = {
      {"launch", &Adapter::launch},         {"setBreakpoints", &Adapter::setBreakpoints},
      {"stackTrace", &Adapter::stackTrace}, {"scopes", &Adapter::scopes},
      {"variables", &Adapter::variables},   {"evaluate", &Adapter::evaluateText}};
  if (auto handler = handlers.find(command); handler != handlers.end())
    return (this->*handler->second)(request);
  if (auto resume = resumes.find(command); resume != resumes.end()) {
    answer(request, command == "continue" ? Json{{"allThreadsContinued", true}} : Json());
    if (view_)
      resume_ = resume->second;
    return;
  }
  if (command == "initialize")
    return answer(request, capabilities());
  if (command == "threads")
    return answer(request,
                  {{"threads", Json::array({{{"id", 1}, {"name", "reference executor"}}})}});
  if (command == "exceptionInfo")
    return answer(request,
                  {{"exceptionId", "failure"}, {"description", failure_}, {"breakMode", "always"}});
  if (command == "setExceptionBreakpoints" && run_) {
    const Json filters = request.at("arguments").value("filters", Json::array());
    run_->stopsAtFailures = std::find(filters.begin(), filters.end(), "failures") != filters.end();
    return answer(request);
  }
  if (command == "configurationDone")
    isConfigured_ = true;
  else if (command == "pause")
    wantsPause_ = true;
  else if (command == "disconnect" || command == "terminate")
    hasLeft_ = true;
  else
    return refuse(request, "`" + command + "` is not supported");
  answer(request);
  if (command == "terminate")
    event("terminated");
}

// ---- A run -------------------------------------------------------------------------------------

/// The first error of what was checked.
static std::string errorText(Session &session) {
  for (const Diagnostic &diagnostic : session.diagnostics())
    if (diagnostic.severity == Severity::Error) {
      std::string place = session.sources().place(diagnostic.span);
      return (place.empty() ? "" : place + ": ") + diagnostic.message;
    }
  return "the file cannot be checked";
}

/// Why there is nothing to run; empty if there is.
std::string Adapter::load(const Json &arguments) {
  for (const Json &folder : arguments.value("importPaths", Json::array()))
    options_.add(OptionId::Include, folder.get<std::string>());
  for (const auto &[name, value] : arguments.value("defines", Json::object()).items())
    options_.add(OptionId::Define, name + "=" + value.dump());
  session_ = std::make_unique<Session>(options_);
  program_ = session_->check(arguments.at("program").get<std::string>());
  if (!program_ || session_->failed())
    return errorText(*session_);
  scenario_ = chooseScenario(*program_, session_->sources(), arguments.value("test", ""),
                             arguments.value("dims", std::map<std::string, int64_t>()),
                             arguments.value("samples", 25u), arguments.value("seed", uint64_t(1)));
  if (!scenario_.problem.empty())
    return scenario_.problem;
  breakpoints_ = std::make_unique<Breakpoints>(*program_, session_->sources());
  run_ = std::make_unique<Run>(*this, *breakpoints_);
  run_->stopsAtEntry = arguments.value("stopOnEntry", false);
  return {};
}

void Adapter::launch(const Json &request) {
  if (session_)
    return refuse(request, "one program is debugged at a time");
  if (std::string problem = load(request.at("arguments")); !problem.empty()) {
    hasEnded_ = true;
    return refuse(request, problem);
  }
  answer(request);
  event("initialized");
}

void Adapter::run() {
  hasEnded_ = true; // It runs once.
  RunOptions options;
  options.observer = run_.get();
  options.print = [&](const std::string &line) { output("stdout", line + "\n"); };
  for (const auto &[name, value] : scenario_.dims)
    options.dims[name] = value;
  output("console", "`" + scenario_.block->name + "` on the reference executor" +
                        (scenario_.note.empty() ? "" : ": " + scenario_.note) + "\n");
  try {
    RunResult result = runBody(*program_, session_->sources(), *scenario_.block, options);
    bool hasPassed = result.ok() && result.failed.empty();
    output("console", hasPassed ? "passed\n" : "failed\n");
    event("exited",
          {{"exitCode", static_cast<int>(hasPassed ? ExitCode::Fine : ExitCode::ProgramStopped)}});
  } catch (const Quit &) {
    view_ = nullptr;
  }
  event("terminated");
}

void Adapter::setBreakpoints(const Json &request) {
  const Json &arguments = request.at("arguments");
  std::vector<Breakpoints::Wanted> wanted;
  for (const Json &each : arguments.value("breakpoints", Json::array())) {
    Breakpoints::Wanted one{each.at("line").get<uint32_t>(), each.value("condition", ""), 0};
    one.hits = std::atoll(each.value("hitCondition", "0").c_str());
    wanted.push_back(std::move(one));
  }
  Json all = Json::array();
  if (breakpoints_)
    for (const Breakpoint &set : breakpoints_->set(arguments.at("source").at("path"), wanted)) {
      Json one = {{"verified", set.isPossible}, {"line", set.line}};
      if (set.isPossible)
        one["column"] = set.column;
      else
        one["message"] = "nothing of this test is executed at or behind this line";
      all.push_back(std::move(one));
    }
  answer(request, {{"breakpoints", std::move(all)}});
}

} // namespace ptl::debug

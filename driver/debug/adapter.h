// `ptlc debug --dap`: the Debug Adapter Protocol for editors. It is single-threaded: requests are
// answered before the run, while it is stopped, and at intervals while it runs.
#pragma once

#include "driver/debug/channel.h"
#include "driver/debug/debugger.h"
#include "driver/debug/scenario.h"
#include "driver/debug/values.h"
#include "driver/session.h"

namespace ptl::debug {

class Adapter {
public:
  Adapter(const Options &options, Channel &channel);
  ~Adapter();

  /// Serves until the client disconnects.
  ExitCode serve();

private:
  using Json = nlohmann::json;
  class Run;

  bool handleNext();
  void handle(const Json &request);
  void answer(const Json &request, Json body = nullptr);
  void refuse(const Json &request, const std::string &why);
  void event(const char *name, Json body = nullptr);
  void output(const char *category, const std::string &text, Span at = kNoSpan);

  void launch(const Json &request);
  std::string load(const Json &arguments);
  void run();
  void setBreakpoints(const Json &request);
  void stackTrace(const Json &request);
  void scopes(const Json &request);
  void variables(const Json &request);
  void evaluateText(const Json &request);

  Json sourceOf(Span span) const;
  Json variable(Shown shown);
  std::optional<reference::ActiveCall> callOf(int64_t frame) const;

  Options options_;
  Channel &channel_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<CheckedProgram> program_;
  std::unique_ptr<Breakpoints> breakpoints_;
  std::unique_ptr<Run> run_;
  Scenario scenario_;
  bool isConfigured_ = false, hasEnded_ = false, hasLeft_ = false;

  // The state of the run while it is stopped; otherwise null.
  const reference::RunView *view_ = nullptr;
  std::optional<Resume> resume_;
  bool wantsPause_ = false;
  std::string failure_;
  std::vector<std::vector<Shown>> opened_; ///< by `variablesReference`, counted from 1
  std::vector<Shown> parents_;             ///< values with parts, numbered after those
};

} // namespace ptl::debug

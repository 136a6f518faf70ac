// Decides at each step of a run whether to stop there. A derived class shows the state and asks the
// user what to do next.
#pragma once

#include "driver/debug/breakpoints.h"

namespace ptl::debug {

enum class Resume : uint8_t {
  Continue,
  Over, ///< to the next statement of this call, or of one that called it
  Into, ///< to the very next statement
  Out,  ///< to the next statement of a call that called this one
};

enum class Reason : uint8_t { Entry, Step, Breakpoint, Failure, Pause };

struct Stopped {
  Reason reason = Reason::Step;
  std::string
      text; ///< of a failure: the message; of a breakpoint: why its condition cannot be evaluated
  Span at;
};

/// Thrown to end the run; it passes through the interpreter.
struct Quit {};

class Debugger : public reference::Observer {
public:
  explicit Debugger(Breakpoints &breakpoints) : breakpoints_(breakpoints) {}

  void onStep(const reference::Step &step, const reference::RunView &view) final;
  void onFailure(Span at, const std::string &message, const reference::RunView &view) final;

  bool stopsAtEntry = false;
  bool stopsAtFailures = true;

protected:
  /// Called when the run stops; it continues when this returns. May throw `Quit`.
  virtual Resume stopped(const Stopped &why, const reference::RunView &view) = 0;
  /// Called at intervals while the run continues; true stops it. May throw `Quit`.
  virtual bool wantsPause() { return false; }

private:
  std::optional<Stopped> reasonToStop(const reference::Step &step, const reference::RunView &view);
  std::optional<Stopped> atBreakpoint(const reference::Step &step, const reference::RunView &view);
  void stop(const Stopped &why, const reference::RunView &view);

  Breakpoints &breakpoints_;
  Resume resume_ = Resume::Continue;
  size_t depth_ = 0; ///< of the calls where the run was resumed
  uint32_t steps_ = 0;
  bool hasBegun_ = false;
};

} // namespace ptl::debug

// Nothing that is thrown leaves a step of the loop.
//
// libuv is C: an exception that reaches it ends the process. So the functions that libuv is given
// are each an `Entry`, and what the server itself keeps to be called later (when the worker
// replies, a thread has ended, a time has come, a file has changed) is a `Callback`. Calling either
// cannot throw, and a `Callback` cannot be made without saying who is told when it fails, which for
// what answers a request is `Reply::onProblem`. tests/lint/entries.py looks that libuv gets nothing
// else.
#pragma once

#include "lsp/server/request_error.h"

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace ptl::lsp {

/// Told of what was thrown.
using OnProblem = std::function<void(const RequestError &)>;

/// The exception that is being handled, as an answer. Only called within `catch`.
RequestError currentProblem();
/// The same where the parameters of a request are read: what they lack is the client's fault.
RequestError problemOfParams();
/// The same where an answer of the worker is read: what it lacks is a request that failed, as the
/// worker is another program, which may have been replaced or may die.
RequestError problemOfAnswer();
/// For what no request waits for: writes it to the log, which is the standard error stream.
void reportProblem(const RequestError &problem);
/// Gives the exception that is being handled to `onProblem`, or to the log, as `asProblem` reads it.
void tellProblem(const OnProblem &onProblem, RequestError (*asProblem)() = currentProblem) noexcept;

/// How an exception is read that a call with such arguments throws; specialised for arguments that
/// come from outside.
template <typename... Args> inline constexpr RequestError (*problemOfCall)() = currentProblem;

/// Runs `action` and tells what it throws.
template <typename Action>
void guarded(const Action &action, const OnProblem &onProblem = reportProblem) noexcept {
  try {
    action();
  } catch (...) {
    tellProblem(onProblem);
  }
}

/// A function that is kept to be called later; copies are cheap and the same.
template <typename... Args> class Callback {
public:
  Callback() = default;
  Callback(std::nullptr_t) {}
  /// `onProblem` gets what `action` throws, or why it will not be called (`fail`).
  template <typename Action>
    requires std::is_invocable_v<const Action &, Args...>
  Callback(Action action, OnProblem onProblem)
      : parts_(std::make_shared<const Parts>(Parts{std::move(action), std::move(onProblem)})) {}

  void operator()(Args... args) const noexcept {
    if (!parts_)
      return;
    // What is called may drop this.
    std::shared_ptr<const Parts> parts = parts_;
    try {
      parts->action(std::forward<Args>(args)...);
    } catch (...) {
      tellProblem(parts->onProblem, problemOfCall<Args...>);
    }
  }
  /// In place of the call: there is nothing to call it with.
  void fail(const RequestError &problem) const noexcept {
    if (!parts_)
      return;
    std::shared_ptr<const Parts> parts = parts_;
    guarded([&] { parts->onProblem(problem); });
  }
  explicit operator bool() const { return parts_ != nullptr; }

private:
  struct Parts {
    std::function<void(Args...)> action;
    OnProblem onProblem;
  };
  std::shared_ptr<const Parts> parts_;
};

/// What libuv is given for a function without captures.
template <typename Action> class Entry {
public:
  explicit constexpr Entry(Action) {}
  template <typename... Args> using Function = void (*)(Args...);
  template <typename... Args> operator Function<Args...>() const {
    return [](Args... args) noexcept { guarded([&] { Action()(args...); }); };
  }
};

} // namespace ptl::lsp

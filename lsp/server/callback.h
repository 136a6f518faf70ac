// Keeps exceptions inside the steps of the loop.
//
// libuv is C, so an exception that reaches it ends the process. Therefore every function that is
// passed to libuv is an `Entry`, and every function that the server keeps to call later (when the
// worker replies, a thread has ended, a timer fires, a file has changed) is a `Callback`. Calling
// either cannot throw. A `Callback` needs a receiver for its errors; for callbacks that answer a
// request this is `Reply::onProblem`. tests/lint/entries.py checks that libuv gets nothing else.
#pragma once

#include "lsp/server/request_error.h"

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace ptl::lsp {

/// Receives the exceptions of a callback.
using OnProblem = std::function<void(const RequestError &)>;

/// The exception that is being handled, as an answer. Call it only within `catch`.
RequestError currentProblem();
/// The same while the parameters of a request are read: missing members are the client's error.
RequestError problemOfParams();
/// The same where an answer of the worker is read. Missing members mean that the request failed,
/// since the worker is another program, which may have been replaced or may die.
RequestError problemOfAnswer();
/// Handles an error that no request waits for: writes it to the log, which is the standard error
/// stream.
void reportProblem(const RequestError &problem);
/// Passes the exception that is being handled to `onProblem`, or to the log, after `asProblem` has
/// converted it.
void passProblem(const OnProblem &onProblem, RequestError (*asProblem)() = currentProblem) noexcept;

/// Converts exceptions of callbacks with such arguments; specialised for arguments that come from
/// outside.
template <typename... Args> inline constexpr RequestError (*problemOfCall)() = currentProblem;

/// Runs `action` and reports the exceptions that it throws.
template <typename Action>
void guarded(const Action &action, const OnProblem &onProblem = reportProblem) noexcept {
  try {
    action();
  } catch (...) {
    passProblem(onProblem);
  }
}

/// A function that is kept to be called later. Copies are cheap and share the function.
template <typename... Args> class Callback {
public:
  Callback() = default;
  Callback(std::nullptr_t) {}
  /// `onProblem` receives the exceptions of `action`, or the reason why it will not be called
  /// (`fail`).
  template <typename Action>
    requires std::is_invocable_v<const Action &, Args...>
  Callback(Action action, OnProblem onProblem)
      : parts_(std::make_shared<const Parts>(Parts{std::move(action), std::move(onProblem)})) {}

  void operator()(Args... args) const noexcept {
    if (!parts_)
      return;
    // A copy, because the function may destroy this callback.
    std::shared_ptr<const Parts> parts = parts_;
    try {
      parts->action(std::forward<Args>(args)...);
    } catch (...) {
      passProblem(parts->onProblem, problemOfCall<Args...>);
    }
  }
  /// Replaces the call when there is nothing to call the function with.
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

/// Wraps a function without captures for libuv.
template <typename Action> class Entry {
public:
  explicit constexpr Entry(Action) {}
  template <typename... Args> using Function = void (*)(Args...);
  template <typename... Args> operator Function<Args...>() const {
    return [](Args... args) noexcept { guarded([&] { Action()(args...); }); };
  }
};

} // namespace ptl::lsp

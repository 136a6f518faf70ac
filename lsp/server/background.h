// Runs pure functions on libuv's threads, outside the loop, if they take longer than a keystroke
// may wait.
#pragma once

#include "lsp/server/callback.h"

#include <uv.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace ptl::lsp {

/// A lane of background work. Results are delivered on the loop's thread, in the order in which the
/// work was started, however long each piece took. Only the loop's thread calls the members.
///
/// The work runs on another thread. It may read what it owns, and shared objects that never change:
/// the texts and trees of a copied `ide::Document`, but not their caches (`Chunk::memo`).
class Background {
  struct Job;

public:
  explicit Background(uv_loop_t *loop) : loop_(loop) {}
  /// Running work continues, but its results are discarded.
  ~Background();
  Background(const Background &) = delete;

  /// Long work asks this between its steps; true once the result is not wanted any more.
  class Stop {
  public:
    bool operator()() const { return flag_->load(std::memory_order_relaxed); }

  private:
    friend Background;
    explicit Stop(std::shared_ptr<std::atomic<bool>> flag) : flag_(std::move(flag)) {}
    std::shared_ptr<std::atomic<bool>> flag_;
  };
  /// Cancels one piece of work, so that its result is not delivered. It has no effect after the
  /// result has been delivered.
  class Handle {
  public:
    void cancel();

  private:
    friend Background;
    std::weak_ptr<Job> job_;
  };

  /// Runs `work` and passes its result to `then`. If `work` throws, `then` gets the error instead.
  template <typename Result>
  Handle run(std::function<Result(const Stop &)> work, Callback<Result> then) {
    auto result = std::make_shared<std::optional<Result>>();
    Callback<> onEnd([then, result] { then(std::move(**result)); },
                     [then](const RequestError &problem) { then.fail(problem); });
    return start([work = std::move(work), result](const Stop &stop) { *result = work(stop); },
                 std::move(onEnd));
  }
  /// Waits for all work, and delivers the results.
  void finish();
  bool isIdle() const { return jobs_.empty(); }

private:
  struct Job {
    uv_work_t request;
    std::function<void(const Stop &)> work;
    Callback<> then;
    std::optional<RequestError> problem; ///< what `work` threw
    std::shared_ptr<std::atomic<bool>> stop = std::make_shared<std::atomic<bool>>(false);
    Background *lane = nullptr;  ///< null when that is gone
    std::shared_ptr<Job> itself; ///< until libuv releases it
    std::mutex mutex;
    std::condition_variable ended;
    bool hasEnded = false; ///< `work` will not run any more
  };

  Handle start(std::function<void(const Stop &)> work, Callback<> then);
  void deliver();

  uv_loop_t *loop_;
  std::deque<std::shared_ptr<Job>> jobs_; ///< jobs whose results have not been delivered
};

} // namespace ptl::lsp

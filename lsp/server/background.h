// Work beside the loop, on libuv's threads: for pure functions that take longer than a keystroke
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

/// A lane of work. Its results come on the loop's thread, in the order in which the work was
/// given, however long each took. All members are for the loop's thread alone.
///
/// Work runs on another thread. It owns what it reads, or shares what nobody changes any more: the
/// texts and trees of a copied `ide::Document`, not what is kept with them (`Chunk::memo`).
class Background {
  struct Job;

public:
  explicit Background(uv_loop_t *loop) : loop_(loop) {}
  /// What still runs goes on by itself; its results go nowhere.
  ~Background();
  Background(const Background &) = delete;

  /// Asked by long work between its steps: nobody wants the result any more.
  class Stop {
  public:
    bool operator()() const { return flag_->load(std::memory_order_relaxed); }

  private:
    friend Background;
    explicit Stop(std::shared_ptr<std::atomic<bool>> flag) : flag_(std::move(flag)) {}
    std::shared_ptr<std::atomic<bool>> flag_;
  };
  /// One piece of work, to cancel it: its result does not come then. Harmless when it has come.
  class Handle {
  public:
    void cancel();

  private:
    friend Background;
    std::weak_ptr<Job> job_;
  };

  /// Runs `work` and gives its result to `then`, which is told what `work` throws in its place.
  template <typename Result>
  Handle run(std::function<Result(const Stop &)> work, Callback<Result> then) {
    auto result = std::make_shared<std::optional<Result>>();
    Callback<> onEnd([then, result] { then(std::move(**result)); },
                     [then](const RequestError &problem) { then.fail(problem); });
    return start([work = std::move(work), result](const Stop &stop) { *result = work(stop); },
                 std::move(onEnd));
  }
  /// Waits for everything, and gives the results.
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
    std::shared_ptr<Job> itself; ///< until libuv has done with it
    std::mutex mutex;
    std::condition_variable ended;
    bool hasEnded = false; ///< `work` will not run any more
  };

  Handle start(std::function<void(const Stop &)> work, Callback<> then);
  void deliver();

  uv_loop_t *loop_;
  std::deque<std::shared_ptr<Job>> jobs_; ///< whose results have not come
};

} // namespace ptl::lsp

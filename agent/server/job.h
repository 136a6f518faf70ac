// A call that a worker process answers.
#pragma once

#include "agent/tool_table.h"

#include <uv.h>

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>

namespace ptl::agent {

/// What the owner of a job hears of it: progress any number of times, then one answer, unless it cancels.
struct JobListener {
  std::function<void(const Json &progress)> onProgress;
  /// The message of the worker (`Answer::take`); null, with the reason, where it gave none.
  std::function<void(Json answer, const std::string &problem)> onAnswer;
};

/// The workers of a server: as many at once as there are processors, the others wait in the order in which they
/// came. A worker that takes longer than the limit is ended.
class Jobs {
public:
  using Id = uint64_t;
  static constexpr uint64_t kMostMilliseconds = 10 * 60 * 1000;

  Jobs(uv_loop_t *loop, size_t mostAtOnce) : loop_(loop), mostAtOnce_(mostAtOnce) {}
  ~Jobs();
  Jobs(const Jobs &) = delete;
  Jobs &operator=(const Jobs &) = delete;

  Id start(Json request, JobListener listener);
  /// Ends the worker; its listener hears nothing more.
  void cancel(Id id);
  void cancelAll();
  bool isIdle() const { return running_.empty() && waiting_.empty(); }

private:
  struct Job;
  void startNext();
  void spawn(Job *job);
  void closed(Job *job);

  uv_loop_t *loop_;
  size_t mostAtOnce_;
  Id lastId_ = 0;
  std::deque<Job *> waiting_;
  std::set<Job *> running_; ///< with handles that are open
};

} // namespace ptl::agent

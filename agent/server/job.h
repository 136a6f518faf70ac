// A call of a tool that a worker process answers.
#pragma once

#include "agent/tool_table.h"

#include <uv.h>

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>

namespace ptl::agent {

/// The callbacks of a job's owner: any number of reports of progress, then exactly one answer,
/// unless the owner cancels the job.
struct JobListener {
  std::function<void(const Json &progress)> onProgress;
  /// The message of the worker (`Answer::take`); null, with the reason, where it gave none.
  std::function<void(Json answer, const std::string &problem)> onAnswer;
};

/// The worker processes of a server. As many run at once as there are processors; other jobs wait
/// in the order in which they came. A worker that exceeds the time limit is killed.
class Jobs {
public:
  using Id = uint64_t;
  static constexpr uint64_t kMostMilliseconds = 10 * 60 * 1000;

  Jobs(uv_loop_t *loop, size_t mostAtOnce) : loop_(loop), mostAtOnce_(mostAtOnce) {}
  ~Jobs();
  Jobs(const Jobs &) = delete;
  Jobs &operator=(const Jobs &) = delete;

  Id start(Json request, JobListener listener);
  /// Kills the worker of a job. Its listener is not called any more.
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

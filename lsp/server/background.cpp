#include "lsp/server/background.h"

#include <utility>

namespace ptl::lsp {

Background::~Background() {
  for (const auto &job : jobs_) {
    job->stop->store(true, std::memory_order_relaxed);
    job->lane = nullptr;
  }
}

static void markEnded(std::mutex &mutex, std::condition_variable &condition, bool &hasEnded) {
  std::lock_guard lock(mutex);
  hasEnded = true;
  condition.notify_all();
}

Background::Handle Background::start(std::function<void(const Stop &)> work, Callback<> then) {
  auto job = std::make_shared<Job>();
  job->work = std::move(work);
  job->then = std::move(then);
  job->lane = this;
  job->itself = job;
  job->request.data = job.get();
  jobs_.push_back(job);
  Entry onThread([](uv_work_t *request) {
    auto *job = static_cast<Job *>(request->data);
    try {
      job->work(Stop(job->stop));
    } catch (...) {
      job->problem = currentProblem();
    }
    markEnded(job->mutex, job->ended, job->hasEnded);
  });
  Entry onLoop([](uv_work_t *request, int status) {
    std::shared_ptr<Job> job = std::move(static_cast<Job *>(request->data)->itself);
    // It was taken back before a thread took it.
    if (status == UV_ECANCELED)
      markEnded(job->mutex, job->ended, job->hasEnded);
    if (job->lane)
      job->lane->deliver();
  });
  uv_queue_work(loop_, &job->request, onThread, onLoop);
  Handle handle;
  handle.job_ = job;
  return handle;
}

void Background::Handle::cancel() {
  std::shared_ptr<Job> job = job_.lock();
  if (!job || !job->lane || job->stop->exchange(true, std::memory_order_relaxed))
    return;
  job->then = nullptr;
  uv_cancel(reinterpret_cast<uv_req_t *>(&job->request));
}

/// The results at the front that are there.
void Background::deliver() {
  while (!jobs_.empty()) {
    std::shared_ptr<Job> job = jobs_.front();
    {
      std::lock_guard lock(job->mutex);
      if (!job->hasEnded)
        return;
    }
    jobs_.pop_front();
    job->lane = nullptr;
    Callback<> then = std::exchange(job->then, nullptr);
    job->problem ? then.fail(*job->problem) : then();
  }
}

void Background::finish() {
  while (!jobs_.empty()) {
    std::shared_ptr<Job> job = jobs_.front();
    if (job->stop->load(std::memory_order_relaxed)) {
      // Work that was taken back may never run, and nobody waits for it.
      job->lane = nullptr;
      jobs_.pop_front();
      continue;
    }
    {
      std::unique_lock lock(job->mutex);
      job->ended.wait(lock, [&] { return job->hasEnded; });
    }
    deliver();
  }
}

} // namespace ptl::lsp

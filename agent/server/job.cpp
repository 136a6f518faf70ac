#include "agent/server/job.h"

#include "frontend/base/install.h"

#include <algorithm>
#include <array>
#include <csignal>

namespace ptl::agent {

struct Jobs::Job {
  Jobs *jobs = nullptr;
  Id id = 0;
  std::string request;
  JobListener listener;
  uv_process_t process{};
  uv_pipe_t in{}, out{};
  uv_timer_t timer{};
  uv_write_t write{};
  int openHandles = 0;
  bool isQuiet = false; ///< cancelled, or answered
  bool hasEnded = false, isDrained = false, timedOut = false;
  int64_t status = 0;
  int signal = 0;
  std::string text;         ///< of the line that is not complete
  std::string startProblem; ///< why there is no process
  Json answer;
  std::array<char, 65536> buffer;

  void close();
  void takeLines();
  void tellEnd();
  std::string whyNoAnswer() const;
};

/// Closes all handles; the job is gone when the last of them is.
void Jobs::Job::close() {
  auto closeOne = [](uv_handle_t *handle) {
    if (!uv_is_closing(handle))
      uv_close(handle, [](uv_handle_t *closed) {
        auto *job = static_cast<Job *>(closed->data);
        if (--job->openHandles == 0)
          job->jobs->closed(job);
      });
  };
  closeOne(reinterpret_cast<uv_handle_t *>(&in));
  closeOne(reinterpret_cast<uv_handle_t *>(&out));
  closeOne(reinterpret_cast<uv_handle_t *>(&timer));
  // libuv reports the end of a process to its handle, which therefore lives until that has happened.
  if (hasEnded)
    closeOne(reinterpret_cast<uv_handle_t *>(&process));
}

/// Nothing is thrown into libuv. False where something was.
template <typename Step> static bool guarded(Step step) {
  try {
    step();
    return true;
  } catch (const std::exception &) {
    return false;
  }
}

void Jobs::Job::takeLines() {
  for (size_t end; (end = text.find('\n')) != text.npos; text.erase(0, end + 1)) {
    Json message = Json::parse(std::string_view(text).substr(0, end), nullptr, false);
    if (message.contains("answer"))
      answer = std::move(message);
    else if (!isQuiet && message.is_object())
      guarded([&] { listener.onProgress(message); });
  }
}

std::string Jobs::Job::whyNoAnswer() const {
  if (!startProblem.empty())
    return startProblem;
  if (timedOut)
    return "the call took more than " + std::to_string(kMostMilliseconds / 60000) +
           " minutes and was ended: request less work";
  if (signal == SIGKILL)
    return "the compiler was killed, probably because memory ran out: request less work";
  return "the compiler ended without an answer (" +
         (signal ? "signal " + std::to_string(signal) : "exit code " + std::to_string(status)) +
         "), which is an error in the compiler; other calls are not affected; `ptlc check` with "
         "the same file shows more";
}

void Jobs::Job::tellEnd() {
  // The end of the process and that of its output are reported in any order; the answer is whole after both.
  if (!hasEnded || !isDrained)
    return;
  close();
  if (std::exchange(isQuiet, true))
    return;
  std::string problem = answer.is_null() ? whyNoAnswer() : "";
  if (!guarded([&] { listener.onAnswer(std::move(answer), problem); }))
    guarded([&] { listener.onAnswer(nullptr, "the answer of the compiler cannot be read"); });
}

Jobs::~Jobs() {
  for (Job *job : waiting_)
    delete job;
}

Jobs::Id Jobs::start(Json request, JobListener listener) {
  auto *job = new Job;
  job->jobs = this;
  job->id = ++lastId_;
  job->request = dumped(request) + "\n";
  job->listener = std::move(listener);
  waiting_.push_back(job);
  Id id = job->id; // the job may have ended already
  startNext();
  return id;
}

void Jobs::startNext() {
  while (!waiting_.empty() && running_.size() < mostAtOnce_) {
    Job *job = waiting_.front();
    waiting_.pop_front();
    spawn(job);
  }
}

void Jobs::spawn(Job *job) {
  running_.insert(job);
  uv_pipe_init(loop_, &job->in, 0);
  uv_pipe_init(loop_, &job->out, 0);
  uv_timer_init(loop_, &job->timer);
  job->in.data = job->out.data = job->timer.data = job->process.data = job->write.data = job;
  job->openHandles = 4;
  std::array<uv_stdio_container_t, 3> streams{};
  streams[0].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_READABLE_PIPE);
  streams[0].data.stream = reinterpret_cast<uv_stream_t *>(&job->in);
  streams[1].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_WRITABLE_PIPE);
  streams[1].data.stream = reinterpret_cast<uv_stream_t *>(&job->out);
  streams[2].flags = UV_INHERIT_FD;
  streams[2].data.fd = 2;
  std::string program = executableFolder() + "ptlc-ir", call = "--call";
  std::array<char *, 3> arguments = {program.data(), call.data(), nullptr};
  uv_process_options_t options{};
  options.file = program.c_str();
  options.args = arguments.data();
  options.stdio = streams.data();
  options.stdio_count = static_cast<int>(streams.size());
  options.exit_cb = [](uv_process_t *process, int64_t status, int signal) {
    auto *job = static_cast<Job *>(process->data);
    job->hasEnded = true;
    job->status = status;
    job->signal = signal;
    if (job->isQuiet)
      return job->close();
    job->tellEnd();
  };
  int failed = uv_spawn(loop_, &job->process, &options);
  // Nothing will be read and no end will be heard of, so the job is over at once.
  if (failed) {
    job->hasEnded = job->isDrained = true;
    job->startProblem = "`" + program + "` cannot be started (" + uv_strerror(failed) +
                        "): this program must be in the folder of `ptlc`; `./dev` builds it";
    return job->tellEnd();
  }
  uv_buf_t line = uv_buf_init(job->request.data(), static_cast<unsigned>(job->request.size()));
  uv_write(&job->write, reinterpret_cast<uv_stream_t *>(&job->in), &line, 1,
           [](uv_write_t *, int) {});
  uv_read_start(
      reinterpret_cast<uv_stream_t *>(&job->out),
      [](uv_handle_t *handle, size_t, uv_buf_t *space) {
        auto &buffer = static_cast<Job *>(handle->data)->buffer;
        *space = uv_buf_init(buffer.data(), static_cast<unsigned>(buffer.size()));
      },
      [](uv_stream_t *stream, ssize_t count, const uv_buf_t *bytes) {
        auto *job = static_cast<Job *>(stream->data);
        if (count > 0) {
          job->text.append(bytes->base, static_cast<size_t>(count));
          return job->takeLines();
        }
        if (count == 0)
          return;
        uv_read_stop(stream);
        job->isDrained = true;
        job->tellEnd();
      });
  uv_timer_start(
      &job->timer,
      [](uv_timer_t *timer) {
        auto *job = static_cast<Job *>(timer->data);
        job->timedOut = true;
        uv_process_kill(&job->process, SIGKILL);
      },
      kMostMilliseconds, 0);
}

void Jobs::closed(Job *job) {
  running_.erase(job);
  delete job;
  startNext();
}

void Jobs::cancel(Id id) {
  auto isIt = [&](const Job *job) { return job->id == id; };
  if (auto found = std::ranges::find_if(waiting_, isIt); found != waiting_.end()) {
    delete *found;
    waiting_.erase(found);
    return;
  }
  auto found = std::ranges::find_if(running_, isIt);
  if (found == running_.end() || std::exchange((*found)->isQuiet, true))
    return;
  if (!(*found)->hasEnded)
    uv_process_kill(&(*found)->process, SIGKILL);
  (*found)->close();
}

void Jobs::cancelAll() {
  std::vector<Id> ids;
  for (const Job *job : waiting_)
    ids.push_back(job->id);
  for (const Job *job : running_)
    ids.push_back(job->id);
  for (Id id : ids)
    cancel(id);
}

} // namespace ptl::agent

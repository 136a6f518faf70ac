#include "lsp/server/worker_client.h"
#include "lsp/server/connection.h"

#include "lsp/server/session.h"

#include <algorithm>
#include <csignal>
#include <unistd.h>
#include <utility>

namespace ptl::lsp {

/// The process with its pipes. It lives until libuv has closed all handles.
struct WorkerClient::Process {
  uv_process_t process = {};
  uv_pipe_t in = {}, out = {};
  FrameReader frames;
  std::string buffer = std::string(65536, '\0');
  SentTexts sent;
  WorkerClient *owner = nullptr; ///< null when nobody listens any more
  int openHandles = 0;

  void close() {
    // Callbacks may still be called until all handles are closed; they see that nobody listens.
    owner = nullptr;
    for (uv_handle_t *handle :
         {reinterpret_cast<uv_handle_t *>(&process), reinterpret_cast<uv_handle_t *>(&in),
          reinterpret_cast<uv_handle_t *>(&out)})
      if (!uv_is_closing(handle))
        uv_close(handle, Entry([](uv_handle_t *closed) {
                   auto *self = static_cast<Process *>(closed->data);
                   // The three handles close one after the other, and the last one frees the
                   // process.
                   if (--self->openHandles == 0)
                     delete self;
                 }));
  }
};

WorkerClient::WorkerClient(uv_loop_t *loop, std::string program, std::string standardLibrary)
    : loop_(loop), program_(std::move(program)), standardLibrary_(std::move(standardLibrary)) {}

static WorkerAnswer failure(std::string code, std::string message) {
  return {nullptr, {{"code", std::move(code)}, {"message", std::move(message)}}};
}

WorkerClient::~WorkerClient() { end(); }

void WorkerClient::end() {
  if (!process_)
    return;
  // The worker keeps no state that would need an orderly end, and it may be in a long computation.
  uv_process_kill(&process_->process, SIGKILL);
  process_->close();
  process_ = nullptr;
}

void WorkerClient::stop() {
  isStopped_ = true;
  end();
  if (std::unique_ptr<Task> task = std::move(current_))
    // Each request is answered, also those that never ran.
    finish(*task, failure("ended", "the server ends"));
  while (!waiting_.empty()) {
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    finish(task, failure("ended", "the server ends"));
  }
}

void WorkerClient::start() {
  auto *process = new Process;
  process->owner = this;
  for (uv_pipe_t *pipe : {&process->in, &process->out}) {
    uv_pipe_init(loop_, pipe, 0);
    pipe->data = process;
  }
  process->process.data = process;
  process->openHandles = 3;
  uv_stdio_container_t stdio[3];
  stdio[0].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_READABLE_PIPE);
  stdio[0].data.stream = reinterpret_cast<uv_stream_t *>(&process->in);
  stdio[1].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_WRITABLE_PIPE);
  stdio[1].data.stream = reinterpret_cast<uv_stream_t *>(&process->out);
  // The worker's messages for people go where the server's go.
  stdio[2].flags = UV_INHERIT_FD;
  stdio[2].data.fd = 2;
  char *arguments[] = {program_.data(), nullptr};
  uv_process_options_t options = {};
  options.file = program_.c_str();
  options.args = arguments;
  options.stdio = stdio;
  options.stdio_count = 3;
  options.exit_cb = Entry([](uv_process_t *handle, int64_t status, int signal) {
    auto *process = static_cast<Process *>(handle->data);
    if (process->owner)
      process->owner->onExit(status, signal);
  });
  ++starts_;
  // A process that could not be started still has handles to close.
  if (uv_spawn(loop_, &process->process, &options) != 0)
    return process->close();
  process_ = process;
  Entry allocate([](uv_handle_t *handle, size_t, uv_buf_t *buffer) {
    auto *process = static_cast<Process *>(handle->data);
    *buffer = uv_buf_init(process->buffer.data(), static_cast<unsigned>(process->buffer.size()));
  });
  Entry onRead([](uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer) {
    auto *process = static_cast<Process *>(stream->data);
    if (size <= 0 || !process->owner)
      return;
    process->frames.feed({buffer->base, static_cast<size_t>(size)});
    std::string error;
    // A message may end the process, so the owner is checked again each time.
    while (process->owner) {
      auto text = process->frames.next(error);
      if (!text)
        return;
      json message = json::parse(*text, nullptr, false);
      // Text that is no message is dropped: a worker that dies may write anything.
      if (message.is_object())
        guarded([&] { process->owner->receive(message); });
    }
  });
  uv_read_start(reinterpret_cast<uv_stream_t *>(&process->out), allocate, onRead);
}

void WorkerClient::cancel(int64_t id) { send(dumped({{"cancel", id}})); }

void WorkerClient::send(const std::string &message) {
  struct Write {
    uv_write_t request;
    std::string bytes;
  };
  auto *write = new Write{{}, frame(message)};
  // The bytes must live until they have been written.
  write->request.data = write;
  uv_buf_t buffer = uv_buf_init(write->bytes.data(), static_cast<unsigned>(write->bytes.size()));
  Entry onWritten([](uv_write_t *request, int) { delete static_cast<Write *>(request->data); });
  // If `uv_write` fails, it does not call the callback.
  if (uv_write(&write->request, reinterpret_cast<uv_stream_t *>(&process_->in), &buffer, 1,
               onWritten) != 0)
    delete write;
}

void WorkerClient::finish(Task &task, WorkerAnswer answer) {
  // Only the request that runs shows progress.
  if (task.id == runningId_)
    onProgress("", "");
  answered_.emplace_back(std::move(task.onAnswer), std::move(answer));
  deliver();
}

/// Delivers answers one after the other. A callback may send the next request, which may be
/// answered at once, and that answer must not be delivered within this one.
void WorkerClient::deliver() {
  // The loop below is already running further up the stack.
  if (std::exchange(isDelivering_, true))
    return;
  while (!answered_.empty()) {
    auto [onAnswer, answer] = std::move(answered_.front());
    answered_.pop_front();
    onAnswer(answer);
  }
  isDelivering_ = false;
}

/// A hash of a request without its number. Once a request has failed, each one is looked up, so the
/// hashes of chunks are kept.
static size_t fingerprintOf(const std::string &method, const WorkerRequest &request) {
  size_t hash = std::hash<std::string>()(method + dumped(request.members));
  auto add = [&](size_t other) { hash = hash * 31 + other; };
  for (const OpenText &file : request.files) {
    add(std::hash<std::string>()(file.path));
    for (const ide::Place &place : file.document->places())
      add(ide::textHash(*place.chunk));
  }
  return hash;
}

void WorkerClient::ask(std::string method, WorkerRequest request, std::string topic,
                       OnAnswer onAnswer) {
  Task task{nextId_++, std::move(method), std::move(request), std::move(topic),
            std::move(onAnswer)};
  if (isStopped_)
    return finish(task, failure("ended", "the server ends"));
  // The same text would crash the worker again.
  if (!poison_.empty() && poison_.contains(fingerprintOf(task.method, task.request)))
    return finish(task, failure("crash", "the compiler failed on this text before"));
  // Of the requests on one topic, for instance one per keystroke, only the newest matters.
  if (!task.topic.empty()) {
    auto older = std::find_if(waiting_.begin(), waiting_.end(),
                              [&](const Task &each) { return each.topic == task.topic; });
    if (older != waiting_.end()) {
      // The newer request takes the older one's place in the queue.
      std::swap(*older, task);
      return finish(task, failure("superseded", "a newer request took its place"));
    }
    // The running request is cancelled, but its answer is awaited: the worker does one thing at a
    // time.
    if (process_ && current_ && current_->topic == task.topic)
      cancel(current_->id);
  }
  if (task.topic != kIdle)
    cancelIdle();
  waiting_.push_back(std::move(task));
  sendNext();
}

void WorkerClient::cancelIdle() {
  auto idle = std::find_if(waiting_.begin(), waiting_.end(),
                           [](const Task &each) { return each.topic == kIdle; });
  if (process_ && current_ && current_->topic == kIdle)
    cancel(current_->id);
  if (idle == waiting_.end())
    return;
  Task task = std::move(*idle);
  waiting_.erase(idle);
  finish(task, failure("cancelled", "a newer request replaced this one"));
}

void WorkerClient::sendNext() {
  while (!current_ && !waiting_.empty()) {
    // A worker is started only when there is work, and not before the pause after a crash is over.
    if (!process_ && uv_now(loop_) >= notBefore_)
      start();
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    if (!process_) {
      finish(task, failure("unavailable", starts_ == 0 || crashes_ > 0
                                              ? "the compiler's process has failed; it is started "
                                                "again soon"
                                              : "`" + program_ + "` cannot be started"));
      // All waiting requests fail at once, since none of them could run.
      continue;
    }
    std::string message = process_->sent.written(task.request, task.method, task.id);
    runningId_ = task.id;
    current_ = std::make_unique<Task>(std::move(task));
    step_.clear();
    onProgress(current_->method, "");
    send(message);
  }
}

void WorkerClient::receive(const json &message) {
  if (auto progress = message.find("progress"); progress != message.end()) {
    // A worker that dies may write anything, so types are checked.
    step_ = textField(*progress, "step");
    if (current_)
      onProgress(current_->method, step_);
    return;
  }
  auto id = message.find("id");
  // A message for no request was still written by a dying worker.
  if (!current_ || id == message.end() || *id != json(current_->id)) {
    lastWords_ = message;
    return;
  }
  auto error = message.find("error");
  std::string code = error == message.end() ? "" : textField(*error, "code");
  if (code == "timeout" || code == "crash") {
    lastWords_ = message; // the worker ends now
    return;
  }
  // A real answer ends the series of crashes, so the pauses become short again.
  crashes_ = 0;
  auto task = std::move(current_);
  WorkerAnswer answer;
  if (error == message.end())
    answer.result = message.value("result", json());
  else
    answer = failure(code, textField(*error, "message", code));
  finish(*task, std::move(answer));
  sendNext();
}

void WorkerClient::onExit(int64_t status, int signal) {
  process_->close();
  process_ = nullptr;
  ++crashes_;
  constexpr uint64_t longestPause = 30000;
  // A worker that dies at once would otherwise be started again and again without a pause.
  // The pause doubles with each crash in a row, up to half a minute.
  notBefore_ = uv_now(loop_) + std::min<uint64_t>(100u << std::min(crashes_, 9u), longestPause);
  if (auto task = std::move(current_)) {
    constexpr size_t mostPoison = 1000;
    // The set is bounded; forgetting an entry costs at most one more crash.
    if (poison_.size() >= mostPoison)
      poison_.clear();
    // A request without a text cannot be what made it crash.
    if (!task->request.members.empty())
      poison_.insert(fingerprintOf(task->method, task->request));
    std::string step = textField(objectField(lastWords_, "error"), "step", step_);
    std::string how =
        signal ? "signal " + std::to_string(signal) : "exit code " + std::to_string(status);
    // The worker itself exits with 124 when a request takes too long.
    finish(*task, failure(status == 124 ? "timeout" : "crash",
                          "the compiler failed in step `" + step + "` (" + how + ")"));
  }
  lastWords_ = nullptr;
  sendNext();
}

json WorkerClient::status() const {
  return {{"running", process_ != nullptr},
          {"pid", process_ ? json(uv_process_get_pid(&process_->process)) : json()},
          {"starts", starts_},
          {"crashes", crashes_},
          {"step", step_},
          {"waiting", waiting_.size() + (current_ ? 1 : 0)}};
}

} // namespace ptl::lsp

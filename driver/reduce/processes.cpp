#include "driver/reduce/processes.h"

#include <csignal>
#include <fcntl.h>
#include <unistd.h>
#include <uv.h>

namespace ptl {

namespace {

struct Running {
  uv_process_t process{};
  uv_timer_t timer{};
  ProcessEnd end;
};

/// A file for the output of a process; standard error where it cannot be made.
int openOutput(const std::string &path) {
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  return file < 0 ? STDERR_FILENO : file;
}

void start(uv_loop_t *loop, const Command &command, std::chrono::milliseconds limit,
           Running &running) {
  int output = openOutput(command.outputPath);
  uv_stdio_container_t streams[3] = {};
  streams[0].flags = UV_IGNORE;
  for (int stream : {1, 2}) {
    streams[stream].flags = UV_INHERIT_FD;
    streams[stream].data.fd = output;
  }
  std::vector<char *> words;
  for (const std::string &word : command.words)
    words.push_back(const_cast<char *>(word.c_str())); // libuv only reads it
  words.push_back(nullptr);
  uv_process_options_t options{};
  options.file = words.front();
  options.args = words.data();
  options.stdio = streams;
  options.stdio_count = 3;
  options.exit_cb = [](uv_process_t *process, int64_t code, int signal) {
    auto *running = static_cast<Running *>(process->data);
    running->end.code = code;
    running->end.signal = signal;
    uv_close(reinterpret_cast<uv_handle_t *>(&running->timer), nullptr);
    uv_close(reinterpret_cast<uv_handle_t *>(process), nullptr);
  };
  running.process.data = running.timer.data = &running;
  uv_timer_init(loop, &running.timer);
  int failed = uv_spawn(loop, &running.process, &options);
  if (output != STDERR_FILENO)
    ::close(output);
  if (failed) {
    running.end.startProblem = uv_strerror(failed);
    uv_close(reinterpret_cast<uv_handle_t *>(&running.timer), nullptr);
    uv_close(reinterpret_cast<uv_handle_t *>(&running.process), nullptr);
    return;
  }
  uv_timer_start(
      &running.timer,
      [](uv_timer_t *timer) {
        auto *running = static_cast<Running *>(timer->data);
        running->end.isLate = true;
        uv_process_kill(&running->process, SIGKILL);
      },
      static_cast<uint64_t>(limit.count()), 0);
}

} // namespace

std::vector<ProcessEnd> runAll(const std::vector<Command> &commands,
                               std::chrono::milliseconds limit) {
  uv_loop_t loop;
  uv_loop_init(&loop);
  std::vector<Running> running(commands.size());
  for (size_t i = 0; i < commands.size(); ++i)
    start(&loop, commands[i], limit, running[i]);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
  std::vector<ProcessEnd> ends;
  for (Running &each : running)
    ends.push_back(std::move(each.end));
  return ends;
}

} // namespace ptl

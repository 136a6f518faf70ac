#include "agent/server/stdio.h"

#include "agent/server/read_stream.h"

#include <unistd.h>

namespace ptl::agent {

namespace {
constexpr size_t kMostMessage = size_t(16) << 20, kMostUnsent = size_t(256) << 20;

/// A line on its way to the client.
struct Outgoing {
  uv_write_t request;
  std::string text;
};
} // namespace

StandardStreams::StandardStreams(uv_loop_t *loop, ServerState &state, std::function<void()> onEnd)
    : loop_(loop), session_(state), onEnd_(std::move(onEnd)) {
  if (uv_guess_handle(STDOUT_FILENO) != UV_FILE) {
    uv_pipe_init(loop, &pipeOut_, 0);
    if (uv_pipe_open(&pipeOut_, STDOUT_FILENO) == 0)
      out_ = reinterpret_cast<uv_stream_t *>(&pipeOut_);
  }
  uv_handle_type kind = uv_guess_handle(STDIN_FILENO);
  // libuv cannot wait for a regular file, which is always ready: it is read whenever the loop has nothing else to do.
  if (kind == UV_FILE || kind == UV_UNKNOWN_HANDLE) {
    uv_idle_init(loop, &fileReader_);
    fileReader_.data = this;
    uv_idle_start(&fileReader_,
                  [](uv_idle_t *idle) { static_cast<StandardStreams *>(idle->data)->readFile(); });
    return;
  }
  bool isTerminal = kind == UV_TTY;
  in_ = isTerminal ? reinterpret_cast<uv_stream_t *>(&ttyIn_)
                   : reinterpret_cast<uv_stream_t *>(&pipeIn_);
  if (isTerminal)
    uv_tty_init(loop, &ttyIn_, STDIN_FILENO, 0);
  else if (uv_pipe_init(loop, &pipeIn_, 0) != 0 || uv_pipe_open(&pipeIn_, STDIN_FILENO) != 0) {
    onEnd_();
    return;
  }
  in_->data = this;
  startReading<StandardStreams>(in_);
}

void StandardStreams::readFile() {
  ssize_t count = ::read(STDIN_FILENO, buffer_.data(), buffer_.size());
  if (count > 0)
    return take({buffer_.data(), static_cast<size_t>(count)});
  uv_idle_stop(&fileReader_);
  onEnd_();
}

void StandardStreams::take(std::string_view bytes) {
  while (!bytes.empty()) {
    size_t end = bytes.find('\n');
    std::string_view part = bytes.substr(0, end);
    bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
    if (text_.size() + part.size() > kMostMessage && !std::exchange(isTooLong_, true))
      send(errorMessage(nullptr, RpcError::Invalid, "the message is longer than 16 MiB"));
    // What is left of a message that is too long is passed over, up to its end.
    if (isTooLong_)
      text_.clear();
    else
      text_ += part;
    if (end == bytes.npos)
      return;
    if (!std::exchange(isTooLong_, false))
      takeLine(text_);
    text_.clear();
  }
}

void StandardStreams::takeLine(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == line.npos)
    return;
  session_.receive(line, [this](const Json &message) {
    if (!message.is_null())
      send(message);
  });
}

void StandardStreams::send(const Json &message) {
  auto *outgoing = new Outgoing{{}, dumped(message) + "\n"};
  if (!out_) {
    for (size_t done = 0; done < outgoing->text.size();) {
      ssize_t count =
          ::write(STDOUT_FILENO, outgoing->text.data() + done, outgoing->text.size() - done);
      if (count <= 0)
        break;
      done += static_cast<size_t>(count);
    }
    delete outgoing;
    return;
  }
  outgoing->request.data = this;
  uv_buf_t bytes = uv_buf_init(outgoing->text.data(), static_cast<unsigned>(outgoing->text.size()));
  int failed = uv_write(&outgoing->request, out_, &bytes, 1, [](uv_write_t *request, int status) {
    auto *self = static_cast<StandardStreams *>(request->data);
    delete reinterpret_cast<Outgoing *>(request);
    if (status < 0 && status != UV_ECANCELED)
      self->onEnd_();
  });
  if (failed) {
    delete outgoing;
    onEnd_();
  } else if (uv_stream_get_write_queue_size(out_) > kMostUnsent) {
    onEnd_(); // the client reads nothing
  }
}

} // namespace ptl::agent

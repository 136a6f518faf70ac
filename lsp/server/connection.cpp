#include "lsp/server/connection.h"

#include "common/message_header.h"
#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace ptl::lsp {

Connection::Connection(uv_loop_t *loop, OnBytes onBytes, Callback<> onEnd)
    : loop_(loop), onBytes_(std::move(onBytes)), onEnd_(std::move(onEnd)),
      readBuffer_(65536, '\0') {
  // A client that has gone is noticed as an error of the write.
  std::signal(SIGPIPE, SIG_IGN);
}

Connection::~Connection() = default;

void Connection::startReading() {
  Entry allocate([](uv_handle_t *handle, size_t, uv_buf_t *buffer) {
    std::string &bytes = static_cast<Connection *>(handle->data)->readBuffer_;
    *buffer = uv_buf_init(bytes.data(), static_cast<unsigned>(bytes.size()));
  });
  Entry onRead([](uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer) {
    auto *self = static_cast<Connection *>(stream->data);
    if (size > 0)
      self->onBytes_({buffer->base, static_cast<size_t>(size)});
    else if (size < 0)
      self->onEnd_();
  });
  uv_read_start(in_, allocate, onRead);
}

/// Reads a file in pieces between other work, because a file never makes the loop wait.
void Connection::readFile() {
  uv_idle_init(loop_, &fileReader_);
  fileReader_.data = this;
  uv_idle_start(&fileReader_, Entry([](uv_idle_t *idle) {
    auto *self = static_cast<Connection *>(idle->data);
    ssize_t size = ::read(0, self->readBuffer_.data(), self->readBuffer_.size());
    if (size > 0)
      return self->onBytes_({self->readBuffer_.data(), static_cast<size_t>(size)});
    uv_idle_stop(idle);
    self->onEnd_();
  }));
}

void Connection::useStandardStreams() {
  // Long answers go through a pipe in few pieces.
  fcntl(1, F_SETPIPE_SZ, 1 << 20);
  auto isStream = [](uv_file file) {
    uv_handle_type type = uv_guess_handle(file);
    return type == UV_NAMED_PIPE || type == UV_TTY || type == UV_TCP;
  };
  if (isStream(1) && uv_pipe_init(loop_, &pipeOut_, 0) == 0 && uv_pipe_open(&pipeOut_, 1) == 0) {
    pipeOut_.data = this;
    out_ = reinterpret_cast<uv_stream_t *>(&pipeOut_);
  }
  if (!isStream(0) || uv_pipe_init(loop_, &pipeIn_, 0) != 0 || uv_pipe_open(&pipeIn_, 0) != 0)
    return readFile();
  pipeIn_.data = this;
  in_ = reinterpret_cast<uv_stream_t *>(&pipeIn_);
  startReading();
}

int Connection::listen(int port) {
  uv_tcp_init(loop_, &server_);
  server_.data = this;
  sockaddr_in address;
  uv_ip4_addr("127.0.0.1", port, &address);
  if (int error = uv_tcp_bind(&server_, reinterpret_cast<sockaddr *>(&address), 0))
    return error;
  Entry onClient([](uv_stream_t *server, int status) {
    auto *self = static_cast<Connection *>(server->data);
    if (status < 0 || self->in_)
      return;
    uv_tcp_init(self->loop_, &self->socket_);
    self->socket_.data = self;
    auto *stream = reinterpret_cast<uv_stream_t *>(&self->socket_);
    if (uv_accept(server, stream) != 0)
      return;
    uv_tcp_nodelay(&self->socket_, 1);
    self->in_ = self->out_ = stream;
    self->startReading();
    // There is one client.
    uv_close(reinterpret_cast<uv_handle_t *>(server), nullptr);
  });
  if (int error = uv_listen(reinterpret_cast<uv_stream_t *>(&server_), 1, onClient))
    return error;
  int size = sizeof address;
  uv_tcp_getsockname(&server_, reinterpret_cast<sockaddr *>(&address), &size);
  return ntohs(address.sin_port);
}

namespace {
/// The bytes of a write that is in progress.
struct Write {
  uv_write_t request;
  std::string bytes;
};
} // namespace

static uv_buf_t bufferOf(std::string_view text) {
  return uv_buf_init(const_cast<char *>(text.data()), static_cast<unsigned>(text.size()));
}

/// Drops the first bytes of a text in pieces.
static void removePrefix(std::span<std::string_view> pieces, size_t size) {
  for (std::string_view &piece : pieces) {
    size_t part = std::min(size, piece.size());
    piece.remove_prefix(part);
    size -= part;
  }
}

void Connection::writeAll(std::span<std::string_view> pieces) {
  for (std::string_view &piece : pieces)
    while (!out_ && !piece.empty()) {
      ssize_t size = ::write(1, piece.data(), piece.size());
      if (size <= 0)
        return;
      piece.remove_prefix(static_cast<size_t>(size));
    }
  // Bytes in the queue must be sent first.
  if (out_ && uv_stream_get_write_queue_size(out_) == 0) {
    std::vector<uv_buf_t> buffers;
    for (std::string_view piece : pieces)
      buffers.push_back(bufferOf(piece));
    int written = uv_try_write(out_, buffers.data(), static_cast<unsigned>(buffers.size()));
    if (written > 0)
      removePrefix(pieces, static_cast<size_t>(written));
  }
  // The pieces belong to the caller, so what cannot be sent now is copied.
  std::string rest;
  for (std::string_view piece : pieces)
    rest += piece;
  if (rest.empty())
    return;
  auto *write = new Write{{}, std::move(rest)};
  write->request.data = write;
  uv_buf_t buffer = bufferOf(write->bytes);
  Entry onWritten([](uv_write_t *request, int) { delete static_cast<Write *>(request->data); });
  if (uv_write(&write->request, out_, &buffer, 1, onWritten) != 0)
    delete write;
}

void Connection::send(const json &message) {
  auto result = message.find("result");
  if (result == message.end() || !result->is_binary()) {
    std::string text = dumped(message);
    std::string header = messageHeader(text.size());
    std::string_view pieces[] = {header, text};
    return writeAll(pieces);
  }
  // The bytes of a `rawJson`, which may be many, are written without a copy.
  const auto &bytes = result->get_binary();
  sendAround(R"({"jsonrpc":"2.0","id":)" + dumped(message.at("id")) + R"(,"result":)",
             {reinterpret_cast<const char *>(bytes.data()), bytes.size()}, "}");
}

void Connection::sendAround(const std::string &begin, std::string_view middle,
                            std::string_view end) {
  std::string header = messageHeader(begin.size() + middle.size() + end.size()) + begin;
  std::string_view pieces[] = {header, middle, end};
  writeAll(pieces);
}

void Connection::stop() {
  if (in_)
    uv_read_stop(in_);
}

size_t Connection::unsent() const { return out_ ? uv_stream_get_write_queue_size(out_) : 0; }

} // namespace ptl::lsp

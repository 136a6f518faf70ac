// One client: messages in and out over standard input and output or a loopback socket, on a libuv
// loop.
#pragma once

#include "common/json_fields.h"
#include "lsp/server/callback.h"
#include "lsp/server/framing.h"

#include <uv.h>

#include <span>
#include <string>
#include <string_view>

namespace ptl::lsp {

using json = nlohmann::json;

class Connection {
public:
  using OnBytes = Callback<std::string_view>;
  /// `onEnd` is called when the client has disconnected.
  Connection(uv_loop_t *loop, OnBytes onBytes, Callback<> onEnd);
  ~Connection();
  Connection(const Connection &) = delete;

  /// Reads standard input, which may be a pipe, a socket, a terminal or a file, and writes to
  /// standard output.
  void useStandardStreams();
  /// Waits for one client on 127.0.0.1. Returns the port, which the system chooses if `port` is 0;
  /// a negative number is an error of libuv.
  int listen(int port);

  void send(const json &message);
  /// Sends a message in three pieces, the second of which may be long.
  void sendAround(const std::string &begin, std::string_view middle, std::string_view end);
  /// Stops reading. Data that was sent before is still written.
  void stop();
  /// The number of bytes that the client has not taken yet.
  size_t unsent() const;

private:
  void startReading();
  void readFile();
  /// Writes the pieces one after the other, and removes them from the list.
  void writeAll(std::span<std::string_view> pieces);

  uv_loop_t *loop_;
  OnBytes onBytes_;
  Callback<> onEnd_;
  uv_pipe_t pipeIn_, pipeOut_;
  uv_tcp_t server_, socket_;
  uv_idle_t fileReader_;
  uv_stream_t *in_ = nullptr, *out_ = nullptr; ///< `out_` null: standard output is a file
  std::string readBuffer_;
};

} // namespace ptl::lsp

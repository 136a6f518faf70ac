// The protocol on standard input and output: one message per line.
#pragma once

#include "agent/server/session.h"

namespace ptl::agent {

class StandardStreams {
public:
  /// `onEnd` is called once, when the client has closed its end.
  StandardStreams(uv_loop_t *loop, ServerState &state, std::function<void()> onEnd);
  StandardStreams(const StandardStreams &) = delete;

private:
  template <typename Owner> friend void startReading(uv_stream_t *stream);

  void take(std::string_view bytes);
  void ended() { onEnd_(); }
  void takeLine(std::string_view line);
  void send(const Json &message);
  void readFile();

  uv_loop_t *loop_;
  Session session_;
  std::function<void()> onEnd_;
  uv_pipe_t pipeIn_{}, pipeOut_{};
  uv_tty_t ttyIn_{};
  uv_stream_t *in_ = nullptr, *out_ = nullptr; ///< null: a file
  uv_idle_t fileReader_{};
  std::array<char, 65536> buffer_;
  std::string text_;       ///< of the line that is not complete
  bool isTooLong_ = false; ///< the rest of the line is skipped
};

} // namespace ptl::agent

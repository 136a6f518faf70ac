// One connection of the HTTP server: reads requests, one after the other, and writes their responses.
#pragma once

#include "agent/server/http.h"

#include <http_parser.h>

namespace ptl::agent {

class HttpConnection {
public:
  HttpConnection(uv_loop_t *loop, HttpServer &server);
  HttpConnection(const HttpConnection &) = delete;

  /// Accepts the connection that waits at the socket. The object deletes itself when the connection
  /// closes.
  void accept(uv_stream_t *socket);
  void close();

private:
  template <typename Owner> friend void startReading(uv_stream_t *stream);

  static constexpr size_t kMostBody = size_t(16) << 20, kMostHead = 64 << 10;

  void take(std::string_view bytes);
  void ended() { close(); }
  void parse();
  void handle();
  /// Checks the headers of the request, before its body is read. Returns the HTTP status of a
  /// refusal, with its text in `why`, or 0 if the request is accepted.
  int refusedBy(std::string &why) const;
  void post();
  void respond(int status, const std::string &body, const std::string &headers = "",
               const char *type = "application/json");
  void respondError(int status, const std::string &why, const std::string &headers = "");
  void beginStream();
  void streamMessage(const Json &message);
  void finish();
  void write(std::string bytes);
  std::string header(const std::string &name) const;

  HttpServer &server_;
  uv_tcp_t socket_{};
  http_parser parser_{};
  std::array<char, 65536> buffer_;
  std::string unread_; ///< bytes of the next request
  // The request that is being read or answered.
  std::string url_, body_, name_;
  std::map<std::string, std::string> headers_; ///< names in small letters
  bool isValue_ = false, isTooLong_ = false, isComplete_ = false;
  bool isAnswering_ = false, isStream_ = false, keepsAlive_ = true, isClosed_ = false,
       closesWhenWritten_ = false;
  size_t headBytes_ = 0, writing_ = 0;
  std::string sessionId_; ///< of the call that is being answered
  Json callId_;           ///< null: none
  std::shared_ptr<bool> isAlive_ = std::make_shared<bool>(true);
};

} // namespace ptl::agent

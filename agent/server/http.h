// The protocol as streamable HTTP on loopback: messages are posted to /mcp by clients that have the token.
#pragma once

#include "agent/server/session.h"

#include <memory>
#include <set>

namespace ptl::agent {

class HttpConnection;

class HttpServer {
public:
  /// If `token` is empty, a random one is made.
  HttpServer(uv_loop_t *loop, ServerState &state, std::string token);
  ~HttpServer();
  HttpServer(const HttpServer &) = delete;

  /// Listens on 127.0.0.1 and prints the address on standard error. Returns the port, or an error
  /// code of libuv (negative).
  int listen(int port);

private:
  friend class HttpConnection;
  static constexpr size_t kMostSessions = 64, kMostConnections = 256;

  /// Opens a session and returns its id. If there are too many sessions, the least recently used
  /// one is ended.
  std::string openSession();
  Session *session(const std::string &id);

  uv_loop_t *loop_;
  ServerState &state_;
  std::string token_;
  uv_tcp_t socket_{};
  std::map<std::string, std::unique_ptr<Session>> sessions_;
  std::deque<std::string> order_; ///< of `sessions_`, the latest use last
  std::set<HttpConnection *> connections_;
};

} // namespace ptl::agent

#include "agent/server/http.h"

#include "agent/server/http_connection.h"

#include <algorithm>
#include <cstdio>
#include <sys/random.h>

namespace ptl::agent {

/// 128 bits that nobody can guess.
static std::string secret() {
  std::array<unsigned char, 16> bytes{};
  // Without random bytes the token could be guessed.
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    std::abort();
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

HttpServer::HttpServer(uv_loop_t *loop, ServerState &state, std::string token)
    : loop_(loop), state_(state), token_(token.empty() ? secret() : std::move(token)) {}

HttpServer::~HttpServer() = default;

int HttpServer::listen(int port) {
  sockaddr_in address{};
  uv_ip4_addr("127.0.0.1", port, &address);
  uv_tcp_init(loop_, &socket_);
  socket_.data = this;
  int failed = uv_tcp_bind(&socket_, reinterpret_cast<const sockaddr *>(&address), 0);
  if (!failed)
    failed = uv_listen(reinterpret_cast<uv_stream_t *>(&socket_), 64,
                       [](uv_stream_t *socket, int status) {
                         auto *server = static_cast<HttpServer *>(socket->data);
                         if (status < 0)
                           return;
                         auto *connection = new HttpConnection(server->loop_, *server);
                         bool isFull = server->connections_.size() >= kMostConnections;
                         server->connections_.insert(connection);
                         // A connection that is one too many is accepted before it is closed: else it would wait in the system's queue.
                         connection->accept(socket);
                         if (isFull)
                           connection->close();
                       });
  if (failed)
    return failed;
  int size = sizeof address;
  uv_tcp_getsockname(&socket_, reinterpret_cast<sockaddr *>(&address), &size);
  std::fprintf(stderr, "http://127.0.0.1:%d/mcp\ntoken: %s\n", ntohs(address.sin_port),
               token_.c_str());
  return ntohs(address.sin_port);
}

std::string HttpServer::openSession() {
  std::string id = secret();
  sessions_[id] = std::make_unique<Session>(state_);
  order_.push_back(id);
  // The session that was not used for the longest time gives way.
  if (order_.size() > kMostSessions) {
    sessions_.erase(order_.front());
    order_.pop_front();
  }
  return id;
}

Session *HttpServer::session(const std::string &id) {
  auto found = sessions_.find(id);
  if (found == sessions_.end())
    return nullptr;
  order_.erase(std::ranges::find(order_, id));
  order_.push_back(id);
  return found->second.get();
}

} // namespace ptl::agent

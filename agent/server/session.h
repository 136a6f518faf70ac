// One client of the server: answers the messages of the Model Context Protocol, independently of
// the transport. Messages are JSON-RPC 2.0.
#pragma once

#include "agent/server/job.h"
#include "agent/server/store.h"

#include <functional>
#include <map>

namespace ptl::agent {

/// The state that all sessions of a server share.
struct ServerState {
  Roots roots;
  Jobs &jobs;
};

class Session {
public:
  /// Sends messages about one request to the client: progress, then the response; null if the client has cancelled
  /// the request and gets no response.
  using Send = std::function<void(const Json &message)>;

  explicit Session(ServerState &state) : state_(state) {}
  ~Session() { cancelAll(); }
  Session(const Session &) = delete;

  /// Handles one message, given as JSON text. Every request is answered exactly once, at once or
  /// later, unless it is cancelled.
  void receive(std::string_view text, const Send &send);
  /// The same for a message that has been parsed. Returns whether a response will follow.
  bool receive(const Json &message, const Send &send);
  /// Kills the worker of a request, and calls the request's `send` with null.
  void cancel(const Json &id);
  void cancelAll();

  bool isInitialized() const { return isInitialized_; }

private:
  bool request(const std::string &method, const Json &params, const Json &id, const Send &send);
  Json initialize(const Json &params);
  bool callTool(const Json &params, const Json &id, const Send &send);
  void notify(const std::string &method, const Json &params);

  ServerState &state_;
  Store store_;
  struct Running {
    Jobs::Id job;
    Send send;
  };
  std::map<std::string, Running> running_; ///< by the id of the request as text
  bool isInitialized_ = false;
};

/// Versions of the protocol that the server speaks, the newest first.
inline constexpr std::string_view kProtocolVersions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                         "2024-11-05"};

/// The error codes of JSON-RPC.
enum class RpcError : int {
  Parse = -32700,
  Invalid = -32600,
  NoMethod = -32601,
  Params = -32602,
  Internal = -32603,
  NoResource = -32002
};
inline Json errorMessage(const Json &id, RpcError code, const std::string &text) {
  return ptl::errorMessage(id, static_cast<int>(code), text);
}

} // namespace ptl::agent

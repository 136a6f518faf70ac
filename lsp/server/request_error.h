// An error response of the protocol.
#pragma once

#include <string>

namespace ptl::lsp {

/// Thrown by handlers and by code that reads the worker's replies; caught where the loop enters
/// them (callback.h). It never leaves `lsp/server`.
struct RequestError {
  int code;
  std::string message;
};
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kServerNotInitialized = -32002;
inline constexpr int kRequestFailed = -32803;
inline constexpr int kRequestCancelled = -32800;
inline constexpr int kContentModified = -32801;

} // namespace ptl::lsp

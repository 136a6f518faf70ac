#include "agent/server/http_connection.h"

#include "agent/server/read_stream.h"

#include <algorithm>

namespace ptl::agent {

HttpConnection::HttpConnection(uv_loop_t *loop, HttpServer &server) : server_(server) {
  uv_tcp_init(loop, &socket_);
  socket_.data = this;
  http_parser_init(&parser_, HTTP_REQUEST);
  parser_.data = this;
}

void HttpConnection::accept(uv_stream_t *socket) {
  if (uv_accept(socket, reinterpret_cast<uv_stream_t *>(&socket_)) != 0)
    return close();
  startReading<HttpConnection>(reinterpret_cast<uv_stream_t *>(&socket_));
}

void HttpConnection::close() {
  if (std::exchange(isClosed_, true))
    return;
  // Answers of calls that still run find out by this that nobody waits for them here.
  *isAlive_ = false;
  // Who has left hears nothing of the call any more, so it ends.
  if (Session *session = callId_.is_null() ? nullptr : server_.session(sessionId_))
    session->cancel(callId_);
  server_.connections_.erase(this);
  uv_close(reinterpret_cast<uv_handle_t *>(&socket_),
           [](uv_handle_t *handle) { delete static_cast<HttpConnection *>(handle->data); });
}

void HttpConnection::take(std::string_view bytes) {
  unread_ += bytes;
  if (unread_.size() > kMostBody + kMostHead)
    return close();
  if (!isAnswering_)
    parse();
}

void HttpConnection::parse() {
  static const http_parser_settings settings = [] {
    http_parser_settings made;
    http_parser_settings_init(&made);
    auto counted = [](http_parser *parser, size_t size) {
      auto *self = static_cast<HttpConnection *>(parser->data);
      self->headBytes_ += size;
      self->isTooLong_ |= self->headBytes_ > kMostHead;
      return self;
    };
    static auto count = counted;
    made.on_url = [](http_parser *parser, const char *at, size_t size) {
      count(parser, size)->url_.append(at, size);
      return 0;
    };
    made.on_header_field = [](http_parser *parser, const char *at, size_t size) {
      HttpConnection *self = count(parser, size);
      // Names and values come in pieces. A piece of a name behind a value begins the next header.
      if (std::exchange(self->isValue_, false))
        self->name_.clear();
      for (size_t i = 0; i < size; ++i)
        self->name_ += static_cast<char>(std::tolower(static_cast<unsigned char>(at[i])));
      return 0;
    };
    made.on_header_value = [](http_parser *parser, const char *at, size_t size) {
      HttpConnection *self = count(parser, size);
      self->isValue_ = true;
      self->headers_[self->name_].append(at, size);
      return 0;
    };
    made.on_body = [](http_parser *parser, const char *at, size_t size) {
      auto *self = static_cast<HttpConnection *>(parser->data);
      self->isTooLong_ |= self->body_.size() + size > kMostBody;
      if (!self->isTooLong_)
        self->body_.append(at, size);
      return 0;
    };
    made.on_message_complete = [](http_parser *parser) {
      static_cast<HttpConnection *>(parser->data)->isComplete_ = true;
      // Responses go out in the order of the requests, so the next request waits for the answer to this one.
      http_parser_pause(parser, 1);
      return 0;
    };
    return made;
  }();
  while (!unread_.empty() && !isAnswering_ && !isClosed_) {
    size_t done = http_parser_execute(&parser_, &settings, unread_.data(), unread_.size());
    http_errno error = HTTP_PARSER_ERRNO(&parser_);
    unread_.erase(0, done);
    keepsAlive_ = http_should_keep_alive(&parser_);
    if (isTooLong_) {
      keepsAlive_ = false;
      return respondError(413, "the request is too long");
    }
    if (error != HPE_OK && error != HPE_PAUSED) {
      keepsAlive_ = false;
      return respondError(400, std::string("this is not an HTTP request: ") +
                                   http_errno_description(error));
    }
    if (!isComplete_)
      return;
    http_parser_pause(&parser_, 0);
    isComplete_ = false;
    isAnswering_ = true;
    handle();
  }
}

std::string HttpConnection::header(const std::string &name) const {
  auto found = headers_.find(name);
  return found == headers_.end() ? "" : found->second;
}

/// `127.0.0.1:8080`, `localhost`
static bool isLoopback(std::string_view host) {
  if (size_t colon = host.rfind(':'); colon != host.npos && host.back() != ']')
    host = host.substr(0, colon);
  return host == "127.0.0.1" || host == "localhost" || host == "[::1]";
}

/// Compares in a time that says nothing of where they differ.
static bool areSame(std::string_view a, std::string_view b) {
  unsigned different = a.size() != b.size();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return !different;
}

int HttpConnection::refusedBy(std::string &why) const {
  // Pages in a browser may name this machine by a name of their own.
  if (!isLoopback(header("host"))) {
    why = "the server only answers requests to 127.0.0.1";
    return 403;
  }
  if (std::string origin = header("origin"); !origin.empty()) {
    size_t slashes = origin.find("://");
    if (slashes == origin.npos || !isLoopback(std::string_view(origin).substr(slashes + 3))) {
      why = "pages of other origins may not use the server";
      return 403;
    }
  }
  std::string given = header("authorization");
  if (!given.starts_with("Bearer ") ||
      !areSame(std::string_view(given).substr(7), server_.token_)) {
    why = "a request has the header `Authorization: Bearer TOKEN`, with the token that the server "
          "printed when it began";
    return 401;
  }
  if (url_ != "/mcp" && !url_.starts_with("/mcp?")) {
    why = "the server is at /mcp";
    return 404;
  }
  std::string version = header("mcp-protocol-version");
  if (!version.empty() &&
      std::ranges::find(kProtocolVersions, version) == std::end(kProtocolVersions)) {
    why = "the server does not support version `" + version.substr(0, 40) + "` of the protocol";
    return 400;
  }
  return 0;
}

void HttpConnection::handle() {
  std::string why;
  if (int status = refusedBy(why))
    return respondError(status, why, status == 401 ? "WWW-Authenticate: Bearer\r\n" : "");
  if (parser_.method == HTTP_POST)
    return post();
  if (parser_.method != HTTP_DELETE)
    return respondError(405, "send messages with POST; the server sends no messages of its own",
                        "Allow: POST, DELETE\r\n");
  std::string id = header("mcp-session-id");
  if (!server_.session(id))
    return respondError(404, "there is no such session");
  server_.order_.erase(std::ranges::find(server_.order_, id));
  server_.sessions_.erase(id);
  respond(204, "");
}

void HttpConnection::post() {
  if (!header("content-type").starts_with("application/json"))
    return respondError(415, "a message is application/json");
  Json message = Json::parse(body_, nullptr, false);
  if (message.is_discarded())
    return respond(400, dumped(errorMessage(nullptr, RpcError::Parse,
                                            "a message is one JSON object in UTF-8")));
  std::string headers;
  sessionId_ = header("mcp-session-id");
  if (message.is_object() && message.value("method", Json()) == "initialize" &&
      sessionId_.empty()) {
    sessionId_ = server_.openSession();
    headers = "Mcp-Session-Id: " + sessionId_ + "\r\n";
  }
  if (sessionId_.empty())
    return respondError(400,
                        "a request has the header `Mcp-Session-Id` of the answer to `initialize`");
  Session *session = server_.session(sessionId_);
  if (!session)
    return respondError(404, "there is no such session: begin with `initialize`");
  auto send = [this, alive = isAlive_, headers](const Json &answer) {
    if (!*alive)
      return;
    if (answer.is_null()) {
      callId_ = nullptr;
      return isStream_ ? finish() : respond(204, "");
    }
    if (answer.contains("method")) { // progress
      if (!isStream_)
        beginStream();
      return streamMessage(answer);
    }
    // The call is over, so closing the connection has nothing to cancel any more.
    callId_ = nullptr;
    if (isStream_) {
      streamMessage(answer);
      return finish();
    }
    respond(200, dumped(answer), headers);
  };
  if (message.is_array())
    return respondError(400, "send one message at a time");
  if (session->receive(message, send))
    callId_ = message["id"];
  // A notification has no answer. A request that was refused at once has been answered by now.
  else if (isAnswering_ && !isClosed_)
    respond(202, "");
}

// ---- Responses ----------------------------------------------------------------------------------

static const char *reasonOf(int status) {
  switch (status) {
  case 200:
    return "OK";
  case 202:
    return "Accepted";
  case 204:
    return "No Content";
  case 401:
    return "Unauthorized";
  case 403:
    return "Forbidden";
  case 404:
    return "Not Found";
  case 405:
    return "Method Not Allowed";
  case 413:
    return "Content Too Large";
  case 415:
    return "Unsupported Media Type";
  default:
    return "Bad Request";
  }
}

void HttpConnection::respond(int status, const std::string &body, const std::string &headers,
                             const char *type) {
  std::string text =
      "HTTP/1.1 " + std::to_string(status) + " " + reasonOf(status) + "\r\n" + headers;
  if (!body.empty())
    text += std::string("Content-Type: ") + type + "\r\n";
  if (status != 204)
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  text += keepsAlive_ ? "\r\n" : "Connection: close\r\n\r\n";
  write(text + body);
  finish();
}

void HttpConnection::respondError(int status, const std::string &why, const std::string &headers) {
  respond(status, dumped(errorMessage(nullptr, RpcError::Invalid, why)), headers);
}

void HttpConnection::beginStream() {
  // The length of a stream is not known before, so the end of the connection is its end.
  isStream_ = true;
  keepsAlive_ = false;
  write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: "
        "no-cache\r\nConnection: close\r\n\r\n");
}

void HttpConnection::streamMessage(const Json &message) {
  write("event: message\ndata: " + dumped(message) + "\n\n");
}

/// The response is whole: the next request may follow.
void HttpConnection::finish() {
  url_.clear();
  body_.clear();
  headers_.clear();
  name_.clear();
  isValue_ = isAnswering_ = isStream_ = false;
  headBytes_ = 0;
  if (!keepsAlive_)
    closesWhenWritten_ = true;
  if (closesWhenWritten_ && writing_ == 0)
    close();
}

void HttpConnection::write(std::string bytes) {
  struct Outgoing {
    uv_write_t request;
    std::string text;
  };
  if (isClosed_)
    return;
  auto *outgoing = new Outgoing{{}, std::move(bytes)};
  outgoing->request.data = this;
  uv_buf_t piece = uv_buf_init(outgoing->text.data(), static_cast<unsigned>(outgoing->text.size()));
  ++writing_;
  int failed = uv_write(&outgoing->request, reinterpret_cast<uv_stream_t *>(&socket_), &piece, 1,
                        [](uv_write_t *request, int status) {
                          auto *self = static_cast<HttpConnection *>(request->data);
                          delete reinterpret_cast<Outgoing *>(request);
                          --self->writing_;
                          if (status < 0 || (self->closesWhenWritten_ && self->writing_ == 0))
                            return self->close();
                          // What has come in the meantime may be the next request.
                          if (!self->isAnswering_)
                            self->parse();
                        });
  if (failed) {
    delete outgoing;
    --writing_;
    close();
  }
}

} // namespace ptl::agent

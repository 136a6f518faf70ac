#include "agent/server/session.h"

#include "agent/server/handlers.h"
#include "agent/server/listing.h"

#include <algorithm>
#include <exception>
#include <optional>

namespace ptl::agent {

static Json resultMessage(const Json &id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

static bool isId(const Json &id) { return id.is_string() || id.is_number_integer(); }

void Session::receive(std::string_view text, const Send &send) {
  Json message = Json::parse(text, nullptr, false);
  if (message.is_discarded())
    return send(errorMessage(nullptr, RpcError::Parse, "a message is one JSON object in UTF-8"));
  if (!message.is_array()) {
    receive(message, send);
    return;
  }
  // One of the versions has batches; they are answered one by one.
  if (message.empty())
    send(errorMessage(nullptr, RpcError::Invalid, "a batch has at least one message"));
  for (const Json &each : message)
    receive(each, send);
}

bool Session::receive(const Json &message, const Send &send) {
  Json id;
  try {
    bool isObject = message.is_object() && message.value("jsonrpc", Json()) == "2.0";
    auto method = isObject ? message.find("method") : message.end();
    bool hasId = isObject && message.contains("id");
    if (hasId && isId(message["id"]))
      id = message["id"];
    // The server asks nothing, so a response answers nothing.
    if (isObject && method == message.end() &&
        (message.contains("result") || message.contains("error")))
      return false;
    if (!isObject || method == message.end() || !method->is_string() || (hasId && id.is_null())) {
      send(errorMessage(id, RpcError::Invalid,
                        "a message has `jsonrpc` \"2.0\", a `method`, and as a request an `id`, a "
                        "string or an integer"));
      return false;
    }
    Json params = message.value("params", Json::object());
    if (!hasId) {
      if (params.is_object())
        notify(*method, params);
      return false;
    }
    if (!params.is_object()) {
      send(errorMessage(id, RpcError::Params, "`params` is an object"));
      return false;
    }
    return request(*method, params, id, send);
  } catch (const std::exception &failure) {
    send(errorMessage(id, RpcError::Internal,
                      std::string("internal error of the server: ") + failure.what()));
    return false;
  }
}

void Session::notify(const std::string &method, const Json &params) {
  if (method == "notifications/cancelled" && params.contains("requestId"))
    cancel(params["requestId"]);
}

bool Session::request(const std::string &method, const Json &params, const Json &id,
                      const Send &send) {
  auto answer = [&](Json result) {
    send(resultMessage(id, std::move(result)));
    return false;
  };
  auto refuse = [&](RpcError code, const std::string &why) {
    send(errorMessage(id, code, why));
    return false;
  };
  if (running_.contains(id.dump()))
    return refuse(RpcError::Invalid, "a request with this id is being answered");
  if (method == "ping")
    return answer(Json::object());
  if (method == "initialize")
    return isInitialized_ ? refuse(RpcError::Invalid, "the session is initialized already")
                          : answer(initialize(params));
  if (!isInitialized_)
    return refuse(RpcError::Invalid, "the first request is `initialize`");
  std::string cursor = textField(params, "cursor");
  bool isPaged =
      method == "tools/list" || method == "prompts/list" || method == "resources/templates/list";
  if (isPaged && !cursor.empty())
    return refuse(RpcError::Params, "there is no page at this cursor");
  if (method == "tools/list")
    return answer(toolList());
  if (method == "tools/call")
    return callTool(params, id, send);
  if (method == "prompts/list")
    return answer(promptList());
  if (method == "resources/templates/list")
    return answer(resourceTemplates());
  std::optional<Json> result;
  std::string problem;
  if (method == "resources/list") {
    result = resourceList(cursor);
    return result ? answer(std::move(*result))
                  : refuse(RpcError::Params, "there is no page at this cursor");
  }
  if (method == "resources/read") {
    std::string uri = textField(params, "uri");
    result = readResource(uri, store_);
    return result
               ? answer(std::move(*result))
               : refuse(RpcError::NoResource, "there is no resource `" + uri.substr(0, 200) + "`");
  }
  if (method == "prompts/get") {
    Json arguments = params.value("arguments", Json::object());
    result = promptText(textField(params, "name"),
                        arguments.is_object() ? arguments : Json::object(), problem);
    return result ? answer(std::move(*result)) : refuse(RpcError::Params, problem);
  }
  return refuse(RpcError::NoMethod, "there is no method `" + method.substr(0, 100) + "`");
}

Json Session::initialize(const Json &params) {
  isInitialized_ = true;
  std::string version = textField(params, "protocolVersion");
  if (std::ranges::find(kProtocolVersions, version) == std::end(kProtocolVersions))
    version = kProtocolVersions[0];
  return {{"protocolVersion", version},
          {"capabilities",
           {{"tools", Json::object()}, {"resources", Json::object()}, {"prompts", Json::object()}}},
          {"serverInfo", {{"name", "ptl"}, {"title", "PTL compiler"}, {"version", PTL_VERSION}}},
          {"instructions", instructions(state_.roots)}};
}

/// The result of a call: the answer as it is, and as text for clients that know no structured content. What is long
/// is linked.
static Json callResult(Json answer, bool isError) {
  Json content = Json::array({{{"type", "text"}, {"text", dumped(answer)}}});
  for (const Json &document : answer["more"])
    content.push_back({{"type", "resource_link"},
                       {"uri", document["uri"]},
                       {"name", document["uri"]},
                       {"description", document["what"]},
                       {"size", document["bytes"]}});
  return {{"content", std::move(content)},
          {"structuredContent", std::move(answer)},
          {"isError", isError}};
}

bool Session::callTool(const Json &params, const Json &id, const Send &send) {
  const ToolInfo *tool = findTool(textField(params, "name"));
  if (!tool) {
    send(errorMessage(id, RpcError::Params,
                      "there is no tool `" + textField(params, "name").substr(0, 60) +
                          "`; `tools/list` lists them"));
    return false;
  }
  Json arguments = params.value("arguments", Json::object());
  if (std::string problem = argumentProblem(*tool, arguments); !problem.empty()) {
    send(resultMessage(id, callResult(refusal(problem), true)));
    return false;
  }
  if (tool->home == ToolHome::Server) {
    bool isError = false;
    Arguments given(std::move(arguments));
    Json answer = answerOnServer(*tool, {given, state_.roots, store_}, isError);
    send(resultMessage(id, callResult(std::move(answer), isError)));
    return false;
  }
  Json token = params.value("_meta", Json::object()).value("progressToken", Json());
  double last = -1;
  JobListener listener;
  listener.onProgress = [send, token, last](const Json &progress) mutable {
    if (!isId(token))
      return;
    // What a client hears has to grow with each message.
    double value = progress.value("progress", 0.0);
    value = value > last ? value : last + 0.001;
    last = value;
    Json told = {
        {"progressToken", token}, {"progress", value}, {"message", progress.value("message", "")}};
    if (progress.contains("total"))
      told["total"] = std::max(progress["total"].get<double>(), value);
    send({{"jsonrpc", "2.0"}, {"method", "notifications/progress"}, {"params", std::move(told)}});
  };
  auto isAnswered = std::make_shared<bool>(false);
  listener.onAnswer = [this, send, id, isAnswered](Json message, const std::string &problem) {
    *isAnswered = true;
    running_.erase(id.dump());
    if (message.is_null())
      return send(resultMessage(id, callResult(refusal(problem), true)));
    store_.take(message);
    send(resultMessage(id, callResult(message["answer"], message.value("isError", false))));
  };
  Json request = {
      {"tool", tool->name}, {"arguments", std::move(arguments)}, {"roots", state_.roots.folders()}};
  // A worker that cannot be started has been answered for at once.
  Jobs::Id job = state_.jobs.start(std::move(request), std::move(listener));
  if (*isAnswered)
    return false;
  // The text of an id tells the number 1 from the string "1".
  running_[id.dump()] = {job, send};
  return true;
}

void Session::cancel(const Json &id) {
  auto found = running_.find(id.dump());
  if (found == running_.end())
    return;
  Running ended = std::move(found->second);
  running_.erase(found);
  state_.jobs.cancel(ended.job);
  ended.send(nullptr);
}

void Session::cancelAll() {
  while (!running_.empty())
    cancel(Json::parse(running_.begin()->first));
}

} // namespace ptl::agent

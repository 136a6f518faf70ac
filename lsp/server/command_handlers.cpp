// Commands that the server carries out for clients that have none of their own.
#include "lsp/server/deferred.h"

namespace ptl::lsp {

/// In single quotes for a shell.
static std::string shellQuoted(const std::string &text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

static std::string argument(const json &arguments, size_t index) {
  bool isText = arguments.is_array() && index < arguments.size() && arguments[index].is_string();
  return isText ? arguments[index].get<std::string>() : "";
}

/// The command line with the effect of a command; empty for an unknown command.
static std::string commandLine(const std::string &command, const json &arguments) {
  std::string file = shellQuoted(Session::pathOfUri(argument(arguments, 0)));
  std::string name = argument(arguments, 1), stage = argument(arguments, 2);
  if (command == "runTest" || command == "runBench")
    return std::string(command == "runTest" ? "ptlc test " : "ptlc bench ") + file +
           (name.empty() ? "" : " --filter " + shellQuoted(name));
  std::string entry = name.empty() ? "" : " --entry " + shellQuoted(name);
  if (command == "showMemory")
    return "ptlc build " + file + " --target " + (stage.empty() ? "a3" : stage) +
           " --emit=memory -o -" + entry;
  if (command == "showGraph")
    return "ptlc build " + file + " --target " + (stage.empty() ? "cpu" : stage) +
           " --emit=graph:html -o graph.html" + entry;
  if (command == "showTimeline")
    return "ptlc sim " + file + " --target " + (stage.empty() ? "a3" : stage) +
           " --html timeline.html" + entry;
  if (command == "showPreview") {
    size_t at = stage.find('@');
    std::string kind = stage.empty() ? "ir:tile" : stage.substr(0, at);
    bool isIr = kind == "tensor" || kind == "tile" || kind == "vector";
    return "ptlc build " + file + (at == stage.npos ? "" : " --target " + stage.substr(at + 1)) +
           " --emit=" + (isIr ? "ir:" : "") + kind + " -o -" + entry;
  }
  return "";
}

void executeCommand(Server &server, const json &params, const Reply &reply) {
  std::string command = params.at("command").get<std::string>();
  json arguments = params.value("arguments", json::array());
  for (std::string_view prefix : {"ptl.server.", "ptl."})
    if (command.starts_with(prefix)) {
      command.erase(0, prefix.size());
      break;
    }
  if (command == "applyEdit" && arguments.is_array() && !arguments.empty()) {
    server.request("workspace/applyEdit", {{"edit", arguments[0]}});
    return reply.result(nullptr);
  }
  std::string line = commandLine(command, arguments);
  if (line.empty())
    return reply.error(
        {kInvalidParams, "unknown command: " + params.at("command").get<std::string>()});
  enum { Info = 3 };
  server.notify("window/showMessage", {{"type", int(Info)}, {"message", "run: " + line}});
  reply.result(nullptr);
}

} // namespace ptl::lsp

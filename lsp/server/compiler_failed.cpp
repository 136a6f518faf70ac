#include "lsp/server/compiler_failed.h"

#include "lsp/server/cache_folder.h"

#include <fstream>

namespace ptl::lsp {

/// Writes the request to a file. Returns the path, or an empty string if it cannot be written.
static std::string writeCrashFile(const std::string &entry, const json &request) {
  std::string folder = cacheFolder("crash");
  if (folder.empty())
    return "";
  std::string name;
  for (char c : entry)
    name += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  std::string text = request.dump(1, ' ', false, json::error_handler_t::replace);
  std::string path = folder + "/" + name.substr(0, 64) + "-" +
                     std::to_string(std::hash<std::string>()(text) % 1000000) + ".json";
  std::ofstream stream(path, std::ios::binary);
  stream << text << "\n";
  return stream.good() ? path : "";
}

void compilerFailed(Server &server, const std::string &path, const std::string &entry,
                    const std::string &message, const json &request) {
  std::string file = writeCrashFile(entry, request);
  std::string text = "the compiler failed on `" + entry + "`: " + message +
                     (file.empty() ? "" : "; the request is in `" + file + "`, please report it");
  server.session.failures.push_back({path, entry, text});
  server.notify("ptl/serverStatus", {{"health", "warning"}, {"message", text}});
  server.publisher.due(path);
}

} // namespace ptl::lsp

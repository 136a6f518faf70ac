#include "driver/bundle.h"

#include "driver/version.h"
#include "frontend/base/output.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace ptl {

std::string bundleFolder() { return "ptlc-bundle-" + std::to_string(::getpid()); }

/// The arguments of this process, each in quotes of the shell.
static std::string commandLine() {
  // The shell has expanded the words already, so this is what really ran.
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words{std::istreambuf_iterator<char>(file), {}}, text;
  for (size_t begin = 0; begin < words.size();) {
    size_t end = std::min(words.find('\0', begin), words.size());
    text += text.empty() ? "'" : " '";
    for (char c : words.substr(begin, end - begin))
      text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += "'";
    begin = end + 1;
  }
  return text;
}

static std::string fileNameFor(std::string path) {
  for (char &c : path)
    c = c == '/' || c == '<' || c == '>' ? '_' : c;
  return path;
}

std::string writeBundle(const std::string &folder, const SourceManager &sources,
                        const Fault &fault) {
  // A second failure of one process adds to the same folder.
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return std::strerror(errno);
  std::string reason;
  auto add = [&](const std::string &name, std::string_view text) {
    // The first problem is the one that is told.
    if (reason.empty())
      writeOutput(folder + "/" + name, text, &reason);
  };
  add("report.txt", versionText() + "stage: " + fault.stage + "\nmessage: " + fault.message +
                        "\ncommand: " + commandLine() + "\n");
  for (FileId id = 0; id < sources.size(); ++id)
    add(fileNameFor(sources.file(id).path()), sources.file(id).text());
  if (!fault.ir.empty())
    add("failing.mlir", fault.ir);
  return reason;
}

} // namespace ptl

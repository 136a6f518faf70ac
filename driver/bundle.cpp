#include "driver/bundle.h"

#include "driver/command_line.h"
#include "driver/version.h"
#include "frontend/base/output.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace ptl {

std::string bundleFolder() { return "ptlc-bundle-" + std::to_string(::getpid()); }

/// The running command, each word in quotes of the shell.
static std::string quotedCommand() {
  std::string text;
  for (const std::string &word : runningCommand()) {
    text += text.empty() ? "'" : " '";
    for (char c : word)
      text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += "'";
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
                        "\ncommand: " + quotedCommand() + "\n");
  for (FileId id = 0; id < sources.size(); ++id)
    add(fileNameFor(sources.file(id).path()), sources.file(id).text());
  if (!fault.ir.empty())
    add("failing.mlir", fault.ir);
  return reason;
}

} // namespace ptl

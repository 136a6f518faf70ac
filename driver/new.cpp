#include "driver/commands.h"

#include "driver/project_files.h"
#include "frontend/base/output.h"
#include "frontend/base/word_char.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

namespace ptl {

static bool isModuleName(std::string_view name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), isWordChar);
}

/// Puts the name of the project in the place of `NAME`.
static std::string withName(std::string_view text, const std::string &name) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    bool isName = text.substr(i, 4) == "NAME";
    out += isName ? name : std::string(1, text[i]);
    i += isName ? 4 : 1;
  }
  return out;
}

ExitCode runNew(const Options &options) {
  if (options.positional().size() != 1)
    return usageError("give the name of the project: `ptlc new NAME`");
  const std::string &path = options.positional().front();
  std::string name = path.substr(path.rfind('/') + 1);
  if (!isModuleName(name))
    return usageError(
        "`" + name +
        "` is not a name: a name has letters, digits and `_`, and does not begin with a digit");
  Session session(options);
  // A folder that exists is an error, so that no file is overwritten.
  if (::mkdir(path.c_str(), 0777) != 0) {
    session.sink().report(DiagId::CannotWriteFile, kNoSpan, {path, std::strerror(errno)});
    return session.finish();
  }
  for (size_t i = 0; i < kProjectFileCount; ++i) {
    std::string file = kProjectFiles[i].name == "program"  ? name + ".ptl"
                       : kProjectFiles[i].name == "agents" ? "AGENTS.md"
                                                           : "README.md";
    if (session.write(path + "/" + file, withName(kProjectFiles[i].text, name)))
      std::printf("%s/%s\n", path.c_str(), file.c_str());
  }
  return session.finish();
}

} // namespace ptl

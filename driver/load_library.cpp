#include "driver/commands.h"

#include <dlfcn.h>
#include <unistd.h>

namespace ptl {

ExitCode runInLibrary(const Options &options, std::vector<std::string> arguments) {
  std::string folder = executableFolder(), reason = "libptlc-ir.so is not beside `ptlc`";
  for (const char *place : {"", "../lib/"}) {
    std::string path = folder + place + "libptlc-ir.so";
    if (::access(path.c_str(), R_OK) != 0)
      continue;
    void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void *entry = library ? ::dlsym(library, "ptlcIrMain") : nullptr;
    if (entry) {
      std::vector<char *> argv;
      for (std::string &argument : arguments)
        argv.push_back(argument.data());
      argv.push_back(nullptr);
      auto *irMain = reinterpret_cast<int (*)(int, char **)>(entry);
      return static_cast<ExitCode>(irMain(static_cast<int>(arguments.size()), argv.data()));
    }
    if (const char *text = ::dlerror())
      reason = text;
  }
  Session session(options);
  session.sink().report(DiagId::CompilerPartMissing, kNoSpan, {reason});
  return session.finish(ExitCode::Missing);
}

} // namespace ptl

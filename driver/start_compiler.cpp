#include "driver/commands.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace ptl {

ExitCode runInCompiler(const Options &options, std::vector<std::string> arguments) {
  std::string program = executableFolder() + "ptlc-ir", command = "--command";
  std::vector<char *> argv = {program.data(), command.data()};
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  ::execv(program.c_str(), argv.data());
  // Only a program that could not be started leads here.
  Session session(options);
  session.sink().report(DiagId::CompilerPartMissing, kNoSpan,
                        {"`" + program + "`: " + std::strerror(errno)});
  return session.finish(ExitCode::Missing);
}

} // namespace ptl

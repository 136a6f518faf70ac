// `ptlc`: finds the command, reads its options, runs it.
#include "driver/check.h"
#include "driver/command_line.h"
#include "driver/commands.h"

#include <cstdio>
#include <cstdlib>
#include <malloc.h>

using namespace ptl;

static int print(const std::string &text) {
  std::fputs(text.c_str(), stdout);
  return static_cast<int>(ExitCode::Fine);
}

static ExitCode runFront(const CommandInfo &command, const Options &options,
                         const std::vector<std::string> &arguments) {
  switch (command.id) {
  case CommandId::Check:
    return runCheck(options, {}, [&] { return runInCompiler(options, arguments); });
  case CommandId::Fmt:
    return runFmt(options);
  case CommandId::Debug:
    return runDebug(options);
  case CommandId::Doc:
    return runDoc(options);
  case CommandId::Cache:
    return runCache(options);
  case CommandId::Completion:
    return runCompletion(options);
  case CommandId::Explain:
    return runExplain(options);
  case CommandId::Mcp:
    return runMcp(options);
  case CommandId::New:
    return runNew(options);
  case CommandId::Reduce:
    return runReduce(options);
  case CommandId::Targets:
    return runTargets(options);
  default:
    return ExitCode::Internal;
  }
}

int main(int argc, char **argv) {
  // A short-lived process: memory is taken in large steps and never given back before the end.
  mallopt(M_TOP_PAD, 8 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  std::string error;
  std::vector<std::string> arguments = expandResponseFiles(argc, argv, &error);
  if (!error.empty())
    return static_cast<int>(usageError(error));
  CommandLine line = readCommandLine(arguments);
  if (!line.error.empty())
    return static_cast<int>(usageError(line.error));
  if (!line.command)
    return print(line.text);
  ExitCode code = needsCompiler(*line.command, line.options)
                      ? runInCompiler(line.options, arguments)
                      : runFront(*line.command, line.options, arguments);
  // Nothing that is static has to be taken apart, and LLVM has thousands of such things.
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(code));
}

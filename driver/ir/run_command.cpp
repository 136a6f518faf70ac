#include "driver/ir/commands.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

namespace ptl {

static ExitCode runNamed(const CommandInfo &command, const Options &options) {
  switch (command.id) {
  case CommandId::Check:
    return runCheckForChips(options);
  case CommandId::Build:
    return runBuild(options);
  case CommandId::Run:
    return runRun(options);
  case CommandId::Test:
    return runTest(options);
  case CommandId::Bench:
    return runBench(options);
  case CommandId::Lower:
    return runLower(options);
  case CommandId::Sim:
    return runSim(options);
  case CommandId::Tune:
    return runTune(options);
  default:
    return ExitCode::Internal;
  }
}

ExitCode runCommand(const CommandInfo &command, const Options &options) {
  if (options.positional().empty())
    return usageError("name the file that the command is for");
  // The pool of threads reads this when it is first used.
  // 0 is the default: all cores.
  if (options.number(OptionId::Threads).value_or(0) > 0)
    ::setenv("PTL_NUM_THREADS", std::string(options.value(OptionId::Threads)).c_str(), 1);
  ExitCode code = runNamed(command, options);
  llvm::outs().flush();
  return code;
}

} // namespace ptl

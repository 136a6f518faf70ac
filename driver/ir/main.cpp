// The entry of libptlc-ir: `ptlc` hands its whole command line over.
#include "driver/ir/commands.h"

#include <cstdlib>

using namespace ptl;

extern "C" __attribute__((visibility("default"))) int ptlcIrMain(int argc, char **argv) {
  const CommandInfo *command = findCommand(argv[1]);
  ParsedOptions parsed = parseOptions(*command, {argv + 2, argv + argc});
  const Options &options = parsed.options;
  if (options.positional().empty())
    return static_cast<int>(usageError("no input file"));
  // The pool of threads reads this when it is first used.
  if (options.has(OptionId::Threads))
    ::setenv("PTL_NUM_THREADS", std::string(options.value(OptionId::Threads)).c_str(), 1);
  switch (command->id) {
  case CommandId::Check:
    return static_cast<int>(runCheckForChips(options));
  case CommandId::Build:
    return static_cast<int>(runBuild(options));
  case CommandId::Run:
    return static_cast<int>(runRun(options));
  case CommandId::Test:
    return static_cast<int>(runTest(options));
  case CommandId::Bench:
    return static_cast<int>(runBench(options));
  case CommandId::Lower:
    return static_cast<int>(runLower(options));
  case CommandId::Sim:
    return static_cast<int>(runSim(options));
  case CommandId::Tune:
    return static_cast<int>(runTune(options));
  default:
    return static_cast<int>(ExitCode::Internal);
  }
}

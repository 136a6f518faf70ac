// ptlc-ir: everything that needs MLIR and LLVM, in a program of its own, so that what does not need
// them starts without. It is what `ptlc` becomes for such commands, and the process that answers the
// language server and agents (`ptlc mcp`): started and ended by them, it costs one request if
// something goes wrong here.
#include "agent/tools/worker.h"
#include "common/read_number.h"
#include "driver/command_line.h"
#include "driver/ir/commands.h"
#include "driver/worker/serve_commands.h"
#include "frontend/base/install.h"
#include "frontend/base/time_slice.h"
#include "lsp/worker/limits.h"
#include "lsp/worker/worker.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <unistd.h>

using namespace ptl;
using namespace ptl::worker;

namespace {

constexpr int kWrongUsage = 2; ///< exit code, as that of `ptlc`
constexpr const char *kUsage =
    "usage: ptlc-ir [--memory MIB] [--timeout MS] [--cache MIB]\n"
    "         answers requests on standard input, framed as in LSP\n"
    "       ptlc-ir --call\n"
    "         answers one call of an agent: a line of JSON on standard input (`ptlc mcp`)\n"
    "       ptlc-ir --command PTLC COMMAND [OPTIONS]…\n"
    "         runs a command of `ptlc`\n"
    "       ptlc-ir --commands\n"
    "         runs commands of `ptlc` that it reads from standard input (driver/README.md)\n"
    "       ptlc-ir --once FILE --stage STAGE [--entry NAME] [-D NAME=VALUE]… [--level N]\n"
    "         [--processor NAME] [--intel] [--text]\n"
    "         prints one answer as JSON, or with --text the stage alone\n";

struct Arguments {
  int64_t memoryMib = 4096, timeoutMs = 20000, cacheMib = 128;
  std::string fault;
  bool isOnce = false, isText = false, isWrong = false;
  Json request = {{"id", 1}, {"method", "preview"}, {"stage", "tile"}};
};

/// One option with its value; false if there is no such option.
bool readOption(Arguments &arguments, std::string_view option, const std::string &value) {
  auto number = [&](int64_t &target) {
    std::optional<int64_t> read = integerIn(value);
    if (!read || *read < 0)
      return false;
    target = *read;
    return true;
  };
  int64_t level = 2;
  if (option == "--memory")
    return number(arguments.memoryMib);
  if (option == "--timeout")
    return number(arguments.timeoutMs);
  if (option == "--cache")
    return number(arguments.cacheMib);
  if (option == "--fault") {
    arguments.fault = value;
  } else if (option == "--once") {
    arguments.isOnce = true;
    arguments.request["root"] = value;
  } else if (option == "--entry" || option == "--stage") {
    arguments.request[std::string(option.substr(2))] = value;
  } else if (option == "--processor") {
    arguments.request["options"]["processor"] = value;
  } else if (option == "--level") {
    if (!number(level))
      return false;
    arguments.request["options"]["level"] = level;
  } else if (option == "-D") {
    size_t equals = value.find('=');
    if (equals == value.npos)
      return false;
    arguments.request["bindings"][value.substr(0, equals)] = value.substr(equals + 1);
  } else {
    return false;
  }
  return true;
}

Arguments readArguments(int argc, char **argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string_view option = argv[i];
    if (option == "--text")
      arguments.isText = true;
    else if (option == "--intel")
      arguments.request["options"]["syntax"] = "intel";
    else if (i + 1 >= argc || !readOption(arguments, option, argv[++i]))
      arguments.isWrong = true;
  }
  return arguments;
}

int runOnce(const Arguments &arguments, WorkerOptions options) {
  Worker worker(std::move(options), {});
  Json answer = worker.answer(arguments.request);
  bool isOk = answer.contains("result") && truthField(answer["result"], "ok", false);
  std::string text = arguments.isText && isOk
                         ? textField(answer["result"], "text")
                         : answer.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fputs(text.c_str(), stdout);
  return isOk ? 0 : 1;
}

int serve(const Arguments &arguments, WorkerOptions options) {
  // The editor and the server go first.
  askTimeSlice(std::chrono::milliseconds(10), false);
  // Libraries may print to standard output, which must not get between the answers.
  int out = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  Channel channel(STDIN_FILENO, out);
  installLimits(out, static_cast<uint64_t>(arguments.memoryMib) << 20);
  endWithReader(out);
  Json id;
  using Clock = std::chrono::steady_clock;
  Clock::time_point looked = Clock::now();
  Worker worker(std::move(options), [&](const std::string &step) {
    // Passes of LLVM come by the thousand.
    bool isPass = step.find(':') != step.npos;
    if (isPass && Clock::now() - looked < std::chrono::milliseconds(4))
      return true;
    if (!isPass)
      channel.write({{"progress", {{"id", id}, {"step", step}}}});
    looked = Clock::now();
    return !channel.wasCancelled(id);
  });
  while (std::optional<Json> request = channel.read()) {
    // No request is being worked on that this could cancel.
    if (request->is_object() && request->contains("cancel"))
      continue;
    id = request->is_object() && request->contains("id") ? (*request)["id"] : Json();
    int64_t limit = numberField(*request, "timeoutMs", arguments.timeoutMs);
    beginRequest(dumped(id), static_cast<unsigned>(std::clamp<int64_t>(limit, 1, 3600000)));
    Json answer = worker.answer(std::move(*request));
    endRequest();
    answer["id"] = id;
    channel.write(answer);
    worker.tidy();
    if (worker.shouldStop())
      break;
  }
  return 0;
}

/// Runs a command of the compiler, with the name that `ptlc` was called by first, and ends the
/// process.
[[noreturn]] void runOneCommand(const std::vector<std::string> &arguments) {
  CommandLine line = readCommandLine(arguments);
  bool isRight = line.command && needsCompiler(*line.command, line.options);
  // `check` comes here too if the file turns out to need the prover.
  isRight |= line.command && line.command->id == CommandId::Check;
  if (!isRight && line.error.empty())
    line.error = "`ptlc-ir --command` runs the commands of `ptlc` that need the compiler";
  ExitCode code = isRight ? runCommand(*line.command, line.options) : usageError(line.error);
  // Nothing that is static has to be taken apart, and LLVM has thousands of such things.
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(code));
}

} // namespace

// What is thrown and caught nowhere, as when there is no memory, ends the process by way of the
// handler that answers the request with where it happened.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char **argv) {
  std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--command")
    runOneCommand({argv + 2, argv + argc});
  if (argc == 2 && first == "--commands")
    return serveCommands();
  if (argc == 2 && first == "--call")
    return agent::runWorker();
  Arguments arguments = readArguments(argc, argv);
  if (arguments.isWrong) {
    std::fputs(kUsage, stderr);
    return kWrongUsage;
  }
  WorkerOptions options;
  options.stdPath = standardLibraryFolder();
  options.cacheBytes = static_cast<size_t>(arguments.cacheMib) << 20;
  options.fault = arguments.fault;
  return arguments.isOnce ? runOnce(arguments, std::move(options))
                          : serve(arguments, std::move(options));
}

// `ptlc debug`.
#include "driver/commands.h"
#include "driver/debug/adapter.h"
#include "driver/debug/terminal.h"

#include <cstdio>
#include <unistd.h>

namespace ptl {

using namespace debug;

/// Dimensions of the block are given as constants are: `-D N=78`.
static std::map<std::string, int64_t> dimsOf(const CheckedProgram &program,
                                             const CheckOptions &check, const std::string &name) {
  std::map<std::string, int64_t> dims;
  for (const CallableDecl *decl : reference::findTests(program, name))
    for (const DimParam &dim : decl->dims)
      if (auto given = check.defines.find(dim.name); given != check.defines.end())
        dims[dim.name] = given->second;
  return dims;
}

static ExitCode runOnTerminal(Session &session, const CheckedProgram &program,
                              const std::string &path) {
  const Options &options = session.options();
  std::string name(options.value(OptionId::Filter));
  Scenario scenario = chooseScenario(
      program, session.sources(), name, dimsOf(program, session.checkOptions(), name),
      static_cast<unsigned>(options.number(OptionId::Samples).value_or(25)),
      static_cast<uint64_t>(options.number(OptionId::Seed).value_or(1)));
  if (!scenario.problem.empty())
    return usageError(scenario.problem);
  std::printf("`%s`%s%s\n", scenario.block->name.c_str(), scenario.note.empty() ? "" : ": ",
              scenario.note.c_str());
  Breakpoints breakpoints(program, session.sources());
  Terminal terminal(breakpoints, session.sources(), path);
  reference::RunOptions run;
  run.observer = &terminal;
  for (const auto &[dim, value] : scenario.dims)
    run.dims[dim] = value;
  try {
    reference::RunResult result =
        reference::runBody(program, session.sources(), *scenario.block, run);
    bool hasPassed = result.ok() && result.failed.empty();
    std::printf("%s\n", hasPassed ? "passed" : "failed");
    return session.finish(hasPassed ? ExitCode::Fine : ExitCode::ProgramStopped);
  } catch (const Quit &) {
    return session.finish();
  }
}

ExitCode runDebug(const Options &options) {
  if (options.has(OptionId::Dap)) {
    Channel channel(STDIN_FILENO, STDOUT_FILENO);
    return Adapter(options, channel).serve();
  }
  if (options.positional().size() != 1)
    return usageError("give one file: `ptlc debug FILE`");
  Session session(options);
  const std::string &path = options.positional()[0];
  std::unique_ptr<CheckedProgram> program = session.check(path);
  if (!program || session.failed())
    return session.finish();
  return runOnTerminal(session, *program, path);
}

} // namespace ptl

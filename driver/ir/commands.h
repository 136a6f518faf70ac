// The commands of `ptlc-ir`. Each takes its command line, prints its messages and returns the exit
// code.
#pragma once

#include "driver/session.h"
#include "frontend/sema/checked_tree.h"
#include "runtime/context.h"

namespace ptl {

/// Runs a command that needs the compiler (`needsCompiler`).
ExitCode runCommand(const CommandInfo &command, const Options &options);

/// Runs `check` for the chips of `--target`.
ExitCode runCheckForChips(const Options &options);
ExitCode runBuild(const Options &options);
ExitCode runRun(const Options &options);
ExitCode runTest(const Options &options);
ExitCode runBench(const Options &options);
ExitCode runLower(const Options &options);
ExitCode runSim(const Options &options);
ExitCode runTune(const Options &options);

/// The entry that `--entry` names, or the only candidate. Null after reporting why there is none.
const CallableDecl *chooseEntry(Session &session, const CheckedProgram &program);

/// A checked file, and the entry in it that a command concerns.
struct CheckedEntry {
  std::unique_ptr<CheckedProgram> program;
  const CallableDecl *decl = nullptr;
};

/// Checks the file of the command line and chooses the entry. `decl` is null after reporting why
/// there is none, or the errors of the file.
CheckedEntry checkEntry(Session &session);

/// Reports why a call stopped, at its source line if there is one.
void reportStop(Session &session, const rt::Failure &failure);

} // namespace ptl

// The command line of `ptlc`: what is asked for, checked as far as one command is like another.
#pragma once

#include "driver/options.h"

namespace ptl {

struct CommandLine {
  const CommandInfo *command = nullptr; ///< null: nothing is to be run
  Options options;
  std::string text;  ///< help or the version, to be printed instead
  std::string error; ///< why the command line is wrong; empty if it is right
};

/// Reads a command line without response files; `arguments[1]` is the command.
CommandLine readCommandLine(const std::vector<std::string> &arguments);

/// The arguments that were read last, which are those of the running command, the name of the
/// program first. Ranks are started with them, and reproducers name them.
const std::vector<std::string> &runningCommand();

/// Whether the command needs IR, and so `ptlc-ir`: most say so in their table, `check` when it is
/// asked about chips or costs.
bool needsCompiler(const CommandInfo &command, const Options &options);

} // namespace ptl

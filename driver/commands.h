// The commands of the executable. Each takes its command line, prints its messages and returns the
// exit code.
#pragma once

#include "driver/session.h"

namespace ptl {

ExitCode runFmt(const Options &options);
ExitCode runDebug(const Options &options);
ExitCode runDoc(const Options &options);
ExitCode runExplain(const Options &options);
ExitCode runNew(const Options &options);
ExitCode runCompletion(const Options &options);
ExitCode runTargets(const Options &options);
ExitCode runCache(const Options &options);
ExitCode runMcp(const Options &options);
ExitCode runReduce(const Options &options);

/// Becomes `ptlc-ir`, the program beside `ptlc` that has MLIR and LLVM, with the whole command line;
/// `arguments[1]` is the command. Returns only if it cannot be started.
ExitCode runInCompiler(const Options &options, std::vector<std::string> arguments);

} // namespace ptl

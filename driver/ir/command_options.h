// Translates the options of the command line to options of the compiler.
#pragma once

#include "compile/call/example_call.h"
#include "compile/compiler_options.h"
#include "driver/target.h"

namespace ptl {

/// The compiler's options. With them an internal error writes a reproducer to a folder beside the
/// caller's files.
CompilerOptions compilerOptions(const Options &options, const Target &target);

/// Whether code can be generated for the processor of `--cpu` and, with `runs`, run on this one. If
/// not, that is reported, and the result is the exit code of the command. `target` is the only
/// target of the command, which must be the CPU; null if there may be several.
std::optional<ExitCode> processorProblem(Session &session, const Target *target, bool runs);

/// The values of `-D`, by name.
Wanted wantedOf(const Options &options);
/// The integer values of `-D` for one declaration: the sizes of the call whose time is estimated.
ExampleSizes exampleSizes(const Options &options, const CallableDecl &decl);

} // namespace ptl

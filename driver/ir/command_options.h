// Translates the options of the command line to those of the compiler.
#pragma once

#include "compile/call/example_call.h"
#include "compile/compiler_options.h"
#include "driver/target.h"

namespace ptl {

/// The compiler's options. They make an internal error write what reproduces it to a folder beside
/// the caller's files.
CompilerOptions compilerOptions(const Options &options, const Target &target);

/// Whether code can be made for the processor of `--cpu`, and run here if it is to (`runs`). If it
/// cannot, that is reported, and the result is how the command ends. `target`: the only target of
/// the command, which must be the CPU; null where there may be several.
std::optional<ExitCode> processorProblem(Session &session, const Target *target, bool runs);

/// The values of `-D`, by name.
Wanted wantedOf(const Options &options);
/// Those that are numbers, for one declaration: the sizes of the call whose time is told.
ExampleSizes exampleSizes(const Options &options, const CallableDecl &decl);

} // namespace ptl

// Translates the options of the command line to those of the compiler.
#pragma once

#include "compile/call/example_call.h"
#include "compile/compiler_options.h"
#include "driver/target.h"

namespace ptl {

/// The compiler's options. They make an internal error write what reproduces it to a folder beside
/// the caller's files.
CompilerOptions compilerOptions(const Options &options, const Target &target);

/// The values of `-D`, by name.
Wanted wantedOf(const Options &options);
/// Those that are numbers, for one declaration: the sizes of the call whose time is told.
ExampleSizes exampleSizes(const Options &options, const CallableDecl &decl);

} // namespace ptl

// Translates the options of the command line to those of the compiler.
#pragma once

#include "compile/compiler_options.h"
#include "driver/target.h"

namespace ptl {

/// The compiler's options. They make an internal error write what reproduces it to a folder beside
/// the caller's files.
CompilerOptions compilerOptions(const Options &options, const Target &target);

} // namespace ptl

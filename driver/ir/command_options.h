// What the command line says of compiling.
#pragma once

#include "compile/compiler_options.h"
#include "driver/target.h"

namespace ptl {

/// What shows an internal error again is written to a folder beside the caller's files.
CompilerOptions compilerOptions(const Options &options, const Target &target);

} // namespace ptl

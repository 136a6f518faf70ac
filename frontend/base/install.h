// Locates the parts of an installation.
#pragma once

#include <string>

namespace ptl {

/// The folder of the running program, with a slash at its end.
std::string executableFolder();

/// The folder of the standard library: `PTL_STD`, otherwise beside the program
/// (`../share/ptl/std`), otherwise in the source tree around the build folder. Empty if there is
/// none.
std::string standardLibraryFolder();

} // namespace ptl

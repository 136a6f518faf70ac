// Where the parts of an installation lie.
#pragma once

#include <string>

namespace ptl {

/// The folder of the running program, with a slash at its end.
std::string executableFolder();

/// The folder of the standard library: `PTL_STD`, else beside the program (`../share/ptl/std`) or
/// in the source tree around the build folder. Empty when there is none.
std::string standardLibraryFolder();

} // namespace ptl

// The text of `ptlc --version`, with which reports of internal errors begin.
#pragma once

#include <string>

namespace ptl {

/// One line each: the version with the commit that was built (`+`: with changes), LLVM's version,
/// the machines that the build knows, by name.
std::string versionText();

} // namespace ptl

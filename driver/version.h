// The text of `ptlc --version`, which also begins the reports of internal errors.
#pragma once

#include <string>

namespace ptl {

/// One line each: the version with the commit of the build (`+`: with local changes), LLVM's
/// version, and the names of the machines that the build includes.
std::string versionText();

} // namespace ptl

// Where the server keeps files of its own.
#pragma once

#include <string>

namespace ptl::lsp {

/// A folder of ours in the user's cache, made if it is missing; empty when there is none.
std::string cacheFolder(const std::string &name);

} // namespace ptl::lsp

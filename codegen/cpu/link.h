// Links objects.
#pragma once

#include "codegen/cpu/native.h"

namespace ptl::cpu {

/// Links object files on disk to a shared library at `output`; `arguments` are passed to the
/// linker.
llvm::Error linkSharedLibrary(const std::vector<std::string> &objects,
                              const std::vector<std::string> &arguments, const std::string &output);

} // namespace ptl::cpu

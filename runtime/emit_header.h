#pragma once

#include "runtime/manifest.h"

#include <string>

namespace ptl::rt {

/// The C header of a library, as docs/manifest.md describes it. `guard` is the file's name.
std::string emitHeader(const Manifest &manifest, const std::string &guard);

} // namespace ptl::rt

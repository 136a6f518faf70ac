// Functions that emitted C++ has beside its own: they are written once, where the file uses them.
#pragma once

#include "codegen/pto/line_map.h"

#include "llvm/ADT/StringSet.h"

namespace ptl::pto {

/// Helpers that functions of the file use.
struct CppHelpers {
  llvm::StringSet<> used; ///< `smaller`, `larger`, `ceilDiv`, `floorDiv`, `coreEvents`
};

/// Adds the definitions of the helpers; `before` each, `AICORE ` for code of the device.
void addCppHelpers(TextLines &text, const CppHelpers &helpers, const std::string &before);

} // namespace ptl::pto

// Helper functions of emitted C++: each is defined once in a file that uses it.
#pragma once

#include "codegen/pto/line_map.h"

#include "llvm/ADT/StringSet.h"

namespace ptl::pto {

/// The helpers that functions of the file use.
struct CppHelpers {
  llvm::StringSet<>
      used; ///< `smaller`, `larger`, `ceilDiv`, `floorDiv`, `quotientOf`, `remainderOf`, `saturated`, `coreEvents`
};

/// Adds the definitions of the helpers. `before` precedes each one: `AICORE ` for code of the
/// device.
void addCppHelpers(TextLines &text, const CppHelpers &helpers, const std::string &before);

} // namespace ptl::pto

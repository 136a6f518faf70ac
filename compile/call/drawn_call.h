// Calls of an entry with arguments that nobody gave: small lengths that its requirements allow, and
// made-up elements.
#pragma once

#include "compile/call/compiled_executor.h"
#include "compile/entry/manifest.h"

#include <string>
#include <vector>

namespace ptl {

/// Calls one variant of an entry. `words`: `name=value` for what is known. False where no lengths
/// were found for which it can be called.
bool callDrawn(CompiledExecutor &executor, const CallableDecl &decl, const ManifestVariant &variant,
               const std::map<std::string, int64_t> &tunables, std::vector<std::string> words);

} // namespace ptl

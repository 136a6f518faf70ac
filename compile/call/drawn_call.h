// Calls an entry without arguments from a caller: it draws small lengths that satisfy the entry's
// requirements, and generates the elements.
#pragma once

#include "compile/call/compiled_executor.h"
#include "compile/entry/manifest.h"

#include <string>
#include <vector>

namespace ptl {

/// Calls one variant of an entry. `words` are the known arguments, as `name=value`. Returns false
/// if no lengths were found that satisfy the requirements.
bool callDrawn(CompiledExecutor &executor, const CallableDecl &decl, const ManifestVariant &variant,
               const std::map<std::string, int64_t> &tunables, std::vector<std::string> words);

} // namespace ptl

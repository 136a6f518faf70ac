// Calls an entry without arguments of a caller: it draws small lengths that the entry's
// requirements allow, and makes up the elements.
#pragma once

#include "compile/call/compiled_executor.h"
#include "compile/entry/manifest.h"

#include <string>
#include <vector>

namespace ptl {

/// Calls one variant of an entry. `words` are the arguments that are known, as `name=value`. False
/// if no lengths were found with which it can be called.
bool callDrawn(CompiledExecutor &executor, const CallableDecl &decl, const ManifestVariant &variant,
               const std::map<std::string, int64_t> &tunables, std::vector<std::string> words);

} // namespace ptl

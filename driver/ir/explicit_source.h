// What the compiler infers of an entry, as PTL source that it accepts: `ptlc lower` and the
// language server's "make explicit".
#pragma once

#include "driver/ir/compiler.h"

#include <optional>
#include <string>

namespace ptl {

/// The declarations that stand for one entry at tile level, formatted. Nothing after an error.
std::optional<std::string> explicitTiles(Compiler &compiler, const CheckedProgram &program,
                                         SourceManager &sources, const ir::EntryBinding &binding,
                                         const std::string &name, DiagnosticSink &sink);

} // namespace ptl

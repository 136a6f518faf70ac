// Writes what the compiler infers about an entry as PTL source that it accepts, for `ptlc lower`
// and for the language server's "make explicit".
#pragma once

#include "compile/compiler.h"

#include <optional>
#include <string>

namespace ptl {

/// The level to write: loops over tiles, or buffers, events and instructions of a chip.
enum class ExplicitLevel : uint8_t { Tile, Manual };

struct ExplicitText {
  std::string text;
  /// For each line the places in the source that it came from, innermost first.
  std::vector<std::vector<Span>> origins;
};

/// The declarations that replace one entry at that level, formatted. Returns nothing after an
/// error. `Manual` needs a chip in the compiler's options.
std::optional<ExplicitText> explicitSource(Compiler &compiler, const CheckedProgram &program,
                                           SourceManager &sources, const ir::EntryBinding &binding,
                                           const std::string &name, ExplicitLevel level,
                                           DiagnosticSink &sink);

} // namespace ptl

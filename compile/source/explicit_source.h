// Prints an entry, with everything that the compiler inferred, as PTL source that the compiler
// accepts, for `ptlc lower` and for the language server's "make explicit".
#pragma once

#include "compile/compile_context.h"
#include "ir/build/build_ir.h"

#include <optional>
#include <string>

namespace ptl {

/// The level to print: loops over tiles, or buffers, events and instructions of a chip.
enum class ExplicitLevel : uint8_t { Tile, Manual };

struct ExplicitText {
  std::string text;
  /// For each line the source locations that it came from, innermost first.
  std::vector<std::vector<Span>> origins;
};

/// The declarations that replace one entry at that level, formatted. Nothing after an error.
/// `Manual` needs a chip in the context's options.
std::optional<ExplicitText> explicitSource(const CompileContext &context,
                                           const ir::EntryBinding &binding, const std::string &name,
                                           ExplicitLevel level);

} // namespace ptl

// Lenses: actions on a declaration, shown above it.
#pragma once

#include "lsp/ide/document.h"

#include <string>
#include <vector>

namespace ptl::ide {

/// One entry per row of `lens_kinds.def`.
enum class LensKind : uint8_t {
#define LENS(NAME, COMMAND, TITLE) NAME,
#include "lsp/ide/lens_kinds.def"
#undef LENS
};

struct LensInfo {
  std::string_view command; ///< of the client; empty: the lens is only text
  std::string_view title;
};
const LensInfo &lensInfo(LensKind kind);

struct Lens {
  LensKind kind = LensKind::RunTest;
  Range range;                           ///< of the name, in the chunk
  std::string name;                      ///< of the declaration
  std::vector<std::string> targets = {}; ///< the targets in a kernel's header; empty: all
};

/// Sorted by position. Uses only the syntax.
const std::vector<Lens> &lenses(const Chunk &chunk);

} // namespace ptl::ide

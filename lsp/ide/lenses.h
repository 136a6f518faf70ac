// Lenses: the actions that are possible with a declaration, shown above it.
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
  std::string_view command; ///< of the client; empty: the lens is text
  std::string_view title;
};
const LensInfo &lensInfo(LensKind kind);

struct Lens {
  LensKind kind = LensKind::RunTest;
  Range range;                           ///< of the name, in the chunk
  std::string name;                      ///< of the declaration
  std::vector<std::string> targets = {}; ///< that a kernel is for, by its header; empty: all
};

/// By position. Looks at the syntax alone.
const std::vector<Lens> &lenses(const Chunk &chunk);

} // namespace ptl::ide

// Ways from a name to other places: its declaration, its type, everything that means the same.
#pragma once

#include "lsp/ide/symbol.h"

#include <span>
#include <string>
#include <vector>

namespace ptl::ide {

/// A way from a range of the file that was asked to a declaration.
struct Link {
  Range origin;
  Location name;  ///< there; the beginning of a file for a module
  Location whole; ///< the declaration that has the name
};

/// What the name at a byte was declared by. Nothing for what is built in.
std::optional<Link> definition(Workspace &workspace, File &file, uint32_t offset);
/// The struct or alias that is the type of what stands at a byte; of a type itself, it.
std::optional<Link> typeDefinition(Workspace &workspace, File &file, uint32_t offset);

/// A place that names something.
struct Mention {
  Location location;
  Access access = Access::Read;
  size_t place = 0; ///< in the document of `location.file`
  NodeId node = kNoNode;
};

/// All places in one file that mean what stands at a byte of it.
std::vector<Mention> highlights(Workspace &workspace, File &file, uint32_t offset);

/// All places that mean the same as `symbol`, the declaration among them: in the files that are
/// known, and in those of `paths`, which are loaded if they contain the name.
std::vector<Mention> mentions(Workspace &workspace, const Symbol &symbol,
                              std::span<const std::string> paths);

/// The path of an import, as a link.
struct ImportLink {
  Range range;
  std::string path; ///< of the file
};
std::vector<ImportLink> importLinks(Workspace &workspace, File &file);

/// The places that change together when the name at a byte, which must be that of a declaration
/// inside of a declaration, is edited; empty where there are none or some are elsewhere.
std::vector<Range> linkedRanges(Workspace &workspace, File &file, uint32_t offset);

} // namespace ptl::ide

// Navigation from a name: to its declaration, to its type, and to all places with the same meaning.
#pragma once

#include "lsp/ide/symbol.h"

#include <span>
#include <string>
#include <vector>

namespace ptl::ide {

/// A link from a range of the requested file to a declaration.
struct Link {
  Range origin;
  Location name;  ///< of the name; the beginning of a file for a module
  Location whole; ///< the declaration that has the name
};

/// The declaration of the name at a byte; nothing for built-ins.
std::optional<Link> definition(Workspace &workspace, File &file, uint32_t offset);
/// The struct or alias that is the type of the expression at a byte; for a type, its own
/// declaration.
std::optional<Link> typeDefinition(Workspace &workspace, File &file, uint32_t offset);

/// A place that names something.
struct Mention {
  Location location;
  Access access = Access::Read;
  size_t place = 0; ///< in the document of `location.file`
  NodeId node = kNoNode;
};

/// All places in one file that refer to the same thing as the name at a byte of it.
std::vector<Mention> highlights(Workspace &workspace, File &file, uint32_t offset);

/// All places that refer to `symbol`, including its declaration: in the files that are known, and
/// in those of `paths`, which are loaded if they contain the name.
std::vector<Mention> mentions(Workspace &workspace, const Symbol &symbol,
                              std::span<const std::string> paths);

/// The path of an import, as a link.
struct ImportLink {
  Range range;
  std::string path; ///< of the file
};
std::vector<ImportLink> importLinks(Workspace &workspace, File &file);

/// The places that an editor changes together with the name at a byte, which must be the name in a
/// local declaration. Empty if there are none, or some are in other files.
std::vector<Range> linkedRanges(Workspace &workspace, File &file, uint32_t offset);

} // namespace ptl::ide

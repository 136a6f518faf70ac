// "Make explicit": the declaration whose inferred tiles can be written out. The worker, which
// compiles, provides the text.
#pragma once

#include "lsp/ide/workspace.h"

#include <optional>
#include <string>

namespace ptl::ide {

struct ExplicitOffer {
  std::string entry;    ///< name of the declaration
  Range range;          ///< of the declaration with its comment, in the document
  std::string disabled; ///< why it is not possible; empty: it is possible
};

/// The kernel or program whose header holds the start of the range.
std::optional<ExplicitOffer> explicitOffer(Workspace &workspace, File &file, Range range);

} // namespace ptl::ide

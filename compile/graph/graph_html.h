// A graph as a self-contained page.
#pragma once

#include "compile/graph/graph_text.h"

namespace ptl {

/// A self-contained page with the picture and a table of the tasks. A click on a box posts `{place:
/// "PATH:LINE:COLUMN"}` to an embedding editor.
GraphPicture graphHtml(const std::vector<ProgramGraph> &graphs, const SourceManager &sources);

} // namespace ptl

// Graphs as data.
#pragma once

#include "compile/graph/graph_text.h"

namespace ptl {

/// In the form of docs/schemas/graph.json: `{"graphs": […]}`.
std::string graphDocument(const std::vector<ProgramGraph> &graphs, const SourceManager &sources);

} // namespace ptl

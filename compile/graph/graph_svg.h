// Graphs as a picture, and what pictures and pages share.
#pragma once

#include "compile/graph/graph_text.h"

namespace ptl {

/// One SVG with all graphs below each other. Its colours follow the reader's preference for a light
/// or dark scheme, and custom properties of CSS (`--paper`, `--ink`, …), which an embedding page
/// may set. Boxes have the line of their source as `data-line`.
GraphPicture graphSvg(const std::vector<ProgramGraph> &graphs, const SourceManager &sources);

/// Formats as `41.2 µs`, `3.02 ms`; `96 KiB`, `1.5 MiB`.
std::string graphTime(double us);
std::string graphBytes(int64_t bytes);

} // namespace ptl

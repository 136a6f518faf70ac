// Writes graphs: as data, as a picture, and as a self-contained page.
#pragma once

#include "compile/graph/program_graph.h"
#include "frontend/base/source.h"

#include <string>
#include <string_view>
#include <vector>

namespace ptl {

/// A picture as text: each box is a line of it.
struct GraphPicture {
  std::string text;
  /// for each line, the source spans of the box on it; empty if it has none
  std::vector<std::vector<Span>> lines;
};

/// In the form of docs/schemas/graph.json: `{"graphs": […]}`.
std::string graphDocument(const std::vector<ProgramGraph> &graphs, const SourceManager &sources);

/// One SVG with all graphs below each other. Its colours follow the reader's preference for a light
/// or dark scheme, and custom properties of CSS (`--paper`, `--ink`, …), which an embedding page
/// may set. Boxes have the line of their source as `data-line`.
GraphPicture graphSvg(const std::vector<ProgramGraph> &graphs, const SourceManager &sources);

/// A self-contained page with the picture and a table of the tasks. A click on a box posts `{place:
/// "PATH:LINE:COLUMN"}` to an embedding editor.
GraphPicture graphHtml(const std::vector<ProgramGraph> &graphs, const SourceManager &sources);

/// Formats as `41.2 µs`, `3.02 ms`; `96 KiB`, `1.5 MiB`.
std::string graphTime(double us);
std::string graphBytes(int64_t bytes);
/// Escapes text for the contents and attributes of SVG and HTML.
std::string escapedMarkup(std::string_view text);

} // namespace ptl

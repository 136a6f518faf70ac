// Writes graphs: as data, as a picture, as a page that stands alone.
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
  std::vector<std::vector<Span>> lines; ///< what the box on each line is of; empty: none
};

/// In the form of docs/schemas/graph.json: `{"graphs": […]}`.
std::string graphDocument(const std::vector<ProgramGraph> &graphs, const SourceManager &sources);

/// One SVG for all graphs, one under the other. Its colours are those of a light or a dark scheme, by what the reader prefers, and
/// custom properties of CSS (`--paper`, `--ink`, …), which a page around it may set. Boxes have the line of their source as `data-line`.
GraphPicture graphSvg(const std::vector<ProgramGraph> &graphs, const SourceManager &sources);

/// A page with the picture and a table of the tasks, which needs nothing else. A click on a box of the picture posts
/// `{place: "PATH:LINE:COLUMN"}` to an editor around it.
GraphPicture graphHtml(const std::vector<ProgramGraph> &graphs, const SourceManager &sources);

/// `41.2 µs`, `3.02 ms`; `96 KiB`, `1.5 MiB`.
std::string graphTime(double us);
std::string graphBytes(int64_t bytes);
/// For texts and attributes of SVG and HTML.
std::string escapedMarkup(std::string_view text);

} // namespace ptl

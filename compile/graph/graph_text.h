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

} // namespace ptl

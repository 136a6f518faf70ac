// Lays out boxes in rows, so that edges go downwards with few crossings. Uses only the standard
// library.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace ptl {

struct LaidBox {
  double width = 0, height = 0; ///< given
  double x = 0, y = 0;          ///< of the upper left corner
};

struct LaidPoint {
  double x = 0, y = 0;
};

/// A line from the lower edge of a box to the upper edge of another one.
struct LaidLine {
  size_t from = 0, to = 0;
  std::vector<LaidPoint> points; ///< corners; at least two
};

struct Gaps {
  double x = 0, y = 0; ///< between boxes of a row, and between rows
};

struct LayeredLayout {
  std::vector<LaidBox> boxes;
  std::vector<LaidLine> lines; ///< in the order in which they were given
  double width = 0, height = 0;
};

/// Lays out boxes in rows: each is below all its predecessors. An edge that closes a cycle goes
/// upwards. Edges that pass rows go around their boxes. The layout is deterministic.
LayeredLayout layeredLayout(std::vector<LaidBox> boxes,
                            const std::vector<std::pair<size_t, size_t>> &lines, Gaps gaps);

} // namespace ptl

// Places boxes in rows, so that lines between them go downwards and cross little. Standard library only.
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

/// Boxes in rows: each stands below all that lead to it. A line that closes a circle goes upwards. Lines
/// that pass rows go around their boxes. The same input gives the same layout.
LayeredLayout layeredLayout(std::vector<LaidBox> boxes,
                            const std::vector<std::pair<size_t, size_t>> &lines, Gaps gaps);

} // namespace ptl

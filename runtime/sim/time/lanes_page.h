// A page for a browser, like that of `writeSwimlane` for a chip, for lanes of any kind: parts of
// levels, ports between them.
#pragma once

#include <string>
#include <vector>

namespace ptl::rt::sim {

/// The origin of tasks: `all_reduce`, at `mlp.ptl:12:9`.
struct PageSite {
  std::string name, location; ///< `FILE:LINE:COLUMN`; empty: unknown
  long long line = 0;
};
/// Times in microseconds.
struct PageTask {
  size_t site = 0;
  double start = 0, end = 0;
};
/// Lanes of one group are adjacent.
struct PageLane {
  std::string group, name;
  std::vector<PageTask> tasks = {};
};

struct LanesPage {
  std::string title, report; ///< `report`: text below the lanes
  double end = 0;
  std::vector<PageSite> sites;
  std::vector<PageLane> lanes;
};

std::string writeLanesPage(const LanesPage &page);

} // namespace ptl::rt::sim

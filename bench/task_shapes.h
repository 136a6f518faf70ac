// Task graphs to measure, in terms that every task system understands: tasks that read and write
// tiles of arrays.
#pragma once

#include "runtime/graph/task_graph.h"

#include <memory>
#include <string>
#include <vector>

namespace ptl::bench {

struct TileUse {
  uint32_t array;
  int64_t tile;
  bool isWritten;
};

struct Shape {
  std::string name;
  std::vector<int64_t> tiles; ///< of each array
  std::vector<std::vector<TileUse>> tasks;
};

/// The measured shapes: independent tasks; a chain; fans of a hundred tasks between two; and the
/// layers of a decoder, about 16,000 tasks.
std::vector<Shape> shapes();

rt::TaskGraph graphOf(const Shape &shape, rt::TaskBody body);

/// A task system that executes one shape. The bodies of tasks do nothing.
class Contestant {
public:
  virtual ~Contestant() = default;
  /// Builds the graph while its tasks run, as programs do.
  virtual void build() = 0;
  /// Submits all tasks before any of them runs; only one thread may do that. Returns false if the
  /// system has no such mode.
  virtual bool defer() = 0;
  /// Builds the graph while its tasks run, for a program that has run with the same graph before.
  /// Returns false if the system does not reuse that knowledge.
  virtual bool follow() { return false; }
  /// Runs a graph that was recorded before. Returns false if the system cannot record graphs.
  virtual bool replay() = 0;
};

std::unique_ptr<Contestant> makePtl(const Shape &shape, int threads);
std::unique_ptr<Contestant> makeTbb(const Shape &shape, int threads);
std::unique_ptr<Contestant> makeOpenMp(const Shape &shape, int threads);

} // namespace ptl::bench

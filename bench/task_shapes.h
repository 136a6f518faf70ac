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

/// Tasks without anything in common; a chain; fans of a hundred between two tasks; the layers of a
/// decoder, about 16,000 tasks.
std::vector<Shape> shapes();

rt::TaskGraph graphOf(const Shape &shape, rt::TaskBody body);

/// A task system at work on one shape. Bodies do nothing.
class Contestant {
public:
  virtual ~Contestant() = default;
  /// Makes the graph while it runs, as programs do.
  virtual void build() = 0;
  /// The same without running a task in the place of submitting it, which one thread may do.
  /// False if the system has no such choice.
  virtual bool defer() = 0;
  /// Makes the graph while it runs, of a program that went the same way before. False if the system
  /// does not learn from that.
  virtual bool follow() { return false; }
  /// Runs a graph that was made before. False if the system has no such thing.
  virtual bool replay() = 0;
};

std::unique_ptr<Contestant> makePtl(const Shape &shape, int threads);
std::unique_ptr<Contestant> makeTbb(const Shape &shape, int threads);
std::unique_ptr<Contestant> makeOpenMp(const Shape &shape, int threads);

} // namespace ptl::bench

// Remembers the paths that runs of a program have taken.
#pragma once

#include "runtime/graph/task_graph.h"

#include <memory_resource>

namespace ptl::rt {

/// The graph of a program whose control flow depends on its tasks' results is unknown before it
/// runs. Yet its runs often take the same path, or share its beginning; for that part the
/// predecessors of each task are known from an earlier run. A step is a task or a wait in the
/// program's code, and its node in the tree identifies everything that came before it. In this tree
/// storages are numbered from 0 in the order of first use, and so are tasks.
class PathTree {
public:
  enum class Kind : uint8_t { Task, Await };

  class Step {
  public:
    Kind kind() const { return kind_; }
    /// The step before this one; null at the root.
    const Step *previous() const { return previous_; }
    /// The accesses as passed to `add`; valid as long as the tree.
    std::span<const Access> accesses() const { return accesses_; }
    /// The predecessors: tasks that must complete before this step.
    std::span<const TaskId> after() const { return after_; }

  private:
    friend class PathTree;
    bool is(Kind kind, std::span<const Access> accesses) const;

    Kind kind_ = Kind::Task;
    const Step *previous_ = nullptr;
    std::span<const Access> accesses_;
    std::span<const TaskId> after_;
    Step *next_ = nullptr;  ///< the most recently taken successor
    Step *other_ = nullptr; ///< the next sibling
  };

  explicit PathTree(std::vector<int64_t> key = {}) : key_(std::move(key)) {}
  PathTree(const PathTree &) = delete;

  /// Identifies the program and its arguments.
  const std::vector<int64_t> &key() const { return key_; }
  int64_t bytes() const { return bytes_; }

  Step *start() { return &start_; }
  /// The successor with these accesses; null if no run took that path.
  Step *find(Step *from, Kind kind, std::span<const Access> accesses);
  /// Returns null if the tree is full.
  Step *add(Step *from, Kind kind, std::span<const Access> accesses, std::span<const TaskId> after);

  /// Whether to add the path of a run that has left the known paths. If runs rarely share a path,
  /// the answer is yes ever more rarely, because adding one costs time. The very first run adds
  /// nothing, since most programs run once.
  bool shouldGrow();
  /// Records that a run has followed a known path to its end.
  void noteFollowed() { left_ = 0; }

private:
  static constexpr int64_t mostBytes = int64_t(16) << 20;
  template <class T> std::span<T> copied(std::span<const T> from);

  std::vector<int64_t> key_;
  Step start_;
  // Allocates steps and their lists contiguously, in the order in which runs visit them.
  std::pmr::monotonic_buffer_resource memory_{size_t(1) << 14};
  int64_t bytes_ = 0;
  uint32_t left_ = 0; ///< consecutive runs that left the known paths
};

} // namespace ptl::rt

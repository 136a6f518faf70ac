// Remembers the paths that runs of a program have taken.
#pragma once

#include "runtime/graph/task_graph.h"

#include <memory_resource>

namespace ptl::rt {

/// A program whose control flow depends on what its tasks compute has no graph before it runs. Yet
/// its runs often take the same path, or share its beginning; for that part the predecessors of
/// each task are known from an earlier run. A step is a task or a wait in the program's code, and
/// its place in the tree stands for everything that came before it. In this tree storages are
/// numbered from 0 in the order in which they are first named, and so are tasks.
class PathTree {
public:
  enum class Kind : uint8_t { Task, Await };

  class Step {
  public:
    Kind kind() const { return kind_; }
    /// The step before this one; null at the root.
    const Step *previous() const { return previous_; }
    /// The accesses as they were given to `add`; they stay valid as long as the tree.
    std::span<const Access> accesses() const { return accesses_; }
    /// The predecessors: tasks that have to complete before this step.
    std::span<const TaskId> after() const { return after_; }

  private:
    friend class PathTree;
    bool is(Kind kind, std::span<const Access> accesses) const;

    Kind kind_ = Kind::Task;
    const Step *previous_ = nullptr;
    std::span<const Access> accesses_;
    std::span<const TaskId> after_;
    Step *next_ = nullptr;  ///< the last one taken
    Step *other_ = nullptr; ///< that follows the same step
  };

  explicit PathTree(std::vector<int64_t> key = {}) : key_(std::move(key)) {}
  PathTree(const PathTree &) = delete;

  /// Identifies the program and its arguments.
  const std::vector<int64_t> &key() const { return key_; }
  int64_t bytes() const { return bytes_; }

  Step *start() { return &start_; }
  /// Returns null if no run took that path.
  Step *find(Step *from, Kind kind, std::span<const Access> accesses);
  /// Returns null if the tree is full.
  Step *add(Step *from, Kind kind, std::span<const Access> accesses, std::span<const TaskId> after);

  /// Asks, when a run leaves the known paths, whether to add the path that it takes. Where runs
  /// rarely share a path the answer is yes ever more rarely, because adding one costs time. The
  /// first run of all adds nothing, since most programs run once.
  bool shouldGrow();
  /// Notes that a run has followed a known path to its end.
  void noteFollowed() { left_ = 0; }

private:
  static constexpr int64_t mostBytes = int64_t(16) << 20;
  template <class T> std::span<T> copied(std::span<const T> from);

  std::vector<int64_t> key_;
  Step start_;
  // Allocates steps and their lists one after the other, in the order in which runs go through
  // them.
  std::pmr::monotonic_buffer_resource memory_{size_t(1) << 14};
  int64_t bytes_ = 0;
  uint32_t left_ = 0; ///< runs that left since one did not
};

} // namespace ptl::rt

// The ways that runs of a program have gone.
#pragma once

#include "runtime/graph/task_graph.h"

#include <memory_resource>

namespace ptl::rt {

/// A program that goes on by what its tasks have computed has no graph before it runs. Yet its runs
/// often go the same way, or the same for a while: then whom a task must wait for is known. A step
/// is a task or a wait of the program's code; its place in the tree says all that went before it.
/// Storages have numbers from 0 here, in the order of being named first; tasks too.
class PathTree {
public:
  enum class Kind : uint8_t { Task, Await };

  class Step {
  public:
    Kind kind() const { return kind_; }
    /// Null for the start of all ways.
    const Step *previous() const { return previous_; }
    /// As they were told, valid as long as the tree.
    std::span<const Access> accesses() const { return accesses_; }
    /// The tasks to wait for.
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

  /// Of which program, for which arguments.
  const std::vector<int64_t> &key() const { return key_; }
  int64_t bytes() const { return bytes_; }

  Step *start() { return &start_; }
  /// Null if no run went that way.
  Step *find(Step *from, Kind kind, std::span<const Access> accesses);
  /// Null if the tree is full.
  Step *add(Step *from, Kind kind, std::span<const Access> accesses, std::span<const TaskId> after);

  /// A run leaves the ways that are known: whether it should add its own. Where runs rarely go the
  /// same way that is asked for ever more rarely. The first run of all adds nothing, since most
  /// programs run once.
  bool shouldGrow();
  /// A run went a known way to its end.
  void noteFollowed() { left_ = 0; }

private:
  static constexpr int64_t mostBytes = int64_t(16) << 20;
  template <class T> std::span<T> copied(std::span<const T> from);

  std::vector<int64_t> key_;
  Step start_;
  // Steps and what they have, one after the other as runs go through them.
  std::pmr::monotonic_buffer_resource memory_{size_t(1) << 14};
  int64_t bytes_ = 0;
  uint32_t left_ = 0; ///< runs that left since one did not
};

} // namespace ptl::rt

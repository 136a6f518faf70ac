// A run's way through a window of tasks, and through the tree of ways that earlier runs have gone.
#pragma once

#include "runtime/graph/path_tree.h"
#include "runtime/schedule/task_window.h"

#include <optional>

namespace ptl::rt {

/// Submits the tasks of one run of a program to a window. As long as the run goes a way of the tree
/// the edges come from there, and nothing is compared. Where it leaves, either it adds its own way,
/// or the window derives the edges from then on. Called from within the window's program.
class PathSubmitter {
public:
  /// Without a tree the window derives all edges.
  PathSubmitter(TaskWindow &window, PathTree *tree)
      : window_(window), tree_(tree), at_(tree ? tree->start() : nullptr) {}
  ~PathSubmitter();
  PathSubmitter(const PathSubmitter &) = delete;

  /// Numbers from 0. Storages are to be added right before the first task that names them.
  StorageId addStorage(size_t rank);
  /// No task will name it again.
  void forgetStorage(StorageId storage);

  /// As those of the window.
  template <class Fill>
  void submit(const TaskSpec &spec, size_t closureBytes, Fill fill,
              std::span<const Access> accesses) {
    if (const PathTree::Step *step = advance(PathTree::Kind::Task, accesses))
      tasks_.push_back(window_.submitAfter(spec, closureBytes, fill, predecessorsOf(*step)));
    else
      window_.submit(spec, closureBytes, fill, inWindow(accesses));
  }
  void await(const Access &access);

  /// Tasks whose edges were there already.
  size_t followed() const { return followed_; }

private:
  struct Storage {
    size_t rank;
    std::optional<StorageId> inWindow;
    bool isForgotten = false;
  };

  const PathTree::Step *advance(PathTree::Kind kind, std::span<const Access> accesses);
  PathTree::Step *grow(PathTree::Kind kind, std::span<const Access> accesses);
  std::span<const TaskId> derive(PathTree::Kind kind, std::span<const Access> accesses);
  void leave();
  std::vector<const PathTree::Step *> wayHere() const;
  std::span<const TaskRef> predecessorsOf(const PathTree::Step &step);
  std::span<const Access> inWindow(std::span<const Access> accesses);

  TaskWindow &window_;
  PathTree *tree_; ///< null once it has been left
  PathTree::Step *at_;
  std::optional<GraphBuilder> builder_; ///< while the run adds its own way
  size_t storagesBuilt_ = 0;
  std::vector<Storage> storages_;
  std::vector<TaskRef> tasks_; ///< where the tasks of the way are in the window
  std::vector<TaskRef> predecessors_;
  std::vector<Access> accesses_;
  size_t followed_ = 0;
};

} // namespace ptl::rt

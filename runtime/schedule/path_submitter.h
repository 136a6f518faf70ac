// Submits a run's tasks along a path that earlier runs have taken.
#pragma once

#include "runtime/graph/path_tree.h"
#include "runtime/schedule/task_window.h"

#include <optional>

namespace ptl::rt {

/// Submits the tasks of one run of a program to a window. As long as the run follows a path of the
/// tree, the edges come from the tree and no accesses are compared. Where it leaves the known
/// paths, it either adds its own path, or the window derives the edges from then on. It must be
/// called from within the window's program.
class PathSubmitter {
public:
  /// Without a tree the window derives all edges.
  PathSubmitter(TaskWindow &window, PathTree *tree)
      : window_(window), tree_(tree), at_(tree ? tree->start() : nullptr) {}
  ~PathSubmitter();
  PathSubmitter(const PathSubmitter &) = delete;

  /// Numbers storages from 0. A storage must be added directly before the first task that names it.
  StorageId addStorage(size_t rank);
  /// Declares that no later task names the storage.
  void forgetStorage(StorageId storage);

  /// Like the window's functions of the same name.
  template <class Fill>
  void submit(const TaskSpec &spec, size_t closureBytes, Fill fill,
              std::span<const Access> accesses) {
    if (const PathTree::Step *step = advance(PathTree::Kind::Task, accesses))
      tasks_.push_back(window_.submitAfter(spec, closureBytes, fill, predecessorsOf(*step)));
    else
      window_.submit(spec, closureBytes, fill, inWindow(accesses));
  }
  void await(const Access &access);

  /// The number of tasks whose edges came from the tree.
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
  PathTree *tree_; ///< null once the run has left it
  PathTree::Step *at_;
  std::optional<GraphBuilder> builder_; ///< while the run adds its own path
  size_t storagesBuilt_ = 0;
  std::vector<Storage> storages_;
  std::vector<TaskRef> tasks_; ///< the window's tasks for the steps of the path
  std::vector<TaskRef> predecessors_;
  std::vector<Access> accesses_;
  size_t followed_ = 0;
};

} // namespace ptl::rt

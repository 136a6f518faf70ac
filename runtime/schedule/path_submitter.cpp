#include "runtime/schedule/path_submitter.h"

#include <algorithm>

namespace ptl::rt {

PathSubmitter::~PathSubmitter() {
  // The whole run has followed the tree, which the tree learns from.
  if (tree_ && !builder_)
    tree_->noteFollowed();
  for (StorageId storage = 0; storage < storages_.size(); ++storage)
    forgetStorage(storage);
}

StorageId PathSubmitter::addStorage(size_t rank) {
  storages_.push_back({rank, {}});
  return static_cast<StorageId>(storages_.size() - 1);
}

void PathSubmitter::forgetStorage(StorageId storage) {
  Storage &known = storages_[storage];
  known.isForgotten = true;
  // A storage that the window has never seen needs no forgetting.
  if (known.inWindow)
    window_.forgetStorage(*known.inWindow);
  known.inWindow.reset();
}

/// The step of the tree that this one is; null where the window is to see for itself.
const PathTree::Step *PathSubmitter::advance(PathTree::Kind kind,
                                             std::span<const Access> accesses) {
  if (!tree_)
    return nullptr;
  PathTree::Step *step = tree_->find(at_, kind, accesses);
  if (step)
    followed_ += kind == PathTree::Kind::Task;
  else
    step = grow(kind, accesses);
  if (!step) {
    leave();
    return nullptr;
  }
  return at_ = step;
}

PathTree::Step *PathSubmitter::grow(PathTree::Kind kind, std::span<const Access> accesses) {
  if (!builder_) {
    if (!tree_->shouldGrow())
      return nullptr;
    builder_.emplace();
    // The builder has to know all tasks before this one to derive what comes next.
    for (const PathTree::Step *step : wayHere())
      derive(step->kind(), step->accesses());
  }
  return tree_->add(at_, kind, accesses, derive(kind, accesses));
}

std::span<const TaskId> PathSubmitter::derive(PathTree::Kind kind,
                                              std::span<const Access> accesses) {
  while (storagesBuilt_ < storages_.size())
    builder_->addStorage(storages_[storagesBuilt_++].rank);
  if (kind == PathTree::Kind::Await)
    return builder_->conflicts(accesses.front());
  return builder_->predecessors(builder_->add({}, accesses));
}

/// Tells the window which tasks still run.
void PathSubmitter::leave() {
  size_t next = 0;
  for (const PathTree::Step *step : wayHere())
    if (step->kind() == PathTree::Kind::Task) {
      TaskRef task = tasks_[next++];
      // Completed tasks hold nobody up.
      if (!window_.isComplete(task))
        window_.remember(task, inWindow(step->accesses()));
    }
  // From here on the window derives the order itself.
  tree_ = nullptr;
  builder_.reset();
}

std::vector<const PathTree::Step *> PathSubmitter::wayHere() const {
  std::vector<const PathTree::Step *> way;
  // Steps know only the one before them, so the way is collected backwards.
  for (const PathTree::Step *step = at_; step->previous(); step = step->previous())
    way.push_back(step);
  std::ranges::reverse(way);
  return way;
}

std::span<const TaskRef> PathSubmitter::predecessorsOf(const PathTree::Step &step) {
  predecessors_.clear();
  for (TaskId task : step.after())
    predecessors_.push_back(tasks_[task]);
  return predecessors_;
}

/// With the window's numbers of storages, without those that nobody names again.
std::span<const Access> PathSubmitter::inWindow(std::span<const Access> accesses) {
  accesses_.clear();
  for (const Access &access : accesses) {
    Storage &storage = storages_[access.storage];
    if (storage.isForgotten)
      continue;
    // A storage gets a number in the window only when the window needs it.
    if (!storage.inWindow)
      storage.inWindow = window_.addStorage(storage.rank);
    accesses_.push_back({*storage.inWindow, access.mode, access.box});
  }
  return accesses_;
}

void PathSubmitter::await(const Access &access) {
  if (const PathTree::Step *step = advance(PathTree::Kind::Await, {&access, 1})) {
    for (TaskId task : step->after())
      window_.await(tasks_[task]);
    return;
  }
  // If no running task names the storage there is nothing to wait for.
  for (const Access &known : inWindow({&access, 1}))
    window_.await(known);
}

} // namespace ptl::rt

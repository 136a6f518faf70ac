// Places the intermediates of a graph in one block of memory.
#include "runtime/graph/task_graph.h"

#include <algorithm>

namespace ptl::rt {
namespace {

constexpr int64_t kAlignment = 64;
// Above this the order of tasks is not asked for: a bit per pair of tasks would take too much.
constexpr size_t kMostForOrder = 32768;

/// Tells which tasks each task waits for, directly or not.
class Ancestors {
public:
  explicit Ancestors(const std::vector<std::vector<TaskId>> &predecessors)
      : words_((predecessors.size() + 63) / 64) {
    if (predecessors.size() > kMostForOrder)
      return;
    bits_.resize(predecessors.size() * words_);
    // Predecessors come before their tasks, so their rows are complete: this is a transitive
    // closure with bit sets.
    for (size_t task = 0; task < predecessors.size(); ++task)
      for (TaskId before : predecessors[task])
        include(static_cast<TaskId>(task), before);
  }
  bool isBefore(TaskId before, TaskId task) const {
    return !bits_.empty() && (bits_[task * words_ + before / 64] >> (before % 64) & 1) != 0;
  }
  /// `task` waits for `before` now; what comes later must be included again by itself. Until then
  /// fewer tasks count as ordered than are.
  void include(TaskId task, TaskId before) {
    if (bits_.empty())
      return;
    for (size_t word = 0; word < words_; ++word)
      // The row of the predecessor has all that it waits for.
      bits_[task * words_ + word] |= bits_[before * words_ + word];
    bits_[task * words_ + before / 64] |= uint64_t(1) << (before % 64);
  }

private:
  size_t words_;
  std::vector<uint64_t> bits_;
};

} // namespace

/// First fit in the order of first use. A place is free when program order has passed the last use
/// of what was there; whether the graph knows that order too decides about edges.
class StoragePlanner {
public:
  StoragePlanner(GraphBuilder &graph, const StorageRoom &room)
      : graph_(graph), room_(room), ancestors_(graph.predecessors_) {}

  StoragePlan run();

private:
  struct Block {
    int64_t offset, bytes;
    std::vector<TaskId> users; ///< of the intermediate that had it last
  };
  using Intermediate = GraphBuilder::Intermediate;

  void place(const Intermediate &array);
  void reach(TaskId task);
  void freeUntil(TaskId task);
  /// The best free block that `may` be taken; the end if there is none.
  template <class May> std::vector<Block>::iterator choose(int64_t bytes, May may);
  std::vector<Block>::iterator choose(const Intermediate &array, int64_t bytes);
  bool isOrdered(const Block &block, const Intermediate &array) const;
  std::vector<TaskId> firstUsers(const Intermediate &array) const;
  void addEdges(const Block &block, const Intermediate &array);

  GraphBuilder &graph_;
  StorageRoom room_;
  Ancestors ancestors_;
  StoragePlan plan_;
  std::vector<Block> free_;
  std::vector<std::pair<TaskId, Block>> live_; ///< by last use
  TaskId reached_ = 0; ///< of the tasks before it all that they wait for is known
};

/// Users of an array that wait for no other user of it: they come first.
std::vector<TaskId> StoragePlanner::firstUsers(const Intermediate &array) const {
  std::vector<TaskId> first;
  // Only users that no earlier one precedes have to wait for the former owner.
  for (TaskId user : array.users)
    if (std::none_of(first.begin(), first.end(),
                     [&](TaskId other) { return ancestors_.isBefore(other, user); }))
      first.push_back(user);
  return first;
}

bool StoragePlanner::isOrdered(const Block &block, const Intermediate &array) const {
  for (TaskId user : firstUsers(array))
    for (TaskId before : block.users)
      // Each first user of the new array has to come after each user of the old one.
      if (!ancestors_.isBefore(before, user))
        return false;
  return true;
}

template <class May>
std::vector<StoragePlanner::Block>::iterator StoragePlanner::choose(int64_t bytes, May may) {
  // The smallest block that fits is taken, so that large ones stay for large arrays; of several the
  // one that was freed last, which the caches may still hold.
  auto best = free_.end();
  for (auto block = free_.end(); block != free_.begin();) {
    --block;
    if (block->bytes >= bytes && (best == free_.end() || block->bytes < best->bytes) && may(*block))
      best = block;
  }
  return best;
}

std::vector<StoragePlanner::Block>::iterator StoragePlanner::choose(const Intermediate &array,
                                                                    int64_t bytes) {
  // Blocks whose order the graph knows cost nothing, so they are tried first.
  auto block = choose(bytes, [&](const Block &block) { return isOrdered(block, array); });
  int64_t all = plan_.bytes + bytes;
  if (block != free_.end())
    return block;
  // Other reuse needs edges, which cost parallelism: hardly any where what was there is used long
  // before, since few tasks run ahead of one that has not ended.
  if (all > room_.nearby)
    block = choose(bytes, [&](const Block &block) {
      return block.users.back() + room_.apart <= array.users.front();
    });
  if (block == free_.end() && all > room_.limit)
    block = choose(bytes, [](const Block &) { return true; });
  if (block != free_.end())
    addEdges(*block, array);
  return block;
}

void StoragePlanner::addEdges(const Block &block, const Intermediate &array) {
  for (TaskId user : firstUsers(array))
    for (TaskId before : block.users) {
      if (ancestors_.isBefore(before, user))
        continue;
      std::vector<TaskId> &waits = graph_.predecessors_[user];
      auto at = std::lower_bound(waits.begin(), waits.end(), before);
      // The list is kept sorted and without duplicates.
      if (at != waits.end() && *at == before)
        continue;
      waits.insert(at, before);
      ancestors_.include(user, before);
      ++plan_.edgesAdded;
    }
}

/// Tasks learn of the edges that were added to those they wait for, in program order.
void StoragePlanner::reach(TaskId task) {
  for (; reached_ < task; ++reached_)
    if (plan_.edgesAdded > 0)
      for (TaskId before : graph_.predecessors_[reached_])
        ancestors_.include(reached_, before);
}

void StoragePlanner::freeUntil(TaskId task) {
  std::erase_if(live_, [&](auto &entry) {
    if (entry.first >= task)
      // The last use still needs the bytes.
      return false;
    free_.push_back(std::move(entry.second));
    return true;
  });
}

void StoragePlanner::place(const Intermediate &array) {
  int64_t bytes = (array.bytes + kAlignment - 1) / kAlignment * kAlignment;
  plan_.unshared += bytes;
  reach(array.users.front() + 1);
  freeUntil(array.users.front());
  auto block = choose(array, bytes);
  Block taken{plan_.bytes, bytes, {}};
  if (block != free_.end()) {
    taken.offset = block->offset;
    // The rest of the block keeps the users of its last owner.
    Block rest{block->offset + bytes, block->bytes - bytes, std::move(block->users)};
    free_.erase(block);
    if (rest.bytes > 0)
      free_.push_back(std::move(rest));
  } else {
    plan_.bytes += bytes;
  }
  taken.users = array.users;
  // Users are in program order, so the last one ends the life.
  plan_.places.push_back({array.storage, taken.offset, array.bytes});
  live_.emplace_back(array.users.back(), std::move(taken));
  int64_t live = 0;
  for (auto &[last, block] : live_)
    live += block.bytes;
  plan_.leastLive = std::max(plan_.leastLive, live);
}

StoragePlan StoragePlanner::run() {
  std::vector<const Intermediate *> arrays;
  for (const Intermediate &array : graph_.intermediates_)
    if (!array.users.empty())
      arrays.push_back(&array);
  // First fit goes by the first use, in program order.
  std::stable_sort(arrays.begin(), arrays.end(), [](const Intermediate *a, const Intermediate *b) {
    return a->users.front() < b->users.front();
  });
  for (const Intermediate *array : arrays)
    place(*array);
  return std::move(plan_);
}

StoragePlan GraphBuilder::planStorage(const StorageRoom &room) {
  return StoragePlanner(*this, room).run();
}

} // namespace ptl::rt

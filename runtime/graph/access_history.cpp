#include "runtime/graph/access_history.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ptl::rt {
namespace {

// Shorter lists are tested one by one.
constexpr size_t indexedFrom = 12;

} // namespace

// --- AccessList -----------------------------------------------------------------------------

bool AccessList::onGrid(Box box) const {
  for (size_t i = 0; i < rank_; ++i)
    if (box[i].step != 1 || box[i].count > tile_[i] || box[i].start % tile_[i] != 0)
      return false;
  return true;
}

uint64_t AccessList::hashOf(Box box) const {
  uint64_t hash = 0;
  for (const Axis &axis : box)
    hash = (hash ^ static_cast<uint64_t>(axis.start)) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

bool AccessList::samePlace(Box a, Box b) const {
  for (size_t i = 0; i < rank_; ++i)
    if (a[i].start != b[i].start)
      return false;
  return true;
}

void AccessList::clear() {
  tasks_.clear();
  axes_.clear();
  next_.clear();
  std::fill(heads_.begin(), heads_.end(), none);
  aligned_ = true;
  tile_.clear();
  forgotten_ = 0;
}

void AccessList::index(uint32_t entry) {
  size_t mask = heads_.size() - 1;
  size_t at = hashOf(box(entry)) & mask;
  while (heads_[at] != none && !samePlace(box(heads_[at]), box(entry)))
    at = (at + 1) & mask;
  next_[entry] = heads_[at];
  heads_[at] = entry;
}

void AccessList::rebuildIndex(size_t capacity) {
  heads_.assign(capacity, none);
  next_.resize(tasks_.size());
  for (uint32_t entry = 0; entry < tasks_.size(); ++entry)
    index(entry);
}

void AccessList::add(TaskRef task, Box box) {
  if (tasks_.empty()) {
    clear();
    for (const Axis &axis : box) {
      bool isTile = axis.step == 1 && axis.count > 0 && axis.start % axis.count == 0;
      tile_.push_back(isTile ? axis.count : 1);
      aligned_ = aligned_ && isTile;
    }
  } else if (aligned_ && !onGrid(box)) {
    aligned_ = false;
  }
  tasks_.push_back(task);
  axes_.insert(axes_.end(), box.begin(), box.end());
  next_.push_back(none);
  if (!aligned_ || tasks_.size() < indexedFrom)
    return;
  if (tasks_.size() == indexedFrom || heads_.size() < tasks_.size() * 2)
    return rebuildIndex(std::max<size_t>(64, std::bit_ceil(tasks_.size() * 2)));
  index(static_cast<uint32_t>(tasks_.size() - 1));
}

void AccessList::find(Box wanted, const Completed &completed, std::vector<uint32_t> &found) const {
  found.clear();
  if (aligned_ && tasks_.size() >= indexedFrom && onGrid(wanted)) {
    size_t mask = heads_.size() - 1;
    for (size_t at = hashOf(wanted) & mask; heads_[at] != none; at = (at + 1) & mask) {
      if (!samePlace(box(heads_[at]), wanted))
        continue;
      // Tiles at one place share their first element, others share none.
      for (uint32_t entry = heads_[at]; entry != none; entry = next_[entry])
        if (tasks_[entry].sequence != 0 && !completed.has(tasks_[entry]))
          found.push_back(entry);
      break;
    }
    std::reverse(found.begin(), found.end());
    return;
  }
  for (uint32_t entry = 0; entry < tasks_.size(); ++entry)
    if (tasks_[entry].sequence != 0 && overlaps(box(entry), wanted) &&
        !completed.has(tasks_[entry]))
      found.push_back(entry);
}

void AccessList::remove(const std::vector<uint32_t> &entries, const Completed &completed) {
  for (uint32_t entry : entries)
    tasks_[entry].sequence = 0;
  forgotten_ += entries.size();
  if (forgotten_ == tasks_.size())
    clear();
  else if (forgotten_ * 2 > tasks_.size())
    removeCompleted(completed);
}

void AccessList::removeCompleted(const Completed &completed) {
  size_t kept = 0;
  for (uint32_t entry = 0; entry < tasks_.size(); ++entry) {
    if (tasks_[entry].sequence == 0 || completed.has(tasks_[entry]))
      continue;
    tasks_[kept] = tasks_[entry];
    std::copy_n(axes_.begin() + static_cast<ptrdiff_t>(entry * rank_), rank_,
                axes_.begin() + static_cast<ptrdiff_t>(kept * rank_));
    ++kept;
  }
  forgotten_ = 0;
  if (kept == 0)
    return clear();
  tasks_.resize(kept);
  axes_.resize(kept * rank_);
  next_.resize(kept);
  if (aligned_ && kept >= indexedFrom)
    rebuildIndex(heads_.size());
}

// --- AccessHistory --------------------------------------------------------------------------

StorageId AccessHistory::addStorage(size_t rank) {
  auto storage = std::make_unique<Storage>(rank);
  if (free_.empty()) {
    storages_.push_back(std::move(storage));
    return static_cast<StorageId>(storages_.size() - 1);
  }
  StorageId id = free_.back();
  free_.pop_back();
  storages_[id] = std::move(storage);
  return id;
}

void AccessHistory::forget(StorageId storage) {
  held_ -= storages_[storage]->reads.size() + storages_[storage]->writes.size();
  storages_[storage].reset();
  free_.push_back(storage);
}

void AccessHistory::addUnique(TaskRef task, std::vector<TaskRef> &out) {
  if (taken_.size() <= task.slot)
    taken_.resize(std::max<size_t>(task.slot + 1, taken_.size() * 2));
  if (std::exchange(taken_[task.slot], takes_) != takes_)
    out.push_back(task);
}

/// Writers of `box`, without those whose common part a newer writer has written again.
void AccessHistory::findWriters(Storage &storage, Box box, std::vector<TaskRef> &out) {
  const AccessList &writes = storage.writes;
  for (size_t i = foundWrites_.size(); i-- > 0;) {
    Box older = writes.box(foundWrites_[i]);
    bool isHidden = false;
    for (size_t j = i + 1; j < foundWrites_.size() && !isHidden; ++j)
      isHidden = containsCommon(writes.box(foundWrites_[j]), older, box);
    if (!isHidden)
      addUnique(writes.task(foundWrites_[i]), out);
  }
}

void AccessHistory::recordRead(Storage &storage, TaskRef task, Box box, std::vector<TaskRef> &out) {
  storage.writes.find(box, completed_, foundWrites_);
  findWriters(storage, box, out);
  storage.reads.add(task, box);
}

void AccessHistory::recordWrite(Storage &storage, TaskRef task, Box box,
                                std::vector<TaskRef> &out) {
  AccessList &reads = storage.reads, &writes = storage.writes;
  writes.find(box, completed_, foundWrites_);
  reads.find(box, completed_, foundReads_);
  for (uint32_t read : foundReads_)
    if (reads.task(read) != task)
      addUnique(reads.task(read), out);
  // A writer that a found reader has waited for, where the three meet, is implied.
  covered_ = foundWrites_;
  std::erase_if(foundWrites_, [&](uint32_t write) {
    return std::any_of(foundReads_.begin(), foundReads_.end(), [&](uint32_t read) {
      return reads.task(read).sequence > writes.task(write).sequence && reads.task(read) != task &&
             containsCommon(reads.box(read), writes.box(write), box);
    });
  });
  findWriters(storage, box, out);
  // Whoever meets what this task writes meets the task; what it covers no longer matters.
  std::erase_if(covered_, [&](uint32_t write) { return !contains(box, writes.box(write)); });
  if (!covered_.empty())
    writes.remove(covered_, completed_);
  std::erase_if(foundReads_, [&](uint32_t read) { return !contains(box, reads.box(read)); });
  if (!foundReads_.empty())
    reads.remove(foundReads_, completed_);
  writes.add(task, box);
}

void AccessHistory::sweep(Storage &storage) {
  if (storage.reads.size() + storage.writes.size() < storage.sweepAt)
    return;
  storage.reads.removeCompleted(completed_);
  storage.writes.removeCompleted(completed_);
  storage.sweepAt = std::max<size_t>(64, 2 * (storage.reads.size() + storage.writes.size()));
}

void AccessHistory::record(TaskRef task, std::span<const Access> accesses,
                           std::vector<TaskRef> &predecessors) {
  predecessors.clear();
  ++takes_;
  for (const Access &access : accesses) {
    if (isEmpty(access.box))
      continue;
    Storage &storage = *storages_[access.storage];
    size_t before = storage.reads.size() + storage.writes.size();
    if (access.mode == AccessMode::Read)
      recordRead(storage, task, access.box, predecessors);
    else
      recordWrite(storage, task, access.box, predecessors);
    sweep(storage);
    held_ += storage.reads.size() + storage.writes.size() - before;
  }
  std::erase(predecessors, task);
  peak_ = std::max(peak_, held_);
}

void AccessHistory::conflicts(const Access &access, std::vector<TaskRef> &tasks) {
  tasks.clear();
  if (isEmpty(access.box))
    return;
  ++takes_;
  Storage &storage = *storages_[access.storage];
  storage.writes.find(access.box, completed_, foundWrites_);
  for (uint32_t write : foundWrites_)
    addUnique(storage.writes.task(write), tasks);
  if (access.mode == AccessMode::Read)
    return;
  storage.reads.find(access.box, completed_, foundReads_);
  for (uint32_t read : foundReads_)
    addUnique(storage.reads.task(read), tasks);
}

} // namespace ptl::rt

#include "runtime/graph/access_history.h"

#include <algorithm>
#include <utility>

namespace ptl::rt {
namespace {

// A grid with at most this number of cells is given up when another grid begins.
constexpr size_t kFewCells = 2;
constexpr size_t kFewestToSweep = 64;

} // namespace

// --- AccessList -----------------------------------------------------------------------------

void AccessList::clear(size_t rank) {
  rank_ = rank;
  tasks_.clear();
  axes_.clear();
}

void AccessList::add(TaskRef task, Box box) {
  tasks_.push_back(task);
  axes_.insert(axes_.end(), box.begin(), box.end());
}

void AccessList::find(Box wanted, uint64_t since, const Completed &completed,
                      std::vector<uint32_t> &found) const {
  found.clear();
  // Tasks up to `since` are implied by what the caller waits for anyway.
  for (uint32_t entry = 0; entry < tasks_.size(); ++entry)
    if (tasks_[entry].sequence > since && overlaps(box(entry), wanted) &&
        !completed.has(tasks_[entry]))
      found.push_back(entry);
}

template <class Keep> void AccessList::retain(Keep keep) {
  size_t kept = 0;
  for (uint32_t entry = 0; entry < tasks_.size(); ++entry) {
    if (!keep(entry))
      continue;
    // Entries only move towards the front, so this works in place.
    tasks_[kept] = tasks_[entry];
    if (kept != entry)
      std::copy_n(axes_.begin() + static_cast<ptrdiff_t>(entry * rank_), rank_,
                  axes_.begin() + static_cast<ptrdiff_t>(kept * rank_));
    ++kept;
  }
  tasks_.resize(kept);
  axes_.resize(kept * rank_);
}

void AccessList::removeCovered(Box outer, const std::vector<uint32_t> &entries) {
  // Most writes cover nothing; then the list is not rewritten.
  if (std::none_of(entries.begin(), entries.end(),
                   [&](uint32_t entry) { return contains(outer, box(entry)); }))
    return;
  // Both lists are ascending, so one pass compares them.
  size_t next = 0;
  retain([&](uint32_t entry) {
    if (next == entries.size() || entries[next] != entry)
      return true;
    ++next;
    return !contains(outer, box(entry));
  });
}

void AccessList::removeCompleted(const Completed &completed) {
  retain([&](uint32_t entry) { return !completed.has(tasks_[entry]); });
}

// --- storages and readers -------------------------------------------------------------------

StorageId AccessHistory::addStorage(size_t rank) {
  StorageId id;
  // Identities are used again, so that the tables do not grow with each storage.
  if (free_.empty()) {
    id = static_cast<StorageId>(storages_.size());
    storages_.push_back(std::make_unique<Storage>());
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Storage &storage = *storages_[id];
  storage.rank = rank;
  storage.cells.clear(rank);
  storage.reads.clear(rank);
  storage.writes.clear(rank);
  storage.readers = 0;
  storage.sweepAt = kFewestToSweep;
  return id;
}

void AccessHistory::forget(StorageId id) {
  Storage &storage = *storages_[id];
  held_ -= storage.held();
  // Readers of all cells share one list of free nodes.
  for (uint32_t cell = 0; cell < storage.cells.size(); ++cell)
    dropReaders(storage, storage.cells[cell]);
  free_.push_back(id);
}

void AccessHistory::addReader(Storage &storage, Cell &cell, TaskRef task) {
  // A task that reads the same again is entered once.
  if (cell.firstReader != none) {
    TaskRef &first = readers_[cell.firstReader].task;
    // A complete reader makes room for the new one, so that lists of readers stay short.
    if (first == task || completed_.has(first)) {
      first = task;
      return;
    }
  }
  // Nodes of readers come from a free list, since tasks read and complete all the time.
  uint32_t reader = freeReaders_;
  if (reader == none) {
    reader = static_cast<uint32_t>(readers_.size());
    readers_.emplace_back();
  } else {
    freeReaders_ = readers_[reader].next;
  }
  readers_[reader] = {task, cell.firstReader};
  cell.firstReader = reader;
  ++storage.readers;
}

void AccessHistory::dropReaders(Storage &storage, Cell &cell) {
  for (uint32_t reader = cell.firstReader; reader != none; --storage.readers) {
    // The node goes to the front of the free list.
    uint32_t next = std::exchange(readers_[reader].next, freeReaders_);
    freeReaders_ = std::exchange(reader, next);
  }
  cell.firstReader = none;
}

void AccessHistory::dropCompleteReaders(Storage &storage, Cell &cell) {
  // The link that leads to the node is changed, which also works for the first one.
  uint32_t *link = &cell.firstReader;
  while (*link != none) {
    uint32_t reader = *link;
    if (isLive(readers_[reader].task)) {
      link = &readers_[reader].next;
      continue;
    }
    *link = std::exchange(readers_[reader].next, freeReaders_);
    freeReaders_ = reader;
    --storage.readers;
  }
}

/// The newest of the readers of a cell that are not complete.
TaskRef AccessHistory::newestReader(const Cell &cell, TaskRef except) const {
  for (uint32_t reader = cell.firstReader; reader != none; reader = readers_[reader].next)
    if (readers_[reader].task != except && isLive(readers_[reader].task))
      return readers_[reader].task;
  return {};
}

void AccessHistory::addUnique(TaskRef task, Tasks &out) {
  if (taken_.size() <= task.slot)
    taken_.resize(std::max<size_t>(task.slot + 1, taken_.size() * 2));
  // The mark of this call tells whether the task was taken already, without clearing the table each
  // time.
  if (std::exchange(taken_[task.slot], takes_) != takes_)
    out.push_back(task);
}

/// The number of the cell of a box. A box that is no tile where there are few cells begins another
/// grid if it can; the cells become entries of the lists.
uint32_t AccessHistory::cellOf(Storage &storage, Box box) {
  TileCells &cells = storage.cells;
  uint32_t cell = cells.findOrAdd(box);
  // A box that fits the grid, and a grid with many cells, stay as they are.
  if (cell != none || cells.size() > kFewCells || !TileCells::isTile(box))
    return cell;
  // The old cells become entries of the lists, which take boxes of any kind.
  for (uint32_t old = 0; old < cells.size(); ++old) {
    if (isLive(cells[old].writer))
      storage.writes.add(cells[old].writer, cells.box(old));
    for (uint32_t reader = cells[old].firstReader; reader != none; reader = readers_[reader].next)
      if (isLive(readers_[reader].task))
        storage.reads.add(readers_[reader].task, cells.box(old));
    dropReaders(storage, cells[old]);
  }
  cells.clear(storage.rank);
  return cells.findOrAdd(box);
}

// --- Predecessors ----------------------------------------------------------------------------

/// Whether something in the lists that is newer than the writer of `written` has waited for it
/// where it meets `box`. What the task itself has read says nothing.
bool AccessHistory::isHiddenByList(const Storage &storage, TaskRef task, TaskRef writer,
                                   Box written, Box box) const {
  for (uint32_t read : foundReads_) {
    TaskRef reader = storage.reads.task(read);
    // A later access that covers what both have in common has waited for the writer there.
    if (reader.sequence > writer.sequence && reader != task &&
        containsCommon(storage.reads.box(read), written, box))
      return true;
  }
  // Newest first, since these hide most.
  for (size_t i = foundWrites_.size(); i-- > 0;) {
    uint32_t write = foundWrites_[i];
    if (storage.writes.task(write).sequence <= writer.sequence)
      continue;
    if (containsCommon(storage.writes.box(write), written, box))
      return true;
  }
  return false;
}

/// Takes the found writes of the list that no newer access hides. A write is hidden by a later one
/// in the lists or in the found cells, and by `newestReader` of the whole box. Readers hide writes
/// only from tasks that wait for the readers.
void AccessHistory::takeWrites(const Storage &storage, TaskRef task, Box box, AccessMode mode,
                               uint64_t newestReader, Tasks &out) {
  const AccessList &writes = storage.writes;
  for (uint32_t write : foundWrites_) {
    TaskRef writer = writes.task(write);
    // Who reads all of the box has waited for its writers.
    if (newestReader > writer.sequence ||
        isHiddenByList(storage, task, writer, writes.box(write), box))
      continue;
    bool isHidden = std::any_of(foundCells_.begin(), foundCells_.end(), [&](uint32_t number) {
      const Cell &cell = storage.cells[number];
      bool isNewer =
          cell.writer.sequence > writer.sequence ||
          (mode == AccessMode::Write && this->newestReader(cell, task).sequence > writer.sequence);
      return isNewer && containsCommon(storage.cells.box(number), writes.box(write), box);
    });
    if (!isHidden)
      addUnique(writer, out);
  }
}

void AccessHistory::readTile(Storage &storage, Cell &cell, TaskRef task, Box box, Tasks &out) {
  // Whoever wrote the tile has waited for all that met it before.
  // Only boxes that are no tiles of the grid have to be searched.
  if (storage.writes.size() != 0) {
    foundReads_.clear();
    foundCells_.clear();
    storage.writes.find(box, cell.writer.sequence, completed_, foundWrites_);
    takeWrites(storage, task, box, AccessMode::Read, 0, out);
  }
  if (isLive(cell.writer))
    addUnique(cell.writer, out);
  addReader(storage, cell, task);
}

void AccessHistory::writeTile(Storage &storage, Cell &cell, TaskRef task, Box box, Tasks &out) {
  // All readers since the last write have to be waited for.
  uint64_t newest = 0;
  for (uint32_t reader = cell.firstReader; reader != none; reader = readers_[reader].next) {
    TaskRef known = readers_[reader].task;
    if (known == task || !isLive(known))
      continue;
    addUnique(known, out);
    newest = std::max(newest, known.sequence);
  }
  // The readers have waited for the writer of the tile, so an edge to it would be implied.
  bool isHidden = newest != 0;
  if (storage.reads.size() + storage.writes.size() != 0) {
    foundCells_.clear();
    storage.writes.find(box, cell.writer.sequence, completed_, foundWrites_);
    storage.reads.find(box, cell.writer.sequence, completed_, foundReads_);
    for (uint32_t read : foundReads_)
      if (storage.reads.task(read) != task)
        addUnique(storage.reads.task(read), out);
    takeWrites(storage, task, box, AccessMode::Write, newest, out);
    isHidden = isHidden || isHiddenByList(storage, task, cell.writer, box, box);
    // What the write covers is hidden by it from now on.
    storage.writes.removeCovered(box, foundWrites_);
    storage.reads.removeCovered(box, foundReads_);
  }
  if (!isHidden && isLive(cell.writer))
    addUnique(cell.writer, out);
  // The new writer takes the place of the old one and its readers.
  dropReaders(storage, cell);
  cell.writer = task;
}

/// The writers of the found cells, or their readers, who have waited for them.
void AccessHistory::takeCells(Storage &storage, TaskRef task, Box box, bool withReaders,
                              Tasks &out) {
  TileCells &cells = storage.cells;
  for (uint32_t number : foundCells_) {
    const Cell &cell = cells[number];
    // Whoever waits for a reader of the cell waits for its writer as well, since that reader did.
    // So the writer is named only if no reader is.
    bool isHidden = !isLive(cell.writer);
    for (uint32_t reader = cell.firstReader; withReaders && reader != none;
         reader = readers_[reader].next) {
      TaskRef known = readers_[reader].task;
      if (known == task || !isLive(known))
        continue;
      addUnique(known, out);
      isHidden = true;
    }
    if (!isHidden && !isHiddenByList(storage, task, cell.writer, cells.box(number), box))
      addUnique(cell.writer, out);
  }
}

void AccessHistory::readBox(Storage &storage, TaskRef task, Box box, Tasks &out) {
  foundReads_.clear();
  foundCells_.clear();
  // A box that is no tile may meet any cell.
  for (uint32_t cell = 0; cell < storage.cells.size(); ++cell)
    if (isLive(storage.cells[cell].writer) && overlaps(storage.cells.box(cell), box))
      foundCells_.push_back(cell);
  storage.writes.find(box, 0, completed_, foundWrites_);
  takeCells(storage, task, box, false, out);
  takeWrites(storage, task, box, AccessMode::Read, 0, out);
  storage.reads.add(task, box);
}

void AccessHistory::writeBox(Storage &storage, TaskRef task, Box box, Tasks &out) {
  foundCells_.clear();
  for (uint32_t cell = 0; cell < storage.cells.size(); ++cell)
    if (overlaps(storage.cells.box(cell), box))
      foundCells_.push_back(cell);
  storage.writes.find(box, 0, completed_, foundWrites_);
  // A write has to wait for readers as well.
  storage.reads.find(box, 0, completed_, foundReads_);
  for (uint32_t read : foundReads_)
    if (storage.reads.task(read) != task)
      addUnique(storage.reads.task(read), out);
  takeCells(storage, task, box, true, out);
  takeWrites(storage, task, box, AccessMode::Write, 0, out);
  // Whoever meets what this task writes meets the task; what it covers no longer matters.
  for (uint32_t number : foundCells_)
    if (contains(box, storage.cells.box(number))) {
      dropReaders(storage, storage.cells[number]);
      storage.cells[number].writer = {};
    }
  storage.writes.removeCovered(box, foundWrites_);
  storage.reads.removeCovered(box, foundReads_);
  storage.writes.add(task, box);
}

void AccessHistory::sweep(Storage &storage) {
  if (storage.held() < storage.sweepAt)
    return;
  storage.reads.removeCompleted(completed_);
  storage.writes.removeCompleted(completed_);
  storage.cells.retain([&](Cell &cell) {
    dropCompleteReaders(storage, cell);
    // A cell without live tasks no longer constrains anybody.
    return isLive(cell.writer) || cell.firstReader != none;
  });
  // Sweeping only when the number has doubled keeps its cost per access constant.
  storage.sweepAt = std::max(kFewestToSweep, 2 * storage.held());
}

void AccessHistory::record(TaskRef task, std::span<const Access> accesses, Tasks &predecessors) {
  // The number of this call marks tasks as taken.
  predecessors.clear();
  ++takes_;
  for (const Access &access : accesses) {
    // An empty box meets nothing.
    if (isEmpty(access.box))
      continue;
    Storage &storage = *storages_[access.storage];
    size_t before = storage.held();
    uint32_t cell = cellOf(storage, access.box);
    bool isRead = access.mode == AccessMode::Read;
    if (cell == none)
      isRead ? readBox(storage, task, access.box, predecessors)
             : writeBox(storage, task, access.box, predecessors);
    else
      isRead ? readTile(storage, storage.cells[cell], task, access.box, predecessors)
             : writeTile(storage, storage.cells[cell], task, access.box, predecessors);
    sweep(storage);
    held_ += storage.held() - before;
  }
  // A task that reads what it writes finds itself.
  std::erase(predecessors, task);
  peak_ = std::max(peak_, held_);
}

void AccessHistory::conflicts(const Access &access, Tasks &tasks) {
  tasks.clear();
  if (isEmpty(access.box))
    return;
  ++takes_;
  Storage &storage = *storages_[access.storage];
  bool isWrite = access.mode == AccessMode::Write;
  auto takeCell = [&](const Cell &cell) {
    if (isLive(cell.writer))
      addUnique(cell.writer, tasks);
    for (uint32_t reader = cell.firstReader; isWrite && reader != none;
         reader = readers_[reader].next)
      if (isLive(readers_[reader].task))
        addUnique(readers_[reader].task, tasks);
  };
  // The box of a tile meets its own cell and no other.
  if (uint32_t own = storage.cells.find(access.box); own != none) {
    takeCell(storage.cells[own]);
  } else {
    for (uint32_t cell = 0; cell < storage.cells.size(); ++cell)
      if (overlaps(storage.cells.box(cell), access.box))
        takeCell(storage.cells[cell]);
  }
  storage.writes.find(access.box, 0, completed_, foundWrites_);
  for (uint32_t write : foundWrites_)
    addUnique(storage.writes.task(write), tasks);
  if (!isWrite)
    return;
  storage.reads.find(access.box, 0, completed_, foundReads_);
  for (uint32_t read : foundReads_)
    addUnique(storage.reads.task(read), tasks);
}

} // namespace ptl::rt

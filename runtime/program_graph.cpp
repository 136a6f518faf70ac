#include "runtime/program_graph.h"

#include "runtime/arena.h"
#include "runtime/block_pool.h"
#include "runtime/kept_between_runs.h"
#include "runtime/schedule/pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace ptl::rt {
namespace {

constexpr size_t kMostTasks = size_t(1) << 16;
constexpr size_t kChunkBytes = size_t(1) << 16;
// Beyond this intermediates share memory even where that orders tasks.
constexpr int64_t kRoomForStorage = int64_t(1) << 30;
// Beyond this, which the caches of a core hold, they share it if that orders only tasks that lie far
// apart: an array in a cache is written in a third of the time.
constexpr int64_t kNearbyStorage = int64_t(512) << 10;
constexpr TaskId kTasksApartPerThread = 16;
constexpr size_t kMostGraphs = 32;
constexpr int64_t kMostBytesKept = int64_t(256) << 20;

KeptBetweenRuns<ProgramGraph> &kept() {
  // Never destroyed: programs may run while the process exits.
  static auto *instance = new KeptBetweenRuns<ProgramGraph>(kMostGraphs, kMostBytesKept);
  return *instance;
}

} // namespace

// --- the graph ------------------------------------------------------------------------------

ProgramGraph::~ProgramGraph() {
  for (void *chunk : chunks_)
    std::free(chunk);
  releaseBlock();
}

void ProgramGraph::releaseBlock() {
  if (block_)
    BlockPool::shared().giveBack(std::exchange(block_, nullptr), std::exchange(blockCapacity_, 0));
}

char *ProgramGraph::reserveClosure(size_t bytes) {
  bytes = static_cast<size_t>(alignedBytes(static_cast<int64_t>(bytes)));
  if (chunks_.empty() || chunkSize_ - chunkUsed_ < bytes) {
    chunkSize_ = std::max(kChunkBytes, bytes);
    chunks_.push_back(std::aligned_alloc(PTL_RT_ALIGNMENT, chunkSize_));
    chunkUsed_ = 0;
    closureBytes_ += static_cast<int64_t>(chunkSize_);
  }
  char *memory = static_cast<char *>(chunks_.back());
  return memory ? memory + std::exchange(chunkUsed_, chunkUsed_ + bytes) : nullptr;
}

void ProgramGraph::finish(const std::vector<std::optional<StorageId>> &storages,
                          const std::vector<int64_t> &sizes) {
  plan_ = builder_.planStorage(
      {kRoomForStorage, kNearbyStorage, kTasksApartPerThread * static_cast<TaskId>(threads_)});
  std::vector<int64_t> placeOf;
  for (const StoragePlan::Place &place : plan_.places) {
    placeOf.resize(std::max<size_t>(placeOf.size(), place.storage + 1));
    placeOf[place.storage] = place.offset;
  }
  for (size_t i = 0; i < storages.size(); ++i) {
    if (storages[i]) {
      offsets_.push_back(placeOf[*storages[i]]);
      continue;
    }
    // A storage that no task names still gets an address of its own.
    offsets_.push_back(plan_.bytes);
    plan_.bytes += alignedBytes(sizes[i]);
  }
  graph_ = std::move(builder_).finish();
  builder_ = GraphBuilder();
  replay_.emplace(graph_, threads_);
}

bool ProgramGraph::reserveBlock() {
  if (!block_)
    block_ = BlockPool::shared().take(plan_.bytes, blockCapacity_);
  return block_ != nullptr;
}

// --- seeing what a program submits ----------------------------------------------------------

void *RecordRun::allocate(int64_t bytes) {
  if (bytes < 0 || bytes > (int64_t(1) << 46)) {
    isRefused_ = true;
    return nullptr;
  }
  addresses_.push_back(nextAddress_);
  sizes_.push_back(bytes);
  storageOf_.emplace_back();
  nextAddress_ += alignedBytes(std::max<int64_t>(bytes, 1));
  return reinterpret_cast<void *>(addresses_.back());
}

// A program that waits for data has no graph before it runs.
void RecordRun::await(const int64_t *) { isRefused_ = true; }

void RecordRun::submit(const Submission &task) {
  // A program with more tasks is run without a record; a part of a graph would be of no use.
  if (isRefused_ || ++submitted_ > kMostTasks) {
    isRefused_ = true;
    return;
  }
  auto add = [&](int64_t address, uint32_t rank) {
    auto found = std::lower_bound(addresses_.begin(), addresses_.end(), address);
    if (found == addresses_.end() || *found != address)
      return graph_.builder_.addStorage(rank);
    auto number = static_cast<size_t>(found - addresses_.begin());
    return *(storageOf_[number] = graph_.builder_.addIntermediate(rank, sizes_[number]));
  };
  size_t bytes = sizeof(TaskHeader) + task.closureBytes;
  char *closure = graph_.reserveClosure(bytes);
  if (!closure) {
    isRefused_ = true;
    return;
  }
  TaskSpec spec;
  spec.body = runTask;
  spec.closure = closure;
  spec.points = task.count;
  spec.grain = grainOf(task.count);
  spec.cost = task.count;
  graph_.builder_.add(spec, words_.read(task.accesses, task.accessCount, storages_, add));
  graph_.nodes_.push_back({closure, task.closureBytes, task.body, task.count});
}

void RecordRun::finish() {
  if (!isRefused_ && context_.status.load(std::memory_order_relaxed) == PTL_OK)
    graph_.finish(storageOf_, sizes_);
  else
    graph_.builder_ = GraphBuilder();
}

// --- running it ------------------------------------------------------------------------------

void *FillRun::allocate(int64_t) {
  if (allocations_ >= graph_.offsets_.size() || !graph_.reserveBlock()) {
    isOther_ = true;
    return nullptr;
  }
  return static_cast<char *>(graph_.block_) + graph_.offsets_[allocations_++];
}

void FillRun::submit(const Submission &task) {
  size_t number = submitted_++;
  if (number >= graph_.nodes_.size()) {
    isOther_ = true;
    return;
  }
  const ProgramGraph::Node &node = graph_.nodes_[number];
  // The program claims to be static. If it submits something else after all, it runs without a
  // graph.
  if (node.body != task.body || node.count != task.count ||
      node.closureBytes != task.closureBytes) {
    isOther_ = true;
    return;
  }
  new (node.closure) TaskHeader{task.body, task.place, submitted_};
  std::memcpy(node.closure + sizeof(TaskHeader), task.closure, task.closureBytes);
}

bool FillRun::execute() {
  bool isSame = !isOther_ && submitted_ == graph_.nodes_.size() &&
                context_.status.load(std::memory_order_relaxed) == PTL_OK;
  if (isSame)
    graph_.replay_->run(*context_.pool, static_cast<ProgramRun *>(this));
  return isSame;
}

// --- graphs between runs ---------------------------------------------------------------------

std::unique_ptr<ProgramGraph> ProgramGraphs::take(const ProgramGraph::Key &key) {
  return kept().take(key);
}

void ProgramGraphs::giveBack(std::unique_ptr<ProgramGraph> graph) {
  // A graph whose block is larger than all that may be kept would drive out every other graph.
  if (graph->bytes() > kMostBytesKept)
    graph->releaseBlock();
  kept().giveBack(std::move(graph));
}

} // namespace ptl::rt

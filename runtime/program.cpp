#include "runtime/program.h"

#include "runtime/arena.h"
#include "runtime/pool.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace ptl::rt {
namespace {

constexpr int64_t chunksPerThread = 8;
constexpr int64_t everything = INT64_MAX / 4;
constexpr size_t keptWindows = 4;

/// A task's closure: what its body needs beyond the cells of compiled code, which follow.
struct alignas(64) TaskHeader {
  PtlContext *context;
  PtlBody body;
};

void runTask(void *, const void *closure, int64_t begin, int64_t end) {
  auto *header = static_cast<const TaskHeader *>(closure);
  Arena &arena = Arena::ofThread();
  int64_t mark = arena.mark();
  header->body(header->context, begin, end, const_cast<TaskHeader *>(header + 1));
  arena.release(mark);
}

struct Release {
  PtlContext *context;
  void *memory;
};

void runRelease(void *, const void *closure, int64_t, int64_t) {
  auto *release = static_cast<const Release *>(closure);
  ptl_rt_free(release->context, release->memory);
}

struct Cached {
  std::mutex mutex;
  std::vector<std::pair<int, std::unique_ptr<TaskWindow>>> windows;
};

Cached &cached() {
  // Never destroyed: programs may run while the process exits.
  static Cached *instance = new Cached;
  return *instance;
}

} // namespace

std::unique_ptr<TaskWindow> WindowCache::take(int threads) {
  Cached &cache = cached();
  {
    std::lock_guard lock(cache.mutex);
    for (auto &[count, window] : cache.windows)
      if (count == threads) {
        std::swap(window, cache.windows.back().second);
        std::swap(count, cache.windows.back().first);
        auto found = std::move(cache.windows.back().second);
        cache.windows.pop_back();
        return found;
      }
  }
  return std::make_unique<TaskWindow>(threads);
}

void WindowCache::giveBack(std::unique_ptr<TaskWindow> window, int threads) {
  Cached &cache = cached();
  std::lock_guard lock(cache.mutex);
  if (cache.windows.size() < keptWindows)
    cache.windows.emplace_back(threads, std::move(window));
}

ProgramRun::ProgramRun(PtlContext &context, TaskWindow &window)
    : context_(context), window_(window) {
  context.program = this;
}

ProgramRun::~ProgramRun() {
  for (auto &[address, storage] : storages_)
    window_.forgetStorage(storage.id);
  context_.program = nullptr;
}

uint64_t ProgramRun::failAt() {
  uint64_t task = TaskWindow::runningTask();
  if (task != 0)
    window_.stopAfter(task);
  // The program's own code stands between what it has submitted and what it has not.
  return task != 0 ? 2 * task : 2 * window_.submitted() + 1;
}

ProgramRun::Storage &ProgramRun::storageOf(int64_t address, size_t rank) {
  auto found = storages_.find(address);
  if (found == storages_.end())
    found = storages_.emplace(address, Storage{window_.addStorage(rank), rank}).first;
  return found->second;
}

Box ProgramRun::wholeBox(size_t rank) {
  while (whole_.size() < rank)
    whole_.push_back({0, everything, 1});
  return {whole_.data(), rank};
}

/// The axes of all boxes share one vector, so boxes are set when all are read.
const int64_t *ProgramRun::read(const int64_t *words, Access &access) {
  int64_t address = words[0], rank = words[2];
  access.mode = words[1] != 0 ? AccessMode::Write : AccessMode::Read;
  words += 3;
  Storage &storage = storageOf(address, static_cast<size_t>(std::max<int64_t>(rank, 0)));
  access.storage = storage.id;
  bool isWhole = rank < 0 || static_cast<size_t>(rank) != storage.rank;
  for (int64_t axis = 0; axis < rank; ++axis, words += 3)
    if (!isWhole)
      axes_.push_back({words[0], words[1], std::max<int64_t>(1, words[2])});
  if (isWhole)
    for (size_t axis = 0; axis < storage.rank; ++axis)
      axes_.push_back({0, everything, 1});
  access.box = {static_cast<const Axis *>(nullptr), storage.rank};
  return words;
}

void ProgramRun::submit(PtlBody body, int64_t count, const void *closure, int64_t closureBytes,
                        const int64_t *accesses, int32_t accessCount) {
  if (count <= 0)
    return;
  size_t bytes = sizeof(TaskHeader) + static_cast<size_t>(closureBytes);
  char *copy = closure_.resize(bytes);
  TaskHeader header{&context_, body};
  std::memcpy(copy, &header, sizeof(header));
  std::memcpy(copy + sizeof(header), closure, static_cast<size_t>(closureBytes));
  axes_.clear();
  accesses_.resize(static_cast<size_t>(accessCount));
  if (!window_.isInOrder())
    for (Access &access : accesses_)
      accesses = read(accesses, access);
  size_t next = 0;
  for (Access &access : accesses_) {
    access.box = {axes_.data() + next, access.box.size()};
    next += access.box.size();
  }
  TaskSpec spec;
  spec.body = runTask;
  spec.closure = copy;
  spec.points = count;
  spec.grain = std::max<int64_t>(1, count / (context_.pool->threadCount() * chunksPerThread));
  window_.submit(spec, bytes, accesses_);
}

void ProgramRun::await(const int64_t *words) {
  // Of what no task has named there is nothing to wait for.
  if (window_.isInOrder() || !storages_.count(words[0]))
    return;
  Access access;
  axes_.clear();
  read(words, access);
  access.box = {axes_.data(), access.box.size()};
  window_.await(access);
}

void ProgramRun::release(void *memory) {
  auto found = storages_.find(reinterpret_cast<int64_t>(memory));
  if (found == storages_.end())
    return ptl_rt_free(&context_, memory);
  // To free is to write: it waits for all who use the storage, and nobody uses it later.
  Release release{&context_, memory};
  Access access{found->second.id, AccessMode::Write, wholeBox(found->second.rank)};
  TaskSpec spec;
  spec.body = runRelease;
  spec.closure = &release;
  window_.submit(spec, sizeof(release), {&access, 1});
  window_.forgetStorage(found->second.id);
  storages_.erase(found);
}

} // namespace ptl::rt

using namespace ptl::rt;

int32_t ptl_rt_program(PtlContext *context, PtlProgramBody body, const PtlArray *const *arrays,
                       const int64_t *dims, const PtlScalar *scalars) {
  int threads = context->pool->threadCount();
  auto window = WindowCache::take(threads);
  {
    ProgramRun run(*context, *window);
    auto call = [&] {
      Arena &arena = Arena::ofThread();
      int64_t mark = arena.mark();
      body(context, arrays, dims, scalars);
      arena.release(mark);
    };
    window->run(
        *context->pool, [](void *opaque) { (*static_cast<decltype(call) *>(opaque))(); }, &call);
  }
  WindowCache::giveBack(std::move(window), threads);
  return context->status.load(std::memory_order_acquire);
}

void ptl_rt_submit(PtlContext *context, PtlBody body, int64_t count, const void *closure,
                   int64_t closureBytes, const int64_t *accesses, int32_t accessCount) {
  context->program->submit(body, count, closure, closureBytes, accesses, accessCount);
}

void ptl_rt_await(PtlContext *context, const int64_t *access) { context->program->await(access); }

void ptl_rt_release(PtlContext *context, void *memory) { context->program->release(memory); }

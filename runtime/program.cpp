#include "runtime/program.h"

#include "runtime/arena.h"
#include "runtime/kept_between_runs.h"
#include "runtime/program_choice.h"
#include "runtime/program_graph.h"
#include "runtime/recorder.h"
#include "runtime/schedule/path_submitter.h"
#include "runtime/schedule/pool.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace ptl::rt {
namespace {

constexpr int64_t kChunksPerThread = 8;
// A program that runs ahead of its tasks waits when its intermediates take more.
constexpr int64_t kMostRunAhead = int64_t(1) << 30;

/// The number of the task that this thread runs, 0 outside of tasks.
thread_local uint64_t runningTask = 0;

} // namespace

// --- what all kinds share -------------------------------------------------------------------

bool ProgramRun::isProgramCode() { return runningTask == 0; }

uint64_t ProgramRun::failAt() {
  // The program's own code stands between what it has submitted and what it has not.
  if (runningTask == 0)
    return 2 * submitted_ + 1;
  // Tasks fail in any order, so the smallest number among them is kept.
  uint64_t present = stopAfter_.load(std::memory_order_relaxed);
  while (runningTask < present && !stopAfter_.compare_exchange_weak(present, runningTask))
    ;
  return 2 * runningTask;
}

int64_t ProgramRun::grainOf(int64_t count) const {
  return std::max<int64_t>(1, count / (context_.pool->threadCount() * kChunksPerThread));
}

void ProgramRun::runPoints(const TaskHeader &header, const void *cells, int64_t begin,
                           int64_t end) {
  // In program order this task comes after the failure, so it would not have run.
  if (header.number > stopAfter_.load(std::memory_order_relaxed))
    return;
  uint64_t outer = std::exchange(runningTask, header.number);
  Arena &arena = Arena::ofThread();
  int64_t mark = arena.mark();
  Recorder *recorder = context_.recorder;
  int64_t start = recorder ? recorder->now() : 0;
  header.body(&context_, begin, end, const_cast<void *>(cells));
  if (recorder)
    recorder->addSpan(header.number, begin, end, start, recorder->now());
  arena.release(mark);
  runningTask = outer;
}

void ProgramRun::runTask(void *run, const void *closure, int64_t begin, int64_t end) {
  auto *header = static_cast<const TaskHeader *>(closure);
  static_cast<ProgramRun *>(run)->runPoints(*header, header + 1, begin, end);
}

namespace {

// --- one thread -----------------------------------------------------------------------------

/// Program order is an order: each task runs when it is submitted.
class InOrderRun : public ProgramRun {
public:
  using ProgramRun::ProgramRun;
  void submit(const Submission &task) override {
    runPoints({task.body, task.place, ++submitted_}, task.closure, 0, task.count);
  }
  void await(const int64_t *) override {}
  void *allocate(int64_t bytes) override { return context_.allocate(bytes); }
  void release(void *memory) override { context_.free(memory); }
};

// --- a graph that is built while it runs ----------------------------------------------------

struct Release {
  PtlContext *context;
  std::atomic<int64_t> *live;
  void *memory;
};

void runRelease(void *, const void *closure, int64_t, int64_t) {
  auto *release = static_cast<const Release *>(closure);
  release->live->fetch_sub(PtlContext::bytesOf(release->memory), std::memory_order_relaxed);
  release->context->free(release->memory);
}

class WindowRun : public ProgramRun {
public:
  /// The window lends its lanes and memory to one run at a time; so does the tree what it knows.
  WindowRun(PtlContext &context, TaskWindow &window, PathTree &tree)
      : ProgramRun(context), window_(window), submitter_(window, &tree) {}
  void submit(const Submission &task) override;
  void await(const int64_t *access) override;
  void *allocate(int64_t bytes) override;
  void release(void *memory) override;

private:
  std::span<const Access> read(const int64_t *words, size_t count) {
    return words_.read(words, count, storages_,
                       [&](int64_t, uint32_t rank) { return submitter_.addStorage(rank); });
  }

  TaskWindow &window_;
  PathSubmitter submitter_;
  StorageTable storages_;
  AccessWords words_;
  std::atomic<int64_t> live_{0};
};

void WindowRun::submit(const Submission &task) {
  TaskHeader header{task.body, task.place, ++submitted_};
  TaskSpec spec;
  spec.body = runTask;
  spec.points = task.count;
  spec.grain = grainOf(task.count);
  auto fill = [&](char *closure) {
    new (closure) TaskHeader(header);
    std::memcpy(closure + sizeof(header), task.closure, task.closureBytes);
  };
  submitter_.submit(spec, sizeof(header) + task.closureBytes, fill,
                    read(task.accesses, task.accessCount));
}

void WindowRun::await(const int64_t *access) {
  // A storage that no task has named has no task to wait for.
  if (storages_.find(access[0]))
    submitter_.await(read(access, 1).front());
}

void *WindowRun::allocate(int64_t bytes) {
  window_.helpUntil([&] {
    int64_t live = live_.load(std::memory_order_relaxed);
    // A single array that is larger than the limit is still allowed.
    return live == 0 || live + bytes <= kMostRunAhead;
  });
  void *memory = context_.allocate(bytes);
  if (memory)
    live_.fetch_add(PtlContext::bytesOf(memory), std::memory_order_relaxed);
  return memory;
}

void WindowRun::release(void *memory) {
  Release release{&context_, &live_, memory};
  const StorageTable::Entry *found = storages_.find(reinterpret_cast<int64_t>(memory));
  if (!found)
    return runRelease(nullptr, &release, 0, 1);
  // Freeing counts as a write: it waits for all users of the storage, and there are no later ones.
  int64_t whole[] = {found->address, 1, -1};
  StorageId id = found->id;
  TaskSpec spec;
  spec.body = runRelease;
  auto fill = [&](char *closure) { new (closure) Release(release); };
  submitter_.submit(spec, sizeof(release), fill, read(whole, 1));
  submitter_.forgetStorage(id);
  storages_.remove(whole[0]);
}

/// Windows between runs, so that a program that runs often is not set up each time.
class Windows {
public:
  std::unique_ptr<TaskWindow> take(int threads) {
    std::lock_guard lock(mutex_);
    for (size_t i = windows_.size(); i-- > 0;)
      if (windows_[i].threads == threads) {
        auto found = std::move(windows_[i].window);
        windows_.erase(windows_.begin() + static_cast<ptrdiff_t>(i));
        return found;
      }
    return std::make_unique<TaskWindow>(threads);
  }
  void giveBack(std::unique_ptr<TaskWindow> window, int threads) {
    std::lock_guard lock(mutex_);
    if (windows_.size() < mostKept)
      windows_.push_back({threads, std::move(window)});
  }
  static Windows &shared() {
    // Never destroyed: programs may run while the process exits.
    static Windows *instance = new Windows;
    return *instance;
  }

private:
  static constexpr size_t mostKept = 4;
  struct Kept {
    int threads;
    std::unique_ptr<TaskWindow> window;
  };
  std::mutex mutex_;
  std::vector<Kept> windows_;
};

KeptBetweenRuns<PathTree> &retainedPathTrees() {
  constexpr size_t most = 64;
  constexpr int64_t mostBytes = int64_t(64) << 20;
  // Never destroyed, as windows.
  static auto *instance = new KeptBetweenRuns<PathTree>(most, mostBytes);
  return *instance;
}

// --- which kind -----------------------------------------------------------------------------

/// One call of a program.
struct Call {
  PtlContext *context;
  const PtlProgram *program;
  const PtlArray *const *arrays;
  const int64_t *dims;
  const PtlScalar *scalars;

  void runCode() const {
    Arena &arena = Arena::ofThread();
    int64_t mark = arena.mark();
    program->body(context, arrays, dims, scalars);
    arena.release(mark);
  }
  ProgramGraph::Key key(int threads) const;
  /// These give the number of tasks.
  uint64_t runInOrder() const;
  std::optional<uint64_t> runStatic(const ProgramGraph::Key &wanted, int threads) const;
  uint64_t runDynamic(const ProgramGraph::Key &wanted, int threads) const;
  void runOnThreads(int threads) const;
};

ProgramGraph::Key Call::key(int threads) const {
  static std::atomic<int64_t> programs{0};
  std::atomic_ref<int64_t> number(*program->number);
  int64_t own = number.load(std::memory_order_relaxed), none = 0;
  if (own == 0) {
    own = programs.fetch_add(1, std::memory_order_relaxed) + 1;
    // Another thread may have numbered the program at the same time; then its number counts.
    if (!number.compare_exchange_strong(none, own, std::memory_order_relaxed))
      own = none;
  }
  ProgramGraph::Key key = {own, threads};
  key.insert(key.end(), dims, dims + program->dim_count);
  for (int32_t i = 0; i < program->scalar_count; ++i)
    key.push_back(scalars[i].i64);
  return key;
}

uint64_t Call::runInOrder() const {
  InOrderRun run(*context);
  runCode();
  return run.submitted();
}

/// Returns nothing if there is no graph of the program for these arguments; then nothing has run.
std::optional<uint64_t> Call::runStatic(const ProgramGraph::Key &wanted, int threads) const {
  std::unique_ptr<ProgramGraph> graph = ProgramGraphs::take(wanted);
  if (!graph) {
    graph = std::make_unique<ProgramGraph>(wanted, threads);
    // The first run of the code only records, and executes nothing.
    RecordRun record(*context, *graph);
    runCode();
    record.finish();
    context->forgetFailure();
  }
  std::optional<uint64_t> tasks;
  if (graph->isUsable()) {
    FillRun fill(*context, *graph);
    runCode();
    if (fill.execute())
      tasks = fill.submitted();
    const StoragePlan &plan = graph->plan();
    if (context->recorder)
      context->recorder->setStorage({plan.bytes, plan.unshared, plan.leastLive});
    if (!tasks) {
      context->forgetFailure();
      if (context->recorder)
        context->recorder->restart();
    }
  }
  ProgramGraphs::giveBack(std::move(graph));
  return tasks;
}

uint64_t Call::runDynamic(const ProgramGraph::Key &wanted, int threads) const {
  auto window = Windows::shared().take(threads);
  std::unique_ptr<PathTree> tree = retainedPathTrees().take(wanted);
  if (!tree)
    tree = std::make_unique<PathTree>(wanted);
  uint64_t tasks = 0;
  {
    WindowRun run(*context, *window, *tree);
    auto code = [](void *self) { static_cast<const Call *>(self)->runCode(); };
    window->run(*context->pool, code, const_cast<Call *>(this), static_cast<ProgramRun *>(&run));
    tasks = run.submitted();
  }
  retainedPathTrees().giveBack(std::move(tree));
  Windows::shared().giveBack(std::move(window), threads);
  return tasks;
}

/// In the way that has been faster, where it may choose. What is recorded is how threads run.
void Call::runOnThreads(int threads) const {
  ProgramGraph::Key wanted = key(threads);
  // Measurements with a pool of one's own would not be comparable, and a recorded run should show
  // threads.
  bool chooses = context->pool == &ThreadPool::shared() && !context->recorder;
  bool inOrder = chooses && ProgramChoice::shared().runsInOrder(wanted);
  auto start = std::chrono::steady_clock::now();
  std::optional<uint64_t> tasks;
  if (inOrder)
    tasks = runInOrder();
  else if (program->is_static)
    tasks = runStatic(wanted, threads);
  if (!tasks)
    tasks = runDynamic(wanted, threads);
  std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  if (chooses && context->status.load(std::memory_order_relaxed) == PTL_OK)
    ProgramChoice::shared().note(wanted, inOrder, took.count(), *tasks);
}

} // namespace
} // namespace ptl::rt

using namespace ptl::rt;

int32_t ptl_rt_program(PtlContext *context, const PtlProgram *program,
                       const PtlArray *const *arrays, const int64_t *dims,
                       const PtlScalar *scalars) {
  Call call{context, program, arrays, dims, scalars};
  int threads = context->pool->threadCount();
  if (threads == 1)
    call.runInOrder();
  else
    call.runOnThreads(threads);
  return context->status.load(std::memory_order_acquire);
}

void ptl_rt_submit(PtlContext *context, PtlBody body, int64_t count, const void *closure,
                   int64_t closureBytes, const int64_t *accesses, int32_t accessCount,
                   const PtlPlace *place) {
  if (count <= 0)
    return;
  if (context->recorder)
    context->recorder->addTask(place, count, accesses, static_cast<size_t>(accessCount), false);
  context->program->submit({body, count, closure, static_cast<size_t>(closureBytes), accesses,
                            static_cast<size_t>(accessCount), place});
}

void ptl_rt_await(PtlContext *context, const int64_t *access) {
  Recorder *recorder = context->recorder;
  int64_t start = recorder ? recorder->now() : 0;
  context->program->await(access);
  if (recorder)
    recorder->addWait(start, recorder->now());
}

void ptl_rt_release(PtlContext *context, void *memory) {
  if (context->recorder)
    context->recorder->addRelease(memory);
  context->program->release(memory);
}

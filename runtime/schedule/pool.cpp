#include "runtime/schedule/pool.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <pthread.h>
#include <sched.h>

namespace ptl::rt {
namespace {

constexpr int spinsBeforeSleep = 2000;
constexpr int64_t chunksPerThread = 8;
constexpr int maxThreads = 1024;

thread_local int currentIndex = 0;
thread_local bool insideLoop = false;

// Threads do not survive a fork, so a child runs its loops in place.
std::atomic<bool> inForkedChild{false};

void pauseSpin() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

int processorCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

int wantedThreads() {
  if (const char *text = std::getenv("PTL_NUM_THREADS")) {
    char *end = nullptr;
    errno = 0;
    long value = std::strtol(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && value >= 1)
      return static_cast<int>(std::min<long>(value, maxThreads));
  }
  return std::min(processorCount(), maxThreads);
}

class InsideLoop {
public:
  InsideLoop() : before_(insideLoop) { insideLoop = true; }
  ~InsideLoop() { insideLoop = before_; }

private:
  bool before_;
};

} // namespace

ThreadPool::ThreadPool(int threads) : threadCount_(std::max(1, threads)) {
  workers_.reserve(threadCount_ - 1);
  for (int i = 1; i < threadCount_; ++i)
    workers_.emplace_back([this, i] { workerMain(i); });
}

ThreadPool::~ThreadPool() {
  quit_.store(true, std::memory_order_seq_cst);
  wake_.fetch_add(1, std::memory_order_seq_cst);
  wake_.notify_all();
  for (std::thread &worker : workers_)
    worker.join();
}

int ThreadPool::threadIndex() { return currentIndex; }

ThreadPool &ThreadPool::shared() {
  // Never destroyed: its threads may not be joined in a forked child, nor while the process exits.
  static ThreadPool *pool = [] {
    pthread_atfork(nullptr, nullptr, [] { inForkedChild.store(true, std::memory_order_relaxed); });
    return new ThreadPool(wantedThreads());
  }();
  return *pool;
}

void ThreadPool::runInPlace(const Job &job) {
  InsideLoop inside;
  for (int64_t begin = 0; begin < job.count; begin += std::min(job.grain, job.count - begin)) {
    if (job.stop && job.stop->load(std::memory_order_relaxed) != 0)
      return;
    job.body(job.closure, begin, begin + std::min(job.grain, job.count - begin));
  }
}

void ThreadPool::workOn(const Job &job) {
  InsideLoop inside;
  while (!(job.stop && job.stop->load(std::memory_order_relaxed) != 0)) {
    int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
    // Chunk numbers stay far below 2^63 / grain because each thread stops at its first miss.
    if (chunk >= (job.count - 1) / job.grain + 1)
      return;
    int64_t begin = chunk * job.grain;
    job.body(job.closure, begin, begin + std::min(job.grain, job.count - begin));
  }
}

void ThreadPool::run(Body body, void *closure, int64_t count, int64_t grain,
                     const std::atomic<int32_t> *stop) {
  if (count <= 0)
    return;
  if (grain <= 0)
    grain = std::max<int64_t>(1, count / (threadCount_ * chunksPerThread));
  Job job{body, closure, count, grain, stop};
  // Inside a loop all threads are busy already; in a forked child there are none.
  bool alone = count <= grain || threadCount_ == 1 || insideLoop ||
               inForkedChild.load(std::memory_order_relaxed);
  // A loop of another thread has the workers. Waiting for them could take longer than running the
  // loop here.
  if (alone || busy_.exchange(true, std::memory_order_acquire))
    return runInPlace(job);

  job_ = job;
  next_.store(0, std::memory_order_relaxed);
  uint64_t epoch = (state_.load(std::memory_order_relaxed) >> 32) + 1;
  state_.store((epoch << 32) | openBit, std::memory_order_seq_cst);
  wakeWorkers((count - 1) / grain);
  workOn(job);

  // Nobody enters from here on; those who are inside still use `job_` and the closure.
  uint64_t state = state_.fetch_and(~openBit, std::memory_order_acq_rel) & ~openBit;
  for (int spins = 0; static_cast<uint32_t>(state) != 0; ++spins) {
    if (spins < spinsBeforeSleep)
      pauseSpin();
    else
      state_.wait(state, std::memory_order_acquire);
    state = state_.load(std::memory_order_acquire);
  }
  busy_.store(false, std::memory_order_release);
}

void ThreadPool::wakeWorkers(int64_t wanted) {
  wake_.fetch_add(1, std::memory_order_seq_cst);
  int64_t sleeping = sleepers_.load(std::memory_order_seq_cst);
  if (sleeping == 0)
    return;
  // One call that wakes all is cheaper than many single ones.
  if (wanted * 2 > sleeping)
    return wake_.notify_all();
  for (int64_t i = 0; i < wanted; ++i)
    wake_.notify_one();
}

bool ThreadPool::enter(uint32_t &lastEpoch) {
  uint64_t state = state_.load(std::memory_order_seq_cst);
  while ((state & openBit) && static_cast<uint32_t>(state >> 32) != lastEpoch) {
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) {
      lastEpoch = static_cast<uint32_t>(state >> 32);
      return true;
    }
  }
  return false;
}

void ThreadPool::workerMain(int index) {
  currentIndex = index;
  uint32_t lastEpoch = 0;
  while (true) {
    bool entered = enter(lastEpoch);
    for (int spins = 0; !entered && spins < spinsBeforeSleep; ++spins) {
      if (quit_.load(std::memory_order_relaxed))
        return;
      pauseSpin();
      entered = enter(lastEpoch);
    }
    if (!entered) {
      // The worker counts as a sleeper before it looks for the last time, so a loop that opens
      // after that look wakes it.
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      uint32_t seen = wake_.load(std::memory_order_seq_cst);
      entered = enter(lastEpoch);
      if (!entered && !quit_.load(std::memory_order_seq_cst))
        wake_.wait(seen, std::memory_order_seq_cst);
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
      if (!entered)
        continue;
    }
    workOn(job_);
    if ((static_cast<uint32_t>(state_.fetch_sub(1, std::memory_order_acq_rel)) & ~openBit) == 1)
      state_.notify_all();
  }
}

} // namespace ptl::rt

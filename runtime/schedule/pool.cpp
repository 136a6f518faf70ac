#include "runtime/schedule/pool.h"

#include "common/read_number.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <utility>

namespace ptl::rt {
namespace {

// How long a thread looks for work before it sleeps. Waking it takes about as long.
constexpr std::chrono::microseconds kSpinTime{20};
constexpr int kSpinsBetweenLooks = 32; // at the clock
constexpr int64_t kChunksPerThread = 8;
constexpr int kMaxThreads = 1024;

thread_local int currentIndex = 0;
thread_local bool insideLoop = false;
thread_local int mostThreads = 0; // 0: no limit

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
  // In a container fewer processors may be allowed than the machine has.
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

int wantedThreads() {
  if (const char *text = std::getenv("PTL_NUM_THREADS"); text && *text) {
    if (std::optional<int64_t> count = integerIn(text); count && *count >= 1)
      return static_cast<int>(std::min<int64_t>(*count, kMaxThreads));
    std::fprintf(stderr,
                 "ptl: PTL_NUM_THREADS=%s is ignored: it is not a whole number of at least 1\n",
                 text);
  }
  return std::min(processorCount(), kMaxThreads);
}

ThreadPool::Affinity wantedAffinity() {
  const char *text = std::getenv("PTL_AFFINITY");
  if (text && std::strcmp(text, "close") == 0)
    return ThreadPool::Affinity::Close;
  if (text && std::strcmp(text, "spread") == 0)
    return ThreadPool::Affinity::Spread;
  return ThreadPool::Affinity::None;
}

/// Keeps the calling thread on one of the processors that it may use, if there is more than one.
void pinThread(ThreadPool::Affinity affinity, int index, int threads) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (affinity == ThreadPool::Affinity::None ||
      sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return;
  int64_t count = CPU_COUNT(&allowed);
  if (count < 2)
    return;
  // With a thread on each processor there is nothing to spread.
  bool spread = affinity == ThreadPool::Affinity::Spread && threads < count;
  int64_t wanted = spread ? index * count / threads : index % count;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed) || wanted-- > 0)
      continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    // Where this is refused, threads run as they would without it.
    (void)pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    return;
  }
}

/// Pauses between looks for work, up to a time.
class Spinning {
public:
  /// False if the time is over.
  bool pause() {
    pauseSpin();
    // Reading the clock takes longer than a pause.
    if (++spins_ % kSpinsBetweenLooks != 0)
      return true;
    auto now = std::chrono::steady_clock::now();
    if (spins_ == kSpinsBetweenLooks)
      end_ = now + kSpinTime;
    return now < end_;
  }

private:
  int64_t spins_ = 0;
  std::chrono::steady_clock::time_point end_;
};

class InsideLoop {
public:
  InsideLoop() : before_(insideLoop) { insideLoop = true; }
  ~InsideLoop() { insideLoop = before_; }

private:
  bool before_;
};

} // namespace

ThreadPool::ThreadPool(int threads, Affinity affinity)
    : threadCount_(std::max(1, threads)), affinity_(affinity),
      shares_(std::make_unique<Share[]>(static_cast<size_t>(threadCount_))) {
  workers_.reserve(threadCount_ - 1);
  for (int i = 1; i < threadCount_; ++i)
    workers_.emplace_back([this, i] { workerMain(i); });
}

ThreadPool::~ThreadPool() {
  quit_.store(true, std::memory_order_seq_cst);
  // A worker that is about to sleep sees the change of the number.
  wake_.fetch_add(1, std::memory_order_seq_cst);
  wake_.notify_all();
  for (std::thread &worker : workers_)
    worker.join();
}

int ThreadPool::threadIndex() { return currentIndex; }

int ThreadPool::threadCount() const {
  return mostThreads > 0 ? std::min(threadCount_, mostThreads) : threadCount_;
}

int ThreadPool::limitThreads(int most) { return std::exchange(mostThreads, std::max(0, most)); }

ThreadPool &ThreadPool::shared() {
  // Never destroyed: its threads may not be joined in a forked child, nor while the process exits.
  static ThreadPool *pool = [] {
    pthread_atfork(nullptr, nullptr, [] { inForkedChild.store(true, std::memory_order_relaxed); });
    return new ThreadPool(wantedThreads(), wantedAffinity());
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

void ThreadPool::divide(int64_t chunks, int threads) {
  int64_t each = chunks / threads, more = chunks % threads, begin = 0;
  for (int64_t thread = 0; thread < threads; ++thread) {
    Share &share = shares_[static_cast<size_t>(thread)];
    // Opening the loop publishes the shares.
    share.next.store(begin, std::memory_order_relaxed);
    begin += each + (thread < more ? 1 : 0);
    share.end = begin;
  }
}

void ThreadPool::workOn(const Job &job) {
  InsideLoop inside;
  // Threads begin with their own shares, so that the same thread gets the same part of an array
  // each time and finds it in its cache.
  int own = currentIndex % job.threads;
  for (int turn = 0; turn < job.threads; ++turn) {
    Share &share = shares_[static_cast<size_t>((own + turn) % job.threads)];
    // A look first: threads without work do not write to what others count with.
    while (share.next.load(std::memory_order_relaxed) < share.end) {
      if (job.stop && job.stop->load(std::memory_order_relaxed) != 0)
        return;
      int64_t chunk = share.next.fetch_add(1, std::memory_order_relaxed);
      // Another thread may have taken the last chunk since the look.
      if (chunk >= share.end)
        break;
      int64_t begin = chunk * job.grain;
      job.body(job.closure, begin, begin + std::min(job.grain, job.count - begin));
    }
  }
}

void ThreadPool::run(Body body, void *closure, int64_t count, int64_t grain,
                     const std::atomic<int32_t> *stop) {
  if (count <= 0)
    return;
  int threads = threadCount();
  if (grain <= 0)
    grain = std::max<int64_t>(1, count / (threads * kChunksPerThread));
  Job job{body, closure, count, grain, stop, threads};
  // Inside a loop all threads are busy already; in a forked child there are none.
  bool alone =
      count <= grain || threads == 1 || insideLoop || inForkedChild.load(std::memory_order_relaxed);
  // A loop of another thread has the workers. Waiting for them could take longer than running the
  // loop here.
  if (alone || busy_.exchange(true, std::memory_order_acquire))
    return runInPlace(job);

  job_ = job;
  divide((count - 1) / grain + 1, threads);
  most_.store(threads, std::memory_order_relaxed);
  uint64_t epoch = (state_.load(std::memory_order_relaxed) >> 32) + 1;
  // The epoch keeps a worker from entering the same loop twice.
  state_.store((epoch << 32) | openBit, std::memory_order_seq_cst);
  wakeWorkers((count - 1) / grain, threads);
  workOn(job);

  // Nobody enters from here on; those who are inside still use `job_` and the closure.
  uint64_t state = state_.fetch_and(~openBit, std::memory_order_acq_rel) & ~openBit;
  Spinning spinning;
  // The loops are short, so waiting begins without sleeping.
  for (bool spins = true; static_cast<uint32_t>(state) != 0;) {
    spins = spins && spinning.pause();
    if (!spins)
      // The last worker to leave changes the number and wakes this thread.
      state_.wait(state, std::memory_order_acquire);
    state = state_.load(std::memory_order_acquire);
  }
  busy_.store(false, std::memory_order_release);
}

void ThreadPool::wakeWorkers(int64_t wanted, int threads) {
  wake_.fetch_add(1, std::memory_order_seq_cst);
  int64_t sleeping = sleepers_.load(std::memory_order_seq_cst);
  if (sleeping == 0)
    return;
  // One call that wakes all is cheaper than many single ones; and of some threads nobody knows which would be woken.
  if (wanted * 2 > sleeping || threads < threadCount_)
    return wake_.notify_all();
  for (int64_t i = 0; i < wanted; ++i)
    wake_.notify_one();
}

bool ThreadPool::enter(int index, uint32_t &lastEpoch) {
  uint64_t state = state_.load(std::memory_order_seq_cst);
  // Entering and closing are changes of one word, so a worker is either counted before the loop
  // closes or finds it closed.
  while ((state & openBit) && static_cast<uint32_t>(state >> 32) != lastEpoch &&
         index < most_.load(std::memory_order_relaxed)) {
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) {
      lastEpoch = static_cast<uint32_t>(state >> 32);
      return true;
    }
  }
  return false;
}

void ThreadPool::workerMain(int index) {
  currentIndex = index;
  pinThread(affinity_, index, threadCount_);
  uint32_t lastEpoch = 0;
  while (true) {
    bool entered = enter(index, lastEpoch);
    // Those that the last loop did not take sleep at once: a limit is there to leave processors to others.
    auto mayTakePart = [&] { return index < most_.load(std::memory_order_relaxed); };
    for (Spinning spinning; !entered && mayTakePart() && spinning.pause();
         entered = enter(index, lastEpoch))
      if (quit_.load(std::memory_order_relaxed))
        return;
    if (!entered) {
      // The worker counts as a sleeper before it looks for the last time, so a loop that opens
      // after that look wakes it.
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      uint32_t seen = wake_.load(std::memory_order_seq_cst);
      entered = enter(index, lastEpoch);
      if (!entered && !quit_.load(std::memory_order_seq_cst))
        wake_.wait(seen, std::memory_order_seq_cst);
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
      if (!entered && quit_.load(std::memory_order_relaxed))
        return;
      if (!entered)
        continue;
    }
    workOn(job_);
    // The last one to leave wakes the caller.
    if ((static_cast<uint32_t>(state_.fetch_sub(1, std::memory_order_acq_rel)) & ~openBit) == 1)
      state_.notify_all();
  }
}

} // namespace ptl::rt

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace ptl::rt {

/// Persistent worker threads that share the iterations of one loop at a time.
///
/// The caller of `run` participates. Workers never delay it: one that wakes late finds the loop
/// closed and sleeps again. Each thread has its own share of the iterations, the same one for all
/// loops of equal length, so that data it touched first stay close to it (NUMA). A thread that has
/// finished its share helps the others. `run` may be called from any thread; while the workers are
/// busy with another thread's loop, or from inside a loop, the loop runs on the calling thread.
class ThreadPool {
public:
  /// A chunk [begin, end) of the iterations.
  using Body = void (*)(void *closure, int64_t begin, int64_t end);

  /// The placement of workers: anywhere; each on one processor, neighbours on adjacent ones; or as
  /// far apart as possible.
  enum class Affinity : uint8_t { None, Close, Spread };

  /// `threads` includes the caller: one worker fewer is started. At least 1. The caller is not
  /// pinned.
  explicit ThreadPool(int threads, Affinity affinity = Affinity::None);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// Runs 0..count in chunks of at most `grain` iterations (0: chosen here), and returns when all
  /// are done. Once `*stop` is not 0 no further chunk starts.
  void run(Body body, void *closure, int64_t count, int64_t grain,
           const std::atomic<int32_t> *stop);

  /// The number of threads, including the caller, for loops that the calling thread runs: that of
  /// the pool, or the limit of `limitThreads`.
  int threadCount() const;

  /// Limits the number of threads, including the caller, for loops that the calling thread runs in
  /// any pool; 0: no limit. Returns the previous limit.
  static int limitThreads(int most);

  /// The index of the current thread within its loop: 0 is the one that called `run`.
  static int threadIndex();

  /// The pool of this process: PTL_NUM_THREADS threads, by default one per processor that this
  /// process may use. PTL_AFFINITY may be `close` or `spread`.
  static ThreadPool &shared();

private:
  struct Job {
    Body body = nullptr;
    void *closure = nullptr;
    int64_t count = 0;
    int64_t grain = 1;
    const std::atomic<int32_t> *stop = nullptr;
    int threads = 1; ///< that participate, by their index
  };

  /// The remaining chunks of a thread: the next one, and the end.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  static void runInPlace(const Job &job);
  void divide(int64_t chunks, int threads);
  void workOn(const Job &job);
  bool enter(int index, uint32_t &lastEpoch);
  void workerMain(int index);
  void wakeWorkers(int64_t wanted, int threads);

  // The state word: the epoch in the upper half; in the lower half a bit whether the loop accepts
  // participants, and the number of workers inside. Workers read `job_` only after entering an open
  // state, and `run` changes it only while the state is closed and empty. Workers read the maximal
  // number of threads, `most_`, before that, and enter only if the state has not changed since.
  static constexpr uint64_t openBit = 1u << 31;

  int threadCount_;
  Job job_;
  Affinity affinity_;
  std::unique_ptr<Share[]> shares_; ///< changed under the same rules as `job_`
  alignas(64) std::atomic<uint64_t> state_{0};
  alignas(64) std::atomic<uint32_t> wake_{0};
  std::atomic<int32_t> most_{0};
  std::atomic<int32_t> sleepers_{0};
  std::atomic<bool> busy_{false};
  std::atomic<bool> quit_{false};
  std::vector<std::thread> workers_;
};

} // namespace ptl::rt

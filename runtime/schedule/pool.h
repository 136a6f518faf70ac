#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace ptl::rt {

/// Persistent worker threads that share the iterations of one loop at a time.
///
/// The caller of `run` takes part. Workers never hold it up: one that wakes late finds the loop
/// closed and sleeps again. Each thread has a share of its own of the iterations, the same one whenever
/// a loop has as many: what it has touched first is near it later. One that is done with its share helps
/// the others. `run` may be called from any thread; while the workers are busy with
/// another thread's loop, or from inside a loop, the loop runs in place.
class ThreadPool {
public:
  /// A chunk [begin, end) of the iterations.
  using Body = void (*)(void *closure, int64_t begin, int64_t end);

  /// Where workers run: anywhere; each on one processor, neighbours on neighbouring ones; or as far
  /// apart as the processors allow.
  enum class Affinity : uint8_t { None, Close, Spread };

  /// `threads` counts the caller: one worker fewer is started. At least 1. The caller stays where it is.
  explicit ThreadPool(int threads, Affinity affinity = Affinity::None);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// Covers 0..count by chunks of at most `grain` iterations (0: chosen here) and returns when all
  /// are done. Once `*stop` is not 0 no further chunk starts.
  void run(Body body, void *closure, int64_t count, int64_t grain,
           const std::atomic<int32_t> *stop);

  /// The threads of loops that the calling thread runs, itself included: those of the pool, or what it has been limited to.
  int threadCount() const;

  /// Lets loops that the calling thread runs, in any pool, have at most so many threads, itself included; 0: all of
  /// them. Gives the limit that was there before.
  static int limitThreads(int most);

  /// Which thread of the loop this code runs on: 0 is the one that called `run`.
  static int threadIndex();

  /// The pool of this process: all processors this process may use, or PTL_NUM_THREADS. PTL_AFFINITY
  /// may be `close` or `spread`.
  static ThreadPool &shared();

private:
  struct Job {
    Body body = nullptr;
    void *closure = nullptr;
    int64_t count = 0;
    int64_t grain = 1;
    const std::atomic<int32_t> *stop = nullptr;
    int threads = 1; ///< that take part, by their index
  };

  /// The chunks of a thread: the next one that nobody has taken, and where they end.
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

  // The state word: epoch in the upper half; in the lower one a bit that says whether the loop
  // takes participants, and the number of workers inside. Workers read `job_` only after entering
  // an open state, and `run` changes it only while the state is closed and empty. How many threads the
  // loop may have they read before, from `most_`, and enter only if the state is still the same then.
  static constexpr uint64_t openBit = 1u << 31;

  int threadCount_;
  Job job_;
  Affinity affinity_;
  std::unique_ptr<Share[]> shares_; ///< changed as `job_` is
  alignas(64) std::atomic<uint64_t> state_{0};
  alignas(64) std::atomic<uint32_t> wake_{0};
  std::atomic<int32_t> most_{0};
  std::atomic<int32_t> sleepers_{0};
  std::atomic<bool> busy_{false};
  std::atomic<bool> quit_{false};
  std::vector<std::thread> workers_;
};

} // namespace ptl::rt

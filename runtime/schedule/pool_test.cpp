#include "runtime/arena.h"
#include "runtime/context.h"
#include "runtime/schedule/pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <sched.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace ptl::rt {
namespace {

struct Count {
  std::vector<std::atomic<int>> hits;
  explicit Count(int64_t size) : hits(size) {}
  static void body(void *closure, int64_t begin, int64_t end) {
    auto &self = *static_cast<Count *>(closure);
    for (int64_t i = begin; i < end; ++i)
      self.hits[i].fetch_add(1, std::memory_order_relaxed);
  }
  bool allOnce() const {
    return std::all_of(hits.begin(), hits.end(), [](const auto &hit) { return hit.load() == 1; });
  }
};

TEST(ThreadPool, CoversEachIterationOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 2, 7, 64, 1000, 4097}) {
      for (int64_t grain : {0, 1, 3, 64, 100000}) {
        Count counter(count);
        pool.run(Count::body, &counter, count, grain, nullptr);
        EXPECT_TRUE(counter.allOnce()) << threads << " " << count << " " << grain;
      }
    }
  }
}

// A thread that is alone in the loop, as the others sleep or come late, does what all of them would; and shares of a count that the
// threads do not divide are not lost, whatever the number of chunks.
TEST(ThreadPool, SharesAreWhole) {
  for (int threads : {1, 2, 3, 7, 64}) {
    ThreadPool pool(threads, ThreadPool::Affinity::None);
    for (int64_t count : {1, 2, 3, 6, 7, 8, 63, 64, 65, 1000})
      for (int64_t grain : {0, 1, 3}) {
        Count all(count);
        pool.run(Count::body, &all, count, grain, nullptr);
        EXPECT_TRUE(all.allOnce()) << threads << " threads, " << count << " by " << grain;
      }
  }
}

// Pinned workers each stay on one processor that the process may use.
// Only threads of small indexes take part in a limited loop, and each thread has a limit of its own.
TEST(ThreadPool, LimitsAreOfTheCallingThread) {
  ThreadPool pool(8);
  struct Seen {
    Count counter{64};
    std::atomic<int> largest{0};
  };
  auto body = [](void *closure, int64_t begin, int64_t end) {
    auto &seen = *static_cast<Seen *>(closure);
    Count::body(&seen.counter, begin, end);
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    for (int last = seen.largest.load(); last < ThreadPool::threadIndex();)
      if (seen.largest.compare_exchange_weak(last, ThreadPool::threadIndex()))
        break;
  };
  for (int limit : {1, 2, 3, 8, 100}) {
    EXPECT_EQ(ThreadPool::limitThreads(limit), 0);
    EXPECT_EQ(pool.threadCount(), std::min(limit, 8));
    for (int round = 0; round < 100; ++round) {
      Seen seen;
      pool.run(body, &seen, 64, 1, nullptr);
      EXPECT_TRUE(seen.counter.allOnce());
      EXPECT_LT(seen.largest.load(), limit);
    }
    std::thread([&] { EXPECT_EQ(pool.threadCount(), 8); }).join();
    EXPECT_EQ(ThreadPool::limitThreads(-3), limit);
    EXPECT_EQ(pool.threadCount(), 8);
  }
  Seen all;
  pool.run(body, &all, 64, 1, nullptr);
  EXPECT_TRUE(all.counter.allOnce());
}

// Threads that no loop has taken end with the pool, too.
TEST(ThreadPool, EndsAfterLimitedLoops) {
  for (int limit : {1, 2, 4, 0}) {
    ThreadPool pool(4);
    ThreadPool::limitThreads(limit);
    Count counter(64);
    pool.run(Count::body, &counter, 64, 1, nullptr);
    EXPECT_TRUE(counter.allOnce());
    ThreadPool::limitThreads(0);
  }
}

TEST(ThreadPool, CallersWithDifferentLimits) {
  ThreadPool pool(6);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 500; ++round) {
        ThreadPool::limitThreads((round * 7 + caller) % 8);
        Count counter(1 + round % 37);
        pool.run(Count::body, &counter, 1 + round % 37, 1, nullptr);
        EXPECT_TRUE(counter.allOnce());
      }
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST(ThreadPool, PinnedWorkersStay) {
  for (auto affinity : {ThreadPool::Affinity::Close, ThreadPool::Affinity::Spread}) {
    ThreadPool pool(3, affinity);
    std::atomic<int> wrong{0};
    auto body = [](void *closure, int64_t, int64_t) {
      cpu_set_t set, allowed;
      CPU_ZERO(&set);
      CPU_ZERO(&allowed);
      sched_getaffinity(0, sizeof(set), &set);
      sched_getaffinity(getpid(), sizeof(allowed), &allowed);
      bool alone =
          ThreadPool::threadIndex() == 0 || CPU_COUNT(&allowed) == 1 || CPU_COUNT(&set) == 1;
      if (!alone)
        static_cast<std::atomic<int> *>(closure)->fetch_add(1);
    };
    for (int round = 0; round < 100; ++round)
      pool.run(body, &wrong, 64, 1, nullptr);
    EXPECT_EQ(wrong.load(), 0);
  }
}

TEST(ThreadPool, ManyShortLoops) {
  ThreadPool pool(4);
  for (int round = 0; round < 20000; ++round) {
    Count counter(8);
    pool.run(Count::body, &counter, 8, 1, nullptr);
    ASSERT_TRUE(counter.allOnce()) << round;
  }
}

TEST(ThreadPool, SleepingWorkersDoNotHoldUpShortLoops) {
  ThreadPool pool(4);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    Count counter(64);
    pool.run(Count::body, &counter, 64, 1, nullptr);
    ASSERT_TRUE(counter.allOnce());
  }
}

TEST(ThreadPool, SeveralCallersAtOnce) {
  ThreadPool pool(4);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        Count counter(100);
        pool.run(Count::body, &counter, 100, 7, nullptr);
        wrong += !counter.allOnce();
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ThreadPool, NestedLoopsRunInPlaceAndInOrder) {
  static ThreadPool pool(4);
  std::atomic<int> total{0};
  pool.run(
      [](void *closure, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          std::vector<int64_t> order;
          pool.run([](void *inner, int64_t from,
                      int64_t) { static_cast<std::vector<int64_t> *>(inner)->push_back(from); },
                   &order, 10, 1, nullptr);
          if (order.size() == 10 && std::is_sorted(order.begin(), order.end()))
            static_cast<std::atomic<int> *>(closure)->fetch_add(1);
        }
      },
      &total, 50, 1, nullptr);
  EXPECT_EQ(total.load(), 50);
}

TEST(ThreadPool, StopsEarly) {
  ThreadPool pool(4);
  struct State {
    std::atomic<int32_t> stop{0};
    std::atomic<int64_t> chunks{0};
  } state;
  pool.run(
      [](void *closure, int64_t, int64_t) {
        auto &self = *static_cast<State *>(closure);
        self.chunks.fetch_add(1);
        self.stop.store(1);
      },
      &state, 1000000, 1, &state.stop);
  EXPECT_LE(state.chunks.load(), 4);
}

TEST(ThreadPool, HugeCountsDoNotOverflow) {
  ThreadPool pool(3);
  std::atomic<int64_t> last{0};
  pool.run(
      [](void *closure, int64_t, int64_t end) {
        auto &seen = *static_cast<std::atomic<int64_t> *>(closure);
        int64_t before = seen.load();
        while (end > before && !seen.compare_exchange_weak(before, end)) {
        }
      },
      &last, INT64_MAX, INT64_MAX / 5, nullptr);
  EXPECT_EQ(last.load(), INT64_MAX);
}

TEST(ThreadPool, AForkedChildRunsInPlace) {
  Count before(100);
  ThreadPool::shared().run(Count::body, &before, 100, 1, nullptr);
  EXPECT_TRUE(before.allOnce());
  pid_t child = fork();
  if (child == 0) {
    Count counter(100);
    ThreadPool::shared().run(Count::body, &counter, 100, 1, nullptr);
    _exit(counter.allOnce() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Arena, BlocksAreAlignedDistinctAndReused) {
  Arena arena;
  void *first = arena.allocate(100);
  int64_t mark = arena.mark();
  std::vector<std::pair<char *, int64_t>> blocks;
  for (int64_t bytes : {0, 1, 64, 65, 5000, 1 << 20, 3 << 20, 10}) {
    auto *block = static_cast<char *>(arena.allocate(bytes));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % PTL_RT_ALIGNMENT, 0u);
    std::memset(block, static_cast<int>(blocks.size()), bytes);
    blocks.push_back({block, bytes});
  }
  for (size_t i = 0; i < blocks.size(); ++i)
    for (int64_t at = 0; at < blocks[i].second; at += 97)
      ASSERT_EQ(blocks[i].first[at], static_cast<char>(i));
  arena.release(mark);
  EXPECT_EQ(arena.mark(), mark);
  EXPECT_EQ(arena.allocate(10), blocks[0].first);
  arena.release(0);
  EXPECT_EQ(arena.allocate(100), first);
}

TEST(Arena, RefusesWhatCannotBe) {
  Arena arena;
  EXPECT_EQ(arena.allocate(-1), nullptr);
  EXPECT_EQ(arena.allocate(INT64_MAX), nullptr);
  EXPECT_NE(arena.allocate(1), nullptr);
}

TEST(Context, TheFirstFailureWinsAndLeftoversAreFreed) {
  PtlContext context(ThreadPool::shared());
  auto body = [](PtlContext *inside, int64_t begin, int64_t, void *) {
    PtlValue value{PTL_VALUE_SCALAR, PTL_INT, {}};
    value.as.scalar.i64 = begin;
    ptl_rt_alloc(inside, 1000);
    ptl_rt_fail(inside, PTL_ERROR_BOUNDS, "a.ptl", 7, "position {0}", &value, 1);
  };
  ptl_rt_parallel_for(&context, body, 1000, nullptr, 1);
  EXPECT_EQ(ptl_rt_status(&context), PTL_ERROR_BOUNDS);
  EXPECT_EQ(context.failure.line, 7);
  EXPECT_EQ(context.failure.message.rfind("position ", 0), 0u);
  std::string message = context.failure.message;
  ptl_rt_fail(&context, PTL_ERROR_ASSERT, nullptr, 0, "later", nullptr, 0);
  EXPECT_EQ(context.failure.message, message);
}

TEST(Context, MemoryThatCannotBeHadIsAFailure) {
  PtlContext context(ThreadPool::shared());
  EXPECT_EQ(ptl_rt_alloc(&context, INT64_MAX), nullptr);
  EXPECT_EQ(ptl_rt_status(&context), PTL_ERROR_MEMORY);
  PtlContext other(ThreadPool::shared());
  EXPECT_EQ(ptl_rt_scratch(&other, -5), nullptr);
  EXPECT_EQ(other.failure.message, "cannot allocate -5 bytes");
}

TEST(Context, FreedInAnyOrder) {
  PtlContext context(ThreadPool::shared());
  std::vector<void *> blocks;
  for (int i = 0; i < 5; ++i)
    blocks.push_back(ptl_rt_alloc(&context, 10));
  for (int i : {2, 0, 4, 1, 3})
    ptl_rt_free(&context, blocks[i]);
  ptl_rt_free(&context, nullptr);
  EXPECT_EQ(context.allocations, nullptr);
}

} // namespace
} // namespace ptl::rt

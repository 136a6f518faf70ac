#include "runtime/context.h"
#include "runtime/schedule/pool.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>

using namespace ptl::rt;

namespace {

/// The rounds of a grid that ran, and how many threads may have run them: one more than the largest
/// index of a thread that did.
struct Seen {
  std::atomic<int> rounds{0}, threads{0};
};

void look(PtlContext *context, int64_t begin, int64_t end, void *closure) {
  auto &seen = *static_cast<Seen *>(closure);
  seen.rounds += static_cast<int>(end - begin);
  int index = ptl_rt_thread_index(context);
  for (int last = seen.threads; last <= index;)
    if (seen.threads.compare_exchange_weak(last, index + 1))
      break;
}

const PtlPlace place{"combined", nullptr, 0, 0};

TEST(Context, FewThreadsCombineAlone) {
  for (int threads : {1, 2, 4, 5, 9}) {
    ThreadPool pool(threads);
    PtlContext context(pool);
    Seen combining, other;
    ptl_rt_grid_combining(&context, look, 1000, &combining, &place);
    EXPECT_EQ(combining.rounds, 1000);
    EXPECT_LE(combining.threads, threads <= 4 ? 1 : threads);
    // Later loops have all threads again.
    EXPECT_EQ(ptl_rt_thread_count(&context), threads);
    ptl_rt_grid(&context, look, 1000, &other, &place);
    EXPECT_EQ(other.rounds, 1000);
  }
}

TEST(Context, AThreadThatIsLimitedStaysSo) {
  ThreadPool pool(8);
  PtlContext context(pool);
  int before = ThreadPool::limitThreads(3);
  Seen combining, other;
  ptl_rt_grid_combining(&context, look, 100, &combining, &place);
  // Workers have no limit of their own: the thread that was limited is asked.
  EXPECT_EQ(ptl_rt_thread_count(&context), 3);
  ptl_rt_grid(&context, look, 100, &other, &place);
  ThreadPool::limitThreads(before);
  EXPECT_EQ(combining.threads, 1);
  EXPECT_LE(other.threads, 3);
}

} // namespace

#include "runtime/context.h"
#include "runtime/schedule/pool.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>

using namespace ptl::rt;

namespace {

/// What the body of a grid is told of threads.
struct Seen {
  std::atomic<int> rounds{0}, most{0};
};

void look(PtlContext *context, int64_t begin, int64_t end, void *closure) {
  auto &seen = *static_cast<Seen *>(closure);
  seen.rounds += static_cast<int>(end - begin);
  seen.most = std::max<int>(seen.most, ptl_rt_thread_count(context));
}

const PtlPlace place{"combined", nullptr, 0, 0};

TEST(Context, FewThreadsCombineAlone) {
  for (int threads : {1, 2, 4, 5, 9}) {
    ThreadPool pool(threads);
    PtlContext context(pool);
    Seen combining, other;
    ptl_rt_grid_combining(&context, look, 1000, &combining, &place);
    EXPECT_EQ(combining.rounds, 1000);
    EXPECT_EQ(combining.most, threads <= 4 ? 1 : threads);
    // Later loops have all threads again.
    ptl_rt_grid(&context, look, 1000, &other, &place);
    EXPECT_EQ(other.rounds, 1000);
    EXPECT_EQ(other.most, threads);
  }
}

TEST(Context, AThreadThatIsLimitedStaysSo) {
  ThreadPool pool(8);
  PtlContext context(pool);
  int before = ThreadPool::limitThreads(3);
  Seen combining, other;
  ptl_rt_grid_combining(&context, look, 100, &combining, &place);
  ptl_rt_grid(&context, look, 100, &other, &place);
  ThreadPool::limitThreads(before);
  EXPECT_EQ(combining.most, 1);
  EXPECT_EQ(other.most, 3);
}

} // namespace

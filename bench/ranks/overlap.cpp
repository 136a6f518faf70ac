// Movements that overlap with products: `mpirun --bind-to none -n 2 ptl_ranks_overlap libptl-mpi.so [ROUNDS [SIDE [CHUNKS]]]`. Each
// rank has some rows of an array and some columns of a matrix: rows are gathered and then multiplied, or multiplied and
// then added to those of the others and dealt out. Once the whole movement follows or precedes the whole product; then both go by
// chunks of rows, the movement of one chunk while another is multiplied by a second thread. Copying between ranks is work of a core, so the
// last core of the machine moves for all ranks, and the others multiply; with SAME_CORES in the environment any core does
// either. Prints medians of what the slowest rank takes, in milliseconds, and the share of the movement that the product hides.
#include "bench/ranks/plugin_port.h"
#include "common/tool_number.h"
#include "runtime/movement/predict.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mpi.h>
#include <numeric>
#include <sched.h>
#include <thread>
#include <vector>

using namespace ptl::bench;

namespace {

using Floats = std::vector<float>;

/// `to = rows @ matrix`: `count` rows of `depth` elements.
void multiply(float *to, const float *rows, const float *matrix, int64_t count, int64_t depth,
              int64_t columns) {
  constexpr int64_t kRows = 4, kColumns = 64;
  for (int64_t row = 0; row < count; row += kRows)
    for (int64_t column = 0; column < columns; column += kColumns) {
      float sums[kRows][kColumns] = {};
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t r = 0; r < kRows; ++r)
          for (int64_t c = 0; c < kColumns; ++c)
            sums[r][c] += rows[(row + r) * depth + k] * matrix[k * columns + column + c];
      for (int64_t r = 0; r < kRows; ++r)
        std::copy_n(sums[r], kColumns, to + (row + r) * columns + column);
    }
}

/// Lets the thread that calls it run on the last core, or on the others.
void stayOn(bool isLast) {
  static const bool isAny = std::getenv("SAME_CORES") != nullptr;
  static const int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (isAny || cores < 2)
    return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core = isLast ? cores - 1 : 0; core < (isLast ? cores : cores - 1); ++core)
    CPU_SET(core, &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

/// Counts what one thread has done, for another one that needs it.
class Progress {
public:
  void advance() { done_.fetch_add(1, std::memory_order_release); }
  void wait(int count) const {
    while (done_.load(std::memory_order_acquire) < count)
      ::sched_yield();
  }

private:
  std::atomic<int> done_ = 0;
};

/// A movement of each chunk of rows, and the product of that chunk behind it, or before it.
struct Pair {
  const char *name;
  bool isMovedFirst;
  std::function<void(int chunk, int chunks)> move, multiplyRows;
};

class Overlap {
public:
  Overlap(const PtlRanks &ranks, int rounds, int64_t side, int chunks)
      : ranks_(ranks), port_(ranks), rounds_(rounds), side_(side), chunks_(chunks) {}

  /// Rows of all ranks by columns of this one.
  void gathered() {
    int64_t columns = side_ / ranks_.count / kSmaller;
    Floats own = numbers(side_ / ranks_.count * side_), all(static_cast<size_t>(side_ * side_));
    Floats matrix = numbers(side_ * columns), result(static_cast<size_t>(side_ * columns));
    show({"all_gather, then product", true,
          [&](int chunk, int chunks) { move(Kind::AllGather, chunk, chunks, side_, own, all); },
          [&](int chunk, int chunks) {
            int64_t rows = side_ / chunks, first = chunk * rows;
            multiply(&result[static_cast<size_t>(first * columns)],
                     &all[static_cast<size_t>(first * side_)], matrix.data(), rows, side_, columns);
          }},
         result);
  }
  /// Columns of this rank by its rows of the matrix: a summand of all rows.
  void scattered() {
    int64_t depth = side_ / ranks_.count / kSmaller;
    Floats rows = numbers(side_ * depth), matrix = numbers(depth * side_);
    Floats summands(static_cast<size_t>(side_ * side_)),
        result(static_cast<size_t>(side_ * side_ / ranks_.count));
    show({"product, then reduce_scatter", false,
          [&](int chunk, int chunks) {
            move(Kind::ReduceScatter, chunk, chunks, side_, summands, result);
          },
          [&](int chunk, int chunks) {
            int64_t count = side_ / chunks, first = chunk * count;
            multiply(&summands[static_cast<size_t>(first * side_)],
                     &rows[static_cast<size_t>(first * depth)], matrix.data(), count, depth, side_);
          }},
         result);
  }
  bool isSame() const { return isSame_; }

private:
  /// Chunk `chunk` of the rows, of which each rank has, or gets, an equal part.
  void move(Kind kind, int chunk, int chunks, int64_t columns, Floats &from, Floats &to) {
    auto count = static_cast<uint32_t>(ranks_.count);
    Request request{kind, {side_ / chunks, columns}, count, 0, 0, 0};
    StepList list = makeSteps(request, Algorithm::Mesh);
    auto part = [&](Floats &array) {
      size_t size = array.size() / static_cast<size_t>(chunks);
      return std::span(reinterpret_cast<uint8_t *>(&array[static_cast<size_t>(chunk) * size]),
                       size * sizeof(float));
    };
    if (runRank(list, static_cast<uint32_t>(ranks_.rank), sizeof(float), part(from), part(to),
                addFloats, port_))
      std::abort();
  }

  void show(const Pair &pair, Floats &result) {
    std::vector<double> moved, multiplied, apart, together;
    auto multiplyAll = [&] { onOthers([&] { pair.multiplyRows(0, 1); }).join(); };
    auto both = [&] {
      if (!pair.isMovedFirst)
        multiplyAll();
      pair.move(0, 1);
      if (pair.isMovedFirst)
        multiplyAll();
    };
    for (int round = -2; round < rounds_; ++round) {
      double times[] = {slowest([&] { pair.move(0, 1); }), slowest(multiplyAll), slowest(both),
                        slowest([&] { byChunks(pair); })};
      if (round < 0)
        continue;
      moved.push_back(times[0]);
      multiplied.push_back(times[1]);
      apart.push_back(times[2]);
      together.push_back(times[3]);
    }
    // Rows are others on each rank if they go by chunks, but the sum of all is the same.
    both();
    double before = sumOf(result);
    std::ranges::fill(result, -1.0f);
    byChunks(pair);
    isSame_ &= before == sumOf(result);
    double hidden = (median(apart) - median(together)) / median(moved);
    if (ranks_.rank == 0)
      std::printf("%-29s %9.2f %9.2f %9.2f %9.2f %8.0f %%%s\n", pair.name, median(moved),
                  median(multiplied), median(apart), median(together), 100 * hidden,
                  isSame_ ? "" : "  NOT THE SAME");
  }

  static std::thread onOthers(std::function<void()> what) {
    return std::thread([what = std::move(what)] {
      stayOn(false);
      what();
    });
  }
  /// Only this thread moves: the plug-in is used by one thread.
  void byChunks(const Pair &pair) {
    Progress isReady;
    auto each = [&](const std::function<void(int, int)> &what, bool waits) {
      for (int chunk = 0; chunk < chunks_; ++chunk) {
        if (waits)
          isReady.wait(chunk + 1);
        what(chunk, chunks_);
        if (!waits)
          isReady.advance();
      }
    };
    std::thread multiplying = onOthers([&] { each(pair.multiplyRows, pair.isMovedFirst); });
    each(pair.move, !pair.isMovedFirst);
    multiplying.join();
  }

  double slowest(const std::function<void()> &what) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    what();
    double own = (MPI_Wtime() - begin) * 1e3, all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
  }
  static double median(std::vector<double> times) {
    std::ranges::sort(times);
    return times[times.size() / 2];
  }
  /// Whole numbers, whose sums of products are exact.
  static Floats numbers(int64_t count) {
    Floats made(static_cast<size_t>(count));
    for (size_t i = 0; i < made.size(); ++i)
      made[i] = static_cast<float>(i * 7 % 5) - 2;
    return made;
  }
  static double sumOf(const Floats &array) {
    double sum = 0;
    for (float each : array)
      sum += each;
    double all = 0;
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

  /// The matrix is smaller than the rows by this factor, or products would take far longer than movements.
  static constexpr int kSmaller = 4;
  const PtlRanks &ranks_;
  PluginPort port_;
  int rounds_;
  int64_t side_;
  int chunks_;
  bool isSame_ = true;
};

} // namespace

int main(int argc, char **argv) {
  const PtlRanks *ranks = argc > 1 ? openRanks(argv[1]) : nullptr;
  if (!ranks) {
    std::fprintf(
        stderr,
        "mpirun --bind-to none -n 2 ptl_ranks_overlap libptl-mpi.so [ROUNDS [SIDE [CHUNKS]]]\n");
    return 2;
  }
  int chunks = argc > 4 ? ptl::toolNumber<int>("CHUNKS", argv[4]) : 8;
  // Rows and columns are multiplied in blocks.
  int64_t unit = ranks->count * std::lcm(int64_t(256), int64_t(4) * chunks);
  int64_t side = argc > 3 ? ptl::toolNumber<int64_t>("SIDE", argv[3]) : 1024;
  side = (side + unit - 1) / unit * unit;
  stayOn(true);
  Overlap overlap(*ranks, argc > 2 ? ptl::toolNumber<int>("ROUNDS", argv[2]) : 15, side, chunks);
  if (ranks->rank == 0)
    std::printf("%d ranks, %.1f MiB, %d chunks\n%-29s %9s %9s %9s %9s   hidden\n", ranks->count,
                static_cast<double>(side * side) * 4 / (1 << 20), chunks, "", "movement", "product",
                "apart", "together");
  overlap.gathered();
  overlap.scattered();
  ranks->finish(60);
  ranks->leave();
  return overlap.isSame() ? 0 : 1;
}

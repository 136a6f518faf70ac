// Movements as PTL's lists of steps beside MPI's own collectives, on the same ranks in the same run:
// `mpirun -n 4 ptl_ranks_bench libptl-mpi.so [ROUNDS [all]]`. Prints medians of what the slowest rank takes, in
// microseconds; both must give the same values. With `all` there is a row for each algorithm, and not only for
// the one that ranks choose.
#include "runtime/movement/run_rank.h"
#include "runtime/ranks/ranks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <mpi.h>
#include <sys/mman.h>
#include <vector>

using namespace ptl::movement;

namespace {

/// Memory that begins as large pages do: whether an array has some would else be left to chance, and copying
/// between processes takes three times as long without.
template <typename T> struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <typename U> LargePages(const LargePages<U> &) {}
  static constexpr std::size_t kPage = 2 << 20;
  T *allocate(std::size_t count) {
    // Not at the same place of their pages: reads would wait for writes of other arrays.
    std::size_t skipped = ++arrays_ % 8 * kSkip;
    std::size_t bytes = (count * sizeof(T) + skipped + kPage - 1) / kPage * kPage;
    void *memory = std::aligned_alloc(kPage, bytes);
    if (!memory)
      std::abort();
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    return reinterpret_cast<T *>(static_cast<char *>(memory) + skipped);
  }
  void deallocate(T *memory, std::size_t) {
    std::free(reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(memory) / kPage * kPage));
  }
  bool operator==(const LargePages &) const = default;

private:
  static constexpr std::size_t kSkip = 4096 + 704;
  static inline std::size_t arrays_ = 0;
};
using Floats = std::vector<float, LargePages<float>>;

class PluginPort : public Port {
public:
  explicit PluginPort(const PtlRanks &ranks) : ranks_(ranks) {}
  void send(uint32_t rank, std::span<const uint8_t> bytes) override {
    ranks_.send(static_cast<int32_t>(rank), bytes.data(), bytes.size());
  }
  void post(uint32_t rank, std::span<const uint8_t> bytes) override {
    ranks_.post(static_cast<int32_t>(rank), bytes.data(), bytes.size());
  }
  bool settle(uint32_t rank) override { return ranks_.settle(static_cast<int32_t>(rank), 60) == 0; }
  bool receive(uint32_t rank, std::span<uint8_t> bytes) override {
    return ranks_.receive(static_cast<int32_t>(rank), bytes.data(), bytes.size(), 60) == 0;
  }

private:
  const PtlRanks &ranks_;
};

void addFloats(uint8_t *to, const uint8_t *from, int64_t count, bool) {
  auto *sum = reinterpret_cast<float *>(to);
  const auto *other = reinterpret_cast<const float *>(from);
  for (int64_t i = 0; i < count; ++i)
    sum[i] += other[i];
}

/// One movement, and what MPI has for it. The arrays are those of this rank, dense.
struct Movement {
  const char *name;
  Kind kind;
  std::function<void(Floats &from, Floats &to)> byMpi;
};

class Bench {
public:
  Bench(const PtlRanks &ranks, int rounds) : ranks_(ranks), port_(ranks), rounds_(rounds) {}

  bool run(const Movement &movement, int64_t side, bool all) {
    auto count = static_cast<uint32_t>(ranks_.count);
    Request request{movement.kind, {side * count, side * count}, count, 0, 1, 0};
    if (movement.kind == Kind::ReduceScatter)
      request.toAxis = 0;
    StepList chosen = chooseSteps(request, sizeof(float), Cost());
    bool isSame = run(movement, chosen, all ? '*' : ' ');
    for (Algorithm algorithm : algorithmsFor(request))
      if (all && algorithm != chosen.algorithm)
        isSame &= run(movement, makeSteps(request, algorithm), ' ');
    return isSame;
  }

private:
  bool run(const Movement &movement, const StepList &list, char mark) {
    const Request &request = list.request;
    auto me = static_cast<uint32_t>(ranks_.rank);
    Floats from(static_cast<size_t>(elementCount(sourceBoxOf(request, me))));
    Floats to(static_cast<size_t>(elementCount(resultBoxOf(request, me))));
    // Whole numbers, whose sums are exact.
    for (size_t i = 0; i < from.size(); ++i)
      from[i] = static_cast<float>((i * 7 + me) % 13);
    Floats byMpi = to;
    std::vector<double> ours, theirs;
    for (int round = 0; round < rounds_; ++round) {
      ours.push_back(slowest([&] { bySteps(list, me, from, to); }));
      theirs.push_back(slowest([&] { movement.byMpi(from, byMpi); }));
    }
    bool isSame = to == byMpi;
    if (me == 0)
      std::printf("%-15s %10.1f %c%-9s %10.1f %10.1f   %.2f%s\n", movement.name,
                  static_cast<double>(elementCount(wholeBox(request.shape))) * 4 / 1024, mark,
                  std::string(algorithmName(list.algorithm)).c_str(), median(ours), median(theirs),
                  median(theirs) / median(ours), isSame ? "" : "  NOT THE SAME");
    return isSame;
  }

  void bySteps(const StepList &list, uint32_t me, Floats &from, Floats &to) {
    auto bytes = [](Floats &array) {
      return std::span(reinterpret_cast<uint8_t *>(array.data()), array.size() * sizeof(float));
    };
    if (runRank(list, me, sizeof(float), bytes(from), bytes(to), addFloats, port_))
      std::abort();
  }
  /// What the rank that takes longest takes, all beginning together.
  double slowest(const std::function<void()> &what) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    what();
    double own = (MPI_Wtime() - begin) * 1e6, all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
  }
  static double median(std::vector<double> &times) {
    std::ranges::sort(times);
    return times[times.size() / 2];
  }

  const PtlRanks &ranks_;
  PluginPort port_;
  int rounds_;
};

std::vector<Movement> movementsOf(int count) {
  auto size = [](const Floats &array) { return static_cast<int>(array.size()); };
  return {
      {"all_reduce", Kind::AllReduce,
       [=](auto &from, auto &to) {
         MPI_Allreduce(from.data(), to.data(), size(from), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
       }},
      {"reduce_scatter", Kind::ReduceScatter,
       [=](auto &from, auto &to) {
         MPI_Reduce_scatter_block(from.data(), to.data(), size(to), MPI_FLOAT, MPI_SUM,
                                  MPI_COMM_WORLD);
       }},
      {"all_gather", Kind::AllGather,
       [=](auto &from, auto &to) {
         MPI_Allgather(from.data(), size(from), MPI_FLOAT, to.data(), size(from), MPI_FLOAT,
                       MPI_COMM_WORLD);
       }},
      {"all_to_all", Kind::AllToAll,
       [=](auto &from, auto &to) {
         // Rows of this rank, of which each other one gets a square: MPI wants squares one by one.
         size_t parts = static_cast<size_t>(count);
         size_t side = 1;
         while (side * side * parts < from.size())
           ++side;
         Floats squares(from.size());
         for (size_t row = 0; row < side; ++row)
           for (size_t part = 0; part < parts; ++part)
             std::copy_n(&from[(row * parts + part) * side], side,
                         &squares[(part * side + row) * side]);
         int each = size(from) / count;
         MPI_Alltoall(squares.data(), each, MPI_FLOAT, to.data(), each, MPI_FLOAT, MPI_COMM_WORLD);
       }},
      {"broadcast", Kind::Broadcast,
       [=](auto &from, auto &to) {
         if (!from.empty())
           to = from;
         MPI_Bcast(to.data(), size(to), MPI_FLOAT, 0, MPI_COMM_WORLD);
       }},
  };
}

} // namespace

int main(int argc, char **argv) {
  void *library = argc > 1 ? ::dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : nullptr;
  auto open = reinterpret_cast<PtlRanksOpen>(library ? ::dlsym(library, PTL_RANKS_OPEN) : nullptr);
  const PtlRanks *ranks = open ? open() : nullptr;
  if (!ranks) {
    std::fprintf(stderr, "mpirun -n 4 ptl_ranks_bench libptl-mpi.so [ROUNDS [all]]\n");
    return 2;
  }
  Bench bench(*ranks, argc > 2 ? std::atoi(argv[2]) : 21);
  if (ranks->rank == 0)
    std::printf("%d ranks\n%-15s %10s  %-9s %10s %10s   MPI / steps\n", ranks->count, "movement",
                "KiB whole", "steps", "steps us", "MPI us");
  bool isSame = true;
  for (const Movement &movement : movementsOf(ranks->count))
    for (int64_t side : {4, 16, 32, 128, 512, 1024})
      isSame &= bench.run(movement, side, argc > 3);
  ranks->finish(60);
  ranks->leave();
  return isSame ? 0 : 1;
}

// Movements as PTL's lists of steps beside MPI's own collectives, on the same ranks in the same run:
// `mpirun -n 4 ptl_ranks_bench libptl-mpi.so [ROUNDS [all|chosen [MOVEMENT [SIDE]]]]`. Prints medians of what the slowest rank takes, in
// microseconds, and their ratio; both take turns, and must give the same values. Arrays begin as large pages do, or have
// small ones if SMALL_PAGES is in the environment. With `all` there is a row for each
// algorithm, and not only for the one that ranks choose.
#include "bench/ranks/plugin_port.h"
#include "common/tool_number.h"
#include "runtime/movement/predict.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mpi.h>
#include <string>
#include <sys/mman.h>
#include <vector>

using namespace ptl::bench;

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
    std::size_t bytes = (count * sizeof(T) + skipped + 2 * kPage - 1) / kPage * kPage;
    // Memory that was in use before would stay as it is.
    void *memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      std::abort();
    auto first = (reinterpret_cast<uintptr_t>(memory) + kPage - 1) / kPage * kPage;
    if (areLarge_)
      ::madvise(memory, bytes, MADV_HUGEPAGE);
    all_[first + skipped] = {memory, bytes};
    return reinterpret_cast<T *>(first + skipped);
  }
  void deallocate(T *memory, std::size_t) {
    auto [begin, bytes] = all_.extract(reinterpret_cast<uintptr_t>(memory)).mapped();
    ::munmap(begin, bytes);
  }
  bool operator==(const LargePages &) const = default;

private:
  static constexpr std::size_t kSkip = 4096 + 704;
  static inline std::size_t arrays_ = 0;
  static inline bool areLarge_ = !std::getenv("SMALL_PAGES");
  static inline std::map<uintptr_t, std::pair<void *, std::size_t>> all_;
};
using Floats = std::vector<float, LargePages<float>>;

/// One movement, and what MPI has for it. The arrays are those of this rank, dense.
struct Movement {
  const char *name;
  Kind kind;
  std::function<void(Floats &from, Floats &to)> byMpi;
};

class Bench {
public:
  Bench(const PtlRanks &ranks, int rounds) : ranks_(ranks), port_(ranks), rounds_(rounds) {}

  /// Lets the system move the ranks to cores that are free.
  void settleDown() {
    for (int i = 0; i < 20000; ++i)
      MPI_Barrier(MPI_COMM_WORLD);
  }

  /// Of an array of about `whole` rows and columns.
  bool run(const Movement &movement, int64_t whole, bool all) {
    auto count = static_cast<uint32_t>(ranks_.count);
    whole = std::max<int64_t>(1, whole / count) * count;
    Request request{movement.kind, {whole, whole}, count, 0, 1, 0};
    if (movement.kind == Kind::ReduceScatter)
      request.toAxis = 0;
    StepList chosen = chooseSteps(request, sizeof(float), port_.cost());
    bool isSame = run(movement, chosen, all ? '*' : ' ');
    for (Algorithm algorithm : algorithmsFor(request))
      if (all && (algorithm != chosen.algorithm || algorithm == Algorithm::Chain))
        for (const StepList &list : variantsOf(request, algorithm))
          isSame &= run(movement, list, ' ');
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
    // Both write the same memory, or else one would have the better place. The first rounds get what both need.
    std::vector<double> ours, theirs;
    for (int round = -kWarming; round < rounds_; ++round) {
      double own = slowest([&] { bySteps(list, me, from, to); });
      double other = slowest([&] { movement.byMpi(from, to); });
      if (round < 0)
        continue;
      ours.push_back(own);
      theirs.push_back(other);
    }
    std::ranges::fill(to, -1.0f);
    bySteps(list, me, from, to);
    Floats moved = to;
    std::ranges::fill(to, -1.0f);
    movement.byMpi(from, to);
    bool isSame = to == moved;
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

  static constexpr int kWarming = 2;
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
         static Floats squares;
         squares.resize(from.size());
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
  const PtlRanks *ranks = argc > 1 ? openRanks(argv[1]) : nullptr;
  if (!ranks) {
    std::fprintf(
        stderr,
        "mpirun -n 4 ptl_ranks_bench libptl-mpi.so [ROUNDS [all|chosen [MOVEMENT [SIDE]]]]\n");
    return 2;
  }
  Bench bench(*ranks, argc > 2 ? ptl::toolNumber<int>("ROUNDS", argv[2]) : 21);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  bench.settleDown();
  if (ranks->rank == 0)
    std::printf("%d ranks\n%-15s %10s  %-9s %10s %10s   MPI / steps\n", ranks->count, "movement",
                "KiB whole", "steps", "steps us", "MPI us");
  bool isSame = true;
  // From 1 KiB to 64 MiB.
  for (const Movement &movement : movementsOf(ranks->count))
    for (int64_t whole = 16; whole <= 4096; whole *= 2)
      if ((argc < 5 || argv[4] == std::string(movement.name)) &&
          (argc < 6 || ptl::toolNumber<int64_t>("SIDE", argv[5]) == whole))
        isSame &= bench.run(movement, whole, argc > 3 && std::string(argv[3]) == "all");
  ranks->finish(60);
  ranks->leave();
  return isSame ? 0 : 1;
}
